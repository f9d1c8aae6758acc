#!/usr/bin/env python3
"""One hash for each program: random programs (programs.py), the examples and the
benchmark's workloads under astra-bits.

Usage: run.py [--count N] [--seed S] [--files] [--options "OPTIONS"]
Without options for astra-bits its full matrix runs; --options are added to it. A random
program of large extents runs in two parts: all that this processor can, and what an
emulator can in minutes, whose hash must be the same. In a file each function and test has
its --budget on this processor and in the emulator: those that need more run in fewer
configurations, both ends of all settings at least, and the line says in how many. One line
for each program: its hash, its extents or options, the CPU time, what ran. A random program
that fails is printed; it comes back with --count 1 --seed S."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
BITS = ROOT / "build/bin/astra-bits"
# Extents that fit together, and keep the scalar reference and the emulator short. What
# the transformer calls its text has to be longer than what it looks back at.
FILES = {
    "examples/digits/digits.astra": [],
    "examples/gmm/gmm.astra": ["--size=small"],
    "examples/newton/newton.astra": ["--size=small"],
    "examples/ode/ode.astra": ["--size=small"],
    "examples/introspect/line.astra": [],
    "examples/streams/frames.astra": [],
    "examples/common/bfgs.astra": [],
    "examples/lstm/lstm.astra": ["--size=small"],
    "examples/transformer/transformer.astra": ["--size=small", "--rows=2", "--dim=step.n=131", "--dim=held_out.n=131"],
    "examples/adbench/gmm.astra": [],
    "examples/adbench/ba.astra": [],
    "examples/adbench/lstm.astra": [],
}
# The extents of each workload: beyond a vector, a tile and what one thread takes, odd
# where the program allows it. Those that the benchmark times are hopeless in an emulator.
WORKLOADS = {
    "gemm": "m=67 k=129 n=61",
    "gelu_chain": "n=131 d=251",
    "softmax_rows": "n=67 d=129",
    "layernorm": "n=67 d=129",
    "sum_all": "n=131101",
    "sum_columns": "n=301 d=111",
    "mlp_infer": "n=33 a=50 b=64 c=10",
    "mlp_step_small": "n=33 a=50 b=64 c=10",
    "mlp_step_large": "n=33 a=50 b=40 c=30 d=10",
    "block_forward": "b=2 t=19 d=16",
    "block_grad": "b=2 t=19 d=16",
    "conv3x3_forward": "n=2 c=3 h=13 w=11 o=5",
    "conv3x3_grad": "n=2 c=3 h=13 w=11 o=5",
    "gmm_grad": "k=5 d=4 n=67",
    "lstm_grad": "t=5 n=3 d=6 h=8",
}
FILES["test/bench/workloads.astra"] = ["--size=small", "--rows=2", *(
    f"--dim={name}.{extent}" for name, extents in WORKLOADS.items() for extent in extents.split())]


def cpu():
    times = os.times()
    return times.children_user + times.children_system


def bits(tool, name, file, options, timeout):
    """Runs astra-bits and says so in a line: its hash, and what was said if that is not all."""
    start = cpu()
    try:
        done = subprocess.run([tool, file, *options], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=timeout)
    except subprocess.TimeoutExpired as late:
        print(f"{name}: FAILED {' '.join(options)} (it did not end in {timeout} s)", flush=True)
        return "", (late.stdout or b"").decode() + f"it did not end in {timeout} s"
    last = done.stdout.splitlines()[-1] if done.stdout else ""
    good = done.returncode == 0 and last.startswith("sha256 ")
    facts = [line.split(": ", 1)[-1] for line in done.stdout.splitlines() if " builds" in line]
    facts += [line for line in done.stdout.splitlines()
              if line.startswith("level ") or " configurations in " in line]
    print(f"{name}: {last if good else 'FAILED'} {' '.join(options)} ({cpu() - start:.1f} s; {'; '.join(facts)})",
          flush=True)
    return (last, None) if good else (last, done.stdout)


def random_program(tool, program, file, options, timeout):
    """One random program; nothing, or what was said."""
    n, m = program.extents()
    options = ["--size=small", "--rows=2", f"--dim=n={n}", f"--dim=m={m}", *options]
    name = f"seed {program.seed}"
    if n * m < programs.SHARED or any(option.startswith(("--levels", "--quick")) for option in options):
        return bits(tool, name, file, options, timeout)[1]
    here, failed = bits(tool, name, file, [*options, "--levels=ref,v3,v4"], timeout)
    if failed:
        return failed
    arm, failed = bits(tool, name, file, [*options, "--levels=v4,neon", "--quick"], timeout)
    return failed or (None if arm == here else f"{here} became {arm} beside the emulator")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=0, help="random programs")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them")
    parser.add_argument("--files", action="store_true", help="the examples and the workloads")
    parser.add_argument("--budget", type=int, default=15, help="seconds for each function and test of a file")
    parser.add_argument("--options", default="", help="for astra-bits")
    parser.add_argument("--bits", type=pathlib.Path, default=BITS, help="that astra-bits")
    parser.add_argument("--timeout", type=int, default=3600, help="seconds for one program")
    chosen = parser.parse_args()
    options = chosen.options.split()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(chosen.seed, chosen.seed + chosen.count):
            file = pathlib.Path(folder, f"program{seed}.astra")
            program = programs.Program(seed)
            file.write_text(program.text())
            said = random_program(chosen.bits, program, file, options, chosen.timeout)
            if said:
                failures += 1
                print(f"seed {seed}:\n{file.read_text()}{said}", flush=True)
    for file, own in FILES.items() if chosen.files else ():
        said = bits(chosen.bits, file, file, [*own, f"--budget={chosen.budget}", *options], chosen.timeout)[1]
        if said:
            failures += 1
            print(f"{file}: {said}", flush=True)
    total = chosen.count + (len(FILES) if chosen.files else 0)
    print(f"{total - failures} of {total} programs give the same bits everywhere")
    return 1 if failures or not total else 0


if __name__ == "__main__":
    sys.exit(main())
