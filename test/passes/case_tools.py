"""What a case of an operation is, and the list of all of them: a program that
computes %y from %a0, %a1, ..., with samples of its arguments. A family of operations
has a file <family>_cases.py, which derivatives.py imports."""
from tensors import Tensor, size

DIM = {"n": 4}
I64 = "i64"
CASES = []


def t(*shape, kind="f64"):
    return f"!astra.tensor<{kind}, [{', '.join(map(str, shape))}]>"


def ints(*values):
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


class Case:
    """`body` computes %y; with a list of results, %y#0, %y#1, ... (`%y:2 = ...`).
    `args` are (shape, low, high) of floats or (shape, values, kind, 0) of others; an
    argument may also be a function of the random generator that gives a Tensor."""

    def __init__(self, name, body, args, result, smooth=2, kind="f64"):
        self.name, self.body, self.args = name, body, args
        several = isinstance(result, list)
        self.results = result if several else [result]
        self.result_kinds = list(kind) if isinstance(kind, (list, tuple)) else [kind] * len(self.results)
        self.values = [f"%y#{i}" for i in range(len(self.results))] if several else ["%y"]
        self.smooth = smooth  # how often it can be differentiated

    def kinds(self):
        return ["f64" if callable(a) or len(a) == 3 else a[2] for a in self.args]

    def shapes(self):
        return [a.shape if callable(a) else a[0] for a in self.args]

    def types(self):
        return [t(*s, kind=k) for s, k in zip(self.shapes(), self.kinds())]

    def result_types(self):
        return [t(*s, kind=k) for s, k in zip(self.results, self.result_kinds)]

    def float_results(self):
        return [i for i, k in enumerate(self.result_kinds) if k == "f64"]


class Special:
    """An argument that must have a form: `make(random numbers)` gives its elements
    from as many random numbers in -1..1 (a symmetric or a triangular matrix, say)."""

    def __init__(self, shape, make):
        self.shape, self.make = shape, make

    def __call__(self, rng):
        return Tensor(self.shape, self.make([rng.uniform(-1, 1) for _ in range(size(self.shape))]), "f64")


def sample(rng, arg):
    if callable(arg):
        return arg(rng)
    if len(arg) == 3:
        shape, low, high = arg
        shape = tuple(DIM.get(n, n) for n in shape)
        return Tensor(shape, [rng.uniform(low, high) for _ in range(size(shape))], "f64")
    return Tensor(arg[0], arg[1], arg[2])


def plain(name, body, args, result, kind):
    """Only mapped: it has no derivative."""
    CASES.append(Case(name, body, args, result, 0, kind))


def case(name, body, args, result, **more):
    CASES.append(Case(name, body, args, result, **more))
