#!/usr/bin/env python3
"""Compares today's interface with a release's by abidiff (abigail-tools), in
which structs may grow at their ends and functions be added; and makes sure that
an edit would be noticed.

Usage: abidiff.py RELEASE-FOLDER [C-COMPILER]
Exit status 77 if abidiff is missing: the test counts as skipped.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import surface

INCLUDE = HERE.parents[1] / "runtime/include"


def compare(release, include, compiler):
    """(exit status, report) of abidiff."""
    with tempfile.TemporaryDirectory() as folder:
        library = surface.build(include, folder, compiler)
        done = subprocess.run(["abidiff", "--suppressions", HERE / "growth.suppr", "--no-added-syms",
                               release / "astra.abi", library], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def main():
    release = pathlib.Path(sys.argv[1]).resolve()
    compiler = sys.argv[2] if len(sys.argv) > 2 else "cc"
    if not shutil.which("abidiff"):
        print("abidiff is missing; install abigail-tools")
        sys.exit(77)
    status, report = compare(release, INCLUDE, compiler)
    if status:
        sys.exit(f"abidiff: {report}")
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder) / "include"
        shutil.copytree(INCLUDE, include)
        header = include / "astra/runtime.h"
        text = header.read_text()
        changed = text.replace("uint64_t keep,", "uint32_t keep,")
        if changed == text:
            sys.exit("the edit to be noticed has nothing to change")
        header.write_text(changed)
        status, report = compare(release, include, compiler)
        if not status & 4:
            sys.exit(f"an edit of astra_runtime_trim was not noticed: {report}")


main()
