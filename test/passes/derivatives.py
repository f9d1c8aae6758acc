"""Derivatives and batched forms of every operation, by numbers: the reverse and
the forward derivative against central differences of the operation itself, the
derivative of the derivative likewise, and a map against the loop over its
elements. Runs the astra-opt of the path; arguments name the operations to check.
A new operation without a case fails."""
import glob
import math
import os
import random
import re
import sys

from evaluate import Tensor, call, load, size

DIM = {"n": 4}


def t(*shape, kind="f64"):
    return f"!astra.tensor<{kind}, [{', '.join(map(str, shape))}]>"


def ints(*values):
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


class Case:
    """`body` computes %y from %a0, %a1, ...; `args` are (shape, low, high) of
    floats or (shape, values) of integers."""

    def __init__(self, name, body, args, result, smooth=2, kind="f64"):
        self.name, self.body, self.args, self.result = name, body, args, result
        self.smooth = smooth  # how often it can be differentiated
        self.kind = kind      # of the result

    def kinds(self):
        return ["f64" if len(a) == 3 else a[2] for a in self.args]

    def types(self):
        return [t(*a[0], kind=k) for a, k in zip(self.args, self.kinds())]


def sample(rng, arg):
    if len(arg) == 3:
        shape, low, high = arg
        shape = tuple(DIM.get(n, n) for n in shape)
        return Tensor(shape, [rng.uniform(low, high) for _ in range(size(shape))], "f64")
    return Tensor(arg[0], arg[1], arg[2])


CASES = []


def plain(name, body, args, result, kind):
    """Only mapped: it has no derivative."""
    CASES.append(Case(name, body, args, result, 0, kind))


def case(name, body, args, result, **more):
    CASES.append(Case(name, body, args, result, **more))


def unary(name, low=-1.5, high=1.5, attrs="", smooth=2):
    case(name, f"%y = astra.{name} %a0{attrs} : {t(3)}", [((3,), low, high)], (3,),
         smooth=smooth)


for op in ("neg exp exp2 expm1 sin cos tan sinh cosh tanh sigmoid log_sigmoid softplus "
           "gelu silu erf erfc atan cbrt").split():
    unary(op, *((0.3, 1.5) if op == "cbrt" else ()))
for op in "log log2 log10 sqrt rsqrt lgamma digamma".split():
    unary(op, 0.4, 2.5, smooth=1 if op == "digamma" else 2)
for op in "asin acos erfinv log1p".split():
    unary(op, -0.7, 0.7)
for op in "abs relu sign floor ceil round".split():
    unary(op, 0.1, 0.4)
    unary(op, -0.4, -0.1)
for exponent in (0, 1, 2, 3, 5):
    unary("pow_int", attrs=f", {exponent}")
for op in "add sub mul div rem pow atan2 maximum minimum".split():
    case(op, f"%y = astra.{op} %a0, %a1 : {t(3)}",
         [((3,), 0.5, 1.4), ((3,), 1.5, 2.0)], (3,))
case("pow", f"%c = astra.constant 2.5 : f64 -> {t(3)}\n%y = astra.pow %a0, %c : {t(3)}",
     [((3,), 0.5, 1.5)], (3,))
case("select", f"""%z = astra.constant 0.5 : f64 -> {t(4)}
%c = astra.lt %a0, %z : ({t(4)}, {t(4)}) -> {t(4, kind='i1')}
%s = astra.mul %a0, %a1 : {t(4)}
%e = astra.exp %a1 : {t(4)}
%y = astra.select %c, %s, %e : ({t(4, kind='i1')}, {t(4)}, {t(4)}) -> {t(4)}""",
     [((4,), 0, 1), ((4,), 0, 1)], (4,))
case("convert", f"""%h = astra.convert %a0 : ({t(3)}) -> {t(3, kind='f32')}
%m = astra.mul %h, %h : {t(3, kind='f32')}
%y = astra.convert %m : ({t(3, kind='f32')}) -> {t(3)}""", [((3,), -1, 1)], (3,))
case("debug", f'%k = astra.debug %a0, "x" : {t(3)}\n%y = astra.sin %k : {t(3)}',
     [((3,), -1, 1)], (3,))

case("broadcast", f"%y = astra.broadcast %a0 {{axes = {ints(0, 2)}}} : ({t(2, 1)}) -> {t(2, 3, 4)}",
     [((2, 1), -1, 1)], (2, 3, 4))
