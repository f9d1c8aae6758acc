#!/usr/bin/env python3
"""Writes include/astra/api.h: the function table, from the declarations of
astra.h and the headers that it includes, in the order of abi/symbols.txt, which
only grows at its end.

With --check it writes nothing and fails if the file is not up to date, or if
a function is declared but not listed (or the other way round).
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import headers

TABLE = headers.INCLUDE / "api.h"
ENTRY = "astra_get_api"  # found by name, so it is not in its own table

TOP = """/* The function table for programs that load libastra_rt by path: dlopen it, find
 * "astra_get_api" with dlsym, ask it for ASTRA_API_VERSION. Members have the
 * names of the functions of astra.h without "astra_"; their rules are there.
 * The table only grows at its end: a member exists if it lies within
 * struct_size.
 *
 * Written by runtime/abi/generate.py from astra.h and abi/symbols.txt.
 */
#ifndef ASTRA_API_H
#define ASTRA_API_H

#include "astra/astra.h"

#ifdef __cplusplus
extern "C" {
#endif

struct astra_api {
  size_t struct_size;
  uint32_t api_version; /* ASTRA_API_VERSION */
  uint32_t reserved;
"""

END = """
#ifdef __cplusplus
}
#endif
#endif /* ASTRA_API_H */
"""


def declarations():
    return {f.name: (f.result, f.parameters) for f in headers.functions()}


def wrap(head, parameters):
    """Breaks a declaration at its parameters: lines stay within 80 columns."""
    lines, current = [], f"  {head}("
    for i, parameter in enumerate(parameters):
        part = parameter + (", " if i + 1 < len(parameters) else ");")
        if len(current) + len(part.rstrip()) > 80:
            lines.append(current.rstrip())
            current = "      "
        current += part
    return "\n".join(lines + [current])


def generate(listed, found):
    text = TOP
    for name in listed:
        result, parameters = found[name]
        head = f"{result.rstrip()} (*{name[6:]})".replace("* (", "*(")
        text += wrap(head, parameters.split(", ")) + "\n"
    text += "};\n\n/* X(name) for each member, in order. */\n"
    text += "#define ASTRA_API_FUNCTIONS(X)" + "".join(
        f" \\\n  X({name[6:]})" for name in listed) + "\n"
    return text + END


def main():
    lines = (HERE / "symbols.txt").read_text().split("\n")
    names = [line.split()[1] for line in lines if line]
    found = declarations()
    if sorted(names) != sorted(found):
        odd = sorted(set(names) ^ set(found))
        sys.exit("astra.h and symbols.txt differ: " + ", ".join(odd))
    text = generate([name for name in names if name != ENTRY], found)
    if "--check" not in sys.argv:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        sys.exit("astra/api.h is not up to date: run runtime/abi/generate.py")


main()
