"""Checks of what is released: the Debian packages, the SPDX document, and that the
same source gives the same bytes wherever and whenever it is built. Registered with
those of checks.py; test/soak does the same with whole builds and in a chroot."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

from checks import ASTRAC, BUILD, BARE_C, ROOT, Skip, check, run, sha256

PACKAGES = ("libastra-rt", "libastra-dev", "astrac")

#===-- Reproducible builds -------------------------------------------------===#

# Two circumstances in which the bytes must be the same.
CIRCUMSTANCES = (
    ("a", {"TZ": "UTC", "LC_ALL": "C", "HOME": "/"}),
    ("another/place with spaces", {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "HOME": "/nowhere", "SOURCE_DATE_EPOCH": "1"}),
)
# Some of the library's sources: what the others have in common with these, the
# headers, the flags and the compiler, is where a path or a time would come in.
UNITS = ("runtime/core/Status.cpp", "runtime/core/Descriptor.cpp", "runtime/io/Npy.cpp", "kernels/Registry.cpp",
         "kernels/ref/Random.cpp", "kernels/ref/Check.cpp")


def circumstances(folder):
    for name, variables in CIRCUMSTANCES:
        place = pathlib.Path(folder) / name
        place.mkdir(parents=True)
        yield place, dict(os.environ, **variables)


@check
def astrac_output_depends_on_the_source_alone():
    """Objects, headers and modules, whatever the folder, the locale and the time zone."""
    with tempfile.TemporaryDirectory() as folder:
        sums = []
        for place, env in circumstances(folder):
            sums.append({})
            for name in ("digits/digits", "gmm/gmm"):
                source = place / f"{pathlib.Path(name).name}.astra"
                shutil.copytree(ROOT / "examples/common", place.parent / "common", dirs_exist_ok=True)
                shutil.copy(ROOT / f"examples/{name}.astra", source)
                run(ASTRAC, source.name, "-o", source.with_suffix(".o").name, cwd=place, env=env)
                run(ASTRAC, source, "-shared", "-o", source.with_suffix(".so"), cwd="/", env=env)
                for ending in (".o", ".h", ".so"):
                    made = source.with_suffix(ending)
                    assert str(place).encode() not in made.read_bytes(), f"{made} holds the path of its folder"
                    sums[-1][made.name] = sha256(made)
        assert sums[0] == sums[1], sums


def compile_commands():
    """How the build compiles each file of UNITS, without ccache."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        name = os.path.relpath(entry["file"], ROOT)
        if name in UNITS:
            words = shlex.split(entry["command"])
            yield name, words[1:] if words[0].endswith("ccache") else words


@check
def library_objects_do_not_depend_on_the_folder():
    """A part of the runtime, compiled and archived in two folders."""
    commands = dict(compile_commands())
    assert len(commands) == len(UNITS), commands.keys()
    archiver = re.search(r"^CMAKE_AR:FILEPATH=(.+)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        sums = []
        for place, env in circumstances(folder):
            for part in ("runtime", "kernels"):
                shutil.copytree(ROOT / part, place / part)
            objects = []
            for name, words in commands.items():
                output = pathlib.Path(name).with_suffix(".o").name
                words = [word.replace(str(ROOT), str(place)) for word in words]
                words[words.index("-o") + 1] = output
                run(*words, cwd=place, env=env)
                objects.append(output)
            run(archiver, "qc", "part.a", *objects, cwd=place, env=env)
            assert str(place).encode() not in (place / "part.a").read_bytes(), "the path of the folder is inside"
            sums.append(sha256(place / "part.a"))
        assert sums[0] == sums[1], sums


@check
def nothing_built_knows_where_it_was_built():
    """No path of the source or the build folder in a library or program."""
    for path in (BUILD / "lib/libastra_rt.so", BUILD / "lib/libastra_rt.a", ASTRAC):
        data = path.read_bytes()
        for folder in {str(ROOT), str(BUILD), str(BUILD.resolve())}:
            assert folder.encode() not in data, f"{path.name} holds {folder}"


#===-- SPDX ----------------------------------------------------------------===#

SPDX_ID = r"SPDXRef-[A-Za-z0-9.-]+"
RELATIONS = {"DESCRIBES", "GENERATED_FROM", "CONTAINS", "STATIC_LINK", "DYNAMIC_LINK", "BUILD_DEPENDENCY_OF", "BUILD_TOOL_OF",
             "TEST_DEPENDENCY_OF", "TEST_TOOL_OF"}


def check_spdx(document):
    """What the specification (2.3) demands of a document, as far as ours has it."""
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", document
    assert document["SPDXID"] == "SPDXRef-DOCUMENT" and document["name"] and document["creationInfo"]["creators"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]), document["creationInfo"]
    assert re.fullmatch(r"https://\S+[0-9a-f]{64}", document["documentNamespace"]), document["documentNamespace"]
    elements = [document] + document["packages"] + document["files"]
    ids = [element["SPDXID"] for element in elements]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(SPDX_ID, i) for i in ids), ids
    for package in document["packages"]:
        assert package["name"] and package["versionInfo"] and package["downloadLocation"], package
        assert package["licenseConcluded"] and package["licenseDeclared"] and package["copyrightText"], package
        assert package["filesAnalyzed"] == ("packageVerificationCode" in package), package
    for file in document["files"]:
        assert file["fileName"].startswith("./") and file["licenseConcluded"] and file["copyrightText"], file
        assert re.fullmatch("[0-9a-f]{40}", {c["algorithm"]: c["checksumValue"] for c in file["checksums"]}["SHA1"]), file
        assert sha256(ROOT / file["fileName"]) == file["checksums"][1]["checksumValue"], file["fileName"]
    for relation in document["relationships"]:
        assert relation["relationshipType"] in RELATIONS, relation
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(ids), relation