case("reshape", f"%y = astra.reshape %a0 : ({t(2, 6)}) -> {t(3, 4)}", [((2, 6), -1, 1)], (3, 4))
case("check_shape", f"%y = astra.check_shape %a0 : ({t(4)}) -> {t('n')}", [((4,), -1, 1)], ("n",))
case("transpose", f"%y = astra.transpose %a0 {{perm = {ints(2, 0, 1)}}} : ({t(2, 3, 4)}) -> {t(4, 2, 3)}",
     [((2, 3, 4), -1, 1)], (4, 2, 3))
case("flip", f"%y = astra.flip %a0 {{axes = {ints(0)}}} : {t(3, 2)}", [((3, 2), -1, 1)], (3, 2))
case("concat", f"%y = astra.concat %a0, %a1 {{axis = 1 : i64}} : ({t(2, 3)}, {t(2, 2)}) -> {t(2, 5)}",
     [((2, 3), -1, 1), ((2, 2), -1, 1)], (2, 5))
case("pad", f"%y = astra.pad %a0, %a1 {{low = [\"1\", \"0\"], high = [\"0\", \"2\"]}} : ({t(2, 3)}, {t()}) -> {t(3, 5)}",
     [((2, 3), -1, 1), ((), -1, 1)], (3, 5))

for op in "sum prod max min norm logsumexp".split():
    case(op, f"%y = astra.{op} %a0 {{axes = {ints(0, 2)}}} : ({t(2, 3, 2)}) -> {t(3)}",
         [((2, 3, 2), -1, 1)], (3,))
for op in "softmax log_softmax cumsum cumprod sort".split():
    case(op, f"%y = astra.{op} %a0 {{axis = 0 : i64}} : {t(3, 2)}", [((3, 2), -1, 1)], (3, 2))
    case(op, f"%y = astra.{op} %a0 {{axis = 1 : i64}} : {t(2, 4)}", [((2, 4), -1, 1)], (2, 4))


def contract(a, b, result, *axes):
    names = ["batch_a", "batch_b", "contract_a", "contract_b"]
    attrs = ", ".join(f"{n} = {ints(*v)}" for n, v in zip(names, axes))
    case("contract", f"%y = astra.contract %a0, %a1 {{{attrs}}} : ({t(*a)}, {t(*b)}) -> {t(*result)}",
         [(a, -1, 1), (b, -1, 1)], result)


contract((2, 3), (3, 4), (2, 4), (), (), (1,), (0,))
contract((3, 2), (4, 3), (2, 4), (), (), (0,), (1,))
contract((2, 3, 4), (4, 2, 5), (2, 3, 5), (0,), (1,), (2,), (0,))
contract((2, 3, 4), (4, 3), (2,), (), (), (1, 2), (1, 0))
contract((2, 3), (4,), (2, 3, 4), (), (), (), ())
contract((2, 3, 2), (3, 2, 2), (2, 2, 2), (2,), (1,), (1,), (0,))

I64 = "i64"
case("slice", f"%y = astra.slice %a0 {{starts = [\"1\", \"0\"], dynamic_axes = {ints()}}} : ({t(4, 3)}) -> {t(2, 3)}",
     [((4, 3), -1, 1)], (2, 3))
case("slice", f"%y = astra.slice %a0, %a1 {{starts = [\"0\", \"1\"], dynamic_axes = {ints(0)}}} : ({t(4, 3)}, {t(kind=I64)}) -> {t(2, 2)}",
     [((4, 3), -1, 1), ((), [1], I64, 0)], (2, 2))
for add in ("", ", add"):
    case("update_slice", f"%y = astra.update_slice %a0, %a1, %a2 {{starts = [\"0\", \"1\"], dynamic_axes = {ints(0)}{add}}} : ({t(4, 3)}, {t(2, 2)}, {t(kind=I64)}) -> {t(4, 3)}",
         [((4, 3), -1, 1), ((2, 2), -1, 1), ((), [1], I64, 0)], (4, 3))
    case("scatter", f"%y = astra.scatter %a0, %a1, %a2 {{axes = {ints(0)}{add}}} : ({t(4, 2)}, {t(3, 2)}, {t(3, kind=I64)}) -> {t(4, 2)}",
         [((4, 2), -1, 1), ((3, 2), -1, 1), ((3,), [2, 0, 2], I64, 0)], (4, 2))
    case("scatter", f"%y = astra.scatter %a0, %a1, %a2, %a3 {{axes = {ints(1, 2)}{add}}} : ({t(2, 3, 2)}, {t(2, 3)}, {t(3, kind=I64)}, {t(3, kind=I64)}) -> {t(2, 3, 2)}",
         [((2, 3, 2), -1, 1), ((2, 3), -1, 1), ((3,), [2, 0, 2], I64, 0), ((3,), [1, 1, 1], I64, 0)], (2, 3, 2))
