"""Attention and its gradient by the textbook formulas, one query at a time."""
import math

from tensors import Tensor, at, build, indices


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def row(t, index):
    return [at(t, index + (i,)) for i in range(t.shape[-1])]


class AttentionOperations:
    """Methods of Evaluator, with the arguments that ShapeOperations' have."""

    def weights(self, q, k, mask, a, index):
        """What a query gives to each key; nothing to those that it does not see."""
        batch, i = index[:-1], index[-1]
        scale = a["scale"] if "scale" in a else 1 / math.sqrt(q.shape[-1])
        scores = {}
        for j in range(k.shape[-2]):
            if (a.get("causal") and j > i) or (mask and not at(mask, index + (j,))):
                continue
            scores[j] = scale * dot(row(q, index), row(k, batch + (j,)))
        largest = max(scores.values(), default=0.0)
        powers = {j: math.exp(s - largest) for j, s in scores.items()}
        total = sum(powers.values())
        return {j: p / total for j, p in powers.items()}, largest + math.log(total) if powers else -math.inf

    def op_attention(self, op, x, a, shape, kind, env):
        q, k, v = x[:3]
        mask = x[3] if len(x) > 3 else None

        def element(i):
            weights, _ = self.weights(q, k, mask, a, i[:-1])
            return sum((w * at(v, i[:-2] + (j, i[-1])) for j, w in weights.items()), 0.0)
        statistic = build(shape[:-1], kind, lambda i: self.weights(q, k, mask, a, i)[1])
        return [build(shape, kind, element), statistic]

    def op_attention_grad(self, op, x, a, shape, kind, env):
        q, k, v, _, _, d = x[:6]
        mask = x[6] if len(x) > 6 else None
        scale = a["scale"] if "scale" in a else 1 / math.sqrt(q.shape[-1])
        dq, dk, dv = (Tensor(t.shape, [0.0] * len(t.data), t.kind) for t in (q, k, v))

        def add(t, index, factor, values):
            base = 0
            for n, i in zip(t.shape, index):
                base = base * n + i
            for c, value in enumerate(values):
                t.data[base * t.shape[-1] + c] += factor * value
        for index in indices(q.shape[:-1]):
            weights, _ = self.weights(q, k, mask, a, index)
            toward = {j: dot(row(d, index), row(v, index[:-1] + (j,))) for j in weights}
            mean = sum(w * toward[j] for j, w in weights.items())
            for j, w in weights.items():
                key = index[:-1] + (j,)
                slope = scale * w * (toward[j] - mean)
                add(dv, key, w, row(d, index))
                add(dq, index, slope, row(k, key))
                add(dk, key, slope, row(q, index))
        return [dq, dk, dv]
