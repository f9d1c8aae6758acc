"""The operations that move elements: shape, slices, gather and scatter."""
from tensors import Tensor, at, build, indices, offset, size


class ShapeOperations:
    """Methods of Evaluator: `x` are the operands, `a` the attributes; `shape` and
    `kind` are the first result's."""

    def op_constant(self, op, x, a, shape, kind, env):
        return Tensor(shape, [a["value"]] * size(shape), kind)

    def op_dim(self, op, x, a, shape, kind, env):
        return Tensor((), [self.dim(a["value"])], kind)

    def op_iota(self, op, x, a, shape, kind, env):
        to = float if kind[0] in "fb" else int
        return build(shape, kind, lambda i: to(i[a["axis"]]))

    def op_broadcast(self, op, x, a, shape, kind, env):
        t = x[0]
        return build(shape, kind, lambda i: at(t, [
            0 if n == 1 else i[axis] for n, axis in zip(t.shape, a["axes"])]))

    def op_reshape(self, op, x, a, shape, kind, env):
        return Tensor(shape, x[0].data, kind)

    op_check_shape = op_reshape

    def op_transpose(self, op, x, a, shape, kind, env):
        def element(i):
            full = [0] * len(i)
            for place, axis in enumerate(a["perm"]):
                full[axis] = i[place]
            return at(x[0], full)
        return build(shape, kind, element)

    def op_flip(self, op, x, a, shape, kind, env):
        return build(shape, kind, lambda i: at(x[0], [
            n - 1 - k if axis in a["axes"] else k
            for axis, (n, k) in enumerate(zip(shape, i))]))

    def op_concat(self, op, x, a, shape, kind, env):
        axis = a["axis"]

        def element(i):
            k = i[axis]
            for t in x:
                if k < t.shape[axis]:
                    return at(t, i[:axis] + (k,) + i[axis + 1:])
                k -= t.shape[axis]
        return build(shape, kind, element)

    def op_pad(self, op, x, a, shape, kind, env):
        low = [self.dim(d) for d in a["low"]]

        def element(i):
            k = [p - q for p, q in zip(i, low)]
            inside = all(0 <= p < n for p, n in zip(k, x[0].shape))
            return at(x[0], k) if inside else x[1].data[0]
        return build(shape, kind, element)

    def starts(self, a, dynamic):
        starts = [self.dim(d) for d in a["starts"]]
        for axis, t in zip(a["dynamic_axes"], dynamic):
            starts[axis] = t.data[0]
        return starts

    def op_slice(self, op, x, a, shape, kind, env):
        starts = self.starts(a, x[1:])
        return build(shape, kind,
                     lambda i: at(x[0], [p + q for p, q in zip(i, starts)]))

    def op_update_slice(self, op, x, a, shape, kind, env):
        starts = self.starts(a, x[2:])
        result = Tensor(shape, x[0].data, kind)
        for i in indices(x[1].shape):
            o = offset(shape, [p + q for p, q in zip(i, starts)])
            v = at(x[1], i)
            result.data[o] = result.data[o] + v if a.get("add") else v
        return result

    def places(self, x, index, axes, i):
        """The place in x of element i of what a gather gives."""
        first, k = axes[0], len(index[0].shape)
        chosen = [at(t, i[first:first + k]) for t in index]
        return list(i[:first]) + chosen + list(i[first + k:])

    def op_gather(self, op, x, a, shape, kind, env):
        return build(shape, kind, lambda i: at(
            x[0], self.places(x[0], x[1:], a["axes"], i)))

    def op_scatter(self, op, x, a, shape, kind, env):
        result = Tensor(shape, x[0].data, kind)
        for i in indices(x[1].shape):
            o = offset(shape, self.places(x[0], x[2:], a["axes"], i))
            v = at(x[1], i)
            result.data[o] = result.data[o] + v if a.get("add") else v
        return result