case("gather", f"%y = astra.gather %a0, %a1 {{axes = {ints(1)}}} : ({t(2, 4)}, {t(2, 2, kind=I64)}) -> {t(2, 2, 2)}",
     [((2, 4), -1, 1), ((2, 2), [3, 0, 3, 1], I64, 0)], (2, 2, 2))
case("gather", f"%y = astra.gather %a0, %a1, %a2 {{axes = {ints(0, 1)}}} : ({t(3, 3, 2)}, {t(3, kind=I64)}, {t(3, kind=I64)}) -> {t(3, 2)}",
     [((3, 3, 2), -1, 1), ((3,), [0, 1, 2], I64, 0), ((3,), [0, 1, 2], I64, 0)], (3, 2))

# Control flow.
S, B = t(), t(kind="i1")
case("if", f"""%h = astra.constant 0.5 : f64 -> {S}
%c = astra.lt %a0, %h : ({S}, {S}) -> {B}
%y = astra.if %c : {B} -> {S} {{
  %e = astra.exp %a0 : {S}
  %f = astra.sin %e : {S}
  astra.yield %f : {S}
}} else {{
  %e = astra.mul %a0, %a1 : {S}
  %f = astra.mul %e, %a1 : {S}
  astra.yield %f : {S}
}}""", [((), 0, 1), ((), 0, 1)], ())
case("for", f"""%b = astra.constant 0 : i64 -> {t(kind=I64)}
%e = astra.dim "n" -> {t(kind=I64)}
%z = astra.constant 0.3 : f64 -> {S}
%y = astra.for %b to %e init(%z) : {t(kind=I64)}, ({S}) -> {S} {{
^bb0(%i: {t(kind=I64)}, %s: {S}):
  %x0 = astra.slice %a0, %i {{starts = ["0"], dynamic_axes = {ints(0)}}} : ({t('n')}, {t(kind=I64)}) -> {t(1)}
  %x = astra.reshape %x0 : ({t(1)}) -> {S}
  %p = astra.mul %s, %a1 : {S}
  %q = astra.add %p, %x : {S}
  %r = astra.sin %q : {S}
  astra.yield %r : {S}
}}""", [(("n",), -1, 1), ((), 0.5, 1)], ())
case("for", f"""%b = astra.constant 2 : i64 -> {t(kind=I64)}
%z = astra.constant 0.3 : f64 -> {S}
%y, %other = astra.for %b to %a1 init(%z, %a0) : {t(kind=I64)}, ({S}, {S}) -> ({S}, {S}) {{
^bb0(%i: {t(kind=I64)}, %s: {S}, %v: {S}):
  %f = astra.convert %i : ({t(kind=I64)}) -> {S}
  %p = astra.mul %s, %a0 : {S}
  %q = astra.add %p, %v : {S}
  %u = astra.div %q, %f : {S}
  %r = astra.sin %u : {S}
  astra.yield %r, %q : {S}, {S}
}}""", [((), 0.5, 1), ((), [9], I64, 0)], ())
case("for", f"""%b = astra.constant 0 : i64 -> {t(kind=I64)}
%e = astra.constant 150 : i64 -> {t(kind=I64)}
%y = astra.for %b to %e init(%a0) : {t(kind=I64)}, ({S}) -> {S} attributes {{checkpoint}} {{
^bb0(%i: {t(kind=I64)}, %s: {S}):
  %p = astra.sin %s : {S}
  %q = astra.mul %p, %a1 : {S}
  %r = astra.add %q, %a0 : {S}
  astra.yield %r : {S}
}}""", [((), 0.5, 1), ((), 0.9, 1)], ())
case("while", f"""%h = astra.constant 0.2 : f64 -> {S}
%y = astra.while init(%a0) : ({S}) -> {S} cond {{
^bb0(%s: {S}):
  %c = astra.gt %s, %h : ({S}, {S}) -> {B}
  astra.yield %c : {B}
}} do {{
^bb0(%s: {S}):
  %p = astra.sin %s : {S}
  %q = astra.mul %p, %a1 : {S}
  astra.yield %q : {S}
}}""", [((), 0.5, 1), ((), 0.7, 0.9)], ())
case("scan", f"""%z = astra.constant 0.1 : f64 -> {S}
%h, %ys = astra.scan(%z, %a0) length "n" state 1 : ({S}, {t('n')}) -> ({S}, {t('n')}) {{
^bb0(%s: {S}, %x: {S}):
  %p = astra.mul %s, %a1 : {S}
  %q = astra.add %p, %x : {S}
  %r = astra.sin %q : {S}
  %v = astra.mul %r, %x : {S}
  astra.yield %r, %v : {S}, {S}
}}
%hb = astra.broadcast %h {{axes = {ints()}}} : ({S}) -> {t('n')}
%y = astra.add %ys, %hb : {t('n')}""", [(("n",), -1, 1), ((), 0.5, 1)], ("n",))
case("map", f"""%y = astra.map(%a0, %a1) length "n" axes [1, -1] : ({t(2, 'n')}, {t(2)}) -> {t('n', 2)} {{
^bb0(%x: {t(2)}, %w: {t(2)}):
  %p = astra.mul %x, %w : {t(2)}
  %q = astra.sin %p : {t(2)}
  astra.yield %q : {t(2)}
}}""", [((2, "n"), -1, 1), ((2,), -1, 1)], ("n", 2))
case("reduce", f"""%y, %other = astra.reduce(%a0, %a1, %a2, %a3) length "n" : ({S}, {S}, {t('n')}, {t('n')}) -> ({S}, {S}) {{
^bb0(%p: {S}, %q: {S}, %u: {S}, %v: {S}):
  %pu = astra.mul %p, %u : {S}
  %qu = astra.mul %q, %u : {S}
  %w = astra.add %qu, %v : {S}
  astra.yield %pu, %w : {S}, {S}
}}""", [((), 0.5, 1), ((), 0.5, 1), (("n",), 0.5, 1), (("n",), 0.5, 1)], ())
case("remat", f"""%y = astra.remat(%a0) : ({t(3)}) -> {t(3)} {{
^bb0(%x: {t(3)}):
  %p = astra.sin %x : {t(3)}
  %q = astra.mul %p, %a1 : {t(3)}
  %r = astra.exp %q : {t(3)}
  astra.yield %r : {t(3)}
}}""", [((3,), -1, 1), ((3,), -1, 1)], (3,))
case("custom_derivative", f"""%y = astra.custom_derivative(%a0) : ({t(3)}) -> {t(3)} primal {{
^bb0(%x: {t(3)}):
  %p = astra.sin %x : {t(3)}
  astra.yield %p : {t(3)}
}} vjp {{
}} jvp {{
^bb0(%x: {t(3)}, %e: {t(3)}):
  %c = astra.cos %x : {t(3)}
  %g = astra.mul %c, %e : {t(3)}
  astra.yield %g : {t(3)}
}}""", [((3,), -1, 1)], (3,))