@check
def spdx_document_is_complete():
    document = json.loads((BUILD / "package/astra.spdx.json").read_text())
    check_spdx(document)
    versions = {package["name"]: package["versionInfo"] for package in document["packages"]}
    for name in ("libllvm22", "libmlir-22", "libeigen3-dev", "clang-22", "libc6-dev"):
        here = run("dpkg-query", "-W", "-f=${Version}", name)
        assert versions.get(name) == here, f"{name}: {versions.get(name)}, but {here} is installed"
    # Everything that the repository says has another licence is in it, and nothing else.
    files = {file["fileName"] for file in document["files"]}
    data = {"./" + name for name in run("git", "ls-files", "*.safetensors", "examples/adbench/data/*.txt", "*alice.txt",
                                        "*words.txt", cwd=ROOT).split() if name.startswith("examples/")}
    assert files == data - {"./examples/adbench/data/LICENSE.TXT"}, files ^ data


#===-- Debian packages -----------------------------------------------------===#

SCALE = "export fn scale(x: f32[n], by: f32) -> f32[n] = x * by\n"
SCALE_C = """#include "scale.h"
#include <stdio.h>
#define MUST(CALL) do { astra_error_t *error = NULL; if ((CALL) != ASTRA_OK) { \\
  printf("%s\\n", astra_error_message(error)); return 1; } } while (0)
int main(void) {
  astra_runtime_t *runtime; astra_device_t cpu; astra_stream_t stream; scale_module_t module;
  astra_tensor_t x, y; int64_t three = 3; float values[3] = {1, 2, 3};
  MUST(astra_runtime_create(NULL, &runtime, &error));
  MUST(astra_device_open(runtime, "cpu", &cpu, &error));
  MUST(astra_stream_create(runtime, cpu, NULL, &stream, &error));
  MUST(scale_link(runtime, &module, &error));
  MUST(astra_tensor_from_data(runtime, cpu, ASTRA_F32, 1, &three, values, sizeof values, &x, &error));
  MUST(scale_scale(&module, stream, x, 2.0f, &y, &error));
  MUST(astra_tensor_read(runtime, y, values, sizeof values, &error));
  printf("%g %g %g\\n", values[0], values[1], values[2]);
  astra_runtime_destroy(runtime);
  return 0;
}
"""


def make_packages(folder):
    """Runs cpack on the build; gives the packages' paths by name."""
    if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
        raise Skip("dpkg-deb and dpkg-shlibdeps (package dpkg-dev) are not installed")
    env = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder, env=env)
    return {name: path for name in PACKAGES for path in pathlib.Path(folder).glob(f"{name}_*.deb")}


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


def needed(binary):
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", binary)))


