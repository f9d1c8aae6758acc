"""A plain evaluator of the astra dialect, to test derivatives and batching by
numbers before and apart from the back end. It works in Python's floats and is as
simple as possible; it knows nothing of how the passes work. A new operation is a
method `op_<name>` of one of the classes that Evaluator is made of; one with several
results gives a list."""
import subprocess

from attention_operations import AttentionOperations
from control_operations import ControlOperations, TapeOperations
from linalg_operations import LinalgOperations
from mlir_reader import Reader
from reduction_operations import ReductionOperations
from scalar_operations import BINARY, UNARY, ElementwiseOperations, safe
from shape_operations import ShapeOperations
from tensors import Tensor, size
from window_operations import WindowOperations

__all__ = ["Evaluator", "Tensor", "call", "load", "size"]


class Evaluator(ElementwiseOperations, ShapeOperations, ReductionOperations, AttentionOperations, WindowOperations,
                LinalgOperations,
                ControlOperations,
                TapeOperations):
    """Runs operations in the dimensions `dims`."""

    def __init__(self, dims):
        self.dims = dims
        self.steps = 0  # operations run

    def dim(self, text):
        return eval(text.replace("/", "//"), {}, dict(self.dims))

    def shape(self, type):
        """Of a tensor; the type of an entry stands for the shape of a tape."""
        return type[1] if type[0] == "tape" else tuple(self.dim(d) for d in type[1])

    def run(self, region, arguments, env):
        names, ops = region
        env = dict(env)
        env.update(zip(names, arguments))
        for op in ops:
            self.steps += 1
            if op.name in ("yield", "func.return", "return"):
                return [env[o] for o in op.operands]
            results = self.evaluate(op, [env[o] for o in op.operands], env)
            for name, value, type in zip(op.results, results, op.types):
                assert value.shape == self.shape(type), (op.name, value.shape, type)
                env[name] = value
        return []

    def evaluate(self, op, x, env):
        name, a = op.name, op.attrs
        kind = op.types[0][0] if op.types else None
        shape = self.shape(op.types[0]) if op.types else None
        if hasattr(self, "op_" + name):
            result = getattr(self, "op_" + name)(op, x, a, shape, kind, env)
            return result if isinstance(result, list) else [result]
        if name in UNARY:
            return [Tensor(shape, map(safe(UNARY[name]), x[0].data), kind)]
        if name in BINARY:
            return [Tensor(shape, map(safe(BINARY[name]), x[0].data, x[1].data), kind)]
        raise NotImplementedError(name)


def load(text, passes):
    """The functions of a module after some passes."""
    done = subprocess.run(["astra-opt", "-", "--mlir-print-op-generic"] + passes,
                          input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    module = Reader(done.stdout).op()
    return {f.attrs["sym_name"]: f.regions[0] for f in module.regions[0][1]}


def call(functions, name, arguments, dims):
    evaluator = Evaluator(dims)
    results = evaluator.run(functions[name], arguments, {})
    return results, evaluator.steps
