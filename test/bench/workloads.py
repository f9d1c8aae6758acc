"""The reference workloads: their inputs, and what each other system computes for
them. The Astra versions are the functions of workloads.astra.

A workload has inputs (seeded, float32), the function of the module that computes
it, and per system a function of the same inputs. `flops` and `bytes`, where they
make sense, are what one call must compute or move at least."""
import math

import numpy as np


def normal(seed, *shapes, scale=1.0):
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.standard_normal(shape) * scale, np.float32) for shape in shapes]


class Workload:
    """`inputs` in the order of the Astra function's leaves; `permute` gives the
    places of the peers' outputs among ours where the orders differ."""

    function, flops, bytes = None, None, None

    def inputs(self):
        raise NotImplementedError


class Gemm(Workload):
    function = "gemm"

    def __init__(self, m, k, n):
        self.shape, self.flops = (m, k, n), 2 * m * k * n

    def inputs(self):
        m, k, n = self.shape
        return normal(1, (m, k), (k, n))

    def jax(self, jax, jnp, a, b):
        return jnp.matmul(a, b, precision="highest")

    def torch(self, torch, a, b):
        return a @ b

    def numpy(self, a, b):
        return a @ b

    def onnx(self, g, a, b):
        return g.op("MatMul", a, b)


class GeluChain(Workload):
    function, bytes = "gelu_chain", 2 * 4096 * 1024 * 4

    def inputs(self):
        return normal(2, (4096, 1024), (1024,), (1024,))

    def jax(self, jax, jnp, x, a, b):
        return jax.nn.gelu(x * a + b, approximate=False) * jax.nn.sigmoid(x) + jnp.tanh(x)

    def torch(self, torch, x, a, b):
        return torch.nn.functional.gelu(x * a + b) * torch.sigmoid(x) + torch.tanh(x)

    def onnx(self, g, x, a, b):
        gelu = g.op("Gelu", g.op("Add", g.op("Mul", x, a), b))
        return g.op("Add", g.op("Mul", gelu, g.op("Sigmoid", x)), g.op("Tanh", x))


class SoftmaxRows(Workload):
    function, bytes = "softmax_rows", 2 * 4096 * 1024 * 4

    def inputs(self):
        return normal(3, (4096, 1024))

    def jax(self, jax, jnp, x):
        return jax.nn.softmax(x, axis=-1)

    def torch(self, torch, x):
        return torch.softmax(x, dim=-1)

    def onnx(self, g, x):
        return g.op("Softmax", x, axis=-1)


class LayerNorm(Workload):
    function, bytes = "layernorm", 2 * 4096 * 1024 * 4

    def inputs(self):
        return normal(4, (4096, 1024), (1024,), (1024,))

    def jax(self, jax, jnp, x, scale, shift):
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * scale + shift

    def torch(self, torch, x, scale, shift):
        return torch.nn.functional.layer_norm(x, (1024,), scale, shift, 1e-5)

    def onnx(self, g, x, scale, shift):
        return g.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5)


class SumAll(Workload):
    function, bytes = "sum_all", 4 * (1 << 24)

    def inputs(self):
        return normal(5, (1 << 24,))

    def jax(self, jax, jnp, x):
        return jnp.sum(x)

    def torch(self, torch, x):
        return x.sum()

    def onnx(self, g, x):
        return g.op("ReduceSum", x, keepdims=0)


class SumColumns(Workload):
    function, bytes = "sum_columns", 4 * (1 << 24)

    def inputs(self):
        return normal(6, (16384, 1024))

    def jax(self, jax, jnp, x):
        return jnp.sum(x, axis=0)

    def torch(self, torch, x):
        return x.sum(0)

    def onnx(self, g, x):
        return g.op("ReduceSum", x, g.ints([0]), keepdims=0)


def parameters(seed, sizes):
    return normal(seed, *(shape for i, o in zip(sizes, sizes[1:]) for shape in ((i, o), (o,))), scale=0.05)


class MlpStep(Workload):
    def __init__(self, function, batch, sizes):
        self.function, self.batch, self.sizes = function, batch, sizes

    def inputs(self):
        labels = np.random.default_rng(9).integers(0, self.sizes[-1], self.batch)
        return normal(8, (self.batch, self.sizes[0])) + [labels.astype(np.int32)] + parameters(7, self.sizes)

    def jax(self, jax, jnp, x, y, *ps):
        def loss(ps):
            h = x
            for i in range(0, len(ps), 2):
                h = h @ ps[i] + ps[i + 1]
                h = jax.nn.relu(h) if i + 2 < len(ps) else h
            return -jnp.take_along_axis(jax.nn.log_softmax(h), y[:, None], 1).mean()
        value, grads = jax.value_and_grad(loss)(list(ps))
        return (value, *(p - 0.1 * g for p, g in zip(ps, grads)))

    def torch(self, torch, x, y, *ps):
        ps = [p.detach().requires_grad_(True) for p in ps]
        h = x
        for i in range(0, len(ps), 2):
            h = torch.addmm(ps[i + 1], h, ps[i])
            h = torch.relu(h) if i + 2 < len(ps) else h
        value = torch.nn.functional.cross_entropy(h, y.long())
        grads = torch.autograd.grad(value, ps)
        with torch.no_grad():
            return (value.detach(), *(p - 0.1 * g for p, g in zip(ps, grads)))


