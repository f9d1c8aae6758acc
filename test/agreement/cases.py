"""The functions that agree.py compares: an expression of x0, x1, ... in Astra, in which
T stands for the type, and the same function in JAX. All arguments are drawn uniformly
from a range where the function is smooth."""
import dataclasses
from typing import Callable

import jax
import jax.numpy as jnp
import jax.scipy.special as special
from jax import lax, nn


@dataclasses.dataclass
class Case:
    name: str
    astra: str
    jax: Callable
    arguments: list  # (shape, low, high) each
    second: bool = True


CASES = []


def case(name, astra, function, *arguments, **more):
    CASES.append(Case(name, astra, function, list(arguments), **more))


# ===-- Elementwise -------------------------------------------------------=== #

def unary(function, *names, low=-2.0, high=2.0, **more):
    for name in names:
        case(name, f"{name}(x0)", function or getattr(jnp, name), ((7,), low, high), **more)


unary(None, "exp", "exp2", "expm1", "sin", "cos", "tanh", "sinh", "cosh", "sinc")
unary(None, "tan", low=-1.2, high=1.2)
unary(None, "log", "log2", "log10", "sqrt", "cbrt", low=0.3, high=3)
unary(lax.rsqrt, "rsqrt", low=0.3, high=3)
unary(jnp.arctan, "atan")
unary(None, "log1p", low=-0.7, high=2)
unary(jnp.arcsin, "asin", low=-0.8, high=0.8)
unary(jnp.arccos, "acos", low=-0.8, high=0.8)
for name in ("sigmoid", "log_sigmoid", "softplus", "silu", "relu"):
    unary(getattr(nn, name), name, low=-6, high=6)
unary(lambda x: nn.gelu(x, approximate=False), "gelu", low=-4, high=4)
unary(special.erf, "erf")
unary(special.erfc, "erfc")
unary(special.erfinv, "erfinv", low=-0.8, high=0.8)
unary(special.gammaln, "lgamma", low=0.5, high=5)
unary(special.digamma, "digamma", low=0.5, high=5)
case("polygamma", "polygamma(2, x0)", lambda x: special.polygamma(2, x), ((5,), 0.6, 4))
case("exprel", "exprel(x0)", lambda x: jnp.expm1(x) / x, ((5,), 0.5, 3))
case("abs and sign", "abs(x0) * sign(x0) * x0", lambda x: abs(x) * jnp.sign(x) * x, ((6,), 0.2, 2))
case("power", "x0 ** x1", lambda x, y: x ** y, ((6,), 0.5, 2), ((6,), -2, 2))
case("whole power", "x0 ** 3 + x0 ** -2", lambda x: x ** 3 + x ** -2, ((6,), 0.5, 2))
case("quotient", "x0 / x1 - x1", lambda x, y: x / y - y, ((3, 4), -2, 2), ((4,), 0.5, 2))
case("remainder", "x0 % x1", jnp.mod, ((6,), 2.1, 2.9), ((6,), 0.95, 1.04))
case("atan2", "atan2(x0, x1)", jnp.arctan2, ((6,), -2, 2), ((6,), 0.2, 2))
case("maximum and minimum", "maximum(x0, x1) * minimum(x0, 0.5 * x1)",
     lambda x, y: jnp.maximum(x, y) * jnp.minimum(x, 0.5 * y), ((8,), -1, 1), ((8,), -1, 1))
case("clip", "clip(x0, -0.5, 0.7) * x0", lambda x: jnp.clip(x, -0.5, 0.7) * x, ((9,), -1, 1))
case("where", "where(x0 > 0.1, sin(x0), x0 * x1)", lambda x, y: jnp.where(x > 0.1, jnp.sin(x), x * y),
     ((8,), -1, 1), ((8,), -1, 1))

# ===-- Reductions --------------------------------------------------------=== #

