#!/usr/bin/env python3
"""One hash for each program: random programs (programs.py), the examples and the
benchmark's workloads under astra-bits.

Usage: run.py [--count N] [--seed S] [--files] [--options "OPTIONS"]
Without options for astra-bits its full matrix runs: minutes for each program. A random
program that fails is printed; it comes back with --count 1 --seed S."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
BITS = ROOT / "build/bin/astra-bits"
# Dimensions that fit together, and sizes that keep the slow reference short.
FILES = {
    "examples/digits/digits.astra": [],
    "examples/gmm/gmm.astra": [],
    "examples/newton/newton.astra": [],
    "examples/ode/ode.astra": [],
    "examples/lstm/lstm.astra": ["--size=small"],
    "examples/transformer/transformer.astra": ["--size=small"],
    "examples/adbench/gmm.astra": ["--size=small"],
    "examples/adbench/ba.astra": ["--size=small"],
    "examples/adbench/lstm.astra": ["--size=small"],
    "test/bench/workloads.astra": ["--size=small"],
}


def bits(file, options, timeout):
    """Nothing, or what was said."""
    done = subprocess.run([BITS, file, *options], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=timeout)
    if done.returncode == 0 and done.stdout.splitlines()[-1].startswith("sha256 "):
        return None
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=0, help="random programs")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    parser.add_argument("--files", action="store_true", help="the examples and the workloads")
    parser.add_argument("--options", default="", help="for astra-bits")
    parser.add_argument("--timeout", type=int, default=3600, help="seconds for one program")
    chosen = parser.parse_args()
    options = chosen.options.split()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(chosen.seed, chosen.seed + chosen.count):
            file = pathlib.Path(folder, f"program{seed}.astra")
            file.write_text(programs.Program(seed).text())
            said = bits(file, options, chosen.timeout)
            if said:
                failures += 1
                print(f"seed {seed}:\n{file.read_text()}{said}", flush=True)
    for file, own in FILES.items() if chosen.files else ():
        said = bits(file, [*own, *options], chosen.timeout)
        if said:
            failures += 1
            print(f"{file}: {said}", flush=True)
    total = chosen.count + (len(FILES) if chosen.files else 0)
    print(f"{total - failures} of {total} programs give the same bits everywhere")
    return 1 if failures or not total else 0


if __name__ == "__main__":
    sys.exit(main())
