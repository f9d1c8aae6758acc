"""The operations that run over axes: reductions, scans, sorts and products."""
import functools
import math

from scalar_operations import exp, log, maximum, minimum
from tensors import Tensor, at, build, indices, offset


def first_of(values, chosen):
    """The index of the first greatest (or least) of values, NaN before all."""
    best = functools.reduce(chosen, values)
    return next(i for i, v in enumerate(values) if v == best or v != v != best)


def nan_last(value):
    return (value != value, 0 if value != value else value)


class ReductionOperations:
    """Methods of Evaluator, with the arguments that ShapeOperations' have."""


    def reduce(self, x, axes, f):
        axes = [a for a in axes]
        keep = [i for i in range(len(x.shape)) if i not in axes]
        over = [x.shape[a] for a in axes]

        def element(index):
            values = []
            for inner in indices(tuple(over)):
                full = [0] * len(x.shape)
                for a, i in zip(keep, index):
                    full[a] = i
                for a, i in zip(axes, inner):
                    full[a] = i
                values.append(at(x, full))
            return f(values)
        return build([x.shape[i] for i in keep], x.kind, element)

    def along(self, x, axis, f):
        result = Tensor(x.shape, x.data, x.kind)
        rest = x.shape[:axis] + (1,) + x.shape[axis + 1:]
        for index in indices(rest):
            places = [offset(x.shape, index[:axis] + (i,) + index[axis + 1:])
                      for i in range(x.shape[axis])]
            for place, value in zip(places, f([x.data[p] for p in places])):
                result.data[place] = value
        return result

    def op_sum(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], sum)

    def op_prod(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], math.prod)

    def op_max(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], lambda v: functools.reduce(maximum, v))

    op_first_max = op_max

    def op_min(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], lambda v: functools.reduce(minimum, v))

    def op_any(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], any)

    def op_all(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], all)

    def op_norm(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], lambda v: math.sqrt(sum(p * p for p in v)))

    def op_logsumexp(self, op, x, a, shape, kind, env):
        def f(v):
            m = functools.reduce(maximum, v, -math.inf)
            return m if math.isinf(m) else m + math.log(sum(exp(p - m) for p in v))
        return self.reduce(x[0], a["axes"], f)

    def op_argmax(self, op, x, a, shape, kind, env):
        r = self.reduce(x[0], [a["axis"]], lambda v: first_of(v, maximum))
        return Tensor(r.shape, r.data, kind)

    def op_argmin(self, op, x, a, shape, kind, env):
        r = self.reduce(x[0], [a["axis"]], lambda v: first_of(v, minimum))
        return Tensor(r.shape, r.data, kind)

    def op_softmax(self, op, x, a, shape, kind, env):
        def f(v):
            m = functools.reduce(maximum, v, -math.inf)
            if m == -math.inf:
                return [0.0] * len(v)
            e = [exp(p - m) for p in v]
            return [p / sum(e) for p in e]
        return self.along(x[0], a["axis"], f)

    def op_log_softmax(self, op, x, a, shape, kind, env):
        def f(v):
            m = functools.reduce(maximum, v, -math.inf)
            s = log(sum(exp(p - m) for p in v))
            return [p - m - s for p in v]
        return self.along(x[0], a["axis"], f)

    def op_cumsum(self, op, x, a, shape, kind, env):
        return self.along(x[0], a["axis"],
                          lambda v: [sum(v[:i + 1]) for i in range(len(v))])

    def op_cumprod(self, op, x, a, shape, kind, env):
        return self.along(x[0], a["axis"],
                          lambda v: [math.prod(v[:i + 1]) for i in range(len(v))])

    def op_sort(self, op, x, a, shape, kind, env):
        return self.along(x[0], a["axis"], lambda v: sorted(v, key=nan_last))

    def op_argsort(self, op, x, a, shape, kind, env):
        t = self.along(x[0], a["axis"],
                       lambda v: sorted(range(len(v)), key=lambda i: nan_last(v[i])))
        return Tensor(shape, t.data, kind)

    def op_contract(self, op, x, a, shape, kind, env):
        p, q = x
        free_p = [i for i in range(len(p.shape)) if i not in a["batch_a"] + a["contract_a"]]
        free_q = [i for i in range(len(q.shape)) if i not in a["batch_b"] + a["contract_b"]]
        over = tuple(p.shape[i] for i in a["contract_a"])
        nb, nf = len(a["batch_a"]), len(free_p)

        def element(i):
            ip, iq = [0] * len(p.shape), [0] * len(q.shape)
            for axis, k in zip(list(a["batch_a"]) + free_p, i[:nb] + i[nb:nb + nf]):
                ip[axis] = k
            for axis, k in zip(list(a["batch_b"]) + free_q, i[:nb] + i[nb + nf:]):
                iq[axis] = k
            total = 0
            for inner in indices(over):
                for axis, k in zip(a["contract_a"], inner):
                    ip[axis] = k
                for axis, k in zip(a["contract_b"], inner):
                    iq[axis] = k
                total += at(p, ip) * at(q, iq)
            return total
        return build(shape, kind, element)
