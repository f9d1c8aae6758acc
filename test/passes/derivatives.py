"""Derivatives and batched forms of every operation, by numbers: the reverse and the
forward derivative against central differences of the operation itself, each against
the other, the four second derivatives against differences of the first, and a map
against the loop over its elements. Runs the astra-opt of the path; arguments name the
operations to check. An operation of the registry without a case fails."""
import math
import random
import sys

import attention_cases  # noqa: F401
import control_cases  # noqa: F401
import elementwise_cases  # noqa: F401
import linalg_cases  # noqa: F401
import tensor_cases  # noqa: F401
import window_cases  # noqa: F401
from case_programs import program
from case_tools import CASES, DIM, sample
from evaluate import Tensor, call, load
from registry import operations

# Why an operation has no case here.
ELSEWHERE = {
    "constant": "no operands", "dim": "no operands", "yield": "ends a region",
    "fused": "made after derivatives",
    "vjp": "every case uses it", "jvp": "every case uses it",
    "assert": "no result: batch-effects.mlir", "assert_eq": "no result: batch-effects.mlir",
    "assert_close": "no result: batch-effects.mlir",
    **{f"tape_{what}": "reverse mode makes them of loops: the cases of `for` and `while`"
       for what in ("new", "none", "either", "add", "read", "write")},
    "random_bits": "test/e2e/random", "random_split": "test/e2e/random",
}


def close(a, b, scale, tolerance):
    return abs(a - b) <= tolerance * max(1.0, scale) or a == b or (a != a and b != b)


def require(case, what, got, expected, tolerance):
    scale = max([abs(v) for v in expected if math.isfinite(v)], default=0)
    assert len(got) == len(expected), f"{what}: {len(got)} elements, expected {len(expected)}"
    for i, (a, b) in enumerate(zip(got, expected)):
        if not close(a, b, scale, tolerance):
            raise AssertionError(f"{what}: element {i} is {a!r}, expected {b!r}\n"
                                 f"  got {got}\n  expected {expected}\n{case.body}")


def flat(tensors):
    return [v for t in tensors for v in t.data]


def dot(p, q):
    return math.fsum(a * b for a, b in zip(flat(p), flat(q)))


def moved(values, floats, tangents, h):
    out = list(values)
    for i, tangent in zip(floats, tangents):
        out[i] = Tensor(values[i].shape,
                        [v + h * d for v, d in zip(values[i].data, tangent.data)], "f64")
    return out


