#!/usr/bin/env python3
"""Compares the symbols that libastra_rt.so exports with runtime/abi/symbols.txt,
and its needed libraries with the C library's: no C++ runtime, no LLVM.

Usage: symbols.py libastra_rt.so symbols.txt
"""
import subprocess
import sys

ALLOWED = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "ld-linux")


def exported(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    symbols = set()
    for line in text.split("\n"):
        parts = line.split()
        if len(parts) == 3 and parts[1] != "A":
            name, _, node = parts[2].partition("@@")
            symbols.add((node, name))
    return symbols


def needed(library):
    text = subprocess.run(["readelf", "-d", library], check=True,
                          capture_output=True, text=True).stdout
    return [line.split("[")[1].rstrip("]") for line in text.split("\n")
            if "(NEEDED)" in line]


def main():
    library, listing = sys.argv[1:]
    with open(listing) as lines:
        listed = {tuple(line.split()) for line in lines if line.strip()}
    found = exported(library)
    for node, name in sorted(found - listed):
        print(f"exported but not listed: {name} ({node or 'no version'})")
    for node, name in sorted(listed - found):
        print(f"listed but not exported: {name} ({node})")
    foreign = [name for name in needed(library) if not name.startswith(ALLOWED)]
    for name in foreign:
        print(f"needs {name}")
    sys.exit(1 if found != listed or foreign else 0)


main()
