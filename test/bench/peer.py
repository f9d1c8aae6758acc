"""One other system, as a process that times the reference workloads on request.

Usage: peer.py jax|torch|torch-compile|onnxruntime|iree|numpy|eigen --threads N
It speaks the protocol of worker.c: `open WORKLOAD FILE`, `round SECONDS`, `save FILE`;
`cannot REASON` answers an `open` of what the system does not have."""
import argparse
import os
import statistics
import sys
import time


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    os.environ["JAX_PLATFORMS"] = "cpu"
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # NumPy's products take the kernels of this processor
        os.environ.pop(name, None)
    return options


OPTIONS = parse()
import numpy as np  # noqa: E402  (the number of threads is read when it loads)
from workloads import WORKLOADS  # noqa: E402


class Jax:
    def __init__(self, threads):
        import jax
        self.jax = jax
        jax.config.update("jax_default_matmul_precision", "highest")

    def prepare(self, workload, inputs):
        compiled = self.jax.jit(lambda *a: workload.jax(self.jax, self.jax.numpy, *a))
        args = [self.jax.device_put(a) for a in inputs]
        return lambda: self.jax.block_until_ready(compiled(*args))


class Torch:
    def __init__(self, threads, compiled=False):
        import torch
        self.torch, self.compiled = torch, compiled
        torch.set_num_threads(threads)

    def prepare(self, workload, inputs):
        args = [self.torch.from_numpy(a.copy()) for a in inputs]
        function = lambda *a: workload.torch(self.torch, *a)
        if self.compiled:
            self.torch._dynamo.reset()
            function = self.torch.compile(function, dynamic=False)

        def call():
            with self.torch.set_grad_enabled("grad" in workload.function or "step" in workload.function):
                return function(*args)
        return call


class Iree:
    """IREE for this processor, from the StableHLO that JAX makes of a workload."""

    def __init__(self, threads):
        import iree.compiler
        import iree.runtime
        import jax
        self.jax, self.compiler, self.runtime = jax, iree.compiler, iree.runtime
        jax.config.update("jax_default_matmul_precision", "highest")
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self.driver = "local-sync" if threads == 1 else "local-task"

    def prepare(self, workload, inputs):
        lowered = self.jax.jit(lambda *a: workload.jax(self.jax, self.jax.numpy, *a)).lower(*inputs)
        text = str(lowered.compiler_ir("stablehlo"))
        binary = self.compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo",
                                           extra_args=["--iree-llvmcpu-target-cpu=host"])
        config = self.runtime.Config(self.driver)
        context = self.runtime.SystemContext(config=config)
        context.add_vm_module(self.runtime.VmModule.copy_buffer(context.instance, binary))
        name = text.split("module @", 1)[1].split()[0]
        function = getattr(context.modules, name)["main"]
        args = [self.runtime.asdevicearray(config.device, a) for a in inputs]
        return lambda: function(*args)


class Eigen:
    """Products by Eigen, compiled for this processor by compare (eigen.cpp)."""

    def __init__(self, threads):
        import ctypes
        library = ctypes.CDLL(os.path.join(os.environ["ASTRA_BENCH_OUT"], "eigen.so"))
        library.set_threads(threads)
        floats = np.ctypeslib.ndpointer(np.float32, flags="C")
        library.product.argtypes = [ctypes.c_long] * 3 + [floats] * 3
        self.product = library.product

    def prepare(self, workload, inputs):
        if not hasattr(workload, "numpy"):
            return None
        a, b = inputs
        (m, k), n = a.shape, b.shape[1]
        result = np.empty((m, n), np.float32)

        def call():
            self.product(m, k, n, a, b, result)
            return result
        return call


class NumPy:
    """Products by the BLAS of NumPy's wheels, OpenBLAS."""

    def __init__(self, threads):
        pass

    def prepare(self, workload, inputs):
        return (lambda: workload.numpy(*inputs)) if hasattr(workload, "numpy") else None


class Graph:
    """Writes an ONNX model, one operation at a time."""

    def __init__(self, helper, types):
        self.helper, self.types, self.nodes, self.constants = helper, types, [], []

    def op(self, kind, *operands, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(operands), [name], **attributes))
        return name

    def ints(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(self.helper.make_tensor(name, self.types.INT64, [len(values)], values))
        return name


class OnnxRuntime:
    def __init__(self, threads):
        import onnx
        import onnxruntime
        self.onnx, self.runtime = onnx, onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1

    def prepare(self, workload, inputs):
        if not hasattr(workload, "onnx"):
            return None
        helper, types = self.onnx.helper, self.onnx.TensorProto
        graph, names = Graph(helper, types), [f"x{i}" for i in range(len(inputs))]
        result = workload.onnx(graph, *names)
        if result is None:
            return None
        given = [helper.make_tensor_value_info(n, types.FLOAT, a.shape) for n, a in zip(names, inputs)]
        made = helper.make_tensor_value_info(result, types.FLOAT, None)
        model = helper.make_model(helper.make_graph(graph.nodes, "workload", given, [made], graph.constants),
                                  opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        session = self.runtime.InferenceSession(model.SerializeToString(), self.options,
                                                providers=["CPUExecutionProvider"])
        feeds = dict(zip(names, inputs))
        return lambda: session.run(None, feeds)


SYSTEMS = {"jax": Jax, "torch": Torch, "torch-compile": lambda threads: Torch(threads, True),
           "onnxruntime": OnnxRuntime, "iree": Iree, "numpy": NumPy, "eigen": Eigen}


def as_list(value):
    return [np.asarray(v) for v in (value if isinstance(value, (tuple, list)) else [value])]


def median_of(call, seconds):
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    batch = int(1e-4 / max(once, 1e-7)) + 1 if once < 1e-4 else 1
    samples, end = [], time.perf_counter() + seconds
    while len(samples) < 1000 and (len(samples) < 3 or time.perf_counter() < end):
        start = time.perf_counter()
        for _ in range(batch):
            call()
        samples.append((time.perf_counter() - start) / batch)
    return statistics.median(samples)


def main():
    system, call, last = SYSTEMS[OPTIONS.system](OPTIONS.threads), None, None
    print("ready", flush=True)
    for line in sys.stdin:
        command, *words = line.split()
        if command == "open":
            workload = WORKLOADS[words[0]]
            start = time.perf_counter()
            call = system.prepare(workload, workload.inputs())
            if call is None:
                print("cannot: it has no such workload", flush=True)
                continue
            last = call()
            print(f"first {time.perf_counter() - start:.9f}", flush=True)
        elif command == "round":
            print(f"median {median_of(call, float(words[0])):.9f}", flush=True)
        elif command == "save":
            np.savez(words[0], *as_list(last))
            print("saved", flush=True)


main()
