#!/usr/bin/env python3
"""Writes docs/reference.md from the headers of the C API: every function, struct
and constant with its comment. With --check it writes nothing, and fails if the
document is not up to date or a function's comment has not the form:

    What it does, in sentences.
    Ownership: ...
    Threads: ...
    Errors: ...
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import headers

DOCUMENT = HERE.parents[1] / "docs/reference.md"
FORM = ("Ownership", "Threads", "Errors")
TOP = """# Reference of the C API

Written by `runtime/abi/reference.py` from the headers in `runtime/include/astra`; [abi.md](abi.md) has the rules behind it.

"""


def badly_documented():
    """A sentence for each function whose comment has not the form."""
    texts = []
    for function in headers.functions():
        lines = function.comment.split("\n")
        found = [line.split(":")[0] for line in lines if re.match(r"(%s): \S" % "|".join(FORM), line)]
        if tuple(found) != FORM:
            texts.append(f"{function.name}: has {', '.join(found) or 'no comment'}; "
                         f"needs {', '.join(FORM)}")
        elif lines[0].startswith(FORM) or not function.comment.endswith("."):
            texts.append(f"{function.name}: does not begin with what it does, or ends without a stop")
    return texts


def prose(comment):
    """A comment as Markdown: paragraphs, a function's three lines as a list, and
    other indented parts as they are."""
    text, fenced, listed = "", False, False
    for line in comment.split("\n"):
        label = re.match(r"(%s): (.*)" % "|".join(FORM), line)
        as_it_is = line.startswith("  ") and not listed
        if as_it_is != fenced:
            text += "\n```text\n" if as_it_is else "```\n\n"
        fenced = as_it_is
        if label:
            text += "" if listed else "\n"
            text += f"- *{label[1]}:* {escape(label[2])}\n"
            listed = True
        else:
            text += (line if fenced else escape(line)) + "\n"
    return text.strip() + ("\n```" if fenced else "")


def escape(text):
    """Names with underscores and stars stay as they are written."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else
                   re.sub(r"(?<!\w)(&?\*?\w*_\w*(?:<name>|\*)?|\*\w+|\w+->\w+)", r"`\1`", part)
                   for part in parts)


def title_of(block):
    """The function of a block, as a heading."""
    name = re.search(r"^ASTRA_API\s[^;(]*?\b(astra_\w+)\(", block.code, flags=re.M)
    return f"#### {name[1]}\n\n" if name else ""


def contents(body):
    """A list of the headings of a document: its headers, below each the groups, and
    behind each group its functions. Links are as GitHub and GitLab make them."""
    text, seen = "## Contents\n", {}
    for marks, title in re.findall(r"^(#{2,4}) (.*)$", body, flags=re.M):
        place = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        seen[place] = seen.get(place, -1) + 1
        link = f"(#{place}-{seen[place]})" if seen[place] else f"(#{place})"
        if marks == "####":
            text += (" " if text.endswith(":") else ", ") + f"[{title.removeprefix('astra_')}]{link}"
        else:
            text = text.rstrip(":") + "\n" + "  " * (len(marks) - 2) + f"- [{title}]{link}:"
    return text.rstrip(":") + "\n\n"


def generate():
    opening = prose(headers.blocks("astra.h")[0].comment)
    body = f"## Rules for every function\n\n{opening}\n\n" + describe_headers()
    return TOP + contents(body) + body


def describe_headers():
    """A section for each header: its comment, then block by block."""
    text = ""
    for name in headers.PUBLIC:
        body = headers.blocks(name)
        text += f"## astra/{name}\n\n"
        if name != "astra.h":
            text += prose(body[0].comment) + "\n\n"
        for block in body[1:]:
            if block.section:
                text += f"### {block.section}\n\n"
                continue
            if not block.comment and re.match(r"\s*#(if|include|undef)", block.code):
                continue
            text += title_of(block)
            if block.comment:
                text += prose(block.comment) + "\n\n"
            if block.code.strip():
                text += f"```c\n{block.code.strip()}\n```\n\n"
    return re.sub(r"\n{3,}", "\n\n", text)


def main():
    texts = badly_documented()
    text = generate()
    if "--check" not in sys.argv:
        DOCUMENT.write_text(text)
    elif not DOCUMENT.exists() or DOCUMENT.read_text() != text:
        texts.append("docs/reference.md is not up to date: run runtime/abi/reference.py")
    if texts:
        sys.exit("\n".join(texts))


main()
