"""Every differentiable elementwise operation of the registry at 0, -0, 1, -1, tiny and
huge numbers, infinities and NaN. What is right there is not written down but follows
from the derivative beside the point: where it is the same on both sides, or tends to a
limit, the derivative at the point is that; where there is one on either side, it is no
NaN; and NaN gives NaN. What is different by convention or by nature stands in a table."""
import math

from case_programs import program
from case_tools import Case, t
from evaluate import Tensor, call, load
from registry import operations

# How an operation with attributes is written, behind its operands.
VARIANTS = {
    "pow_int": [f", {k}" for k in range(5)],
    "polygamma": [f", {k}" for k in (0, 1, 2, 5)],
    "sinc": [f", {k}" for k in range(4)],
    "exprel": [f", {k}" for k in range(4)],
}
# Another form: types or a condition of their own.
OTHERS = {"select": "edges.py", "convert": "derivatives.py"}
# Where the derivative is a convention (docs/differentiation.md) or jumps by nature.
JUMPS = {
    "abs": (0,), "relu": (0,), "sign": (0,), "floor": (0, 1, -1), "ceil": (0, 1, -1),
    "round": (0.5, -0.5),
}
# At NaN the slope is known, whatever the value.
NAN_HAS_SLOPE = {"neg", "relu", "sign", "floor", "ceil", "round", "add", "sub", "mul", "div", "maximum",
                 "minimum", "rem"}
# The order of the derivative that is infinity times 0 at an infinity: its limit is known, and
# no formula without a test of its own gives it.
NAN_AT_INFINITY = {"gelu": 2, "erf": 2, "erfc": 2, "atan": 2, "rsqrt": 2, "sqrt": 3, "cbrt": 2,
                   "log": 3, "log1p": 3, "log2": 3, "log10": 3, "lgamma": 9}

POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-300, -1e-300]
ENDS = [math.inf, -math.inf]
STEP = 1e-7


class Slopes:
    """First and second derivatives of a function of one number, in both directions."""

    def __init__(self, name, body):
        self.name = name
        case = Case(name, body, [((), -1, 1)], ())
        self.functions = load(program(case), ["-astra-differentiate", "-astra-batch"])

    def number(self, value):
        return Tensor((), [value], "f64")

    def at(self, x, order):
        """The derivative by each composition of modes."""
        one, x = self.number(1.0), self.number(x)
        given = {"vjp": [one], "jvp": [one]} if order == 1 else {
            "jvp_vjp": [one, one], "vjp_vjp": [one, one], "vjp_jvp": [one, one], "jvp_jvp": [one]}
        return {name: call(self.functions, name, [x] + args, {})[0][0].data[0] for name, args in given.items()}

    def beside(self, x, order):
        return next(iter(self.at(x, order).values()))


def agree(a, b):
    return abs(a - b) <= 1e-5 * max(1.0, abs(a), abs(b))


def check_point(slopes, x, order):
    if order > 1 and math.isinf(slopes.beside(x, order - 1)):
        return  # at the edge of the domain
    step = STEP * abs(x) if x else STEP
    sides = [v for v in (slopes.beside(x + s * step, order) for s in (-1, 1)) if math.isfinite(v)]
    if len(sides) == 2 and sides[0] * sides[1] < 0 and min(map(abs, sides)) > 1e6:
        return  # a pole between infinities of both signs
    for mode, got in slopes.at(x, order).items():
        where = f"{mode} at {x!r} is {got!r}, beside it {sides}"
        if sides:
            assert got == got, where
        if len(sides) == 2 and agree(*sides):
            assert agree(got, sides[0]), where


def check_end(slopes, x, order):
    far, farther = (slopes.beside(math.copysign(v, x), order) for v in (1e100, 1e150))
    if not (math.isfinite(far) and agree(far, farther)):
        return
    for mode, got in slopes.at(x, order).items():
        assert agree(got, far), f"{mode} at {x!r} is {got!r}, far out {far!r}"


def check_nan(slopes, order):
    for mode, got in slopes.at(math.nan, order).items():
        assert got != got, f"{mode} at NaN is {got!r}"


def check_unary(name, suffix):
    slopes = Slopes(name, f"%y = astra.{name} %a0{suffix} : {t()}")
    for order in (1, 2):
        for x in POINTS:
            if x not in JUMPS.get(name, ()):
                check_point(slopes, x, order)
        if order < NAN_AT_INFINITY.get(name, 9):
            for x in ENDS:
                check_end(slopes, x, order)
    if name not in NAN_HAS_SLOPE and suffix not in (", 0", ", 1"):
        check_nan(slopes, 1)


def check_binary(name):
    """With the other operand a constant: 1 or 2 is what the points are not."""
    for other in (0.75, 2.0):
        constant = f"%c = astra.constant {other} : f64 -> {t()}\n"
        for operands in ("%a0, %c", "%c, %a0"):
            slopes = Slopes(name, f"{constant}%y = astra.{name} {operands} : {t()}")
            for order in (1, 2):
                for x in POINTS:
                    # A remainder jumps at every multiple of the divisor.
                    if name != "rem":
                        check_point(slopes, x, order)
            if name not in NAN_HAS_SLOPE:
                check_nan(slopes, 1)


def checks():
    """What is to be run, as pairs of a name and a function."""
    found = []
    for name, operation in sorted(operations().items()):
        if not (operation.elementwise and operation.differentiable) or name in OTHERS:
            continue
        if operation.attributes and name not in VARIANTS:
            def fail(name=name):
                raise AssertionError("it has attributes: say in VARIANTS how it is written")
            found.append((name, fail))
        elif len(operation.operands) == 1:
            for suffix in VARIANTS.get(name, [""]):
                found.append((name + suffix, lambda name=name, suffix=suffix: check_unary(name, suffix)))
        else:
            found.append((name, lambda name=name: check_binary(name)))
    return found
