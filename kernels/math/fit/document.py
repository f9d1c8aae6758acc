#!/usr/bin/env python3
"""Brings the tables of docs/elementary.md up to date with Constants.def and
Polynomials.def (between the marks <!-- constants --> and <!-- polynomials -->)."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(HERE, "..", "..", "..", "docs", "elementary.md")


def read(name):
    return open(os.path.join(HERE, "..", name)).read()


def constants():
    lines = ["| name | float | double |", "|---|---|---|"]
    for name, single, double in re.findall(r"ASTRA_CONSTANT\((\w+), (\S+), (\S+)\)", read("Constants.def")):
        lines.append(f"| `{name}` | {single} | {double} |")
    return "\n".join(lines)


def polynomials():
    lines = []
    rows = re.findall(r"// ([^\n]*)\nASTRA_POLYNOMIAL\((\w+), (\w+),\s*(.*?)\)\n", read("Polynomials.def"), re.S)
    for what, name, kind, values in rows:
        values = ", ".join(v.strip() for v in values.split(","))
        lines.append(f"{what}  \n`{name}` {kind}: {values}\n")
    return "\n".join(lines)


text = open(DOCUMENT).read()
for mark, table in (("constants", constants()), ("polynomials", polynomials())):
    text = re.sub(rf"<!-- {mark} -->\n.*?<!-- end -->", lambda _: f"<!-- {mark} -->\n{table}\n<!-- end -->", text, flags=re.S)
open(DOCUMENT, "w").write(text)
