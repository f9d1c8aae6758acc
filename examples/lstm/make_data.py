#!/usr/bin/env python3
"""Makes words.txt of a text: its distinct words of 2 to 12 letters in small letters,
one a line, in the order in which they occur first.

Usage: make_data.py ../transformer/alice.txt words.txt

The text is that of the transformer's example; its DATA.md says where it comes from.
"""
import re
import sys


def main(source, target):
    with open(source, encoding="ascii") as file:
        words = re.findall(r"[a-z]+", file.read().lower())
    kept = dict.fromkeys(word for word in words if 2 <= len(word) <= 12)
    with open(target, "w", encoding="ascii", newline="\n") as file:
        file.write("".join(word + "\n" for word in kept))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
