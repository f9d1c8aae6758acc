"""Random Astra programs: one export over two free dimensions, made of operations of
every family, derivatives, maps, loops and branches, and extents for the dimensions. The
same seed gives the same program. Knows the language's types, no tool."""
import random

FLOATS = ["f32", "f32", "f32", "f64", "f16", "bf16"]
INTS = ["i32", "i64", "u32", "i8", "u16"]
SMOOTH = "exp tanh sigmoid sin cos gelu silu softplus erf expm1 atan".split()
UNARY = SMOOTH + ("abs sign floor ceil round exp2 log log1p log2 log10 sqrt rsqrt cbrt tan asin acos "
                  "sinh cosh log_sigmoid relu erfc erfinv lgamma digamma trigamma sinc exprel").split()
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "maximum({}, {})", "minimum({}, {})",
          "atan2({}, {})", "pow(abs({}), {})", "{} % {}"]
INT_BINARY = ["{} + {}", "{} - {}", "{} * {}", "maximum({}, {})", "minimum({}, {})",
              "bitwise_and({}, {})", "bitwise_or({}, {})", "bitwise_xor({}, {})"]
SHARED = 32768  # elements that a thread takes at least, elementwise
COMPARE = "== != < <= > >=".split()


class Program:
    """Straight code with nested pieces. A value is (name, dtype, shape), a shape a
    tuple of extents as text."""

    def __init__(self, seed):
        self.seed = seed
        self.rng = random.Random(seed)
        self.t = self.rng.choice(FLOATS)
        self.lines, self.count = [], 0
        t = self.t
        self.inputs = [("x", t, ("n", "m")), ("y", t, ("n", "m")), ("w", t, ("m", "m")),
                       ("a", t, ("m",)), ("c", t, ("n",)), ("i", self.rng.choice(INTS), ("n", "m")),
                       ("j", "i32", ("n",)), ("key", "u32", ("2",)), ("steps", "i64", ())]
        self.values = list(self.inputs)
        wanted = self.rng.randint(5, 18)
        while self.count < wanted:
            self.rng.choice(STEPS)(self)

    def text(self):
        made = self.values[len(self.inputs):]
        results = self.rng.sample(made, min(len(made), self.rng.randint(1, 4)))
        if made[-1] not in results:
            results.append(made[-1])
        declare = ", ".join(f"{name}: {written(dtype, shape)}" for name, dtype, shape in self.inputs)
        types = ", ".join(written(dtype, shape) for _, dtype, shape in results)
        names = ", ".join(name for name, _, _ in results)
        return "\n".join([f"export fn f({declare}) -> ({types},) = {{", *self.lines,
                          f"  ({names},)", "}", ""]).replace(" = {\n", " {\n", 1)

    def extents(self):
        """Of n and m: four programs of ten have less than some vectors, five as much as
        products, sorting and rows share among threads, one as much as all kernels do."""
        rng = random.Random(f"extents of {self.seed}")
        if self.seed % 10 == 0:
            n = rng.randint(110, 300)
            return n, SHARED // n + rng.randint(1, 9)
        low, high = (1, 18) if self.seed % 5 in (1, 2) else (19, 90)
        return rng.randint(low, high), rng.randint(low, high)

    # -- Pieces --

    def define(self, text, dtype, shape):
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"  let {name} = {text}")
        self.values.append((name, dtype, tuple(shape)))

    def pick(self, dtype=None, shape=None, rank=None):
        found = [v for v in self.values if v[1] == (dtype or self.t)
                 and (shape is None or v[2] == shape) and (rank is None or len(v[2]) == rank)]
        if not found:
            return None
        return self.rng.choice(found[-4:] if self.rng.random() < 0.5 else found)

    def small(self):
        """A number that the type has exactly."""
        return self.rng.choice(["0.5", "2.0", "0.25", "1.5", "3.0"])

    def smooth(self, name):
        """A differentiable expression of a value, elementwise."""
        text = name
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if kind < 0.6:
                text = f"{self.rng.choice(SMOOTH)}({text})"
            elif kind < 0.8:
                text = f"({text} * {self.small()} + {name})"
            else:
                text = f"({text} * {name})"
        return text


def written(dtype, shape):
    return dtype + (f"[{', '.join(shape)}]" if shape else "")


# -- Families: each defines one value or leaves the program as it is --

