#!/usr/bin/env python3
"""Fails if a declaration of a release was edited: what a release's headers
declare must be declared in the same way today, but for comments and spaces.
Structs may have more members at their ends, and lists may be longer.

Usage: declarations.py RELEASE-FOLDER         compare with today's headers
       declarations.py --self-test RELEASE-FOLDER    edits must be noticed
"""
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "runtime/abi"))
import headers

# What says which release it is.
VERSIONS = {"ASTRA_VERSION_MAJOR", "ASTRA_VERSION_MINOR", "ASTRA_VERSION_PATCH",
            "ASTRA_OBJECT_ABI_VERSION", "ASTRA_ARITHMETIC_VERSION"}
# The function table of api.h is a struct like others.
TABLE = "api.h"


def lines(folder):
    """Every declaration as (what it is of, text); structs member by member."""
    found = {}
    for function in headers.functions(folder=folder):
        found[f"function {function.name}"] = headers.squeeze(
            f"{function.result} {function.name}({function.parameters})")
    for name in headers.public(folder) + headers.OTHERS + [TABLE]:
        for struct, members in headers.structs(name, folder):
            for i, member in enumerate(members):
                found[f"member {i} of {struct}"] = headers.squeeze(member)
        for key, value in headers.enumerators(name, folder):
            found[f"enumerator {key}"] = value
        for key, value in headers.macros(name, folder):
            if key not in VERSIONS and not key.startswith("ASTRA_API_FUNCTIONS"):
                found[f"macro {key}"] = value
        for key, declaration in headers.signatures(name, folder):
            found[f"declaration of {key}"] = declaration
        for key, declaration in headers.typedefs(name, folder):
            found[f"type {key}"] = declaration
    return found


def differences(old, new):
    """A sentence for each declaration that is not what it was."""
    before, now = lines(old), lines(new)
    texts = []
    for key, text in before.items():
        if key not in now:
            texts.append(f"{key} is gone; it was: {text}")
        elif now[key] != text:
            texts.append(f"{key} was: {text}; now it is: {now[key]}")
    return texts


def symbols(release):
    """The list of symbols only grows at its end."""
    before = (release / "symbols.txt").read_text()
    now = (HERE.parents[1] / "runtime/abi/symbols.txt").read_text()
    return [] if now.startswith(before) else ["symbols.txt does not begin as it did"]


# (header, text, replacement): edits that must be noticed, and one that may be.
EDITS = (
    ("tensor.h", "uint32_t dtype, uint32_t rank,", "uint32_t dtype, uint64_t rank,"),
    ("runtime.h", "uint64_t kept_bytes;", "uint64_t kept;"),
    ("runtime.h", "  uint32_t threads;\n", ""),
    ("base.h", "ASTRA_ERROR_BUSY = 23", "ASTRA_ERROR_BUSY = 24"),
    ("base.h", "#define ASTRA_MAX_RANK 16", "#define ASTRA_MAX_RANK 8"),
    ("base.h", "typedef int32_t astra_status_t;", "typedef int64_t astra_status_t;"),
    ("call.h", "  uint32_t dtype; /* 0: as.tensor", "  uint64_t dtype; /* 0: as.tensor"),
    ("module.h", "int64_t (*tape_length)", "uint64_t (*tape_length)"),
    ("backend.h", "uint64_t generation;", "uint32_t generation;"),
    ("api.h", "  uint32_t (*version)(void);\n", ""),
)
HARMLESS = (
    ("base.h", "ASTRA_ERROR_NUMERICAL = 29", "ASTRA_ERROR_NUMERICAL = 29,\n  ASTRA_ERROR_NEW = 30"),
    ("stream.h", "uint64_t flags;      /*", "uint64_t   flags; /* Now:"),
    ("runtime.h", "} astra_memory_info_t;", "  uint64_t more;\n} astra_memory_info_t;"),
)


def edited(release, header, old, new):
    """The differences that one edit of the release's own headers makes."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "astra"
        shutil.copytree(release / "include/astra", copy)
        text = (copy / header).read_text()
        if old not in text:
            return [f"{header} has no: {old}"] if (header, old, new) in HARMLESS else []
        (copy / header).write_text(text.replace(old, new, 1))
        return differences(release / "include/astra", copy)


def self_test(release):
    texts = [f"not noticed in {header}: {new or 'without ' + old}"
             for header, old, new in EDITS if not edited(release, header, old, new)]
    for edit in HARMLESS:
        texts += [f"refused: {text}" for text in edited(release, *edit)]
    return texts


def main():
    release = pathlib.Path(sys.argv[-1]).resolve()
    if "--self-test" in sys.argv:
        texts = self_test(release)
    else:
        texts = differences(release / "include/astra", headers.INCLUDE) + symbols(release)
    print("\n".join(texts))
    sys.exit(1 if texts else 0)


main()
