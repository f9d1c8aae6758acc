"""Derivatives where other systems have gone wrong, by exact values that were worked
out by hand or in exact arithmetic. Each is the gradient of %y, a scalar or a tensor
with cotangents 1, in both directions and both orders where a second one is given.
Behind them, every elementwise operation of the registry at zeros, infinities and NaN
(elementwise_edges.py)."""
import math
import sys

import elementwise_edges
from case_tools import t
from evaluate import Tensor, call, load


def wrap(body, args, result, wrt):
    """vjp with cotangents 1, and jvp along each unit vector is left to run()."""
    types = [t(*a[0], kind=a[2]) for a in args]
    names = [f"in{i}" for i in range(len(args))]
    sig = ", ".join(f"%{n}: {ty}" for n, ty in zip(names, types))
    inner = ", ".join(f"%a{i}: {ty}" for i, ty in enumerate(types))
    grads = [types[i] for i in wrt]
    use = ", ".join("%" + n for n in names)
    y = t(*result)
    returned = ", ".join(f"%out#{i + 1}" for i in range(len(wrt)))
    lists = ", ".join(grads)
    block = f"^bb0({inner}):\n{body}\nastra.yield %y : {y}\n"
    tangents = ", ".join(f"%t{i}: {types[i]}" for i in wrt)
    text = f"""func.func @vjp({sig}) -> ({lists}) {{
%ones = astra.constant 1.0 : f64 -> {y}
%out:{1 + len(wrt)} = astra.vjp({use}, %ones) args {len(args)} wrt {wrt} : ({', '.join(types + [y])}) -> ({', '.join([y] + grads)}) {{
{block}}}
return {returned} : {lists}
}}
func.func @jvp({sig}, {tangents}) -> {y} {{
%out:2 = astra.jvp({use}, {', '.join(f'%t{i}' for i in wrt)}) args {len(args)} wrt {wrt} : ({', '.join(types + grads)}) -> ({y}, {y}) {{
{block}}}
return %out#1 : {y}
}}
"""
    if result == () and len(wrt) == 1:
        one = types[wrt[0]]
        for outer in ("vjp", "jvp"):
            for deriv in ("vjp", "jvp"):
                text += f"""func.func @{outer}_{deriv}({sig}) -> {one} {{
%ones = astra.constant 1.0 : f64 -> {one}
%out:2 = astra.{outer}({use}, %ones) args {len(args)} wrt {wrt} : ({', '.join(types + [one])}) -> ({one}, {one}) {{
^bb0({inner.replace('%a', '%b')}):
%in:2 = astra.{deriv}({use.replace('%in', '%b')}, %ones) args {len(args)} wrt {wrt} : ({', '.join(types + [one])}) -> ({one}, {one}) {{
{block}}}
astra.yield %in#1 : {one}
}}
return %out#1 : {one}
}}
""" if args[wrt[0]][0] == () else ""
    return text


V3, S = t(3), t()
CASES = []


def edge(what, body, args, result, expected, second=None, tolerance=0, wrt=None):
    wrt = wrt if wrt is not None else [i for i, a in enumerate(args) if a[2] == "f64"]
    CASES.append((what, body, args, result, expected, second, tolerance, wrt))


def vector(*values):
    return ((len(values),), [float(v) for v in values], "f64")


def scalar(value):
    return ((), [float(value)], "f64")


for x, g in (([0, 2, 3], [9, 0, 0]), ([2, 3, 0], [4, 2, 6]), ([2, 0, 0, 3], [1, 2, 0, 0]), ([2, 0, 3, 4], [1, 32, 0, 0])):
    n = len(x)
    edge("running product", f"%y = astra.cumprod %a0 {{axis = 0 : i64}} : {t(n)}", [vector(*x)], (n,), [g])
for x, g in (([2, 0, 3, 4], [0, 24, 0, 0]), ([0, 0, 3], [0, 0, 0]), ([2, 3, 4], [12, 8, 6])):
    edge("product", f"%y = astra.prod %a0 {{axes = array<i64: 0>}} : ({t(len(x))}) -> {S}", [vector(*x)], (), [g])
edge("softplus at 0", f"%y = astra.softplus %a0 : {S}", [scalar(0)], (), [[0.5]], 0.25)
edge("softplus far out", f"%y = astra.softplus %a0 : {S}", [scalar(37.42994775023705)], (), [[1.0]],
     5.551115123125783e-17, 1e-14)
