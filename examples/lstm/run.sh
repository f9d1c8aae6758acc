# About: train an LSTM on words of different lengths and let it make some up
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'lstm: %s\n' "$*"; }
cflags=(-std=c99 -O2 -Wall -Wextra -Werror -I"$INCLUDE" -I"$OUT" -I"$here/../common")

say "compiling lstm.astra"
"$ASTRAC" "$here/lstm.astra" -o "$OUT/lstm.o"
say "building the C program"
cc "${cflags[@]}" "$here/main.c" "$OUT/lstm.o" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB" -o "$OUT/main"

"$OUT/main" --data "$here/words.txt" --steps "${LSTM_STEPS:-800}" --threads "$THREADS"
