#!/usr/bin/env python3
"""Makes cells.safetensors from the breast cancer file of a scikit-learn package.

Usage: make_data.py breast_cancer.csv cells.safetensors

The input is sklearn/datasets/data/breast_cancer.csv: a line of names, then 569
rows of 30 measurements and a label (0: malignant, 1: benign). The first ten
measurements, the means over a sample's cells, are kept. See DATA.md for source
and licence.
"""
import json
import struct
import sys


def main(source, target):
    with open(source) as file:
        rows = [[float(word) for word in line.split(",")] for line in list(file)[1:]]
    assert len(rows) == 569 and all(len(row) == 31 for row in rows)
    x = struct.pack("<5690f", *(value for row in rows for value in row[:10]))
    y = bytes(int(row[30] == 0) for row in rows)
    header = {"malignant": {"dtype": "U8", "shape": [569], "data_offsets": [len(x), len(x) + len(y)]},
              "x": {"dtype": "F32", "shape": [569, 10], "data_offsets": [0, len(x)]}}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(target, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + x + y)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