SELECT = f"({t(kind='i1')}, {S}, {S}) -> {S}"
edge("square root not taken", f"""%one = astra.constant 1.0 : f64 -> {S}
%c = astra.lt %a0, %one : ({S}, {S}) -> {t(kind='i1')}
%r = astra.sqrt %a0 : {S}
%y = astra.select %c, %a0, %r : {SELECT}""", [scalar(0)], (), [[1]])
edge("overflow not taken", f"""%z = astra.constant 0.0 : f64 -> {S}
%c = astra.gt %a0, %z : ({S}, {S}) -> {t(kind='i1')}
%r = astra.exp %a0 : {S}
%y = astra.select %c, %z, %r : {SELECT}""", [scalar(1e10)], (), [[0]])
edge("NaN not taken", f"""%f = astra.constant false -> {t(kind='i1')}
%nan = astra.constant 0x7FF8000000000000 : f64 -> {S}
%one = astra.constant 1.0 : f64 -> {S}
%p = astra.mul %a0, %nan : {S}
%y = astra.select %f, %p, %one : {SELECT}""", [scalar(2)], (), [[0]])
edge("relu of a logarithm at 0", f"%l = astra.log %a0 : {S}\n%y = astra.relu %l : {S}", [scalar(0)], (), [[0]])
edge("0 to the 1", f"%y = astra.pow %a0, %a1 : {S}", [scalar(0), scalar(1)], (), [[1], [0]])
edge("0 to the 0", f"%y = astra.pow %a0, %a1 : {S}", [scalar(0), scalar(0)], (), [[0], [0]])
edge("equal arguments", f"%y = astra.add %a0, %a1 : {S}", [scalar(3), scalar(3)], (), [[1], [1]])
edge("diagonal", f"%y = astra.gather %a0, %a1, %a1 {{axes = array<i64: 0, 1>}} : ({t(3, 3)}, {t(3, kind='i64')}, {t(3, kind='i64')}) -> {V3}",
     [((3, 3), [float(i) for i in range(9)], "f64"), ((3,), [0, 1, 2], "i64")], (3,), [[1, 0, 0, 0, 1, 0, 0, 0, 1]])
edge("repeated index", f"%y = astra.gather %a0, %a1 {{axes = array<i64: 0>}} : ({V3}, {t(4, kind='i64')}) -> {t(4)}",
     [vector(1, 2, 3), ((4,), [2, 0, 2, 2], "i64")], (4,), [[1, 0, 3]])
edge("norm at 0", f"""%n = astra.norm %a0 {{axes = array<i64: 0>}} : ({V3}) -> {S}
%y = astra.pow_int %n, 2 : {S}""", [vector(0, 0, 0)], (), [[0, 0, 0]])
edge("ties", f"%y = astra.max %a0 {{axes = array<i64: 0>}} : ({V3}) -> {S}", [vector(2, 1, 2)], (), [[0.5, 0, 0.5]])
for x, g in (([2, 1, 2], [1, 0, 0]), ([1, 2, 2], [0, 1, 0]), ([-math.inf] * 3, [1, 0, 0])):
    edge("first of equals", f"%y = astra.first_max %a0 {{axes = array<i64: 0>}} : ({V3}) -> {S}", [vector(*x)], (), [g])
WINDOW = f"%w = astra.reshape %a1 : ({t(2)}) -> {t(1, 1, 2)}\n%x = astra.reshape %a0 : ({V3}) -> {t(1, 1, 3)}"
for low, g, h in ((0, [5, 7, 0], [1, 2]), (4, [0, 0, 0], [0, 0]), (-2, [0, 0, 5], [3, 0])):
    edge("one window", WINDOW + f"""
%z = astra.conv %x, %w {{batch = 0 : i64, strides = ["1"], low = ["{low}"], spread = ["1"], dilations = ["1"]}} : ({t(1, 1, 3)}, {t(1, 1, 2)}) -> {t(1, 1, 1)}
%y = astra.reshape %z : ({t(1, 1, 1)}) -> {S}""", [vector(1, 2, 3), vector(5, 7)], (), [g, h])
edge("tie of two", f"%y = astra.maximum %a0, %a1 : {S}", [scalar(2), scalar(2)], (), [[0.5], [0.5]])
edge("abs and relu at 0", f"%p = astra.abs %a0 : {S}\n%q = astra.relu %a0 : {S}\n%y = astra.add %p, %q : {S}", [scalar(0)], (), [[0]])
edge("masked row", f"%y = astra.logsumexp %a0 {{axes = array<i64: 0>}} : ({V3}) -> {S}",
     [vector(-math.inf, -math.inf, -math.inf)], (), [[0, 0, 0]])
ATTENTION = f"""%y, %s = astra.attention %a0, %a1, %a2, %a3 {{{{}}}} : ({t(1, 2)}, {t(2, 2)}, {t(2, 1)}, {t(1, 2, kind='i1')}) -> ({t(1, 1)}, {t(1)})"""
for sees, values in (([False, False], [0, 0]), ([True, False], [1, 0])):
    edge("attention to keys that are not seen, which are infinite and NaN", ATTENTION.format(""),
         [((1, 2), [0.5, -1.0], "f64"), ((2, 2), [1.0, 2.0, math.inf, math.nan], "f64"),
          ((2, 1), [3.0, math.inf], "f64"), ((1, 2), sees, "i1")], (1, 1), [[0, 0], [0, 0, 0, 0], values])
edge("attention to a key above all others that is not seen", ATTENTION.format(""),
     [((1, 2), [1e200, 0.0], "f64"), ((2, 2), [0.0, 1.0, 1e200, 0.0], "f64"),
      ((2, 1), [3.0, 1e200], "f64"), ((1, 2), [True, False], "i1")], (1, 1), [[0, 0], [0, 0, 0, 0], [1, 0]])
