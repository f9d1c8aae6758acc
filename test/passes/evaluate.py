"""A plain evaluator of the astra dialect, to test derivatives and batching by
numbers before and apart from the back end. It reads MLIR's generic form, works in
Python's floats (f64, every operation rounded once) and is as simple as possible;
it knows nothing of how the passes work."""
import math
import re
import subprocess

TOKEN = re.compile(
    r'\s*("(?:[^"\\]|\\.)*"|%[\w]+(?:#\d+)?|\^\w+|@\w+|->|!astra\.tensor|'
    r'-?0x[0-9A-Fa-f]+|-?\d+\.?\d*(?:[eE][-+]?\d+)?|[\w.]+|[^\s])')


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


# ===-- Reading -----------------------------------------------------------=== #

class Op:
    pass


class Reader:
    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.pos = 0

    def peek(self):
        return self.tokens[self.pos]

    def take(self, expected=None):
        token = self.tokens[self.pos]
        if expected is not None and token != expected:
            raise SyntaxError(f"{token!r} where {expected!r} should be: "
                              + " ".join(self.tokens[self.pos - 10:self.pos + 5]))
        self.pos += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.pos += 1
            return True
        return False

    def items(self, close, parse):
        found = []
        while not self.accept(close):
            found.append(parse())
            self.accept(",")
        return found

    def type(self):
        if self.accept("!astra.tensor"):
            self.take("<")
            kind = self.take()
            self.take(",")
            self.take("[")
            dims = self.items("]", lambda: self.take().strip('"'))
            self.take(">")
            return (kind, dims)
        if self.accept("("):
            self.items(")", self.type)
            self.take("->")
            return self.types()
        return (self.take(), None)

    def types(self):
        if self.accept("("):
            return self.items(")", self.type)
        return [self.type()]

    def attribute(self):
        token = self.take()
        if token == "array":
            self.take("<")
            self.take("i64")
            self.accept(":")
            return self.items(">", lambda: int(self.take()))
        if token == "[":
            return self.items("]", self.attribute)
        if token.startswith('"'):
            return token.strip('"')
        if token in ("true", "false"):
            return token == "true"
        if token == "(":  # a function type
            self.pos -= 1
            return self.type()
        if self.accept(":"):
            kind = self.take()
            if kind.startswith(("f", "bf")):
                if token.startswith("0x"):
                    import struct
                    width = {"f64": ("Q", "d"), "f32": ("I", "f")}[kind]
                    return struct.unpack(width[1],
                                         struct.pack(width[0], int(token, 16)))[0]
                return float(token)
            return int(token)
        return token

    def attributes(self, close):
        found = {}
        while not self.accept(close):
            name = self.take()
            found[name] = self.attribute() if self.accept("=") else True
            self.accept(",")
        return found

    def op(self):
        op = Op()
        op.results = []
        if self.peek().startswith("%"):
            name = self.take()
            count = 1
            if self.accept(":"):
                count = int(self.take())
                op.results = [f"{name}#{i}" for i in range(count)]
            else:
                op.results = [name]
            self.take("=")
        op.name = self.take().strip('"').replace("astra.", "")
        self.take("(")
        op.operands = self.items(")", self.take)
        op.attrs = {}
        if self.accept("<"):
            self.take("{")
            op.attrs = self.attributes("}")
            self.take(">")
        op.regions = []
        if self.accept("("):
            op.regions = self.items(")", self.region)
        if self.accept("{"):
            op.attrs.update(self.attributes("}"))
        self.take(":")
        self.take("(")
        self.items(")", self.type)
        self.take("->")
        op.types = self.types()
        return op

    def region(self):
        self.take("{")
        arguments = []
        if self.peek().startswith("^"):
            self.take()
            if self.accept("("):
                def argument():
                    name = self.take()
                    self.take(":")
                    self.type()
                    return name
                arguments = self.items(")", argument)
            self.take(":")
        ops = []
        while not self.accept("}"):
            ops.append(self.op())
        return arguments, ops


# ===-- Operations --------------------------------------------------------=== #

def digamma(x):
    r = 0.0
    while x < 12:
        r -= 1 / x
        x += 1
    f = 1 / (x * x)
    return r + math.log(x) - 0.5 / x - f * (
        1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f / 132))))


def trigamma(x):
    r = 0.0
    while x < 20:
        r += 1 / (x * x)
        x += 1
    f = 1 / (x * x)
    return r + 1 / x + f / 2 + (1 / x) * f * (
        1 / 6 - f * (1 / 30 - f * (1 / 42 - f / 30)))


def erfinv(y):
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    x = 0.0
    for _ in range(100):
        x -= (math.erf(x) - y) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return x


def safe(f):
    def g(*x):
        try:
            return f(*x)
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan
    return g


def exp(x):
    return math.inf if x > 709.78 else math.exp(x)


def log(x):
    return -math.inf if x == 0 else math.log(x) if x > 0 else math.nan


def sigmoid(x):
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def softplus(x):
    return x + math.log1p(exp(-x)) if x > 0 else math.log1p(exp(x))


def div(a, b):
    if isinstance(a, int):
        return a // b
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def power(a, b):
    if a == 0 and b < 0:
        return math.inf
    return float(a) ** b if not (a < 0 and b != int(b)) else math.nan


