# About: train a classifier of handwritten digits, save it, load it and predict
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'digits: %s\n' "$*"; }
cflags=(-std=c99 -O2 -Wall -Wextra -Werror -I"$INCLUDE" -I"$OUT" -I"$here/../common")
link=("$OUT/digits.o" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB")

say "compiling digits.astra to digits.o and digits.h"
"$ASTRAC" "$here/digits.astra" -o "$OUT/digits.o"
say "compiling digits.astra to a loadable module, digits.so"
"$ASTRAC" "$here/digits.astra" -shared -o "$OUT/digits.so"
say "building the C programs"
for program in main predict; do
  cc "${cflags[@]}" "$here/$program.c" "${link[@]}" -o "$OUT/$program"
done
cc "${cflags[@]}" "$here/module.c" -L"$LIB" -lastra_rt "-Wl,-rpath,$LIB" -o "$OUT/module"

"$OUT/main" --data "$here/digits.safetensors" --save "$OUT/parameters.safetensors" --threads "$THREADS"
say "the same predictions from the module, loaded by path"
"$OUT/module" "$OUT/digits.so" --data "$here/digits.safetensors" --parameters "$OUT/parameters.safetensors" --threads "$THREADS"
"$OUT/predict" --data "$here/digits.safetensors" --parameters "$OUT/parameters.safetensors" --threads "$THREADS"