# What has no derivative.
for op in "eq ne lt le gt ge".split():
    plain(op, f"%y = astra.{op} %a0, %a1 : ({t(3)}, {t(3)}) -> {t(3, kind='i1')}",
          [((3,), -1, 1), ((3,), -1, 1)], (3,), "i1")
for op in "is_nan is_inf".split():
    plain(op, f"%y = astra.{op} %a0 : ({t(3)}) -> {t(3, kind='i1')}", [((3,), -1, 1)], (3,), "i1")
for op in "and or xor shift_left shift_right".split():
    plain(op, f"%y = astra.{op} %a0, %a1 : {t(3, kind=I64)}",
          [((3,), [5, 6, 12], I64, 0), ((3,), [1, 2, 3], I64, 0)], (3,), I64)
plain("not", f"%y = astra.not %a0 : {t(3, kind=I64)}", [((3,), [5, 6, 12], I64, 0)], (3,), I64)
plain("trigamma", f"%y = astra.trigamma %a0 : {t(3)}", [((3,), 0.5, 2)], (3,), "f64")
plain("stop_gradient", f"%y = astra.stop_gradient %a0 : {t(3)}", [((3,), 0.5, 2)], (3,), "f64")
plain("bitcast", f"%y = astra.bitcast %a0 : ({t(3, kind=I64)}) -> {t(3, kind='ui64')}",
      [((3,), [5, 6, 12], I64, 0)], (3,), "ui64")
for op in "argmax argmin argsort".split():
    shape = (2, 3) if op == "argsort" else (2,)
    plain(op, f"%y = astra.{op} %a0 {{axis = 1 : i64}} : ({t(2, 3)}) -> {t(*shape, kind='i32')}",
          [((2, 3), -1, 1)], shape, "i32")
