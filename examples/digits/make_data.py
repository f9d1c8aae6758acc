#!/usr/bin/env python3
"""Makes digits.safetensors from the digits file of a scikit-learn package.

Usage: make_data.py digits.csv.gz digits.safetensors

The input is sklearn/datasets/data/digits.csv.gz: 1797 rows of 64 pixels
(0..16) and a label. Every fifth image (indices 4, 9, 14, ...) goes to the test
set, the others to the training set, in their order. See DATA.md for source and
licence.
"""
import gzip
import json
import struct
import sys


def main(source, target):
    with gzip.open(source, "rt") as file:
        rows = [[int(float(word)) for word in line.split(",")] for line in file]
    assert len(rows) == 1797 and all(len(row) == 65 for row in rows)
    parts = {"test": rows[4::5], "train": [r for i, r in enumerate(rows) if i % 5 != 4]}
    header, blobs, offset = {}, [], 0
    for part, some in sorted(parts.items()):
        pixels = bytes(value for row in some for value in row[:64])
        labels = struct.pack("<%di" % len(some), *(row[64] for row in some))
        for name, dtype, shape, blob in (
            (part + ".y", "I32", [len(some)], labels),
            (part + ".x", "U8", [len(some), 64], pixels),
        ):
            header[name] = {"dtype": dtype, "shape": shape,
                            "data_offsets": [offset, offset + len(blob)]}
            blobs.append(blob)
            offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(target, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