case("sum", "sum(sin(x0), axis = 1)", lambda x: jnp.sum(jnp.sin(x), 1), ((3, 5), -2, 2))
case("mean", "mean(x0 * x0, axis = 0, keepdims = true)", lambda x: jnp.mean(x * x, 0, keepdims=True), ((4, 3), -2, 2))
case("variance", "var(x0, axis = 1)", lambda x: jnp.var(x, 1), ((3, 6), -2, 2))
case("product", "prod(x0, axis = 1)", lambda x: jnp.prod(x, 1), ((3, 5), 0.5, 1.5))
case("max and min", "max(x0, axis = 0) * min(x0, axis = 0)", lambda x: jnp.max(x, 0) * jnp.min(x, 0), ((4, 5), -1, 1))
case("norm", "norm(x0, axis = 1)", lambda x: jnp.sqrt(jnp.sum(x * x, 1)), ((3, 4), -1, 1))
case("logsumexp", "logsumexp(x0, axis = 1)", lambda x: special.logsumexp(x, 1), ((3, 5), -3, 3))
case("softmax", "softmax(x0, axis = 1)", lambda x: nn.softmax(x, 1), ((3, 5), -3, 3))
case("log_softmax", "log_softmax(x0, axis = 0)", lambda x: nn.log_softmax(x, 0), ((5, 3), -3, 3))
case("cumsum", "cumsum(x0, axis = 1) ** 2", lambda x: jnp.cumsum(x, 1) ** 2, ((2, 6), -1, 1))
case("cumprod", "cumprod(x0)", jnp.cumprod, ((6,), 0.5, 1.5))
case("sort", "sort(x0, axis = 1) * sort(x0, axis = 1)[.., 0..1]",
     lambda x: jnp.sort(x, 1) * jnp.sort(x, 1)[:, 0:1], ((3, 6), -1, 1))
case("top_k", "top_k(x0, 3).values ** 2", lambda x: lax.top_k(x, 3)[0] ** 2, ((2, 7), -1, 1))

# ===-- Products, forms, indices ------------------------------------------=== #

case("matrix product", "x0 @ x1", lambda a, b: a @ b, ((3, 5), -1, 1), ((5, 2), -1, 1))
case("batched product", "x0 @ x1", lambda a, b: a @ b, ((2, 3, 4), -1, 1), ((2, 4, 3), -1, 1))
case("einsum", 'einsum("bij,bkj,k->bi", x0, x1, x2)', lambda a, b, c: jnp.einsum("bij,bkj,k->bi", a, b, c),
     ((2, 3, 4), -1, 1), ((2, 5, 4), -1, 1), ((5,), -1, 1))
case("diagonal of a product", 'einsum("ij,ji->i", x0, x0)', lambda a: jnp.einsum("ij,ji->i", a, a), ((4, 4), -1, 1))
case("forms", "concat(flip(x0, axis = 0), roll(x0, 1, axis = 1)) * reshape(transpose(stack(x0, x0 * x0), [1, 0, 2]), [6, 4])",
     lambda x: jnp.concatenate([jnp.flip(x, 0), jnp.roll(x, 1, 1)]) * jnp.transpose(jnp.stack([x, x * x]), (1, 0, 2)).reshape(6, 4),
     ((3, 4), -1, 1))
case("pad and tile", "pad(tile(x0, [2, 1]) ** 2, [(1, 0), (0, 2)], value = 1.5)",
     lambda x: jnp.pad(jnp.tile(x, (2, 1)) ** 2, ((1, 0), (0, 2)), constant_values=1.5), ((2, 3), -1, 1))
case("triangles", "tril(x0) @ triu(x0) + trace(x0) * x0", lambda x: jnp.tril(x) @ jnp.triu(x) + jnp.trace(x) * x, ((4, 4), -1, 1))
case("gather", "x0[[3, 0, 3, 1]] * x0[[0, 1, 2, 2]]", lambda x: x[jnp.array([3, 0, 3, 1])] * x[jnp.array([0, 1, 2, 2])],
     ((4, 2), -1, 1))
