"""Products and the fused kernels around them give the bits of separate kernels: random
epilogues (bias, activation, residual, scale, mask, several results, an update in place)
behind contractions and convolutions of every way that kernels have, and random prologues
that make one operand or both, compiled with --fuse=on and --fuse=off and run at every
level and on several threads.

Usage: epilogues.py ASTRAC [COUNT [SEED]]. A failing program is shown."""
import array
import struct

import both_ways

SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, -1e-40, 3e38]
# What a product is made of: its text, its shape and those of x and w. Sizes that have
# boxes (16384 elements), ragged ones and empty ones, in the ways of packed products,
# of tall ones, of few rows, of many k and of exchanged operands.
MATRICES = [
    ("{x} @ {w}", "n m", "n k", "k m"),
    ("{x} @ {w}", "n m", "n k", "k m"),
    ("transpose({x}) @ {w}", "n m", "k n", "k m"),
    ("{x} @ transpose({w})", "n m", "n k", "m k"),
    ("{x} @ {w}", "b n m", "b n k", "k m"),
    ("{x} @ {w}", "b n m", "b n k", "b k m"),
    ('einsum("bik,bkj->ibj", {x}, {w})', "n b m", "b n k", "b k m"),
    ('einsum("ik,kj->ji", {x}, {w})', "m n", "n k", "k m"),
]
SIZES = [
    dict(b=2, n=150, k=70, m=1100), dict(b=3, n=129, k=257, m=61), dict(b=2, n=1500, k=9, m=20),
    dict(b=2, n=3000, k=33, m=64), dict(b=1, n=5, k=40, m=4099), dict(b=1, n=40, k=4500, m=450),
    dict(b=2, n=4100, k=12, m=3), dict(b=2, n=130, k=0, m=150), dict(b=2, n=0, k=5, m=70),
    dict(b=0, n=130, k=5, m=150), dict(b=3, n=7, k=3, m=5), dict(b=40, n=30, k=20, m=18),
]
CONVOLUTIONS = [
    ("conv({x}, {w}, padding = 1)", (3, 20, 30, 19), (34, 20, 3, 3), (3, 34, 30, 19)),
    ("conv({x}, {w})", (2, 40, 32, 31), (33, 40, 3, 2), (2, 33, 30, 30)),
    ("conv({x}, {w}, stride = 2, padding = 1)", (2, 12, 61, 75), (32, 12, 3, 3), (2, 32, 31, 38)),
    ("conv({x}, {w})", (2, 16, 30, 33), (20, 16, 1, 1), (2, 20, 30, 33)),
    ("conv({x}, {w}, padding = 1)", (2, 0, 30, 19), (34, 0, 3, 3), (2, 34, 30, 19)),
]


# What makes an operand; the last ones are for f32.
MAKERS = ["relu({})", "(gelu({}) * 2.0)", "where({0} > 0.1, {0}, 0.0)", "({0} * {0} - 0.5)", "tanh({} + 1.0)",
          "(f32(f16({})) * 1.5)", "f32(f16({}))"]


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.dtype = rng.choice(["f32", "f32", "f32", "f64", "f16", "bf16"])
        if rng.random() < 0.25:
            self.dtype = "f32"
            self.product, x, w, self.shape = rng.choice(CONVOLUTIONS)
            self.names = ", ".join(map(str, self.shape))
            self.shapes = {"x": x, "w": w}
            self.types = {"x": ", ".join(map(str, x)), "w": ", ".join(map(str, w))}
            self.bias = (self.shape[1], 1, 1)
        else:
            self.product, result, x, w = rng.choice(MATRICES)
            size = rng.choice(SIZES)
            take = lambda names: tuple(size[name] for name in names.split())
            self.names, self.shape = result.replace(" ", ", "), take(result)
            self.shapes = {"x": take(x), "w": take(w)}
            self.types = {"x": x.replace(" ", ", "), "w": w.replace(" ", ", ")}
            self.bias = self.shape[-1:]
        self.shapes.update(r=self.shape, a=self.bias)
        makers = MAKERS if self.dtype == "f32" else MAKERS[:-2]
        operands = {name: rng.choice(makers).format(name) if rng.random() < 0.4 else name for name in "xw"}
        self.product = self.product.format(**operands)
        last = self.names.split(", ")[-1]
        self.types.update(r=self.names,
                          a=last if len(self.bias) == 1 else ", ".join(map(str, self.bias)))

    def text(self):
        rng, value, t = self.rng, "y", self.dtype
        for _ in range(rng.randint(1, 4)):
            value = rng.choice(["{} + a", "relu({})", "{} + r", "r - {} * 0.5", "gelu({})", "{} * a",
                                "where(r > 0.0, {}, 0.0)", "tanh({})", "{} * 2.0"]).format(value)
        shape = f"[{self.names}]"
        result, kind = ("z", t + shape), rng.random()
        if kind < 0.2:
            # A state that is updated where it lies.
            result = (f"loop (r) for t in 0..2 {{ let y = {self.product}; {value} }}", t + shape)
        elif kind < 0.3:
            result = ("sum(z, axis = 0)", f"{t}[{', '.join(self.names.split(', ')[1:])}]")
        elif kind < 0.4:
            result = ("z > 0.5", "bool" + shape)
        results = [result] + rng.choice([[], [], [], [("y", t + shape)], [("z > 0.0", "bool" + shape)]])
        if t == "bf16":  # files have none
            results = [(v if u.startswith("bool") else f"f32({v})", u.replace("bf16", "f32")) for v, u in results]
        given = "f32" if t == "bf16" else t
        parameters = ", ".join(f"{name}: {given}[{self.types[name]}]" for name in "xwra")
        lines = [f"  let {v} = bf16({v})" for v in "xwra"] if t == "bf16" else []
        return "\n".join([f"export fn f({parameters}) -> ({', '.join(u for _, u in results)},) {{", *lines,
                          f"  let y = {self.product}", f"  let z = {value}",
                          f"  ({', '.join(v for v, _ in results)},)", "}", ""])


def write_npy(path, shape, dtype, rng, special):
    count = 1
    for extent in shape:
        count *= extent
    values = [rng.choice(SPECIAL) if rng.random() < special else rng.uniform(-1, 1) for _ in range(count)]
    if dtype == "f16":
        data = struct.pack(f"<{count}e", *(65504.0 if v == 3e38 else v for v in values))
    else:
        data = array.array("d" if dtype == "f64" else "f", values).tobytes()
    both_ways.save_npy(path, shape, dtype, data)


def check(astrac, seed, rng, folder):
    program = Program(rng)
    text = program.text()
    (folder / "program.astra").write_text(text)
    special = rng.choice([0, 0, 0.001])
    for name in "xwra":
        write_npy(folder / f"{name}.npy", program.shapes[name], program.dtype, rng, special)
    inputs = [str(folder / f"{name}.npy") for name in "xwra"]
    expected = both_ways.run(astrac, folder, inputs, "--fuse=off")
    if isinstance(expected, str):
        return f"seed {seed} does not run:\n{text}{expected}"
    choices = ([], ["--threads=2"], ["--threads=3", "--cpu-level=v3"], ["--threads=7"],
               ["--cpu-level=ref", "--threads=2"])
    wrong = both_ways.difference(astrac, folder, inputs, expected, choices)
    return wrong and f"seed {seed}, {program.shapes}, {wrong}\n{text}"


both_ways.main(check, "joined and not")
