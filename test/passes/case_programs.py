"""The module of a case: functions for the operation itself, its derivatives of first
and second order in both directions, and its maps."""
from case_tools import t


def signature(names, types):
    return ", ".join(f"%{n}: {ty}" for n, ty in zip(names, types))


def join(words):
    return ", ".join(words)


def use(names):
    return join("%" + n for n in names)


class Program:
    """Names and types that the functions of one case share. A derivative of the case
    over values named `x` is `%r:N = astra.vjp(x...) {...}`."""

    def __init__(self, case):
        self.case = case
        self.types, self.ys = case.types(), case.result_types()
        self.count = len(self.types)
        self.floats = [i for i, k in enumerate(case.kinds()) if k == "f64"]
        self.grads = [self.types[i] for i in self.floats]
        self.float_ys = [self.ys[i] for i in case.float_results()]
        self.given = [f"in{i}" for i in range(self.count)]
        self.tangents = [f"t{i}" for i in self.floats]
        self.cotangents = [f"dy{i}" for i in range(len(self.float_ys))]
        self.wrt = "[" + join(map(str, self.floats)) + "]"

    def region(self):
        args = [f"a{i}" for i in range(self.count)]
        return (f"^bb0({signature(args, self.types)}):\n{self.case.body}\n"
                f"astra.yield {join(self.case.values)} : {join(self.ys)}\n")

    def derivative(self, kind, result, args):
        """The operation, and the names of the derivatives among its results."""
        first, more, types = (self.cotangents, self.grads, self.float_ys) if kind == "vjp" else \
                             (self.tangents, self.float_ys, self.grads)
        count = len(self.ys) + len(more)
        text = (f"%{result}:{count} = astra.{kind}({use(args + first)}) args {self.count} wrt {self.wrt} : "
                f"({join(self.types + types)}) -> ({join(self.ys + more)}) {{\n{self.region()}}}\n")
        return text, [f"%{result}#{len(self.ys) + i}" for i in range(len(more))], more

    def primal(self):
        return (f"func.func @primal({signature([f'a{i}' for i in range(self.count)], self.types)}) -> "
                f"({join(self.ys)}) {{\n{self.case.body}\n"
                f"return {join(self.case.values)} : {join(self.ys)}\n}}\n")

    def first(self, kind):
        text, names, types = self.derivative(kind, "out", self.given)
        extra, extra_types = (self.cotangents, self.float_ys) if kind == "vjp" else (self.tangents, self.grads)
        return (f"func.func @{kind}({signature(self.given + extra, self.types + extra_types)}) -> "
                f"({join(types)}) {{\n{text}return {join(names)} : {join(types)}\n}}\n")

    def second(self, outer, inner):
        """`outer` of the derivative `inner`. Both take the directions t: the Hessian is
        symmetric. Only jvp of jvp has no use for cotangents."""
        args = [f"b{i}" for i in range(self.count)]
        text, names, types = self.derivative(inner, "inner", args)
        # What the outer derivative is given: tangents of the arguments, or cotangents
        # of what the inner one yields.
        given, given_types = (self.tangents, self.grads) if outer == "jvp" else \
                             (self.tangents, self.grads) if inner == "vjp" else (self.cotangents, self.float_ys)
        results = types if outer == "jvp" else self.grads
        total = len(types) + len(results)
        parameters, parameter_types = self.given + self.cotangents + self.tangents, \
            self.types + self.float_ys + self.grads
        if outer == inner == "jvp":
            parameters, parameter_types = self.given + self.tangents, self.types + self.grads
        returned = join(f"%out#{len(types) + i}" for i in range(len(results)))
        return f"""func.func @{outer}_{inner}({signature(parameters, parameter_types)}) -> ({join(results)}) {{
%out:{total} = astra.{outer}({use(self.given + given)}) args {self.count} wrt {self.wrt} : ({join(self.types + given_types)}) -> ({join(types + results)}) {{
^bb0({signature(args, self.types)}):
{text}astra.yield {join(names)} : {join(types)}
}}
return {returned} : {join(results)}
}}
"""

    def map(self, name, which):
        case = self.case
        stacked = [t(2, *s, kind=k) for s, k in zip(case.shapes(), case.kinds())]
        ys = [t(2, *s, kind=k) for s, k in zip(case.results, case.result_kinds)]
        given = [s if a == 0 else p for s, p, a in zip(stacked, self.types, which)]
        returned = join(f"%r#{i}" for i in range(len(ys))) if len(ys) > 1 else "%r"
        count = f":{len(ys)}" if len(ys) > 1 else ""
        return f"""func.func @{name}({signature(self.given, given)}) -> ({join(ys)}) {{
%r{count} = astra.map({use(self.given)}) length "2" axes {which} : ({join(given)}) -> ({join(ys)}) {{
{self.region()}}}
return {returned} : {join(ys)}
}}
"""


def program(case, derivatives=False):
    """The text of the module; `derivatives`: also of a case that should have none."""
    p, n = Program(case), len(case.args)
    text = p.primal()
    if case.smooth or derivatives:
        text += p.first("vjp") + p.first("jvp")
    if case.smooth > 1:
        text += "".join(p.second(outer, inner) for outer in ("jvp", "vjp") for inner in ("vjp", "jvp"))
    for name, which in (("mapped", [0] * n), ("first", [0] + [-1] * (n - 1)), ("last", [-1] * (n - 1) + [0])):
        text += p.map(name, which)
    return text
