#!/usr/bin/env python3
"""Writes the SPDX document (version 2.3, JSON) of Astra's build: the source with
its hash, the Debian packages that go into the binaries or make them, each with its
version on this machine, and the data files with their licences. The same inputs
give the same bytes: the time is SOURCE_DATE_EPOCH, else that of the last commit,
else the beginning of 1970.

Usage: spdx.py --source FOLDER --version VERSION --compiler PATH --output FILE
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess

# What is part of the source, as a release has it.
SOURCE = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "cmake", "dialect", "docs",
          "examples", "frontend", "kernels", "passes", "runtime", "test", "tools")

LLVM = "Apache-2.0 WITH LLVM-exception"
GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
# Debian packages: name, licence of what is used, what they are to the build.
INPUTS = (
    ("libeigen3-dev", "MPL-2.0", "STATIC_LINK"),
    ("libstdc++-12-dev", GCC, "STATIC_LINK"),
    ("libgcc-12-dev", GCC, "STATIC_LINK"),
    ("liblld-22-dev", LLVM, "STATIC_LINK"),
    ("libc6-dev", "LGPL-2.1-or-later", "DYNAMIC_LINK"),
    ("libllvm22", LLVM, "DYNAMIC_LINK"),
    ("libmlir-22", LLVM, "DYNAMIC_LINK"),
    ("zlib1g", "Zlib", "DYNAMIC_LINK"),
    ("libzstd1", "BSD-3-Clause", "DYNAMIC_LINK"),
    ("llvm-22-dev", LLVM, "BUILD_DEPENDENCY_OF"),
    ("libmlir-22-dev", LLVM, "BUILD_DEPENDENCY_OF"),
    ("zlib1g-dev", "Zlib", "BUILD_DEPENDENCY_OF"),
    ("libzstd-dev", "BSD-3-Clause", "BUILD_DEPENDENCY_OF"),
    ("clang-22", LLVM, "BUILD_TOOL_OF"),
    ("lld-22", LLVM, "BUILD_TOOL_OF"),
    ("llvm-22", LLVM, "BUILD_TOOL_OF"),
    ("mlir-22-tools", LLVM, "BUILD_TOOL_OF"),
    ("cmake", "BSD-3-Clause", "BUILD_TOOL_OF"),
    ("ninja-build", "Apache-2.0", "BUILD_TOOL_OF"),
    ("python3", "PSF-2.0", "BUILD_TOOL_OF"),
    ("libgtest-dev", "BSD-3-Clause", "TEST_DEPENDENCY_OF"),
    ("libmpfr-dev", "LGPL-3.0-or-later", "TEST_DEPENDENCY_OF"),
    ("llvm-22-tools", LLVM, "TEST_TOOL_OF"),
    ("abigail-tools", LLVM, "TEST_TOOL_OF"),
)
# Files in the source that are not Astra's own.
DATA = (
    ("examples/digits/digits.safetensors", "CC-BY-4.0", "Copyright E. Alpaydin and C. Kaynak"),
    ("examples/newton/cells.safetensors", "CC-BY-4.0",
     "Copyright W. Wolberg, O. Mangasarian, N. Street and W. Street"),
    ("examples/adbench/data/gmm_d2_K5.txt", "MIT", "Copyright Microsoft Corporation"),
    ("examples/adbench/data/lstm_l2_c1024.txt", "MIT", "Copyright Microsoft Corporation"),
    ("examples/adbench/data/ba1_n49_m7776_p31843.txt", "MIT", "Copyright Microsoft Corporation"),
    ("examples/transformer/alice.txt", "LicenseRef-public-domain", "NONE"),
    ("examples/lstm/words.txt", "LicenseRef-public-domain", "NONE"),
)


def output_of(*command):
    """What a command prints, or None where it cannot be run or fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def digest(path, algorithm):
    return hashlib.new(algorithm, path.read_bytes()).hexdigest()


def source_files(root):
    """The files of the source, sorted; what tools leave behind is none of it."""
    for name in SOURCE:
        top = root / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            parts = path.relative_to(root).parts
            if path.is_file() and not any(p.startswith(".") or p == "__pycache__" for p in parts):
                yield path


def verification_code(files):
    """SPDX's hash of a package: of the sorted hashes of its files."""
    return hashlib.sha1("".join(sorted(digest(f, "sha1") for f in files)).encode()).hexdigest()


def created(root):
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output_of(
        "git", "-C", str(root), "log", "-1", "--format=%ct") or "0"
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def identifier(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name.replace("+", "plus"))


def package(spdx_id, name, version, licence, **more):
    return {"SPDXID": spdx_id, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def debian_package(name, licence):
    text = output_of("dpkg-query", "-W", "-f=${Version} ${Architecture}", name)
    if not text:
        return None  # not installed here, so not used
    version, architecture = text.split()
    locator = f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B')}?arch={architecture}"
    return package(identifier("deb", name), name, version, licence, supplier="Organization: Debian", externalRefs=[
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}])


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def make_document(root, version, compiler):
    files = list(source_files(root))
    code = verification_code(files)
    astra = package("SPDXRef-astra", "astra", version, f"Apache-2.0 AND MPL-2.0 AND ({LLVM}) AND ({GCC})", comment=f"Compiled by {compiler}.",
                    summary="Compiler and runtime of a tensor language")
    source = package("SPDXRef-source", "astra-source", version, "Apache-2.0 AND CC-BY-4.0 AND MIT",
                     comment=f"{len(files)} files")
    source.update(filesAnalyzed=True, packageVerificationCode={"packageVerificationCodeValue": code})
    packages, relations = [astra, source], [
        relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-astra"),
        relation("SPDXRef-astra", "GENERATED_FROM", "SPDXRef-source")]
    for name, licence, kind in INPUTS:
        entry = debian_package(name, licence)
        if not entry:
            continue
        packages.append(entry)
        ends = (entry["SPDXID"], "SPDXRef-astra") if kind.endswith("_OF") else ("SPDXRef-astra", entry["SPDXID"])
        relations.append(relation(ends[0], kind, ends[1]))
    entries = []
    for name, licence, holder in DATA:
        path = root / name
        entries.append({"SPDXID": identifier("file", name), "fileName": f"./{name}", "licenseConcluded": licence,
                        "copyrightText": holder, "checksums": [
                            {"algorithm": a.upper(), "checksumValue": digest(path, a)} for a in ("sha1", "sha256")]})
        relations.append(relation("SPDXRef-source", "CONTAINS", entries[-1]["SPDXID"]))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"astra-{version}",
        "creationInfo": {"created": created(root), "creators": ["Tool: spdx.py", "Organization: Astra"]},
        "packages": packages, "files": entries, "relationships": relations,
        "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain", "name": "Public domain",
                                        "extractedText": "The text is in the public domain."}]}
    # A name of its own for each content.
    contents = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/astra-{version}-{contents}"
    return document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "version", "compiler", "output"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    banner = (output_of(options.compiler, "--version") or options.compiler).splitlines()[0]
    document = make_document(pathlib.Path(options.source), options.version, banner)
    pathlib.Path(options.output).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
