"""The elementwise operations on Python's floats (f64, every operation rounded once)
and integers, from the mathematical definitions: nothing here is how the kernels work."""
import math

from tensors import Tensor


def pole(x, order):
    """What polygamma has at 0 and the negative whole numbers."""
    if order % 2:
        return math.inf
    return math.copysign(math.inf, -x) if x == 0 else math.nan


def is_pole(x):
    return x <= 0 and (math.isinf(x) or math.floor(x) == x)


def digamma(x):
    if is_pole(x):
        return pole(x, 0)
    r = 0.0
    while x < 12:
        r -= 1 / x
        x += 1
    f = 1 / (x * x)
    return r + math.log(x) - 0.5 / x - f * (
        1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f / 132))))


def trigamma(x):
    if is_pole(x):
        return pole(x, 1)
    r = 0.0
    while x < 20:
        r += 1 / (x * x)
        x += 1
    f = 1 / (x * x)
    return r + 1 / x + f / 2 + (1 / x) * f * (
        1 / 6 - f * (1 / 30 - f * (1 / 42 - f / 30)))


def polygamma(x, order):
    """(-1)^(order + 1) order! times the sum of 1/(x + i)^(order + 1): the first terms
    one by one, the rest by the series of Euler and Maclaurin."""
    if order < 2:
        return (digamma, trigamma)[order](x)
    if is_pole(x):
        return pole(x, order)
    s, terms = order + 1, []
    while x < 30 + order:
        terms.append(x ** -s)
        x += 1
    terms += [x ** (1 - s) / (s - 1), x ** -s / 2]
    rising = s
    for j, b in enumerate((1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160), 1):
        terms.append(b * rising * x ** (1 - s - 2 * j))
        rising *= (s + 2 * j - 1) * (s + 2 * j)
    return (-1) ** s * math.factorial(order) * math.fsum(terms)


def legendre_nodes(count):
    """The nodes and weights of Gauss's rule on 0..1."""
    found = []
    for i in range(count):
        x = math.cos(math.pi * (i + 0.75) / (count + 0.5))
        for _ in range(20):
            before, value = 1.0, x
            for k in range(2, count + 1):
                before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
            slope = count * (x * value - before) / (x * x - 1)
            x -= value / slope
        found.append(((x + 1) / 2, 1 / ((1 - x * x) * slope * slope)))
    return found


NODES = legendre_nodes(40)


def sinc(x, order):
    """The integral of (pi t)^order cos(pi x t + order pi / 2) over 0..1."""
    return math.fsum(w * (math.pi * t) ** order * math.cos(math.pi * x * t + order * math.pi / 2)
                     for t, w in NODES)


def exprel(x, order):
    """The integral of t^order e^(x t) over 0..1."""
    return math.fsum(w * t ** order * exp(x * t) for t, w in NODES)


def erfinv(y):
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    x = 0.0
    for _ in range(100):
        x -= (math.erf(x) - y) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return x


def safe(f):
    def g(*x):
        try:
            return f(*x)
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan
    return g


def whole(f):
    """A rounding to whole numbers, with the sign of zero and what is not finite kept."""
    return lambda x: math.copysign(float(f(x)), x) if math.isfinite(x) else x


def sign(x):
    return x if x == 0 or x != x else math.copysign(1.0, x)


def log1p(x):
    return -math.inf if x == -1 else math.log1p(x)


def sinh(x):
    return math.sinh(x) if abs(x) < 710 else math.copysign(math.inf, x) if x == x else x


def exp(x):
    return math.inf if x > 709.78 else math.exp(x)


def log(x):
    return -math.inf if x == 0 else math.log(x) if x > 0 else math.nan


def sigmoid(x):
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def softplus(x):
    return x + math.log1p(exp(-x)) if x > 0 else math.log1p(exp(x))


def div(a, b):
    if isinstance(a, int):
        return a // b
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def power_int(a, exponent):
    """Without the error that Python's operator has where the result is infinite."""
    result = 1 if isinstance(a, int) else 1.0
    for _ in range(exponent):
        result *= a
    return result


def power(a, b):
    if a == 0 and b < 0:
        return math.inf
    return float(a) ** b if not (a < 0 and b != int(b)) else math.nan


def maximum(a, b):
    if a == b == 0 and isinstance(a, float):
        return b if math.copysign(1.0, a) < 0 else a
    return a if a != a or a > b else b


def minimum(a, b):
    return -maximum(-a, -b)


UNARY = {
    "neg": lambda x: -x, "abs": abs, "relu": lambda x: x if x > 0 or x != x else 0 * x,
    "sign": sign, "floor": whole(math.floor), "ceil": whole(math.ceil), "round": whole(round),
    "exp": exp, "exp2": lambda x: 2.0 ** x, "expm1": math.expm1, "log": log,
    "log1p": log1p, "log2": math.log2, "log10": math.log10,
    "sqrt": math.sqrt, "rsqrt": lambda x: div(1.0, math.sqrt(x)),
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x), "sin": math.sin,
    "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
    "atan": math.atan, "sinh": sinh, "cosh": math.cosh, "tanh": math.tanh,
    "sech2": lambda x: math.cosh(x) ** -2 if abs(x) < 350 else 0.0 if x == x else x,
    "sigmoid": sigmoid, "log_sigmoid": lambda x: -softplus(-x),
    "softplus": softplus, "gelu": lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)),
    "silu": lambda x: x * sigmoid(x), "erf": math.erf, "erfc": math.erfc,
    "erfinv": erfinv, "lgamma": math.lgamma, "digamma": digamma,
    "trigamma": trigamma, "bitcast": lambda x: x, "is_nan": lambda x: x != x, "is_inf": math.isinf,
    "stop_gradient": lambda x: x, "debug": lambda x: x,
}
BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": div, "rem": lambda a, b: a - b * math.floor(a / b) if isinstance(a, float) else a % b,
    "pow": power, "atan2": math.atan2, "maximum": maximum, "minimum": minimum,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: a << b, "shift_right": lambda a, b: a >> b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}


class ElementwiseOperations:
    """Methods of Evaluator for those that need an attribute or more than one type,
    with the arguments that ShapeOperations' have."""

    def op_not(self, op, x, a, shape, kind, env):
        return Tensor(shape, [not v if kind == "i1" else ~v for v in x[0].data], kind)

    def op_pow_int(self, op, x, a, shape, kind, env):
        return Tensor(shape, [power_int(v, a["exponent"]) for v in x[0].data], kind)

    def op_select(self, op, x, a, shape, kind, env):
        return Tensor(shape, [p if c else q for c, p, q in zip(*(t.data for t in x))], kind)

    def op_convert(self, op, x, a, shape, kind, env):
        to = float if kind[0] in "fb" else bool if kind == "i1" else int
        return Tensor(shape, map(to, x[0].data), kind)

    def op_polygamma(self, op, x, a, shape, kind, env):
        return ordered(polygamma, x, a, kind)

    def op_sinc(self, op, x, a, shape, kind, env):
        return ordered(sinc, x, a, kind)

    def op_exprel(self, op, x, a, shape, kind, env):
        return ordered(exprel, x, a, kind)


def ordered(function, x, a, kind):
    return Tensor(x[0].shape, [safe(function)(v, a["order"]) for v in x[0].data], kind)
