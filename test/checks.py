"""Checks of the built tree that are not a unit or a lit test: the commands people
type, the bits they get, the installation, and the state of the repository. Each
function decorated with `check` is one test: it raises AssertionError to fail and
Skip where it cannot run."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
ASTRAC = BUILD / "bin/astrac"
DIGITS = ROOT / "examples/digits/digits.astra"
ALL = {}


class Skip(Exception):
    """This check cannot run here; the text says why."""


def check(function):
    ALL[function.__name__] = function
    return function


def run(*command, status=0, timeout=600, **options):
    """Runs a command, expects its exit status and returns its output."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          text=True, errors="replace", timeout=timeout, **options)
    assert done.returncode == status, (
        f"{' '.join(map(str, command))}: exit status {done.returncode}, expected {status}\n{done.stdout[-2000:]}")
    return done.stdout


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def tracked(*patterns):
    return run("git", "ls-files", *patterns, cwd=ROOT).split()


@check
def style_clang_format():
    if not shutil.which("clang-format-22"):
        raise Skip("clang-format-22 is not installed")
    # api.h is written by runtime/abi/generate.py, which a test compares with it.
    files = [name for name in tracked("*.cpp", "*.h", "*.c") if not name.endswith("astra/api.h")]
    run("clang-format-22", "--dry-run", "-Werror", *files, cwd=ROOT)


@check
def style_file_length():
    """No source file grows past 600 lines."""
    folders = ("frontend", "dialect", "passes", "kernels", "runtime", "tools", "examples")
    for name in tracked("*.cpp", "*.h", "*.c", "*.td", "*.py", "*.astra"):
        if name.split("/")[0] not in folders:
            continue
        lines = len((ROOT / name).read_text().splitlines())
        assert lines <= 600, f"{name} has {lines} lines: two files with clear names would read better"


def last_line(name, pattern, threads=("1", "2")):
    """Runs an example with each number of threads; its last line must be the
    same each time and match a pattern. Gives the match."""
    lines = set()
    for count in threads:
        out = run(ROOT / "examples/run", name, "--threads", count, cwd=ROOT)
        lines.add(out.strip().splitlines()[-1])
    assert len(lines) == 1, lines
    line = lines.pop()
    match = re.fullmatch(pattern, line)
    assert match, f"unexpected last line: {line}"
    return match


@check
def example_digits_is_the_same_bits_for_every_run_and_thread_count():
    match = last_line("digits", r"digits: test accuracy 0\.9\d\d \((\d+) of (\d+)\), parameters sha256 [0-9a-f]{64}",
                      threads=("1", "2", "2"))
    assert int(match[1]) / int(match[2]) >= 0.95, match[0]


@check
def example_gmm_finds_the_mixture():
    match = last_line("gmm", r"gmm: after \d+ steps weights within (\S+), means within (\S+) of the truth, "
                             r"(\d+) of 2000 points assigned, parameters sha256 [0-9a-f]{64}")
    assert float(match[1]) < 0.02 and float(match[2]) < 0.1 and int(match[3]) > 1950, match[0]


@check
def example_newton_finds_the_minimum_that_scipy_finds():
    match = last_line("newton", r"newton: loss (\S+) after 10 steps, (\d+) of 569 cells right, "
                                r"coefficients sha256 [0-9a-f]{64}")
    assert abs(float(match[1]) - 0.139213281813) < 1e-11 and int(match[2]) == 536, match[0]


@check
def example_ode_finds_the_parameters():
    match = last_line("ode", r"ode: after \d+ steps all parameters within (\S+) percent of the truth, "
                             r"remaining error (\S+) percent, parameters sha256 [0-9a-f]{64}")
    assert float(match[1]) < 8 and float(match[2]) < 4, match[0]


@check
def example_adbench_agrees_with_published_values():
    os.environ["ADBENCH_MILLISECONDS"] = "50"
    try:
        match = last_line("adbench", r"adbench: largest relative difference from what is expected: gmm (\S+), "
                                     r"lstm (\S+), ba (\S+), results sha256 [0-9a-f]{64}")
    finally:
        del os.environ["ADBENCH_MILLISECONDS"]
    assert all(float(word) < 1e-11 for word in match.groups()), match[0]


def quickly(name, steps, pattern):
    """The match of an example's last line after a few steps of training."""
    variable = f"{name.upper()}_STEPS"
    os.environ[variable] = steps
    try:
        return last_line(name, pattern)
    finally:
        del os.environ[variable]


