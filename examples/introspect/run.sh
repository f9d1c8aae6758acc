# About: call any function of a module from plain C by introspection alone, and the same from C++
# Called by examples/run, which sets ASTRAC, LIB, INCLUDE, OUT and THREADS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { printf 'introspect: %s\n' "$*"; }
flags=(-O2 -Wall -Wextra -Werror -pedantic -I"$INCLUDE" -I"$here/../common")
link=(-L"$LIB" -lastra_rt "-Wl,-rpath,$LIB")

say "compiling line.astra to a module"
"$ASTRAC" -shared "$here/line.astra" -o "$OUT/line.so"
say "building the programs"
cc -std=c99 "${flags[@]}" "$here/main.c" "${link[@]}" -o "$OUT/main"
c++ -std=c++17 "${flags[@]}" "$here/main.cpp" "${link[@]}" -o "$OUT/main_cpp"

say "what the module has:"
"$OUT/main" "$OUT/line.so"
say "errors with slope 2, offset 1, x 0,1,2 and y 1,3,6:"
"$OUT/main" "$OUT/line.so" errors 2 1 0,1,2 1,3,6
say "from C++:"
"$OUT/main_cpp" "$OUT/line.so"
say "predict gives $("$OUT/main" "$OUT/line.so" predict 2 1 0,0.5,4)"
