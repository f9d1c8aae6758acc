"""Reads the C headers of include/astra: what they declare, with comments. Knows
just enough C for them; what it does not know it refuses.

A block is what stands between blank lines: a comment, and the declarations that
it speaks of.
"""
import pathlib
import re

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include/astra"
# The parts of astra.h in the order in which one reads them; others come after.
FIRST = ["base.h", "common.h", "runtime.h", "stream.h", "tensor.h", "call.h", "file.h"]


def public(folder=INCLUDE):
    """The headers of the C API: what astra.h includes, then itself."""
    included = re.findall(r'#include "astra/(\w+\.h)"', (folder / "astra.h").read_text())
    return FIRST + [name for name in included if name not in FIRST] + ["astra.h"]


PUBLIC = public()
# The other two interfaces.
OTHERS = ["module.h", "backend.h"]


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def squeeze(text):
    """One line with single spaces, and none inside of brackets."""
    text = " ".join(without_comments(text).split())
    return re.sub(r"\s*([(),;{}*])\s*", r"\1", text)


class Block:
    def __init__(self, text):
        match = re.match(r"/\*(.*?)\*/\n?", text, flags=re.S)
        self.comment = clean(match[1]) if match else ""
        self.code = text[match.end():] if match else text
        bar = re.fullmatch(r"---- (.*?) -+", self.comment)
        self.section = bar[1] if bar else None


def clean(comment):
    """The text of a comment, line by line."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip()


def blocks(name, folder=INCLUDE):
    """The blocks of a header, its opening comment first."""
    found, lines, depth = [], [], 0
    text = re.sub(r'#ifdef __cplusplus\n(extern "C" \{|\})\n#endif\n', "",
                  (folder / name).read_text())
    for line in text.split("\n") + [""]:
        if line or depth:
            lines.append(line)
        elif lines:
            found.append(Block("\n".join(lines)))
            lines = []
        depth += line.count("{") - line.count("}")
    return [block for block in found if not is_frame(block)]


def is_frame(block):
    """What every header has around its contents: includes, and its guard."""
    return not block.comment and not re.sub(r"#(include|endif|ifdef|undef).*", "", block.code).strip()


class Function:
    def __init__(self, result, name, parameters, comment):
        self.result, self.name = result.rstrip(), name
        self.parameters, self.comment = parameters, comment


def functions(names=None, folder=INCLUDE):
    """Every function that the headers export, in order."""
    found = []
    for name in names or public(folder):
        for block in blocks(name, folder):
            code = without_comments(block.code)
            for item in re.findall(r"^ASTRA_API\s+(.*?);", code, flags=re.S | re.M):
                item = " ".join(item.split()).replace("( ", "(")
                result, function, parameters = re.match(
                    r"(.*?)\b(astra_\w+)\((.*)\)$", item).groups()
                found.append(Function(result, function, parameters, block.comment))
    return found


def structs(name, folder=INCLUDE):
    """(type, [declaration of a member]) of each struct and union, in order."""
    text = without_comments((folder / name).read_text())
    found = []
    pattern = r"(?:typedef )?((?:struct|union) \w+) \{(.*?)\n\}\s*(\w*);"
    for tag, body, alias in re.findall(pattern, text, flags=re.S):
        members = [" ".join(part.split()) for part in split_members(body)]
        found.append((alias or tag, [member for member in members if member]))
    return found


def split_members(body):
    return re.split(r";", body)


def member_names(member):
    """The names that one declaration of a member gives."""
    pointer = re.match(r".*?\(\*(\w+)\)\(", member)
    if pointer:
        return [pointer[1]]
    return [re.search(r"(\w+)\s*(?:\[.*\])?$", part)[1] for part in member.split(",")]


def enumerators(name, folder=INCLUDE):
    """(name, value) of each enumerator; each has its value written out."""
    text = without_comments((folder / name).read_text())
    found = []
    for body in re.findall(r"enum \{(.*?)\}", text, flags=re.S):
        for item in filter(None, (part.strip() for part in body.split(","))):
            key, value = re.match(r"(\w+)\s*=\s*(.+)$", item, flags=re.S).groups()
            found.append((key, value))
    return found


def macros(name, folder=INCLUDE):
    """(name with parameters, replacement) of each macro with a replacement."""
    text = without_comments((folder / name).read_text()).replace("\\\n", " ")
    found = re.findall(r"^#define (\w+(?:\([^)]*\))?)[ \t]+(.+)$", text, flags=re.M)
    return [(key, " ".join(value.split())) for key, value in found if key != "ASTRA_API"]


def signatures(name, folder=INCLUDE):
    """(name, declaration) of each function type and inline function."""
    text = without_comments((folder / name).read_text())
    types = re.findall(r"typedef [^;{]*?\(\*(\w+)\)\([^;]*?\);", text)
    found = []
    for key in types:
        found.append((key, re.search(r"typedef [^;{]*?\(\*%s\)\([^;]*?\);" % key, text)[0]))
    for key in re.findall(r"^static inline [^{;]*?\b(astra_\w+)\(", text, flags=re.M):
        found.append((key, re.search(r"^static inline [^{;]*?\b%s\([^{]*" % key, text, flags=re.M)[0]))
    return [(key, squeeze(declaration)) for key, declaration in found]


def typedefs(name, folder=INCLUDE):
    """(name, declaration) of each type that is another's name."""
    text = without_comments((folder / name).read_text())
    found = re.findall(r"^typedef [^;{()]*?(\w+);", text, flags=re.M)
    return [(key, squeeze(re.search(r"^typedef [^;{()]*?\b%s;" % key, text, flags=re.M)[0]))
            for key in found]