@check
def example_transformer_is_the_same_bits_and_learns():
    match = quickly("transformer", "20", r"transformer: (\S+) nats per character of unseen text, (\S+) by counting pairs, "
                                         r"parameters sha256 [0-9a-f]{64}")
    assert float(match[1]) < 3.3 and float(match[2]) == 2.488, match[0]


@check
def example_lstm_is_the_same_bits_and_learns():
    match = quickly("lstm", "20", r"lstm: (\S+) nats per letter of unseen words, (\S+) by counting pairs, "
                                  r"parameters sha256 [0-9a-f]{64}")
    assert float(match[1]) < 3.0 and float(match[2]) < 2.6, match[0]


@check
def examples_run_help_and_refusals():
    assert "digits" in run(ROOT / "examples/run", "-h")
    for words in (["nothing"], ["--threads", "0"], ["--threads"], ["--what"], ["digits", "digits"]):
        out = run(ROOT / "examples/run", *words, status=2)
        assert len(out.strip()) > 10, out


@check
def astrac_compiles_digits_under_half_a_second():
    """The median of five runs; a loaded machine gets three tries."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            times = []
            for _ in range(5):
                start = time.monotonic()
                run(ASTRAC, DIGITS, "-o", pathlib.Path(folder) / "digits.o")
                times.append(time.monotonic() - start)
            if sorted(times)[2] < 0.5:
                return
        raise AssertionError(f"{sorted(times)[2]:.2f} s")


@check
def runtime_library_stays_small():
    """Stripped, in bytes; docs/performance.md says the size of the day."""
    strip = re.search(r"^CMAKE_STRIP:FILEPATH=(.+)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder) / "rt.so"
        run(strip, "-o", stripped, BUILD / "lib/libastra_rt.so")
        size = stripped.stat().st_size
        assert 1_000_000 < size <= 5_000_000, size


@check
def vector_forms_are_vectors():
    """Only operations that loop by themselves, or look at the angles first, may branch."""
    tools = re.search(r'llvm_tools_dir = "(.+)"', (BUILD / "test/lit.site.cfg.py").read_text())[1]
    for lanes in ("any", "wide"):
        text = run(f"{tools}/llvm-dis", BUILD / f"kernels/lanes/lanes.{lanes}.bc", "-o", "-")
        bodies = re.findall(r"^define .*@astra_l_(?:wide_)?(\w+)\(.*\{\n((?:.*\n)*?)\}", text, re.MULTILINE)
        assert len(bodies) > 500, len(bodies)
        scalar = [name for name, body in bodies if " br " in body or body.count("extractelement") > 2]
        allowed = re.compile(r"(rem|trigamma|sin|cos|tan)_b?f(16|32|64)|div_by_known_f32")
        wrong = [name for name in scalar if not allowed.fullmatch(name)]
        assert not wrong, f"{lanes}: {' '.join(wrong)}"


@check
def astrac_every_phase_prints():
    for phase in "ast astra differentiated batched fused placed calls llvm".split():
        out = run(ASTRAC, DIGITS, f"--emit={phase}")
        assert "step" in out and len(out) > 200, f"{phase}: {out[:200]}"


@check
def repository_speaks_of_itself():
    """No absolute path of a build machine in a tracked text file."""
    out = subprocess.run(["git", "grep", "-nI", "-E", r"/wor[k]/|/hom[e]/[a-z]"], cwd=ROOT, text=True,
                         stdout=subprocess.PIPE).stdout
    assert not out, out


#===-- Bad input: one clear error and exit status 1 ------------------------===#

BAD_PROGRAMS = {
    "shape mismatch": ("E0501", "export fn f(x: f32[3, 4], y: f32[5, 2]) -> f32[3, 2] = x @ y\n"),
    "unknown name": ("E0301", "export fn f(x: f32[n]) -> f32[n] = rellu(x)\n"),
    "mixed dtypes": ("E0402", "export fn f(x: f32[n], y: f64[n]) -> f32[n] = x + y\n"),
    "missing import": ("E0303", "import nowhere\nexport fn f(x: f32) -> f32 = x\n"),
}


def refused(*command, timeout=60):
    """Runs a command that must fail with status 1 and one short error."""
    out = run(*command, status=1, timeout=timeout)
    assert out.count("error") >= 1 and len(out) < 4000, out[:2000]
    for word in ("Assertion", "LLVM ERROR", "PLEASE submit", "Stack dump", "terminate called"):
        assert word not in out, out[:2000]
    return out


@check
def bad_programs_give_one_clear_error():
    with tempfile.TemporaryDirectory() as folder:
        for name, (code, text) in BAD_PROGRAMS.items():
            path = pathlib.Path(folder) / "bad.astra"
            path.write_text(text)
            out = refused(ASTRAC, path, "-o", pathlib.Path(folder) / "bad.o")
            assert out.count("error[") == 1 and f"error[{code}]" in out, f"{name}: {out}"
            assert "bad.astra:" in out and "^" in out, f"{name}: {out}"
            assert not (pathlib.Path(folder) / "bad.o").exists()
        assert "did you mean `relu`" in (path.write_text(BAD_PROGRAMS["unknown name"][1]) and
                                         refused(ASTRAC, "check", path))


@check
def bad_files_give_one_clear_error():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "latin.astra").write_bytes(b"// caf\xe9\n")
        (folder / "parens.astra").write_bytes(b"(" * 100_000_000)
        for what in (folder / "latin.astra", folder, folder / "missing.astra", folder / "parens.astra"):
            out = refused(ASTRAC, "check", what)
            assert out.count("error[") == 1, f"{what}: {out}"
        good = folder / "good.astra"
        good.write_text("export fn f(x: f32[n]) -> f32[n] = x + 1.0\n")
        out = refused(ASTRAC, good, "-o", "/nonexistent/folder/good.o")
        assert "/nonexistent/folder" in out, out


@check
def damaged_modules_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        good = folder / "good.astra"
        good.write_text("export fn f(x: f32[n]) -> f32[n] = x + 1.0\n")
        run(ASTRAC, good, "-shared", "-o", folder / "good.so")
        data = (folder / "good.so").read_bytes()
        loader = folder / "load"
        source = ROOT / "test/runtime/load_module.c"
        run("cc", "-std=c99", "-Wall", "-Werror", f"-I{ROOT}/runtime/include", source, f"-L{BUILD}/lib",
            "-lastra_rt", f"-Wl,-rpath,{BUILD}/lib", "-o", loader)
        assert "loaded" in run(loader, folder / "good.so")
        for cut in (0, 1, 63, 64, 100, len(data) // 2, len(data) - 1):
            (folder / "cut.so").write_bytes(data[:cut])
            out = run(loader, folder / "cut.so", status=1)
            assert "cut.so" in out and len(out.strip().splitlines()) == 1, f"{cut}: {out}"
        note = data.index(b"Astra\0")
        other = bytearray(data)
        other[note + 8] = 99  # the object ABI version, behind the padded owner
        (folder / "other.so").write_bytes(other)
        out = run(loader, folder / "other.so", status=1)
        assert "99" in out and "version" in out, out


#===-- The same bits -------------------------------------------------------===#

BITS = BUILD / "bin/astra-bits"
QUICK = ["--quick", "--rows=2", "--levels=ref,v3,v4", "--threads=1,3"]


@check
def bits_of_digits_are_one_hash():
    out = run(BITS, DIGITS, "--levels=ref,v3,v4")
    assert re.search(r"^sha256 [0-9a-f]{64}$", out.splitlines()[-1]), out


@check
def bits_of_random_programs_agree():
    out = run(sys.executable, ROOT / "test/bits/run.py", "--count", "20", f"--options={' '.join(QUICK)}")
    assert "20 of 20" in out, out


@check
def bits_that_differ_are_found():
    """The tool can fail: a compiler that forgets --batch and one that changes a constant."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "f.astra").write_text("export fn f(x: f32[n]) -> f32[n] = x * 2.0\n")
        (folder / "g.astra").write_text("export fn f(x: f32[n]) -> f32[n] = x * 2.0000002\n")
        liar = folder / "astrac"
        liar.write_text(f'#!/bin/sh\ncase "$*" in *-O1*) shift 2; exec {ASTRAC} -shared {folder}/g.astra "$@";; esac\n'
                        f'exec {ASTRAC} "$@"\n')
        liar.chmod(0o755)
        out = run(BITS, folder / "f.astra", f"--astrac={liar}", "--levels=ref", "--threads=1", status=1)
        assert "DIFFERENT f n=" in out and re.search(r"-O1 --fuse=o.*result\[0\]: \S+ \(\w{8}\) / \S+ \(\w{8}\)", out), out
        out = run(BITS, folder / "f.astra", f"--astrac={liar}", "--levels=ref", "--threads=1", "--json", status=1)
        assert json.loads(out)["agree"] is False


