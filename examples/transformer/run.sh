# About: train a character-level transformer on a novel and let it write
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'transformer: %s\n' "$*"; }
cflags=(-std=c99 -O2 -Wall -Wextra -Werror -I"$INCLUDE" -I"$OUT" -I"$here/../common")

say "compiling transformer.astra"
"$ASTRAC" "$here/transformer.astra" -o "$OUT/transformer.o"
say "building the C program"
cc "${cflags[@]}" "$here/main.c" "$OUT/transformer.o" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB" -o "$OUT/main"

"$OUT/main" --data "$here/alice.txt" --steps "${TRANSFORMER_STEPS:-900}" --threads "$THREADS"
