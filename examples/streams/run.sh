# About: frames through two streams at once: pending tensors, callbacks, a failure on purpose, an orderly end
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'streams: %s\n' "$*"; }
cflags=(-std=c99 -O2 -Wall -Wextra -Werror -pedantic -I"$INCLUDE" -I"$OUT" -I"$here/../common")

say "compiling frames.astra"
"$ASTRAC" "$here/frames.astra" -o "$OUT/frames.o"
say "building the C program"
cc "${cflags[@]}" "$here/main.c" "$OUT/frames.o" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB" -lpthread -o "$OUT/main"

"$OUT/main" --threads "$THREADS"