case("scatter", "x0 * x0 with [[2, 0, 2]] += x1 * x1", lambda x, v: (x * x).at[jnp.array([2, 0, 2])].add(v * v),
     ((4, 2), -1, 1), ((3, 2), -1, 1))
case("update", "x0 with [1..3] = x0[0..2] * x0[2..4]", lambda x: x.at[1:3].set(x[0:2] * x[2:4]), ((5,), -1, 1))

# ===-- Control flow ------------------------------------------------------=== #


def recurrent(w, h, xs):
    def step(h, x):
        h = jnp.tanh(w @ h + x)
        return h, h * h
    return lax.scan(step, h, xs)[1]


case("scan", "scan(|h: T[3], x: T[3]| { let next = tanh(x0 @ h + x); (next, next * next) }, x1, x2).1", recurrent,
     ((3, 3), -1, 1), ((3,), -1, 1), ((6, 3), -1, 1))
case("for", "loop (v = x0) for t in 0..20 { v + 0.1 * sin(v * x1) }",
     lambda x, y: lax.fori_loop(0, 20, lambda t, v: v + 0.1 * jnp.sin(v * y), x), ((4,), -1, 1), ((4,), -1, 1))
case("while", "(loop (v = x0, t = 0) while t < 12 { (v * x1 + sin(v), t + 1) }).0",
     lambda x, y: lax.fori_loop(0, 12, lambda t, v: v * y + jnp.sin(v), x), ((3,), -1, 1), ((3,), 0.1, 0.6))
case("map with a branch", "map(|v: T[2]| if v[0] > v[1] { v * v[0] } else { exp(v) }, x0)",
     jax.vmap(lambda v: jnp.where(v[0] > v[1], v * v[0], jnp.exp(v))), ((6, 2), -1, 1))
case("comprehension", "[sum(x0[i] * x1[j]) ** 2 for i in 0..3, j in 0..2]", lambda a, b: (a @ b.T) ** 2,
     ((3, 4), -1, 1), ((2, 4), -1, 1))
case("reduce", "reduce(|a: T[2, 2], b: T[2, 2]| a @ b, x1, x0)",
     lambda xs, a: lax.fori_loop(0, 5, lambda i, p: p @ xs[i], a), ((5, 2, 2), -1, 1), ((2, 2), -1, 1))

# ===-- Layers ------------------------------------------------------------=== #


def layer_norm(x, g):
    m, v = jnp.mean(x, 1, keepdims=True), jnp.var(x, 1, keepdims=True)
    return (x - m) / jnp.sqrt(v + 1e-5) * g


case("layer norm", "(x0 - mean(x0, axis = 1, keepdims = true)) / sqrt(var(x0, axis = 1, keepdims = true) + 1e-5) * x1",
     layer_norm, ((3, 6), -1, 1), ((6,), 0.5, 1.5))
case("cross entropy", "-mean(log_softmax(gelu(x0 @ x1) @ x2, axis = 1)[iota(i32[4]), [1, 0, 2, 1]])",
     lambda x, a, b: -jnp.mean(nn.log_softmax(nn.gelu(x @ a, approximate=False) @ b, 1)[jnp.arange(4), jnp.array([1, 0, 2, 1])]),
     ((4, 5), -1, 1), ((5, 6), -1, 1), ((6, 3), -1, 1))
case("attention by hand", "softmax(x0 @ transpose(x1, [1, 0]) / 2.0, axis = 1) @ x2",
     lambda q, k, v: nn.softmax(q @ k.T / 2.0, 1) @ v, ((3, 4), -1, 1), ((5, 4), -1, 1), ((5, 2), -1, 1))
case("Rosenbrock", "sum(100.0 * (x0[1..6] - x0[0..5] ** 2) ** 2 + (1.0 - x0[0..5]) ** 2)",
     lambda x: jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2), ((6,), -1, 1))


