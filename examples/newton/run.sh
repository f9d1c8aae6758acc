# About: logistic regression by Newton's method, with second derivatives by `hessian`
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'newton: %s\n' "$*"; }
cflags=(-std=c99 -O2 -Wall -Wextra -Werror -I"$INCLUDE" -I"$OUT" -I"$here/../common")

say "compiling newton.astra"
"$ASTRAC" "$here/newton.astra" -o "$OUT/newton.o"
say "building the C program"
cc "${cflags[@]}" "$here/main.c" "$OUT/newton.o" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB" -lm -o "$OUT/main"

"$OUT/main" --data "$here/cells.safetensors" --threads "$THREADS"