def unary(p):
    name, dtype, shape = p.pick()
    p.define(f"{p.rng.choice(UNARY)}({name})", dtype, shape)


def binary(p):
    name, dtype, shape = p.pick()
    other = p.pick(shape=shape)
    p.define(p.rng.choice(BINARY).format(name, other[0]), dtype, shape)


def broadcast(p):
    name = p.pick(shape=("n", "m"))[0]
    op = p.rng.choice("+-*/")
    other = p.rng.choice([p.pick(shape=("m",))[0], f"expand_dims({p.pick(shape=('n',))[0]}, 1)",
                          p.small()])
    p.define(f"{name} {op} {other}", p.t, ("n", "m"))


def integer(p):
    dtype = p.rng.choice([v[1] for v in p.values if v[1] in INTS and v[2]])
    name, dtype, shape = p.pick(dtype, rank=2) or p.pick(dtype, rank=1)
    kind = p.rng.random()
    if kind < 0.5:
        p.define(p.rng.choice(INT_BINARY).format(name, p.pick(dtype, shape)[0]), dtype, shape)
    elif kind < 0.7:
        p.define(f"{name} {p.rng.choice(['/', '%'])} {p.rng.choice([2, 3, 7])}", dtype, shape)
    elif kind < 0.85:
        side = p.rng.choice(["left_shift", "right_shift"])
        p.define(f"{side}({name}, {p.rng.randint(0, 7)})", dtype, shape)
    else:
        p.define(f"{p.t}({name})", p.t, shape)


def choose(p):
    name, dtype, shape = p.pick()
    b, c = p.pick(shape=shape)[0], p.pick(shape=shape)[0]
    test = f"{name} {p.rng.choice(COMPARE)} {b}"
    if p.rng.random() < 0.3:
        test = f"is_nan({c}) || {test}" if not shape else f"is_nan({c}) != ({test})"
    p.define(f"where({test}, {c}, {name})", dtype, shape)


def convert(p):
    name, dtype, shape = p.pick()
    other = p.rng.choice(INTS + FLOATS)
    p.define(f"{p.t}({other}({name}))", dtype, shape)


def reduction(p):
    name = p.pick(rank=2)
    axis = p.rng.choice([0, 1])
    kept = name[2][1 - axis]
    op = p.rng.choice("sum prod max min mean norm logsumexp".split())
    p.define(f"{op}({name[0]}, axis = {axis})", p.t, (kept,))


def rowwise(p):
    name, dtype, shape = p.pick(rank=2)
    op = p.rng.choice("softmax log_softmax sort cumsum cumprod".split())
    p.define(f"{op}({name}, axis = {p.rng.choice([0, 1])})", dtype, shape)


def order(p):
    name = p.pick(shape=("n", "m"))[0]
    if p.rng.random() < 0.5:
        p.define(f"argmax({name}, axis = 1)", "i32", ("n",))
    else:
        p.define(f"argsort({name}, axis = 1)", "i32", ("n", "m"))


def product(p):
    left, right = p.pick(shape=("n", "m")), p.pick(shape=("m", "m"))
    kind = p.rng.random()
    if kind < 0.4:
        p.define(f"{left[0]} @ {right[0]}", p.t, ("n", "m"))
    elif kind < 0.6:
        p.define(f"{left[0]} @ {p.pick(shape=('m',))[0]}", p.t, ("n",))
    elif kind < 0.8:
        p.define(f'einsum("ij,ik->jk", {left[0]}, {p.pick(shape=("n", "m"))[0]})', p.t, ("m", "m"))
    else:
        p.define(f"gelu({left[0]} @ {right[0]} + {p.pick(shape=('m',))[0]})", p.t, ("n", "m"))


def form(p):
    name, dtype, shape = p.pick(shape=("n", "m"))
    p.define(p.rng.choice([
        f"flip({name}, axis = 1)", f"transpose(reshape(transpose({name}, [1, 0]), [m, n]), [1, 0])",
        f"concat({name}[1..n], {name}[0..1], axis = 0)" if False else f"roll({name}, 1, axis = 0)",
        f"reshape(flip(reshape({name}, [n * m]), axis = 0), [n, m])",
        f"concat({name}, {name}, axis = 1)[0..n, m..2 * m]", f"pad({name}, [(1, 2), (0, 3)])[1..n + 1, 0..m]",
        f"tril({name})", f"stack({name}, {name})[1]"]), dtype, shape)


