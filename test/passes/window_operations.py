"""Convolutions and sliding windows, element by element."""
from tensors import at, build, indices


class WindowOperations:
    """Methods of Evaluator, with the arguments that ShapeOperations' have."""

    def dimensions(self, texts):
        return [self.dim(text) for text in texts]

    def op_conv(self, op, x, a, shape, kind, env):
        p, w = x
        batch = a["batch"]
        first = batch + 2
        strides, low, spread, dilations = (self.dimensions(a[name])
                                           for name in ("strides", "low", "spread", "dilations"))

        def place(o, k):
            """The element of x under place k of the window at o, None for a zero."""
            found = []
            for i in range(len(o)):
                q = o[i] * strides[i] + k[i] * dilations[i] - low[i]
                if q % spread[i] or not 0 <= q // spread[i] < p.shape[first + i]:
                    return None
                found.append(q // spread[i])
            return tuple(found)

        def element(index):
            leading, n, o, position = index[:batch], index[batch], index[batch + 1], index[first:]
            total = 0
            for c in range(p.shape[batch + 1]):
                for k in indices(w.shape[first:]):
                    s = place(position, k)
                    if s is not None:
                        total += at(w, leading + (o, c) + k) * at(p, leading + (n, c) + s)
            return total
        return build(shape, kind, element)

    def origin(self, index, a, spatial):
        """Where an element of the windows lies in the tensor under them."""
        steps = self.dimensions(a["strides"]), self.dimensions(a["dilations"])
        first = len(index) - 2 * spatial
        return index[:first] + tuple(
            index[first + i] * steps[0][i] + index[first + spatial + i] * steps[1][i]
            for i in range(spatial))

    def op_windows(self, op, x, a, shape, kind, env):
        return build(shape, kind, lambda i: at(x[0], self.origin(i, a, len(a["window"]))))

    def op_overlap_add(self, op, x, a, shape, kind, env):
        sums = {}
        for index in indices(x[0].shape):
            place = self.origin(index, a, len(a["strides"]))
            sums[place] = sums.get(place, 0) + at(x[0], index)
        return build(shape, kind, lambda i: sums.get(i, 0))