def arm_build(*targets):
    """Builds for 64-bit Arm in build-aarch64."""
    for name, package in (("qemu-aarch64", "qemu-user"), ("ccache", "ccache")):
        if not shutil.which(name):
            raise Skip(f"{package} is not installed")
    for file, package in (("lib/libc.so.6", "libc6-dev-arm64-cross"),
                          ("include/c++/12/vector", "libstdc++-12-dev-arm64-cross")):
        if not pathlib.Path("/usr/aarch64-linux-gnu", file).exists():
            raise Skip(f"{package} is not installed")
    if not (ROOT / "build-aarch64/build.ninja").exists():
        run("cmake", "--preset", "aarch64", cwd=ROOT)
    run("ninja", "-C", "build-aarch64", *targets, cwd=ROOT, timeout=1800)


def on_arm(program, *words, **options):
    return run("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", ROOT / "build-aarch64" / program, *words,
               env=dict(os.environ, ASTRA_TEST_EVERY="61"), **options)


@check
def arm_kernels_give_the_bits_of_ref():
    arm_build("KernelConformanceTest", "KernelRefTest")
    assert "PASSED" in on_arm("test/KernelConformanceTest", "--gtest_filter=*Rowwise*:*FullyMasked*")
    assert "PASSED" in on_arm("test/KernelRefTest", "--gtest_filter=-*Hardware*:*Remainder*:*HundredMillion*")