def convolution(strides, padding, dilation=None, groups=1):
    return lambda x, w: lax.conv_general_dilated(x, w, strides, padding, rhs_dilation=dilation, feature_group_count=groups)


case("conv of one axis", "conv(x0, x1, padding = 1)", convolution((1,), [(1, 1)]), ((2, 3, 7), -1, 1), ((4, 3, 3), -1, 1))
case("conv with steps", "conv(x0, x1, stride = 2, padding = [(1, 0), (0, 2)], dilation = [1, 2], groups = 2)",
     convolution((2, 2), [(1, 0), (0, 2)], (1, 2), 2), ((2, 4, 6, 7), -1, 1), ((2, 2, 3, 2), -1, 1))
case("max_pool", "max_pool(x0, 2)",
     lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), ((2, 2, 6, 4), -1, 1), second=False)
case("avg_pool", "avg_pool(x0, 2) ** 2",
     lambda x: (lax.reduce_window(x, 0.0, lax.add, (1, 1, 2), (1, 1, 2), "VALID") / 2) ** 2, ((2, 2, 6), -1, 1))


def attention(q, k, v, causal=False):
    scores = q @ jnp.swapaxes(k, -1, -2) / jnp.sqrt(jnp.asarray(q.shape[-1], q.dtype))
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return nn.softmax(scores, -1) @ v


case("attention", "attention(x0, x1, x2)", attention, ((2, 3, 4), -1, 1), ((2, 5, 4), -1, 1), ((2, 5, 2), -1, 1))
case("causal attention", "attention(x0, x1, x2, causal = true)", lambda q, k, v: attention(q, k, v, True),
     ((4, 3), -1, 1), ((4, 3), -1, 1), ((4, 3), -1, 1))

# ===-- Linear algebra ----------------------------------------------------=== #
# Matrices are moved away from singular ones by a multiple of the identity.

SHIFT = "tril(triu(full(T[4, 4], 3.0)))"


def shifted(a):
    return a + 3 * jnp.eye(4, dtype=a.dtype)


def positive(a):
    return a @ a.T + 3 * jnp.eye(4, dtype=a.dtype)


A, B = ((4, 4), -1, 1), ((4, 2), -1, 1)
case("cholesky", f"cholesky(x0 @ x0.T + {SHIFT})", lambda a: jnp.linalg.cholesky(positive(a)), A)
case("solve", f"solve(x0 + {SHIFT}, x1)", lambda a, b: jnp.linalg.solve(shifted(a), b), A, B)
case("solve_triangular", f"solve_triangular(x0 + {SHIFT}, x1)",
     lambda a, b: jax.scipy.linalg.solve_triangular(shifted(a), b, lower=True), A, B)
case("inv", f"inv(x0 + {SHIFT})", lambda a: jnp.linalg.inv(shifted(a)), A)
case("det", f"det(x0 + {SHIFT})", lambda a: jnp.linalg.det(shifted(a)), A)
case("slogdet", f"slogdet(x0 + {SHIFT}).logabsdet", lambda a: jnp.linalg.slogdet(shifted(a))[1], A)
case("eigh", "eigh(x0 + x0.T).values", lambda a: jnp.linalg.eigvalsh(a + a.T), A)
case("svd", "svd(x0).s", lambda a: jnp.linalg.svd(a, compute_uv=False), ((4, 3), -1, 1))
case("qr", "{ let f = qr(x0); abs(f.q) @ abs(f.r) }",
     lambda a: (lambda q, r: abs(q) @ abs(r))(*jnp.linalg.qr(a)), ((4, 3), -1, 1))
case("lstsq", "lstsq(x0, x1)", lambda a, b: jnp.linalg.solve(a.T @ a, a.T @ b), ((5, 3), -1, 1), ((5, 2), -1, 1))
