#!/usr/bin/env python3
"""Runs the golden modules of a release with today's runtime: the same bits as when
they were made. The program that runs them is one of that release too, compiled
against its header and linked with today's library.

Usage: golden.py PROGRAM RELEASE-FOLDER
"""
import pathlib
import re
import subprocess
import sys


def main():
    program, release = sys.argv[1], pathlib.Path(sys.argv[2])
    expected = (release / "golden.txt").read_text()
    modules = sorted(release.glob("golden_*.module"))
    if not modules or not expected:
        sys.exit("there are no golden modules or no results")
    for module in modules:
        version = re.search(r"golden_(\d+)", module.name)[1]
        done = subprocess.run([program, module], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        title, _, got = done.stdout.partition("\n")
        if done.returncode or title != f"golden, object ABI {version}, arithmetic 1":
            sys.exit(f"{module.name}: exit status {done.returncode}: {done.stdout[:2000]}")
        for was, now in zip(expected.split("\n"), got.split("\n")):
            if was != now:
                sys.exit(f"{module.name}:\nexpected {was}\ngot      {now}")
        if got != expected:
            sys.exit(f"{module.name}: {len(got)} characters instead of {len(expected)}")


main()
