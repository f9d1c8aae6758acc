"""Cases of the operations on shapes, axes and indices."""
from case_tools import I64, case, ints, plain, t

case("broadcast", f"%y = astra.broadcast %a0 {{axes = {ints(0, 2)}}} : ({t(2, 1)}) -> {t(2, 3, 4)}",
     [((2, 1), -1, 1)], (2, 3, 4))
case("reshape", f"%y = astra.reshape %a0 : ({t(2, 6)}) -> {t(3, 4)}", [((2, 6), -1, 1)], (3, 4))
case("broadcast", f"%y = astra.broadcast %a0 {{axes = {ints(1)}}} : ({t(0)}) -> {t(2, 0)}", [((0,), -1, 1)], (2, 0))
case("reshape", f"%y = astra.reshape %a0 : ({t(1, 0)}) -> {t(0, 3)}", [((1, 0), -1, 1)], (0, 3))
case("transpose", f"%y = astra.transpose %a0 {{perm = {ints(1, 0)}}} : ({t(1, 0)}) -> {t(0, 1)}", [((1, 0), -1, 1)], (0, 1))
case("flip", f"%y = astra.flip %a0 {{axes = {ints(0, 1)}}} : {t(1, 0)}", [((1, 0), -1, 1)], (1, 0))
case("concat", f"%y = astra.concat %a0, %a1 {{axis = 0 : i64}} : ({t(0, 1)}, {t(2, 1)}) -> {t(2, 1)}",
     [((0, 1), -1, 1), ((2, 1), -1, 1)], (2, 1))
case("pad", f"%y = astra.pad %a0, %a1 {{low = [\"1\", \"0\"], high = [\"0\", \"2\"]}} : ({t(1, 0)}, {t()}) -> {t(2, 2)}",
     [((1, 0), -1, 1), ((), -1, 1)], (2, 2))
case("check_shape", f"%y = astra.check_shape %a0 : ({t(1, 0)}) -> {t(1, 0)}", [((1, 0), -1, 1)], (1, 0))
case("check_shape", f"%y = astra.check_shape %a0 : ({t(4)}) -> {t('n')}", [((4,), -1, 1)], ("n",))
case("transpose", f"%y = astra.transpose %a0 {{perm = {ints(2, 0, 1)}}} : ({t(2, 3, 4)}) -> {t(4, 2, 3)}",
     [((2, 3, 4), -1, 1)], (4, 2, 3))
case("flip", f"%y = astra.flip %a0 {{axes = {ints(0)}}} : {t(3, 2)}", [((3, 2), -1, 1)], (3, 2))
case("concat", f"%y = astra.concat %a0, %a1 {{axis = 1 : i64}} : ({t(2, 3)}, {t(2, 2)}) -> {t(2, 5)}",
     [((2, 3), -1, 1), ((2, 2), -1, 1)], (2, 5))
case("pad", f"%y = astra.pad %a0, %a1 {{low = [\"1\", \"0\"], high = [\"0\", \"2\"]}} : ({t(2, 3)}, {t()}) -> {t(3, 5)}",
     [((2, 3), -1, 1), ((), -1, 1)], (3, 5))

for op in "sum prod max min first_max norm logsumexp".split():
    # Also over an extent 1, and with nothing to reduce or, where that is finite, over nothing.
    for x in ((2, 3, 2), (1, 3, 1), (2, 0, 2)) + (((2, 3, 0),) if op in ("sum", "prod", "norm") else ()):
        case(op, f"%y = astra.{op} %a0 {{axes = {ints(0, 2)}}} : ({t(*x)}) -> {t(x[1])}", [(x, -1, 1)], (x[1],))
for op in "softmax log_softmax cumsum cumprod sort".split():
    for x, axis in (((3, 2), 0), ((2, 4), 1), ((1, 2), 0), ((0, 2), 0), ((0, 2), 1)):
        case(op, f"%y = astra.{op} %a0 {{axis = {axis} : i64}} : {t(*x)}", [(x, -1, 1)], x)


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
contract((1, 3), (3, 1), (1, 1), (), (), (1,), (0,))
contract((2, 0), (0, 3), (2, 3), (), (), (1,), (0,))
contract((0, 2), (2, 3), (0, 3), (), (), (1,), (0,))

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
for n, k in ((1, 0), (0, 0), (1, 1)):
    # Nothing chosen, from something and from nothing; the only one.
    case("slice", f"%y = astra.slice %a0 {{starts = [\"0\"], dynamic_axes = {ints()}}} : ({t(n)}) -> {t(k)}", [((n,), -1, 1)], (k,))
    case("gather", f"%y = astra.gather %a0, %a1 {{axes = {ints(0)}}} : ({t(n)}, {t(k, kind=I64)}) -> {t(k)}",
         [((n,), -1, 1), ((k,), [0] * k, I64, 0)], (k,))
    for add in ("", ", add"):
        case("update_slice", f"%y = astra.update_slice %a0, %a1 {{starts = [\"0\"], dynamic_axes = {ints()}{add}}} : ({t(n)}, {t(k)}) -> {t(n)}",
             [((n,), -1, 1), ((k,), -1, 1)], (n,))
        case("scatter", f"%y = astra.scatter %a0, %a1, %a2 {{axes = {ints(0)}{add}}} : ({t(n)}, {t(k)}, {t(k, kind=I64)}) -> {t(n)}",
             [((n,), -1, 1), ((k,), -1, 1), ((k,), [0] * k, I64, 0)], (n,))
case("gather", f"%y = astra.gather %a0, %a1 {{axes = {ints(1)}}} : ({t(2, 4)}, {t(2, 2, kind=I64)}) -> {t(2, 2, 2)}",
     [((2, 4), -1, 1), ((2, 2), [3, 0, 3, 1], I64, 0)], (2, 2, 2))
case("gather", f"%y = astra.gather %a0, %a1, %a2 {{axes = {ints(0, 1)}}} : ({t(3, 3, 2)}, {t(3, kind=I64)}, {t(3, kind=I64)}) -> {t(3, 2)}",
     [((3, 3, 2), -1, 1), ((3,), [0, 1, 2], I64, 0), ((3,), [0, 1, 2], I64, 0)], (3, 2))

# What has no derivative.
for op in "argmax argmin argsort".split():
    shape = (2, 3) if op == "argsort" else (2,)
    plain(op, f"%y = astra.{op} %a0 {{axis = 1 : i64}} : ({t(2, 3)}) -> {t(*shape, kind='i32')}",
          [((2, 3), -1, 1)], shape, "i32")
for op in "any all".split():
    plain(op, f"%z = astra.constant 0.0 : f64 -> {t(2, 3)}\n"
          f"%c = astra.gt %a0, %z : ({t(2, 3)}, {t(2, 3)}) -> {t(2, 3, kind='i1')}\n"
          f"%y = astra.{op} %c {{axes = {ints(1)}}} : ({t(2, 3, kind='i1')}) -> {t(2, kind='i1')}",
          [((2, 3), -1, 1)], (2,), "i1")
case("iota", f"%i = astra.iota {{axis = 0 : i64}} -> {t(3)}\n%c = astra.constant 2.0 : f64 -> {t(3)}\n"
     f"%j = astra.mul %i, %c : {t(3)}\n%y = astra.add %j, %a0 : {t(3)}", [((3,), -1, 1)], (3,))
