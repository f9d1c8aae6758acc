"""Reads MLIR's generic form into operations with names, attributes and regions, as
far as the astra dialect uses it. It knows no operation."""
import re
import struct

TOKEN = re.compile(
    r'\s*("(?:[^"\\]|\\.)*"|%[\w]+(?:#\d+)?|\^\w+|@\w+|->|!astra\.\w+|'
    r'-?0x[0-9A-Fa-f]+|-?\d+\.?\d*(?:[eE][-+]?\d+)?|[\w.]+|[^\s])')


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
        if self.accept("!astra.tape"):
            self.take("<")
            entry = self.type()
            self.take(">")
            return ("tape", entry)
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
