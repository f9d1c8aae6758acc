"""Cases of convolutions and sliding windows."""
from case_tools import case, ints, t


def conv(x, w, result, batch=0, **lists):
    spatial = len(result) - batch - 2
    given = {"strides": [1] * spatial, "low": [0] * spatial, "spread": [1] * spatial,
             "dilations": [1] * spatial, **lists}
    attrs = ", ".join(f"{name} = [{', '.join(chr(34) + str(v) + chr(34) for v in values)}]"
                      for name, values in given.items())
    case("conv", f"%y = astra.conv %a0, %a1 {{batch = {batch} : i64, {attrs}}} : ({t(*x)}, {t(*w)}) -> {t(*result)}",
         [(x, -1, 1), (w, -1, 1)], result)


conv((2, 2, 5), (3, 2, 2), (2, 3, 4))
conv((1, 1, 5), (2, 1, 3), (1, 2, 3), strides=[2], low=[1])
conv((1, 2, "n"), (1, 2, 2), (1, 1, "n"), low=[1])
conv((1, 1, 6), (1, 1, 2), (1, 1, 2), strides=[2], dilations=[3])
conv((1, 1, 6), (1, 1, 2), (1, 1, 2), strides=[4])  # elements that no window meets
conv((1, 1, 3), (1, 1, 2), (1, 1, 4), low=[-1], spread=[3], strides=[2])
conv((1, 1, 3), (1, 1, 3), (1, 1, 6), low=[5], spread=[2])
conv((2, 1, 2, 4), (2, 2, 2, 3), (2, 1, 2, 4), batch=1, low=[1])
conv((1, 2, 3, 4), (2, 2, 2, 3), (1, 2, 3, 2), strides=[1, 2], low=[1, 1])
conv((1, 1, 2, 3, 2), (1, 1, 2, 1, 2), (1, 1, 1, 3, 2), low=[0, 0, 1])

for strides, dilations, result in (([1], [1], (2, 4, 2)), ([2], [2], (2, 2, 2)), ([3], [1], (2, 2, 2))):
    lists = f"strides = [\"{strides[0]}\"], dilations = [\"{dilations[0]}\"]"
    case("windows", f"%y = astra.windows %a0 {{window = [\"2\"], {lists}}} : ({t(2, 5)}) -> {t(*result)}",
         [((2, 5), -1, 1)], result)
    case("overlap_add", f"%y = astra.overlap_add %a0 {{{lists}}} : ({t(*result)}) -> {t(2, 5)}",
         [(result, -1, 1)], (2, 5))
case("windows", f"%y = astra.windows %a0 {{window = [\"2\", \"3\"], strides = [\"2\", \"1\"], dilations = [\"1\", \"1\"]}} : ({t(4, 4)}) -> {t(2, 2, 2, 3)}",
     [((4, 4), -1, 1)], (2, 2, 2, 3))
case("first_max", f"%y = astra.first_max %a0 {{axes = {ints(0, 2)}}} : ({t(2, 3, 2)}) -> {t(3)}",
     [((2, 3, 2), -1, 1)], (3,))
