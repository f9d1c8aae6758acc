"""Programs that are run with --fuse=off and --fuse=on: what fusion.py and epilogues.py
have in common."""
import glob
import os
import pathlib
import random
import subprocess
import sys
import tempfile


def save_npy(path, shape, dtype, data):
    """A file of NumPy's of such bytes; bf16 stands in it as f32."""
    descr = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "bf16": "<f4"}[dtype]
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


def run(astrac, folder, inputs, *options):
    """The bytes of the results of program.astra, or what was said instead."""
    for old in glob.glob(str(folder / "out*")):
        os.remove(old)
    done = subprocess.run([astrac, "run", str(folder / "program.astra"), "f", *inputs, "-o", str(folder / "out.npy"),
                           *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return done.stdout
    return [pathlib.Path(name).read_bytes() for name in sorted(glob.glob(str(folder / "out*")))]


def difference(astrac, folder, inputs, expected, choices):
    """The first options that give something else than is expected, and what they give; or None."""
    for options in choices:
        found = run(astrac, folder, inputs, "--fuse=on", *options)
        if found != expected:
            return f"{options}: {found if isinstance(found, str) else 'other bits'}"
    return None


def main(check, passed):
    """check(astrac, seed, rng, folder) gives what is wrong, or None."""
    astrac = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            failure = check(astrac, seed, random.Random(seed), pathlib.Path(folder))
            if failure:
                sys.exit(failure)
    print(f"{count} programs, the same bits {passed}")
