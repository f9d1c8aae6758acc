"""Agreement with JAX: values, gradients, tangents and products of a Hessian with a
direction of the functions in cases.py, in f32 and f64. JAX's numbers are written into
one program as literals, and `astrac test` compares them.

Usage: agree.py ASTRAC [NAME...]     (needs jax; --print writes the program only)

The tolerance is relative to the greatest element of what is compared: 1e-5 in f32 and
1e-12 in f64."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

# Before JAX is imported: its compiler's optimisations would take most of the time.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from cases import CASES  # noqa: E402

TOLERANCE = {"f32": 1e-5, "f64": 1e-12}
DTYPE = {"f32": numpy.float32, "f64": numpy.float64}


def literal(array):
    """A tensor as it is written in a program."""
    array = numpy.asarray(array)
    if array.ndim:
        return "[" + ", ".join(literal(row) for row in array) + "]"
    text = repr(float(array)) if array.dtype == numpy.float64 else str(numpy.float32(array))
    return text if "." in text or "e" in text else text + ".0"


def type_of(array, kind):
    return f"{kind}[{', '.join(map(str, array.shape))}]" if array.shape else kind


def samples(case, rng, kind):
    def draw(shape, low, high):
        return numpy.asarray(rng.uniform(low, high, shape), DTYPE[kind])
    arguments = [draw(*argument) for argument in case.arguments]
    return arguments, [draw(a.shape, -1, 1) for a in arguments], lambda like: draw(like.shape, -1, 1)


def tuple_of(words):
    return words[0] if len(words) == 1 else "(" + ", ".join(words) + ")"


class Test:
    """One case in one type: what JAX says, and the block that compares it."""

    def __init__(self, case, kind, rng):
        self.case, self.kind = case, kind
        self.arguments, self.tangents, draw = samples(case, rng, kind)
        self.names = [f"x{i}" for i in range(len(self.arguments))]
        self.wrt = tuple(range(len(self.arguments)))
        self.weight = draw(jax.eval_shape(case.jax, *self.arguments))

        def weighted(*xs):
            return jnp.sum(case.jax(*xs) * self.weight)

        @jax.jit  # one compilation for all that is compared
        def everything(xs, directions):
            value, tangent = jax.jvp(case.jax, xs, directions)
            gradient = jax.grad(weighted, self.wrt)
            second = jax.jvp(gradient, xs, directions)[1] if case.second else ()
            return value, tangent, gradient(*xs), second

        self.value, self.tangent, self.gradients, self.seconds = jax.tree.map(
            numpy.asarray, everything(tuple(self.arguments), tuple(self.tangents)))

    def let(self, name, array):
        return f"  let {name}: {type_of(array, self.kind)} = {literal(array)}\n"

    def close(self, what, expected):
        expected = numpy.asarray(expected)
        assert numpy.isfinite(expected).all(), f"{self.case.name}: JAX gives {expected} for {what}"
        scale = max(numpy.abs(expected).max(initial=0), 1e-30)
        tolerance = TOLERANCE[self.kind] * scale
        return (f"  let expected: {type_of(expected, self.kind)} = {literal(expected)}\n"
                f"  assert_close({what}, expected, rtol = 0.0, atol = {float(tolerance)!r})\n")

    def text(self):
        # The parameters of the body are called as the arguments are.
        parameters = ", ".join(f"{n}: {type_of(a, self.kind)}" for n, a in zip(self.names, self.arguments))
        body = re.sub(r"\bT(?=\[)", self.kind, self.case.astra)
        inputs, directions = ", ".join(self.names), ", ".join(f"d{i}" for i in self.wrt)
        wrt = "0" if len(self.wrt) == 1 else "(" + ", ".join(map(str, self.wrt)) + ")"
        value_type = type_of(self.value, self.kind)
        out = f'test "{self.case.name}, {self.kind}" {{\n'
        out += "".join(self.let(n, a) for n, a in zip(self.names, self.arguments))
        out += "".join(self.let(f"d{i}", t) for i, t in enumerate(self.tangents))
        out += self.let("weight", self.weight)
        out += f"  let f = |{parameters}| {body}\n"
        out += f"  let value: {value_type} = f({inputs})\n" + self.close("value", self.value)
        out += f"  let weighted = |{parameters}| sum(f({inputs}) * weight)\n"
        out += f"  let g = grad(weighted, wrt = {wrt})({inputs})\n"
        out += self.each("g", self.gradients)
        out += f"  let t = jvp(f, ({inputs},), ({directions},)).1\n" + self.close("t", self.tangent)
        if self.case.second:
            out += f"  let h = jvp(|{parameters}| grad(weighted, wrt = {wrt})({inputs}), ({inputs},), ({directions},)).1\n"
            out += self.each("h", self.seconds)
        return out + "}\n\n"

    def each(self, name, expected):
        if len(expected) == 1:
            return self.close(name, expected[0])
        return "".join(self.close(f"{name}.{i}", e) for i, e in enumerate(expected))


def program(wanted):
    rng = numpy.random.default_rng(20)
    text = "/// Written by test/agreement/agree.py: expected values are JAX's.\n\n"
    for case in CASES:
        for kind in TOLERANCE:
            if not wanted or case.name in wanted:
                text += Test(case, kind, rng).text()
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("astrac")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--print", action="store_true", dest="print_only")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    text = program(options.names)
    if options.print_only:
        print(text)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "agreement.astra"
        path.write_text(text)
        return subprocess.run([options.astrac, "test", path]).returncode


if __name__ == "__main__":
    sys.exit(main())
