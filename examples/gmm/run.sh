# About: fit a mixture of normal distributions to points by a quasi-Newton method written in Astra
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'gmm: %s\n' "$*"; }
cflags=(-std=c99 -O2 -Wall -Wextra -Werror -I"$INCLUDE" -I"$OUT" -I"$here/../common")

say "compiling gmm.astra"
"$ASTRAC" "$here/gmm.astra" -o "$OUT/gmm.o"
say "building the C program"
cc "${cflags[@]}" "$here/main.c" "$OUT/gmm.o" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB" -lm -o "$OUT/main"

"$OUT/main" --threads "$THREADS"
