"""A dense tensor of Python numbers, and walks over its elements."""
import math


class Tensor:
    def __init__(self, shape, data, kind):
        self.shape, self.data, self.kind = tuple(shape), list(data), kind


def size(shape):
    return math.prod(shape)


def indices(shape):
    if not shape:
        yield ()
        return
    for i in range(shape[0]):
        for rest in indices(shape[1:]):
            yield (i,) + rest


def offset(shape, index):
    o = 0
    for n, i in zip(shape, index):
        if not 0 <= i < n:
            raise IndexError(f"index {index} of {shape}")
        o = o * n + i
    return o


def at(t, index):
    return t.data[offset(t.shape, index)]


def build(shape, kind, f):
    return Tensor(shape, [f(i) for i in indices(tuple(shape))], kind)
