# About: find the parameters of an ordinary differential equation by gradients through its adaptive solver
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'ode: %s\n' "$*"; }
cflags=(-std=c99 -O2 -Wall -Wextra -Werror -I"$INCLUDE" -I"$OUT" -I"$here/../common")

say "compiling ode.astra"
"$ASTRAC" "$here/ode.astra" -o "$OUT/ode.o"
say "building the C program"
cc "${cflags[@]}" "$here/main.c" "$OUT/ode.o" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB" -lm -o "$OUT/main"

"$OUT/main" --threads "$THREADS"