edge("steep tanh", f"""%c = astra.constant 1.0e+08 : f64 -> {S}
%u = astra.mul %c, %a0 : {S}
%m = astra.neg %u : {S}
%h = astra.tanh %m : {S}
%q = astra.pow_int %u, 2 : {S}
%y = astra.mul %h, %q : {S}""", [scalar(1)], (), [[-2e16]], -2e16, 1e-15)
M3 = t(3, 3)


def matrix(*rows):
    return ((len(rows), len(rows[0])), [float(v) for row in rows for v in row], "f64")


DET = f"%y = astra.det %a0 : ({M3}) -> {S}"
edge("determinant of rank 2", DET, [matrix((1, 2, 3), (2, 4, 6), (1, 0, 1))], (),
     [[4, 4, -4, -2, -2, 2, 0, 0, 0]])
edge("determinant of rank 1", DET, [matrix((1, 2, 3), (2, 4, 6), (3, 6, 9))], (), [[0] * 9])
edge("determinant of nothing but 0", DET, [matrix((0, 0, 0), (0, 0, 0), (0, 0, 0))], (), [[0] * 9])
edge("equal eigenvalues", f"""%w, %v = astra.eigh %a0 : ({M3}) -> ({V3}, {M3})
%y = astra.sum %w {{axes = array<i64: 0>}} : ({V3}) -> {S}""", [matrix((2, 0, 0), (0, 2, 0), (0, 0, 2))], (),
     [[1, 0, 0, 0, 1, 0, 0, 0, 1]])
edge("vectors of equal eigenvalues", f"""%w, %y = astra.eigh %a0 : ({M3}) -> ({V3}, {M3})""",
     [matrix((2, 0, 0), (0, 2, 0), (0, 0, 2))], (3, 3), [[0] * 9])
edge("equal singular values", f"""%u, %s, %vt = astra.svd %a0 : ({M3}) -> ({M3}, {V3}, {M3})
%y = astra.sum %s {{axes = array<i64: 0>}} : ({V3}) -> {S}""", [matrix((2, 0, 0), (0, 2, 0), (0, 0, 2))], (),
     [[1, 0, 0, 0, 1, 0, 0, 0, 1]])
LOOP = f"""%z = astra.constant 1 : i64 -> {t(kind='i64')}
%e = astra.constant 21 : i64 -> {t(kind='i64')}
%tenth = astra.constant 0.1 : f64 -> {t(4)}
%L0 = astra.constant 0.0 : f64 -> {S}
%x0 = astra.broadcast %a0 {{axes = array<i64>}} : ({S}) -> {t(4)}
%x, %y = astra.for %z to %e init(%x0, %L0) : {t(kind='i64')}, ({t(4)}, {S}) -> ({t(4)}, {S})MARK {{
^bb0(%i: {t(kind='i64')}, %s: {t(4)}, %L: {S}):
  %w = astra.broadcast %a0 {{axes = array<i64>}} : ({S}) -> {t(4)}
  %p = astra.mul %w, %s : {t(4)}
  %q = astra.add %p, %tenth : {t(4)}
  %f = astra.convert %i : ({t(kind='i64')}) -> {S}
  %k = astra.sum %q {{axes = array<i64: 0>}} : ({t(4)}) -> {S}
  %l = astra.mul %f, %k : {S}
  %M = astra.add %L, %l : {S}
  astra.yield %q, %M : {t(4)}, {S}
}}"""


def check(case):
    what, body, args, result, expected, second, tolerance, wrt = case
    functions = load(wrap(body, args, result, wrt), ["-astra-differentiate", "-astra-batch"])
    values = [Tensor(a[0], a[1], a[2]) for a in args]

    def same(got, want, how):
        if abs(got - want) > tolerance * abs(want) or got != got:
            raise AssertionError(f"{how}: {got!r} where {want!r} is right")

    for got, want in zip(call(functions, "vjp", values, {})[0], expected):
        for g, w in zip(got.data, want):
            same(g, w, "vjp")
    for place, i in enumerate(wrt):
        for j in range(len(values[i].data)):
            tangents = [Tensor(values[k].shape, [float(k == i and p == j) for p in range(len(values[k].data))], "f64")
                        for k in wrt]
            got = call(functions, "jvp", values + tangents, {})[0][0]
            same(sum(got.data), expected[place][j], "jvp")
    if second is not None:
        for name in ("vjp_vjp", "vjp_jvp", "jvp_vjp", "jvp_jvp"):
            same(call(functions, name, values, {})[0][0].data[0], second, name)


for mark in ("", " attributes {checkpoint}"):
    edge("twenty steps" + mark, LOOP.replace("MARK", mark), [scalar(0.5)], (), [[355.198837]], tolerance=1e-8)


def main():
    failures = passed = 0
    for what, run in [(case[0], lambda case=case: check(case)) for case in CASES] + elementwise_edges.checks():
        try:
            run()
            passed += 1
        except Exception as error:  # report all that fail
            failures += 1
            print(f"FAILED {what}: {type(error).__name__}: {str(error)[:1000]}\n")
    print(f"{passed} passed, {failures} failed")
    sys.exit(1 if failures else 0)


main()
