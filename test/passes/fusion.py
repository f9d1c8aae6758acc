"""Fused kernels give the bits of separate ones: random programs of operations on
elements, broadcasts and folds of rows, on ragged shapes and special values, compiled
with --fuse=on and --fuse=off and run at every level and on several threads.

Usage: fusion.py ASTRAC [COUNT [SEED]]. A failing program is kept and named."""
import struct

import both_ways

FLOATS = ["f32", "f32", "f32", "f64", "f16", "bf16"]
UNARY = ("neg abs sign floor ceil round exp exp2 expm1 log log1p log2 log10 sqrt rsqrt cbrt sin "
         "cos tan asin acos atan sinh cosh tanh sigmoid log_sigmoid softplus relu gelu silu erf "
         "erfc erfinv lgamma digamma sinc").split()
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "maximum({}, {})", "minimum({}, {})",
          "atan2({}, {})", "{} + {}", "{} * {}", "pow(abs({}), {})", "{} % {}"]
COMPARE = "== != < <= > >=".split()
SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, -1e-40, 3e38, 1e30, 0.5,
           1.0, -1.0, 1e5, 65504.0]
ROWS = [1, 2, 3, 7, 20, 70, 150]
COLUMNS = [1, 2, 3, 10, 15, 16, 17, 31, 33, 64, 100, 257, 1023, 1024, 1025, 2050]


class Program:
    """Straight code. A value is (name, dtype, shape): `full`, `row` (one value a row)
    or `column` (one row for all)."""

    def __init__(self, rng):
        self.rng = rng
        self.dtype = rng.choice(FLOATS)
        self.lines = []
        self.values = [("x", self.dtype, "full"), ("transpose(y)", self.dtype, "full"),
                       ("a", self.dtype, "column"), ("c", self.dtype, "row"),
                       ("flip(x, axis = 1)", self.dtype, "full"),
                       ("where(c > -1.0, x, log(c * 0.0))", self.dtype, "full")]
        for _ in range(rng.randint(4, 22)):
            self.step()

    def define(self, text, dtype, shape):
        name = f"v{len(self.lines)}"
        self.lines.append(f"  let {name} = {text}")
        self.values.append((name, dtype, shape))

    def pick(self, dtype=None, shapes=("full", "row", "column")):
        found = [v for v in self.values if v[1] == (dtype or self.dtype) and v[2] in shapes]
        recent = found[-4:] if self.rng.random() < 0.6 else found
        return self.rng.choice(recent) if recent else None

    @staticmethod
    def joined(*values):
        shapes = {v[2] for v in values}
        return shapes.pop() if len(shapes) == 1 else "full"

    def step(self):
        kind = self.rng.random()
        a = self.pick()
        if kind < 0.3:
            op = self.rng.choice(UNARY)
            self.define(f"-{a[0]}" if op == "neg" else f"{op}({a[0]})", a[1], a[2])
        elif kind < 0.6:
            b = self.pick()
            self.define(self.rng.choice(BINARY).format(a[0], b[0]), a[1], self.joined(a, b))
        elif kind < 0.68:
            self.define(f"{a[0]} {self.rng.choice('+-*/')} {self.rng.choice(['2.0', '0.5', '3.0'])}",
                        a[1], a[2])
        elif kind < 0.73:
            self.define(f"{a[0]} ** {self.rng.randint(1, 5)}", a[1], a[2])
        elif kind < 0.82:
            b, c = self.pick(), self.pick()
            test = f"{a[0]} {self.rng.choice(COMPARE)} {b[0]}"
            if self.rng.random() < 0.3:
                test = f"is_nan({a[0]}) || {test}"
            self.define(f"where({test}, {c[0]}, {a[0]})", a[1], self.joined(a, b, c))
        elif kind < 0.87:
            other = self.rng.choice(["f32", "f64", "i32", "i8", "u16", "f16", "bf16"])
            self.define(f"{self.dtype}({other}({a[0]}))", a[1], a[2])
        elif kind < 0.91:
            full = self.pick(shapes=("full",))
            op = self.rng.choice(["softmax", "log_softmax"])
            self.define(f"{op}({full[0]}, axis = 1)", full[1], "full")
        else:
            full = self.pick(shapes=("full",))
            op = self.rng.choice(["sum", "max", "min", "mean", "sum", "prod", "logsumexp"])
            self.define(f"{op}({full[0]}, axis = 1, keepdims = true)", full[1], "row")

    def text(self):
        made = self.values[6:]
        results = self.rng.sample(made, min(len(made), self.rng.randint(1, 3)))
        if made[-1] not in results:
            results.append(made[-1])
        shape = {"full": "[n, m]", "row": "[n, 1]", "column": "[m]"}
        # Files have no bfloat16: it comes and goes as f32.
        small = self.dtype == "bf16"
        t = self.filed = "f32" if small else self.dtype
        types = [t + shape[v[2]] for v in results]
        head = (f"export fn f(x: {t}[n, m], y: {t}[m, n], a: {t}[m], c: {t}[n, 1]) -> "
                f"({', '.join(types)},) {{")
        enter = [f"  let {v} = bf16({v})" for v in "xyac"] if small else []
        leave = ", ".join(f"f32({v[0]})" if small else v[0] for v in results)
        return "\n".join([head] + enter + self.lines + [f"  ({leave},)", "}", ""])


def round_f32(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return float("inf") if x > 0 else -float("inf")


def encode(x, dtype):
    if dtype == "f64":
        return struct.pack("<d", x)
    if dtype == "f32":
        return struct.pack("<f", round_f32(x))
    try:
        return struct.pack("<e", x)
    except OverflowError:
        return struct.pack("<e", float("inf") if x > 0 else -float("inf"))


def write_npy(path, shape, dtype, rng, special):
    """Numbers of all sizes, such a share of them special."""
    count = 1
    for extent in shape:
        count *= extent
    data = b"".join(
        encode(rng.choice(SPECIAL) if rng.random() < special else rng.gauss(0, 2), dtype)
        for _ in range(count))
    both_ways.save_npy(path, shape, dtype, data)


def check(astrac, seed, rng, folder):
    program = Program(rng)
    n, m = rng.choice(ROWS), rng.choice(COLUMNS)
    (folder / "program.astra").write_text(program.text())
    inputs = []
    # Code that looks at whole vectors sees few of them without a special value.
    special = rng.choice([0.1, 0.1, 0.002])
    for name, shape in (("x", [n, m]), ("y", [m, n]), ("a", [m]), ("c", [n, 1])):
        inputs.append(str(folder / f"{name}.npy"))
        write_npy(inputs[-1], shape, program.filed, rng, special)
    expected = both_ways.run(astrac, folder, inputs, "--fuse=off")
    if isinstance(expected, str) and "over nothing" not in expected:
        return f"seed {seed} does not run:\n{program.text()}{expected}"
    choices = (["--cpu-level=v3"], ["--threads=3"], ["--cpu-level=ref", "--threads=2", "-O0"])
    wrong = both_ways.difference(astrac, folder, inputs, expected, choices)
    return wrong and f"seed {seed}, n {n}, m {m}, {wrong}\n{program.text()}"


both_ways.main(check, "fused and not")
