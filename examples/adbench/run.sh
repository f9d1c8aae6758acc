# About: ADBench's GMM, LSTM and bundle adjustment: what a derivative costs beside its function
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'adbench: %s\n' "$*"; }
cflags=(-std=c99 -O2 -Wall -Wextra -Werror -I"$INCLUDE" -I"$OUT" -I"$here/../common")

objects=()
for program in gmm lstm ba; do
  say "compiling $program.astra"
  "$ASTRAC" "$here/$program.astra" -o "$OUT/$program.o"
  objects+=("$OUT/$program.o")
done
say "building the C program"
cc "${cflags[@]}" "$here/main.c" "${objects[@]}" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB" -lm -o "$OUT/main"

data=$here/data
"$OUT/main" --gmm "$data/gmm_d2_K5.txt" --lstm "$data/lstm_l2_c1024.txt" --ba "$data/ba1_n49_m7776_p31843.txt" \
  --expected "$here/expected" --threads "$THREADS" --milliseconds "${ADBENCH_MILLISECONDS:-2000}"