@check
def arm_programs_give_the_bits_of_x86():
    arm_build("astra-bits")
    arm = ["--quick", "--rows=1", "--levels=v3,neon", "--threads=3", "--size=small"]
    out = run(BITS, DIGITS, *arm)
    assert "left out" not in out and re.search(r"^sha256 [0-9a-f]{64}$", out.splitlines()[-1]), out
    out = run(sys.executable, ROOT / "test/bits/run.py", "--count", "3", "--options", " ".join(arm))
    assert "3 of 3" in out, out


#===-- Other systems -------------------------------------------------------===#


@check
def values_and_derivatives_agree_with_jax():
    python = os.environ.get("ASTRA_JAX_PYTHON", sys.executable)
    found = subprocess.run([python, "-c", "import jax"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if found.returncode:
        raise Skip("no JAX: ASTRA_JAX_PYTHON can name a Python that has it (test/agreement/README.md)")
    out = run(python, ROOT / "test/agreement/agree.py", ASTRAC, env=dict(os.environ, JAX_PLATFORMS="cpu"))
    assert re.search(r"^[1-9]\d+ passed, 0 failed$", out.strip().splitlines()[-1]), out[-2000:]


#===-- Documents -----------------------------------------------------------===#


def walk_through(path, folder, env):
    """Does what a page says: writes the programs (a block follows the sentence that
    ends with its file's name), runs the shell blocks, and compares what they print."""
    out = None
    text = (ROOT / path).read_text()
    for match in re.finditer(r"^```(\w+)\n(.*?)^```\n", text, re.DOTALL | re.MULTILINE):
        kind, block = match.groups()
        name = re.search(r"`([\w.]+)`:\s*\Z", text[:match.start()])
        if name:
            (folder / name[1]).write_text(block)
        elif kind == "cmake":
            (folder / "CMakeLists.txt").write_text(block)
        elif kind == "sh":
            out = run("bash", "-euc", block, cwd=folder, env=env)
        elif kind == "text":
            assert out.endswith(block), f"{path} promises\n{block}but it is\n{out}"


@check
def docs_using_is_true():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prefix = folder / "prefix"
        env = dict(os.environ, ASTRA=str(prefix), CMAKE_GENERATOR="Ninja",
                   PATH=f"{prefix}/bin:{os.environ['PATH']}")
        (folder / "build").symlink_to(BUILD)
        walk_through("docs/using.md", folder, env)
        assert (folder / "line.safetensors").exists()


@check
def docs_streams_is_true():
    """The pieces of C are one program, which prints what the page says."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = (ROOT / "docs/streams.md").read_text()
        pieces = re.findall(r"^```c\n(.*?)^```\n", text, re.DOTALL | re.MULTILINE)
        (folder / "guide.c").write_text("\n".join(pieces))
        (folder / "include").symlink_to(ROOT / "runtime/include")
        (folder / "lib").symlink_to(BUILD / "lib")
        env = dict(os.environ, ASTRA=str(folder), PATH=f"{BUILD}/bin:{os.environ['PATH']}")
        walk_through("docs/streams.md", folder, env)


#===-- What modules say of themselves, and what runs when ------------------===#

def describe(path):
    return json.loads(run(BUILD / "bin/astra-info", "--json", path))


@check
def astra_info_describes_objects_and_modules():
    """The description is that of the source, of a file that is only read."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run(ASTRAC, DIGITS, "-o", folder / "digits.o")
        run(ASTRAC, "-shared", DIGITS, "-o", folder / "digits.so")
        about, module = describe(folder / "digits.o"), describe(folder / "digits.so")
        for key in ("functions", "kernels", "name", "compiler", "object_abi", "arithmetic", "cpu_levels"):
            assert about[key] == module[key], key
        assert about["file_bytes"] == (folder / "digits.o").stat().st_size
        assert about["code_bytes"] > 1000 and about["data_bytes"] > 1000
        functions = {function["name"]: function for function in about["functions"] if not function["test"]}
        source = DIGITS.read_text()
        assert set(functions) == set(re.findall(r"^export fn (\w+)", source, re.M))
        step = functions["step"]
        assert step["doc"].startswith("One step of gradient descent") and step["doc"].split(":")[0] in source
        line = int(step["source"].split(":")[1])
        assert source.splitlines()[line - 1].startswith("export fn step"), step["source"]
        assert step["dims"] == ["n"] and step["parameters"][1]["type"] == "f32[n, 64]"
        assert step["inputs"][4] == {"path": "x", "dtype": "f32", "shape": ["n", "64"], "donors": []}
        tree = step["parameters"][0]["tree"]
        assert about["mode"] == "strict" and tree["kind"] == "struct" and tree["name"] == "digits.Mlp", (about["mode"], tree)
        assert [field["name"] for field in tree["fields"]] == ["hidden", "out"]
        assert re.fullmatch(r"[0-9n*+/() ]+", step["memory"]), step["memory"]
        fused = [kernel for kernel in about["kernels"] if kernel["fused"]]
        assert fused and all(re.match(r"\w+\.astra:\d+", kernel["source"]) for kernel in fused), fused
        assert all(kernel["variants"] == "x86-64-v3, x86-64-v4" for kernel in fused), fused
        assert any(kernel["name"] == "contract_f32" and "reference" in kernel["variants"]
                   for kernel in about["kernels"])
        text = run(BUILD / "bin/astra-info", folder / "digits.so")
        assert ", strict, needs x86-64-v3\n" in text, text[:300]
        assert "step(m: Mlp, x: f32[n, 64], y: i32[n], lr: f32)" in text and "contract_f32 version" in text
        # A tree that is no JSON is none; all else is told nevertheless.
        damaged = (folder / "digits.o").read_bytes().replace(b'{"kind":"struct"', b'{"kind","struct"')
        (folder / "damaged.o").write_bytes(damaged)
        value = next(each for each in describe(folder / "damaged.o")["functions"] if each["name"] == "step")
        assert [each["tree"] is None for each in value["parameters"]] == [True, False, False, False], value
        (folder / "cut.o").write_bytes((folder / "digits.o").read_bytes()[:5000])
        out = run(BUILD / "bin/astra-info", folder / "cut.o", status=1)
        assert "is truncated" in out, out
        run(BUILD / "bin/astra-info", status=2)


@check
def astra_prof_and_traces_account_for_the_time():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run(ASTRAC, "-shared", DIGITS, "-o", folder / "digits.so")
        table = run(BUILD / "bin/astra-prof", folder / "digits.so", "step", "n=64", "lr=0.1", "--calls=3",
                    f"--trace={folder}/trace.json")
        assert re.search(r"contract_f32 +digits\.astra:\d+|contract_f32 +\w+\.astra:\d+", table), table
        assert re.search(r"100\.0% .* 3 calls", table) and "between kernels" in table, table
        # Threads that only take turns are no part of a peak.
        crowd = run(BUILD / "bin/astra-prof", folder / "digits.so", "step", "n=8", "lr=0.1", "--calls=1", "--threads=200")
        assert int(re.search(r"peak: .* (\d+) threads?$", crowd.strip()).group(1)) <= os.cpu_count(), crowd
        events = json.loads((folder / "trace.json").read_text())["traceEvents"]
        calls = [event for event in events if event.get("cat") == "call"]
        kernels = [event for event in events if event.get("cat") == "kernel"]
        assert len(calls) == 3 and {event["name"] for event in calls} == {"digits.step"}
        for kernel in kernels:
            assert any(call["ts"] <= kernel["ts"] and kernel["ts"] + kernel["dur"] <= call["ts"] + call["dur"] + 0.001
                       for call in calls), kernel
            assert re.match(r"\w+\.astra:\d+:\d+$", kernel["args"]["source"]), kernel
        # The forward products of 64 images: 64 pixels, 32 hidden units, 10 digits.
        flops = {kernel["name"]: kernel["args"]["flops"] for kernel in kernels}
        assert flops["contract_f32"] == 2 * 64 * 32 * 10, flops
        assert flops["contract_map_f32: add relu"] == (2 * 64 + 2) * 64 * 32, flops
        for words in (["step"], ["step", "n=x"], ["nothing"], ["step", "n=1", "q=2"]):
            assert "astra-prof: error: " in run(BUILD / "bin/astra-prof", folder / "digits.so", *words, status=1)
        run(BUILD / "bin/astra-prof", status=2)


@check
def example_introspect_calls_by_name():
    out = run(ROOT / "examples/run", "introspect", cwd=ROOT)
    assert "errors(line.slope: f32, line.offset: f32, x: f32[n], y: f32[n]) -> result.0: f32" in out, out
    assert "result.0 = 0.333333" in out and 'refused: the extent of input "y", axis 0, is 3' in out, out
    assert out.strip().splitlines()[-1] == "introspect: predict gives result = 1 2 9", out


@check
def example_streams_is_orderly():
    tails = set()
    for threads in ("1", "2", "3"):
        out = run(ROOT / "examples/run", "streams", "--threads", threads, cwd=ROOT)
        tails.add(out[out.index("streams: callbacks"):])
    assert len(tails) == 1, tails
    assert re.fullmatch("""streams: callbacks of 16 frames, 0 failed
streams: a level frame: ASTRA_ERROR_ASSERTION, from frames.astra:5:3
streams: what was made of it: ASTRA_ERROR_POISONED, from frames.astra:5:3
streams: the streams tell of ASTRA_ERROR_ASSERTION and ASTRA_ERROR_POISONED
streams: refused, the result is null: an extent inside "smooth" would be negative: .*
streams: of 200 more calls each was done or cancelled: yes
streams: 0 handles left
streams: 16 frames, sha256 [0-9a-f]{64}
""", tails.pop()), out


#===-- Installation --------------------------------------------------------===#

CONSUMER_CMAKE = """cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(Astra REQUIRED COMPONENTS runtime compiler)
astra_add_module(scale scale.astra)
add_executable(app main.c)
target_link_libraries(app PRIVATE scale)
add_executable(bare bare.c)
target_link_libraries(bare PRIVATE Astra::astra_rt)
"""
CONSUMER_ASTRA = "export fn scale(x: f32[n], by: f32) -> f32[n] = x * by\n"
BARE_C = """#include <astra/astra.h>
#include <stdio.h>
int main(void) { printf("runtime %s\\n", astra_version_text()); return 0; }
"""
CONSUMER_C = """#include "scale.h"
#include <stdio.h>
int main(void) { printf("header compiles, runtime %s\\n", astra_version_text()); return 0; }
"""


@check
def installed_package_builds_a_consumer():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prefix = folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", prefix)
        for name, text in (("CMakeLists.txt", CONSUMER_CMAKE), ("scale.astra", CONSUMER_ASTRA),
                           ("main.c", CONSUMER_C), ("bare.c", BARE_C)):
            (folder / name).write_text(text)
        run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "b", f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", folder / "b")
        assert "runtime 0.1.0" in run(folder / "b/app")
        assert "runtime 0.1.0" in run(folder / "b/bare")
        env = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig") + ":" +
                   str(prefix / "lib/x86_64-linux-gnu/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "astra", env=env).split()
        run("cc", folder / "bare.c", *flags, "-o", folder / "pc")
        out = run(prefix / "bin/astrac", "--version")
        assert "0.1.0" in out, out
