#!/usr/bin/env python3
"""Writes abi/layout.h: an assertion of the size and of every member's place for
each struct of the three interfaces, which the library is compiled with. With
--check it writes nothing and fails if the file is not up to date.

Usage: layout.py [--check] [C-COMPILER]
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import headers

LAYOUT = HERE / "layout.h"
TOP = """/* Where every member of every struct of the three interfaces lies. A struct may
 * grow at its end; nothing else here ever changes.
 *
 * Written by runtime/abi/layout.py.
 */
// clang-format off
#include "astra/api.h"
#include "astra/backend.h"
#include "astra/module.h"

"""


def places():
    """(type, member or None) of all structs."""
    for name in headers.PUBLIC + headers.OTHERS + ["api.h"]:
        for struct, members in headers.structs(name):
            yield struct, None
            for member in members:
                for each in headers.member_names(member):
                    yield struct, each


def program(rows):
    lines = ['#include <stdio.h>', '#include "astra/api.h"', '#include "astra/backend.h"',
             "int main(void) {"]
    for struct, member in rows:
        value = f"offsetof({struct}, {member})" if member else f"sizeof({struct})"
        lines.append(f'  printf("%zu\\n", {value});')
    return "\n".join(lines + ["  return 0;", "}", ""])


def measure(rows, compiler):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "layout.c", pathlib.Path(folder) / "layout"
        source.write_text(program(rows))
        subprocess.run([compiler, "-std=c99", "-I", headers.INCLUDE.parent, source, "-o", binary],
                       check=True)
        return subprocess.run([binary], check=True, stdout=subprocess.PIPE,
                              text=True).stdout.split()


def generate(compiler):
    rows = list(places())
    text = TOP
    for (struct, member), value in zip(rows, measure(rows, compiler)):
        what = f"offsetof({struct}, {member})" if member else f"sizeof({struct})"
        text += f'static_assert({what} == {value}, "layout");\n'
    return text


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    text = generate(arguments[0] if arguments else "cc")
    if "--check" not in sys.argv:
        LAYOUT.write_text(text)
    elif not LAYOUT.exists() or LAYOUT.read_text() != text:
        sys.exit("layout.h is not up to date: run runtime/abi/layout.py")


main()