def index(p):
    name = p.pick(shape=("n", "m"))[0]
    p.define(f"{name}[i64({p.pick('i32', ('n',))[0]}) % n]", p.t, ("n", "m"))


def gradient(p):
    name, dtype, shape = p.pick()
    kind = p.rng.random()
    typed = written(dtype, shape)
    if kind < 0.5:
        p.define(f"grad(|v: {typed}| sum({p.smooth('v')}))({name})" if shape else
                 f"grad(|v: {typed}| {p.smooth('v')})({name})", dtype, shape)
    elif kind < 0.7:
        p.define(f"jvp(|v: {typed}| {p.smooth('v')}, ({name},), ({p.pick(shape=shape)[0]},)).1", dtype, shape)
    else:
        w = p.pick(shape=("m", "m"))[0]
        left = p.pick(shape=("n", "m"))[0]
        loss = p.rng.choice(["sum(tanh(v @ u))", "sum(softmax(v @ u, axis = 1) * v)", "sum(logsumexp(v @ u, axis = 1))"])
        place = p.rng.choice([0, 1])
        result = ("n", "m") if place == 0 else ("m", "m")
        p.define(f"grad(|v: {p.t}[n, m], u: {p.t}[m, m]| {loss}, wrt = {place})({left}, {w})", p.t, result)


def mapped(p):
    name = p.pick(shape=("n", "m"))[0]
    body = p.smooth("r")
    inner = p.rng.choice([f"{body}", f"softmax({body}, axis = 0)", f"cumsum({body}, axis = 0)",
                          f"r * sum({body})"])
    p.define(f"vmap(|r: {p.t}[m]| {inner})({name})", p.t, ("n", "m"))


def loop(p):
    name, dtype, shape = p.pick()
    count = p.rng.choice(["3", "steps", "steps + 1"])
    body = p.rng.choice(["{s} * {k} + {x}", "tanh({s} + {x})", "where({s} > {x}, {s} * {k}, {x} - {s})"])
    body = body.format(s="s", k=p.small(), x=name)
    p.define(f"loop (s = {name}) for _t in 0..{count} {{ {body} }}", dtype, shape)


def loop_while(p):
    name, dtype, shape = p.pick()
    limit = p.rng.randint(1, 5)
    p.define(f"(loop (s = {name}, t: i64 = 0) while t < {limit} {{ (s * {p.small()} + {name}, t + 1) }}).0",
             dtype, shape)


def branch(p):
    name, dtype, shape = p.pick()
    first = p.pick(shape=shape)[0]
    p.define(f"if steps % 2 == {p.rng.choice([0, 1])} {{ {p.smooth(name)} }} else {{ {first} - {name} }}",
             dtype, shape)


def scanned(p):
    name = p.pick(shape=("n", "m"))[0]
    start = p.pick(shape=("m",))[0]
    p.define(f"scan(|h, r| ({p.rng.choice(['tanh(h + r)', 'h * 0.5 + r'])}, h * r), {start}, {name}).1",
             p.t, ("n", "m"))


def randomness(p):
    shape = p.rng.choice([("n", "m"), ("n",), ("m",)])
    kind = p.rng.choice(["uniform", "normal"])
    made = "f64" if p.t == "f64" else "f32"
    p.define(f"{p.t}(random.{kind}(key, {written(made, shape)}))", p.t, shape)


def attended(p):
    q, k, v = (p.pick(shape=("n", "m"))[0] for _ in range(3))
    causal = p.rng.choice(["", ", causal = true"])
    p.define(f"attention({q}, {k}, {v}{causal})", p.t, ("n", "m"))


def window(p):
    name = p.pick(shape=("n", "m"))[0]
    if p.t in ("f16", "bf16"):
        return
    kernel = f"reshape({p.pick(shape=('m',))[0]}, [1, 1, m])"
    p.define(f"reshape(conv(reshape({name}, [n, 1, m]), {kernel}, padding = [(m - 1, 0)]), [n, m])",
             p.t, ("n", "m"))


STEPS = [unary, unary, unary, binary, binary, broadcast, integer, integer, choose, convert, reduction,
         reduction, rowwise, order, product, product, form, form, index, gradient, gradient, mapped,
         loop, loop_while, branch, scanned, randomness, attended, window]