def owner(library):
    """The package that a library's file is of; dpkg may know it by its path without /usr."""
    real = str(pathlib.Path(library).resolve())
    for path in (real, real.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise AssertionError(f"no package has {library}")


def check_dependencies(packages, version):
    assert re.search(r"libc6 \(>= 2\.\d+\)", field(packages["libastra-rt"], "Depends")), packages
    assert "stdc++" not in field(packages["libastra-rt"], "Depends"), "the runtime needs the C library only"
    assert f"libastra-rt (= {version})" in field(packages["libastra-dev"], "Depends")
    compiler = field(packages["astrac"], "Depends")
    assert f"libastra-rt (= {version})" in compiler, compiler
    # Each library that the compiler is linked with is of a package that it names, or of one that the runtime names.
    named = {part.split()[0] for part in (compiler + ", " + field(packages["libastra-rt"], "Depends")).split(", ")}
    for path in re.findall(r"=> (/\S+)", run("ldd", BUILD / "bin/astrac")):
        if not path.startswith(str(ROOT)) and pathlib.Path(path).name in needed(BUILD / "bin/astrac"):
            assert owner(path) in named, f"astrac does not depend on {owner(path)}, which has {path}: {compiler}"
    for name, package in packages.items():
        listing = run("dpkg-deb", "-c", package)
        assert f"/usr/share/doc/{name}/copyright" in listing, listing
        assert not re.search(r"^\S+ (?!root/root)", listing, re.MULTILINE), "a file belongs to somebody"


def use_installed(prefix, folder):
    """Compiles and runs a program with what lies under a prefix, and nothing else."""
    libraries = next(prefix.glob("lib/**/libastra_rt.so")).parent
    (folder / "scale.astra").write_text(SCALE)
    (folder / "main.c").write_text(SCALE_C)
    (folder / "bare.c").write_text(BARE_C)
    run(prefix / "bin/astrac", "scale.astra", "-o", "scale.o", cwd=folder)
    env = dict(os.environ, PKG_CONFIG_PATH=str(libraries / "pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", "astra", env=env).split()
    assert all(str(prefix) in flag for flag in flags if flag[:2] in ("-I", "-L")), flags
    run("cc", "main.c", "scale.o", *flags, f"-Wl,-rpath,{libraries}", "-o", "app", cwd=folder)
    assert run(folder / "app") == "2 4 6\n"
    run("cc", "bare.c", f"-I{prefix}/include", libraries / "libastra_rt.a", "-lstdc++", "-lm", "-lpthread", "-ldl", "-o", "bare",
        cwd=folder)
    assert "runtime" in run(folder / "bare")
    run(prefix / "bin/astrac", "test", ROOT / "test/e2e/functions.astra")


@check
def debian_packages_install_and_work():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        packages = make_packages(folder)
        assert sorted(packages) == sorted(PACKAGES), packages
        version = field(packages["astrac"], "Version")
        check_dependencies(packages, version)
        for package in packages.values():
            run("dpkg-deb", "-x", package, folder / "root")
        use_installed(folder / "root/usr", folder)
        document = json.loads(next((folder / "root").rglob("astra.spdx.json")).read_text())
        check_spdx(document)


#===-- valgrind ------------------------------------------------------------===#

VALGRIND = ("valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite,indirect,possible",
            "--errors-for-leak-kinds=definite,indirect,possible", "--fair-sched=yes")


def run_under_valgrind(folder):
    """The program of the packages' check, linked with the build, finds and loses nothing.
    valgrind has no AVX-512, so the runtime chooses the kernels for x86-64-v3 there."""
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    (folder / "scale.astra").write_text(SCALE)
    (folder / "main.c").write_text(SCALE_C)
    run(ASTRAC, "scale.astra", "-o", "scale.o", cwd=folder)
    run("cc", "-g", "main.c", "scale.o", f"-I{ROOT}/runtime/include", f"-L{BUILD}/lib", "-lastra_rt",
        f"-Wl,-rpath,{BUILD}/lib", "-o", "app", cwd=folder)
    assert run(*VALGRIND, folder / "app") == "2 4 6\n"


@check
def valgrind_finds_nothing_in_a_program():
    with tempfile.TemporaryDirectory() as folder:
        run_under_valgrind(pathlib.Path(folder))