for op in "any all".split():
    plain(op, f"%z = astra.constant 0.0 : f64 -> {t(2, 3)}\n"
          f"%c = astra.gt %a0, %z : ({t(2, 3)}, {t(2, 3)}) -> {t(2, 3, kind='i1')}\n"
          f"%y = astra.{op} %c {{axes = {ints(1)}}} : ({t(2, 3, kind='i1')}) -> {t(2, kind='i1')}",
          [((2, 3), -1, 1)], (2,), "i1")
plain("iota", f"%i = astra.iota {{axis = 0 : i64}} -> {t(3)}\n%c = astra.constant 2.0 : f64 -> {t(3)}\n"
      f"%j = astra.mul %i, %c : {t(3)}\n%y = astra.add %j, %a0 : {t(3)}", [((3,), -1, 1)], (3,), "f64")

# ===-- Programs of a case ------------------------------------------------=== #

def signature(names, types):
    return ", ".join(f"%{n}: {ty}" for n, ty in zip(names, types))


def region(case, prefix="a"):
    args = [f"{prefix}{i}" for i in range(len(case.args))]
    return f"^bb0({signature(args, case.types())}):\n{case.body}\nastra.yield %y : {t(*case.result, kind=case.kind)}\n"


def program(case):
    types, y = case.types(), t(*case.result, kind=case.kind)
    n = len(types)
    floats = [i for i, k in enumerate(case.kinds()) if k == "f64"]
    grads = [types[i] for i in floats]
    outer = [f"in{i}" for i in range(n)]
    use = ", ".join(f"%{o}" for o in outer)
    wrt = "[" + ", ".join(map(str, floats)) + "]"
    vjp = (f"%out:{1 + len(grads)} = astra.vjp({use}, %dy) args {n} wrt {wrt} : "
           f"({', '.join(types + [y])}) -> ({', '.join([y] + grads)}) {{\n{region(case)}}}\n")
    tangents = [f"t{i}" for i in floats]
    jvp = (f"%out:2 = astra.jvp({', '.join('%' + o for o in outer + tangents)}) args {n} wrt {wrt} : "
           f"({', '.join(types + grads)}) -> ({y}, {y}) {{\n{region(case)}}}\n")
    returned = ", ".join(f"%out#{i + 1}" for i in range(len(grads)))
    primal = f"""func.func @primal({signature([f'a{i}' for i in range(n)], types)}) -> {y} {{
{case.body}
return %y : {y}
}}
"""
    derivatives = f"""func.func @vjp({signature(outer + ['dy'], types + [y])}) -> ({', '.join(grads)}) {{
{vjp}return {returned} : {', '.join(grads)}
}}
func.func @jvp({signature(outer + tangents, types + grads)}) -> {y} {{
{jvp}return %out#1 : {y}
}}
"""
    text = primal + (derivatives if case.smooth else "")
    if case.smooth > 1:  # the tangent of the gradients, with inner names apart
        inner = vjp.replace("%in", "%inner").replace("%out:", "%grads:")
        yields = ", ".join(f"%grads#{i + 1}" for i in range(len(grads)))
        names = [f"inner{i}" for i in range(n)]
        for kind, extra in (("jvp", tangents), ("vjp", tangents)):
            count = 2 * len(grads)
            text += f"""func.func @second_{kind}({signature(outer + ['dy'] + tangents, types + [y] + grads)}) -> ({', '.join(grads)}) {{
%out:{count} = astra.{kind}({', '.join('%' + o for o in outer + extra)}) args {n} wrt {wrt} : ({', '.join(types + grads)}) -> ({', '.join(grads + grads)}) {{
^bb0({signature(names, types)}):
{inner}astra.yield {yields} : {', '.join(grads)}
}}
return {', '.join(f'%out#{len(grads) + i}' for i in range(len(grads)))} : {', '.join(grads)}
}}
"""
    stacked = [t(2, *a[0], kind=k) for a, k in zip(case.args, case.kinds())]
    ys = t(2, *case.result, kind=case.kind)
    for name, which in (("mapped", [0] * n), ("first", [0] + [-1] * (n - 1)), ("last", [-1] * (n - 1) + [0])):
        given = [s if a == 0 else p for s, p, a in zip(stacked, types, which)]
        text += f"""func.func @{name}({signature(outer, given)}) -> {ys} {{
%r = astra.map({use}) length "2" axes {which} : ({', '.join(given)}) -> {ys} {{
{region(case)}}}
return %r : {ys}
}}
"""
    return text