class Checker:
    """The checks of one case at one sample of its arguments."""

    def __init__(self, case, rng):
        self.case, self.rng = case, rng
        self.functions = load(program(case), ["-astra-differentiate", "-astra-batch"])
        self.values = [sample(rng, a) for a in case.args]
        self.floats = [i for i, k in enumerate(case.kinds()) if k == "f64"]
        narrow = case.name == "convert"  # through f32
        self.h, self.tolerance = (1e-3, 1e-4) if narrow else (1e-6, 1e-7)

    def run(self, name, args):
        return call(self.functions, name, args, DIM)[0]

    def random_like(self, tensors):
        return [Tensor(x.shape, [self.rng.uniform(-1, 1) for _ in x.data], "f64") for x in tensors]

    def difference(self, f, tangents):
        up, down = (f(moved(self.values, self.floats, tangents, s * self.h)) for s in (1, -1))
        return [(p - q) / (2 * self.h) for p, q in zip(up, down)]

    def float_results(self, values):
        results = self.run("primal", values)
        return [results[i] for i in self.case.float_results()]

    def first(self):
        case, values = self.case, self.values
        tangents = self.random_like([values[i] for i in self.floats])
        cotangents = self.random_like(self.float_results(values))
        jvp = self.run("jvp", values + tangents)
        require(case, "jvp against differences", flat(jvp),
                self.difference(lambda v: flat(self.float_results(v)), tangents), self.tolerance)
        gradients = self.run("vjp", values + cotangents)
        require(case, "vjp against jvp", [dot(gradients, tangents)], [dot(cotangents, jvp)], 1e-12)
        return tangents, cotangents

    def second(self, tangents, cotangents):
        case, values = self.case, self.values
        args = values + cotangents + tangents
        second = self.difference(lambda v: flat(self.run("vjp", v + cotangents)), tangents)
        require(case, "jvp of vjp", flat(self.run("jvp_vjp", args)), second, 10 * self.tolerance)
        # The Hessian is symmetric: as cotangents the directions give the same.
        require(case, "vjp of vjp", flat(self.run("vjp_vjp", args)), second, 10 * self.tolerance)
        require(case, "vjp of jvp", flat(self.run("vjp_jvp", args)), second, 10 * self.tolerance)
        again = self.run("jvp_jvp", values + tangents)
        require(case, "jvp of jvp", [dot(again, cotangents)],
                [math.fsum(a * b for a, b in zip(second, flat(tangents)))], 100 * self.tolerance)

    def maps(self):
        case, values, n = self.case, self.values, len(self.values)
        others = [sample(self.rng, a) for a in case.args]
        for name, which in (("mapped", [0] * n), ("first", [0] + [-1] * (n - 1)), ("last", [-1] * (n - 1) + [0])):
            stacked = [Tensor((2,) + v.shape, v.data + o.data, v.kind) if a == 0 else v
                       for v, o, a in zip(values, others, which)]
            second = [o if a == 0 else v for v, o, a in zip(values, others, which)]
            one, two = self.run("primal", values), self.run("primal", second)
            for i, mapped in enumerate(self.run(name, stacked)):
                require(case, f"map ({name}), result {i}", mapped.data, one[i].data + two[i].data, 0)

    def constant(self):
        """What has no derivative is refused, or gives no tangent."""
        if not self.floats or not self.case.float_results():
            return
        try:
            functions = load(program(self.case, derivatives=True), ["-astra-differentiate"])
        except RuntimeError as refused:
            assert "E0707" in str(refused), str(refused)
            return
        tangents = self.random_like([self.values[i] for i in self.floats])
        for name, args in (("jvp", tangents), ("vjp", self.random_like(self.float_results(self.values)))):
            got = flat(call(functions, name, self.values + args, DIM)[0])
            assert not any(got), f"{name} gives {got}: the operation has a derivative, make this a case()"


def check(case, rng):
    checker = Checker(case, rng)
    if case.smooth:
        tangents, cotangents = checker.first()
    else:
        checker.constant()
    if case.smooth > 1:
        checker.second(tangents, cotangents)
    checker.maps()


# Operations on whole tensors have extents of 0 and 1 among their cases.
EXTENTS = ("Shape", "Reduction", "Contraction", "Index")


def extents_of(name):
    return {extent for case in CASES if case.name == name and case.smooth
            for shape in case.shapes() + case.results for extent in shape}


def uncovered():
    """What the registry has and the cases do not check, one sentence each."""
    smooth = {}
    for case in CASES:
        smooth[case.name] = max(smooth.get(case.name, 0), case.smooth)
    for name, operation in sorted(operations().items()):
        if name in ELSEWHERE:
            if name in smooth:
                yield f"{name}: it has a case, so it should not stand in ELSEWHERE"
        elif name not in smooth:
            yield f"{name}: no case: add one to the cases of its family"
        elif operation.differentiable and smooth[name] < 2:
            yield f"{name}: it is differentiable, and no case takes its second derivative"
        elif operation.differentiable and operation.family in EXTENTS and not {0, 1} <= extents_of(name):
            yield f"{name}: no case has an extent 0, or none an extent 1"
    for name in sorted(set(smooth) - set(operations())):
        yield f"{name}: there is no such operation"


def main():
    wanted = set(sys.argv[1:])
    rng = random.Random(1)
    failures = passed = 0
    for sentence in uncovered():
        failures += 1
        print(f"FAILED {sentence}")
    for case in CASES:
        if wanted and case.name not in wanted:
            continue
        try:
            check(case, rng)
            passed += 1
        except Exception as error:  # report all that fail
            failures += 1
            print(f"FAILED {case.name}: {type(error).__name__}: {str(error)[:1500]}\n")
    print(f"{passed} passed, {failures} failed")
    sys.exit(1 if failures else 0)


main()
