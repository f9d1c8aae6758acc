"""Control flow: operations with regions, run step by step."""
from tensors import Tensor, build, size


class ControlOperations:
    """Methods of Evaluator, with the arguments that ShapeOperations' have."""

    def op_if(self, op, x, a, shape, kind, env):
        return self.run(op.regions[0 if x[0].data[0] else 1], [], env)

    def op_for(self, op, x, a, shape, kind, env):
        state = x[2:]
        steps = range(x[0].data[0], x[1].data[0])
        for i in reversed(steps) if a.get("reverse") else steps:
            state = self.run(op.regions[0], [Tensor((), [i], "i64")] + state, env)
        return state

    def op_while(self, op, x, a, shape, kind, env):
        state = x
        while self.run(op.regions[0], state, env)[0].data[0]:
            state = self.run(op.regions[1], state, env)
        return state

    def slice_of(self, t, i):
        n = size(t.shape[1:])
        return Tensor(t.shape[1:], t.data[i * n:(i + 1) * n], t.kind)

    def op_scan(self, op, x, a, shape, kind, env):
        k, length = a["num_state"], self.dim(a["length"])
        state, ys = x[:k], []
        for i in range(length):
            out = self.run(op.regions[0],
                           state + [self.slice_of(t, i) for t in x[k:]], env)
            state = out[:k]
            ys.append(out[k:])
        stacked = []
        for j, type in enumerate(op.types[k:]):
            data = [v for step in ys for v in step[j].data]
            stacked.append(Tensor(self.shape(type), data, type[0]))
        return state + stacked

    def op_map(self, op, x, a, shape, kind, env):
        length = self.dim(a["length"])
        results = []
        for i in range(length):
            arguments = []
            for t, axis in zip(x, a["axes"]):
                if axis < 0:
                    arguments.append(t)
                    continue
                inner = t.shape[:axis] + t.shape[axis + 1:]
                arguments.append(build(inner, t.kind, lambda k: at(
                    t, k[:axis] + (i,) + k[axis:])))
            results.append(self.run(op.regions[0], arguments, env))
        return [Tensor(self.shape(type), [v for r in results for v in r[j].data], type[0])
                for j, type in enumerate(op.types)]

    def op_reduce(self, op, x, a, shape, kind, env):
        k, length = len(op.types), self.dim(a["length"])
        items = [[self.slice_of(t, i) for t in x[k:]] for i in range(length)]
        while len(items) > 1:
            pairs = [self.run(op.regions[0], items[i] + items[i + 1], env)
                     for i in range(0, len(items) - 1, 2)]
            items = pairs + (items[-1:] if len(items) % 2 else [])
        return self.run(op.regions[0], x[:k] + items[0], env) if items else x[:k]

    def op_remat(self, op, x, a, shape, kind, env):
        return self.run(op.regions[0], x, env)

    op_custom_derivative = op_remat


class Tape:
    """Entries by index; those that were never written are zero."""

    def __init__(self, entry, entries=None):
        self.shape, self.entries = entry, entries or {}
        self.kind = "tape"


class TapeOperations:
    """Methods of Evaluator. A write copies, so that whoever reads a tape after its end
    finds what it was."""

    def op_tape_new(self, op, x, a, shape, kind, env):
        return Tape(shape)

    op_tape_none = op_tape_new

    def op_tape_either(self, op, x, a, shape, kind, env):
        return x[0] if x[0].entries else x[1]

    def op_tape_add(self, op, x, a, shape, kind, env):
        one, two = x[0].entries, x[1].entries
        return Tape(shape, {i: sum_of(one[i], two[i]) if i in one and i in two else one.get(i, two.get(i))
                            for i in {**one, **two}})

    def op_tape_read(self, op, x, a, shape, kind, env):
        found = x[0].entries.get(x[1].data[0])
        if found is None:
            return Tape(shape) if kind == "tape" else Tensor(shape, [0.0] * size(shape), kind)
        return found

    def op_tape_write(self, op, x, a, shape, kind, env):
        i, value = x[1].data[0], x[2]
        if a.get("add") and i in x[0].entries:
            value = sum_of(x[0].entries[i], value)
        return Tape(shape, {**x[0].entries, i: value})


def sum_of(one, two):
    return Tensor(one.shape, [p + q for p, q in zip(one.data, two.data)], one.kind)