# ===-- Checks ------------------------------------------------------------=== #

def close(a, b, scale, tolerance):
    return abs(a - b) <= tolerance * max(1.0, scale) or a == b or (a != a and b != b)


def require(case, what, got, expected, tolerance):
    scale = max([abs(v) for v in expected if math.isfinite(v)], default=0)
    for g, e in zip(got, expected):
        if not close(g, e, scale, tolerance):
            raise AssertionError(f"{case.name}: {what}\n  got      {got}\n  expected {expected}\n{case.body}")


def moved(values, floats, directions, h):
    out = list(values)
    for i, d in zip(floats, directions):
        out[i] = Tensor(values[i].shape, [v + h * w for v, w in zip(values[i].data, d.data)], "f64")
    return out


def flat(tensors):
    return [v for x in tensors for v in x.data]


def check(case, rng):
    functions = load(program(case), ["-astra-differentiate", "-astra-batch"])
    run = lambda name, args: call(functions, name, args, DIM)[0]
    values = [sample(rng, a) for a in case.args]
    floats = [i for i, k in enumerate(case.kinds()) if k == "f64"]
    if not case.smooth:
        return check_maps(case, run, rng, values)
    y = run("primal", values)[0]
    random_like = lambda x: Tensor(x.shape, [rng.uniform(-1, 1) for _ in x.data], "f64")
    tangents = [random_like(values[i]) for i in floats]
    cotangent = random_like(y)
    h = 1e-6 if case.name != "convert" else 1e-3
    tolerance = 1e-7 if case.name != "convert" else 1e-4

    def difference(f):
        return [(p - q) / (2 * h) for p, q in zip(
            f(moved(values, floats, tangents, h)), f(moved(values, floats, tangents, -h)))]

    jvp = run("jvp", values + tangents)[0].data
    require(case, "jvp against differences", jvp,
            difference(lambda v: run("primal", v)[0].data), tolerance)
    gradients = run("vjp", values + [cotangent])
    dot = lambda p, q: math.fsum(a * b for a, b in zip(p, q))
    require(case, "vjp against jvp", [dot(flat(gradients), flat(tangents))],
            [dot(cotangent.data, jvp)], 1e-12)
    if case.smooth > 1:
        second = difference(lambda v: flat(run("vjp", v + [cotangent])))
        args = values + [cotangent] + tangents
        require(case, "jvp of vjp", flat(run("second_jvp", args)), second, 10 * tolerance)
        # The Hessian is symmetric: as cotangents the directions give the same.
        require(case, "vjp of vjp", flat(run("second_vjp", args)), second, 10 * tolerance)
    check_maps(case, run, rng, values)


def check_maps(case, run, rng, values):
    n = len(values)
    others = [sample(rng, a) for a in case.args]
    for name, which in (("mapped", [0] * n), ("first", [0] + [-1] * (n - 1)), ("last", [-1] * (n - 1) + [0])):
        stacked = [Tensor((2,) + v.shape, v.data + o.data, v.kind) if a == 0 else v
                   for v, o, a in zip(values, others, which)]
        second = [o if a == 0 else v for v, o, a in zip(values, others, which)]
        expected = run("primal", values)[0].data + run("primal", second)[0].data
        require(case, f"map ({name})", run(name, stacked)[0].data, expected, 0)


ELSEWHERE = {
    "constant": "no operands", "dim": "no operands", "yield": "ends a region",
    "fused": "made after derivatives",
    "vjp": "every case uses it", "jvp": "every case uses it",
    "assert": "no result: batch-effects.mlir", "assert_eq": "no result: batch-effects.mlir",
    "assert_close": "no result: batch-effects.mlir",
    "random_bits": "test/e2e/random", "random_split": "test/e2e/random",
}


def unchecked():
    """Operations of the dialect that no case covers."""
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "dialect")
    names = set()
    for path in glob.glob(os.path.join(folder, "*Ops.td")):
        if not path.endswith("CallsOps.td"):
            with open(path) as file:
                names.update(re.findall(r'^def Astra_\w+Op\s*:\s*\w+<"(\w+)"',
                                        file.read(), re.M))
    assert len(names) > 90, "the records were not found"
    return sorted(names - set(c.name for c in CASES) - set(ELSEWHERE))


def main():
    wanted = set(sys.argv[1:])
    rng = random.Random(1)
    failures = passed = 0
    for name in unchecked():
        failures += 1
        print(f"FAILED {name}: no case: add one to this file")
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