def maximum(a, b):
    return a if a != a or a > b else b


def minimum(a, b):
    return a if a != a or a < b else b


UNARY = {
    "neg": lambda x: -x, "abs": abs, "relu": lambda x: x if x > 0 or x != x else 0 * x,
    "sign": lambda x: float((x > 0) - (x < 0)), "floor": lambda x: float(math.floor(x)),
    "ceil": lambda x: float(math.ceil(x)), "round": lambda x: float(round(x)),
    "exp": exp, "exp2": lambda x: 2.0 ** x, "expm1": math.expm1, "log": log,
    "log1p": math.log1p, "log2": math.log2, "log10": math.log10,
    "sqrt": math.sqrt, "rsqrt": lambda x: div(1.0, math.sqrt(x)),
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x), "sin": math.sin,
    "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
    "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "sigmoid": sigmoid, "log_sigmoid": lambda x: -softplus(-x),
    "softplus": softplus, "gelu": lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)),
    "silu": lambda x: x * sigmoid(x), "erf": math.erf, "erfc": math.erfc,
    "erfinv": erfinv, "lgamma": math.lgamma, "digamma": digamma,
    "trigamma": trigamma, "bitcast": lambda x: x, "is_nan": lambda x: x != x, "is_inf": math.isinf,
    "stop_gradient": lambda x: x, "debug": lambda x: x,
}
BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": div, "rem": lambda a, b: a - b * math.floor(a / b) if isinstance(a, float) else a % b,
    "pow": power, "atan2": math.atan2, "maximum": maximum, "minimum": minimum,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: a << b, "shift_right": lambda a, b: a >> b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}


class Evaluator:
    def __init__(self, dims):
        self.dims = dims
        self.steps = 0  # operations run

    def dim(self, text):
        return eval(text.replace("/", "//"), {}, dict(self.dims))

    def shape(self, type):
        return tuple(self.dim(d) for d in type[1])

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

    def op_not(self, op, x, a, shape, kind, env):
        return Tensor(shape, [not v if kind == "i1" else ~v for v in x[0].data], kind)

    def op_pow_int(self, op, x, a, shape, kind, env):
        return Tensor(shape, [v ** a["exponent"] for v in x[0].data], kind)

    def op_select(self, op, x, a, shape, kind, env):
        return Tensor(shape, [p if c else q for c, p, q in zip(*(t.data for t in x))], kind)

    def op_convert(self, op, x, a, shape, kind, env):
        to = float if kind[0] in "fb" else bool if kind == "i1" else int
        return Tensor(shape, map(to, x[0].data), kind)

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

    def op_sum(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], sum)

    def op_prod(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], math.prod)

    def op_max(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], max)

    def op_min(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], min)

    def op_any(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], any)

    def op_all(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], all)

    def op_norm(self, op, x, a, shape, kind, env):
        return self.reduce(x[0], a["axes"], lambda v: math.sqrt(sum(p * p for p in v)))

    def op_logsumexp(self, op, x, a, shape, kind, env):
        def f(v):
            m = max(v, default=-math.inf)
            return m if math.isinf(m) else m + math.log(sum(exp(p - m) for p in v))
        return self.reduce(x[0], a["axes"], f)

    def op_argmax(self, op, x, a, shape, kind, env):
        r = self.reduce(x[0], [a["axis"]], lambda v: v.index(max(v)))
        return Tensor(r.shape, r.data, kind)

    def op_argmin(self, op, x, a, shape, kind, env):
        r = self.reduce(x[0], [a["axis"]], lambda v: v.index(min(v)))
        return Tensor(r.shape, r.data, kind)

    def op_softmax(self, op, x, a, shape, kind, env):
        def f(v):
            m = max(v)
            if m == -math.inf:
                return [0.0] * len(v)
            e = [exp(p - m) for p in v]
            return [p / sum(e) for p in e]
        return self.along(x[0], a["axis"], f)

    def op_log_softmax(self, op, x, a, shape, kind, env):
        def f(v):
            m = max(v)
            s = math.log(sum(exp(p - m) for p in v))
            return [p - m - s for p in v]
        return self.along(x[0], a["axis"], f)

    def op_cumsum(self, op, x, a, shape, kind, env):
        return self.along(x[0], a["axis"],
                          lambda v: [sum(v[:i + 1]) for i in range(len(v))])

    def op_cumprod(self, op, x, a, shape, kind, env):
        return self.along(x[0], a["axis"],
                          lambda v: [math.prod(v[:i + 1]) for i in range(len(v))])

    def op_sort(self, op, x, a, shape, kind, env):
        return self.along(x[0], a["axis"], sorted)

    def op_argsort(self, op, x, a, shape, kind, env):
        t = self.along(x[0], a["axis"],
                       lambda v: sorted(range(len(v)), key=lambda i: v[i]))
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

    # Control flow.
    def op_if(self, op, x, a, shape, kind, env):
        return self.run(op.regions[0 if x[0].data[0] else 1], [], env)

    def op_for(self, op, x, a, shape, kind, env):
        state = x[2:]
        for i in range(x[0].data[0], x[1].data[0]):
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