class MlpInfer(Workload):
    function = "mlp_infer"

    def __init__(self, batch, sizes):
        self.batch, self.sizes = batch, sizes

    def inputs(self):
        return normal(10, (self.batch, self.sizes[0])) + parameters(11, self.sizes)

    def jax(self, jax, jnp, x, *ps):
        for i in range(0, len(ps), 2):
            x = x @ ps[i] + ps[i + 1]
            x = jax.nn.relu(x) if i + 2 < len(ps) else x
        return x

    def torch(self, torch, x, *ps):
        for i in range(0, len(ps), 2):
            x = torch.addmm(ps[i + 1], x, ps[i])
            x = torch.relu(x) if i + 2 < len(ps) else x
        return x

    def onnx(self, g, x, *ps):
        for i in range(0, len(ps), 2):
            x = g.op("Add", g.op("MatMul", x, ps[i]), ps[i + 1])
            x = g.op("Relu", x) if i + 2 < len(ps) else x
        return x


class Block(Workload):
    """A pre-norm causal transformer block, batch 4, length 256, width 512, 8 heads."""
    B, T, D, H = 4, 256, 512, 8

    def __init__(self, gradient):
        self.gradient = gradient
        self.function = "block_grad" if gradient else "block_forward"

    def inputs(self):
        D = self.D
        weights = normal(13, (D, 3 * D), (D, D), (D, 4 * D), (4 * D, D), scale=0.02)
        norms = [np.ones(D, np.float32), np.zeros(D, np.float32)] * 2
        return normal(12, (self.B, self.T, D)) + weights + norms

    def jax(self, jax, jnp, *args):
        B, T, D, H = self.B, self.T, self.D, self.H

        def norm(x, scale, shift):
            centred = x - x.mean(-1, keepdims=True)
            return centred / jnp.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * scale + shift

        def block(x, qkv, out, up, down, g1, b1, g2, b2):
            q, k, v = [t.reshape(B, T, H, D // H).transpose(0, 2, 1, 3)
                       for t in jnp.split(norm(x, g1, b1) @ qkv, 3, -1)]
            scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(D // H)
            scores = jnp.where(jnp.tril(jnp.ones((T, T), bool)), scores, -1e30)
            o = (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(B, T, D)
            x = x + o @ out
            return x + jax.nn.gelu(norm(x, g2, b2) @ up, approximate=True) @ down
        if not self.gradient:
            return block(*args)
        value, grads = jax.value_and_grad(lambda *a: (block(*a) ** 2).mean(),
                                          argnums=tuple(range(len(args))))(*args)
        return (value, *grads)

    def torch(self, torch, *args):
        B, T, D, H = self.B, self.T, self.D, self.H
        F = torch.nn.functional

        def block(x, qkv, out, up, down, g1, b1, g2, b2):
            q, k, v = [t.reshape(B, T, H, D // H).transpose(1, 2)
                       for t in (F.layer_norm(x, (D,), g1, b1, 1e-5) @ qkv).split(D, -1)]
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, D)
            x = x + o @ out
            return x + F.gelu(F.layer_norm(x, (D,), g2, b2, 1e-5) @ up, approximate="tanh") @ down
        if not self.gradient:
            with torch.no_grad():
                return block(*args)
        leaves = [a.detach().requires_grad_(True) for a in args]
        value = (block(*leaves) ** 2).mean()
        return (value.detach(), *torch.autograd.grad(value, leaves))


class Conv(Workload):
    """A 3x3 convolution, bias and relu: 32 images of 56x56, 64 channels to 64."""

    def __init__(self, gradient):
        self.gradient = gradient
        self.function = "conv3x3_grad" if gradient else "conv3x3_forward"
        self.flops = 2 * 32 * 64 * 64 * 9 * 56 * 56 * (3 if gradient else 1)

    def inputs(self):
        return normal(14, (32, 64, 56, 56), (64, 64, 3, 3), (64,), scale=0.1)

    def jax(self, jax, jnp, x, w, b):
        def f(x, w, b):
            return jax.nn.relu(jax.lax.conv_general_dilated(x, w, (1, 1), "SAME") + b[None, :, None, None])
        if not self.gradient:
            return f(x, w, b)
        value, grads = jax.value_and_grad(lambda *a: f(*a).mean(), argnums=(0, 1, 2))(x, w, b)
        return (value, *grads)

    def torch(self, torch, x, w, b):
        def f(x, w, b):
            return torch.relu(torch.nn.functional.conv2d(x, w, b, padding=1))
        if not self.gradient:
            with torch.no_grad():
                return f(x, w, b)
        leaves = [t.detach().requires_grad_(True) for t in (x, w, b)]
        value = f(*leaves).mean()
        return (value.detach(), *torch.autograd.grad(value, leaves))

    def onnx(self, g, x, w, b):
        if self.gradient:
            return None
        return g.op("Relu", g.op("Conv", x, w, b, pads=[1, 1, 1, 1]))


class GmmGrad(Workload):
    """The mixture's log-likelihood and its gradient: 1000 points, 64 dimensions, 25 components."""
    function = "gmm_grad"

    def inputs(self):
        n, d, k = 1000, 64, 25
        alpha, means, x, q = normal(15, (k,), (k, d), (n, d), (k, d))
        lower, = normal(16, (k, d, d), scale=0.1)
        return [alpha, means, q, np.tril(lower, -1), x]

    def jax(self, jax, jnp, alpha, means, q, lower, x):
        def f(alpha, means, q, lower):
            n, d = x.shape
            strict = jnp.tril(lower, -1)
            factor = strict + jax.vmap(jnp.diag)(jnp.exp(q))
            z = jnp.einsum("kij,nkj->nki", factor, x[:, None, :] - means[None])
            inner = alpha + q.sum(1) - 0.5 * (z ** 2).sum(-1)
            logsumexp = jax.scipy.special.logsumexp
            prior = 0.5 * (jnp.exp(q) ** 2).sum() + 0.5 * (strict ** 2).sum() - q.sum()
            return (logsumexp(inner, axis=1).sum() - n * logsumexp(alpha) - prior
                    - 0.5 * n * d * math.log(2 * math.pi))
        value, grads = jax.value_and_grad(f, argnums=(0, 1, 2, 3))(alpha, means, q, lower)
        return (value, *grads)

    def torch(self, torch, alpha, means, q, lower, x):
        leaves = alpha, means, q, lower = [t.detach().requires_grad_(True) for t in (alpha, means, q, lower)]
        n, d = x.shape
        strict = torch.tril(lower, -1)
        factor = strict + torch.diag_embed(torch.exp(q))
        z = torch.einsum("kij,nkj->nki", factor, x[:, None, :] - means[None])
        inner = alpha + q.sum(1) - 0.5 * (z ** 2).sum(-1)
        prior = 0.5 * (torch.exp(q) ** 2).sum() + 0.5 * (strict ** 2).sum() - q.sum()
        value = (torch.logsumexp(inner, 1).sum() - n * torch.logsumexp(alpha, 0) - prior
                 - 0.5 * n * d * math.log(2 * math.pi))
        return (value.detach(), *torch.autograd.grad(value, leaves))


class LstmGrad(Workload):
    """64 steps of an LSTM, batch 32, 128 units: the sum of squares of the last state and its gradient."""
    function = "lstm_grad"

    def inputs(self):
        return normal(17, (64, 32, 128)) + normal(18, (128, 512), (128, 512), (512,), scale=0.08)

    def jax(self, jax, jnp, xs, wx, wh, b):
        def f(wx, wh, b):
            def cell(state, x):
                h, s = state
                i, g, r, o = jnp.split(x @ wx + h @ wh + b, 4, -1)
                s = jax.nn.sigmoid(r) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
                return (jax.nn.sigmoid(o) * jnp.tanh(s), s), None
            zero = jnp.zeros((32, 128), jnp.float32)
            (h, _), _ = jax.lax.scan(cell, (zero, zero), xs)
            return (h ** 2).sum()
        value, grads = jax.value_and_grad(f, argnums=(0, 1, 2))(wx, wh, b)
        return (value, *grads)

    def torch(self, torch, xs, wx, wh, b):
        leaves = wx, wh, b = [t.detach().requires_grad_(True) for t in (wx, wh, b)]
        h = s = torch.zeros(32, 128)
        for x in xs:
            i, g, r, o = (x @ wx + h @ wh + b).chunk(4, -1)
            s = torch.sigmoid(r) * s + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(s)
        value = (h ** 2).sum()
        return (value.detach(), *torch.autograd.grad(value, leaves))


WORKLOADS = {
    "gemm_f32_256": Gemm(256, 256, 256),
    "gemm_f32_1024": Gemm(1024, 1024, 1024),
    "gemm_f32_2048": Gemm(2048, 2048, 2048),
    "gemm_rows_1": Gemm(1, 1024, 1024),
    "gemm_rows_8": Gemm(8, 1024, 1024),
    "gemm_rows_64": Gemm(64, 1024, 1024),
    "gelu_chain": GeluChain(),
    "softmax_rows": SoftmaxRows(),
    "layernorm": LayerNorm(),
    "sum_all": SumAll(),
    "sum_columns": SumColumns(),
    "mlp_step_small": MlpStep("mlp_step_small", 64, [64, 32, 10]),
    "mlp_step_large": MlpStep("mlp_step_large", 256, [784, 1024, 1024, 10]),
    "mlp_infer_b1": MlpInfer(1, [64, 32, 10]),
    "block_forward": Block(False),
    "block_grad": Block(True),
    "conv3x3_forward": Conv(False),
    "conv3x3_grad": Conv(True),
    "gmm_grad": GmmGrad(),
    "lstm_grad": LstmGrad(),
}
