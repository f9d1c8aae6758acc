#!/usr/bin/env python3
"""Makes alice.txt: the text of the first nine chapters of the novel and nothing else.

Usage: make_data.py 11.txt alice.txt

The input is the plain text that DATA.md names. What is not the novel (everything
before the heading of the first chapter and behind the last one wanted, lines of stars)
is left out; paragraphs keep their lines, runs of blank lines become one.
"""
import re
import sys


def main(source, target):
    with open(source, encoding="ascii") as file:
        lines = [line.rstrip() for line in file]
    begin = next(i for i, line in enumerate(lines) if line.startswith("CHAPTER I."))
    end = next(i for i, line in enumerate(lines) if line.startswith("CHAPTER X."))
    kept = [line for line in lines[begin:end] if not re.fullmatch(r"[\s*]*\*[\s*]*", line)]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip() + "\n"
    assert all(c == "\n" or " " <= c <= "~" for c in text)
    with open(target, "w", encoding="ascii", newline="\n") as file:
        file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
