#!/usr/bin/env bash
# Fetches further instances of ADBench: fetch.sh FOLDER gmm_d10_K25 lstm_l4_c4096 ba4_n372_m47423_p204472 ...
set -euo pipefail
source=https://raw.githubusercontent.com/microsoft/ADBench/38cb7931303a830c3700ca36ba9520868327ac87/data
folder=${1:?which folder?}
shift
mkdir -p "$folder"
for name; do
  case $name in
    gmm_*) path=gmm/1k/$name.txt ;;
    lstm_*) path=lstm/$name.txt ;;
    ba*) path=ba/$name.txt ;;
    *) printf 'fetch.sh: ADBench has no %s\n' "$name" >&2; exit 2 ;;
  esac
  curl -fsSL "$source/$path" -o "$folder/$name.txt"
done
