"""Cases of linear algebra."""
from case_tools import Special, case, t


def positive(numbers):
    """A symmetric matrix and 3 more on the diagonal, with a skew part of no effect."""
    return [x + 3 * (i % 4 == 0) for i, x in enumerate(numbers)]


def spread(numbers):
    """Values of it are apart: 0, 2, 4 on the diagonal."""
    return [0.5 * x + 2 * (i // 4) * (i % 4 == 0) for i, x in enumerate(numbers)]


M3 = t(3, 3)
SQUARE = ((3, 3), -1, 1)
case("cholesky", f"%y = astra.cholesky %a0 : {M3}", [Special((3, 3), positive)], (3, 3))
case("inv", f"%y = astra.inv %a0 : {t(2, 2, 2)}", [((2, 2, 2), 0.5, 1)], (2, 2, 2))
case("inv", f"%y = astra.inv %a0 : {M3}", [Special((3, 3), positive)], (3, 3))
case("cofactor", f"%y = astra.cofactor %a0 : {M3}", [SQUARE], (3, 3))
case("det", f"%y = astra.det %a0 : ({t(2, 3, 3)}) -> {t(2)}", [((2, 3, 3), -1, 1)], (2,))
case("slogdet", f"%y:2 = astra.slogdet %a0 : ({M3}) -> ({t()}, {t()})",
     [Special((3, 3), positive)], [(), ()], kind=["f64", "f64"])
case("solve", f"%y = astra.solve %a0, %a1 : ({M3}, {t(3, 2)}) -> {t(3, 2)}",
     [Special((3, 3), positive), ((3, 2), -1, 1)], (3, 2))
for flags in ("", "lower", "transpose", "unit_diagonal", "lower, transpose", "lower, unit_diagonal"):
    case("solve_triangular", f"%y = astra.solve_triangular %a0, %a1 {{{flags}}} : ({M3}, {t(3, 2)}) -> {t(3, 2)}",
         [((3, 3), 0.5, 1.5), ((3, 2), -1, 1)], (3, 2))
case("eigh", f"%y:2 = astra.eigh %a0 : ({M3}) -> ({t(3)}, {M3})", [Special((3, 3), spread)],
     [(3,), (3, 3)], kind=["f64", "f64"])
for m, n in ((4, 2), (2, 4), (3, 3)):
    k = min(m, n)
    case("lstsq", f"%y = astra.lstsq %a0, %a1 : ({t(m, n)}, {t(m, 2)}) -> {t(n, 2)}",
         [((m, n), 0.2, 1), ((m, 2), -1, 1)], (n, 2))
    case("qr", f"%y:2 = astra.qr %a0 : ({t(m, n)}) -> ({t(m, k)}, {t(k, n)})",
         [((m, n), -1, 1)], [(m, k), (k, n)], kind=["f64", "f64"])
    case("svd", f"%y:3 = astra.svd %a0 : ({t(m, n)}) -> ({t(m, k)}, {t(k)}, {t(k, n)})",
         [((m, n), -1, 1)], [(m, k), (k,), (k, n)], kind=["f64"] * 3)
