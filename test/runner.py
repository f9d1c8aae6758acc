#!/usr/bin/env python3
"""Runs every test suite of a built tree and adds up the results.

Usage: test/run [--list] [--only SUITE]... [--verbose]

Suites: unit (GoogleTest programs), lit (compiler tests), roundtrip (the MLIR tests
again, each module printed and read back between passes), programs (`astrac test`
over the standard library, the examples and test/e2e), checks (test/checks.py and
test/releases.py: commands, bits, installation, packages, style). A test that cannot run here counts as skipped,
with its reason.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checks
import releases  # its checks are among those of checks.ALL

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
SKIPPED = 77  # exit status of a script that cannot run here


class Tally:
    """Counts of one suite, with the names and reasons worth printing."""

    def __init__(self):
        self.passed, self.failures, self.skips = 0, [], []

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips

    def line(self):
        text = f"{self.passed} passed, {len(self.failures)} failed"
        return text + (f", {len(self.skips)} skipped" if self.skips else "")


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors="replace", **options)


def unit():
    """What ctest knows: GoogleTest programs (results from their JSON) and scripts."""
    tally = Tally()
    listing = json.loads(run(["ctest", "--show-only=json-v1"], cwd=BUILD).stdout)
    if not listing["tests"]:
        tally.failures.append(("unit", "ctest knows no tests"))
    for test in listing["tests"]:
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            command = list(test.get("command", []))
            is_program = len(command) == 1
            if is_program:
                command += [f"--gtest_output=json:{report.name}", "--gtest_color=no"]
            if not command or not os.path.exists(command[0]):
                tally.failures.append((test["name"], "is not built"))
                continue
            done = run(command, cwd=BUILD / "test", timeout=1200)
            failed = len(tally.failures)
            try:
                read_gtest(test["name"], json.load(open(report.name))["testsuites"], tally)
            except (ValueError, KeyError):
                if done.returncode == 0 and not is_program:
                    tally.passed += 1
            if done.returncode == SKIPPED and is_script(test):
                tally.skips.append((test["name"], done.stdout.strip() or "no reason given"))
            elif done.returncode != 0 and len(tally.failures) == failed:
                tally.failures.append((test["name"], f"exit status {done.returncode}\n{done.stdout[-3000:]}"))
    return tally


def is_script(test):
    """Whether the exit status SKIPPED means that the test cannot run here."""
    return {"name": "SKIP_RETURN_CODE", "value": SKIPPED} in test.get("properties", [])


def read_gtest(program, suites, tally):
    for suite in suites:
        for case in suite["testsuite"]:
            name = f"{program}:{suite['name']}.{case['name']}"
            if case.get("failures"):
                tally.failures.append((name, "\n".join(f["failure"] for f in case["failures"])))
            elif case.get("result") == "SKIPPED":
                reasons = [s.get("message", "") for s in case.get("skipped", [])]
                tally.skips.append((name, " ".join(reasons).strip() or "no reason given"))
            elif case.get("status") == "RUN":
                tally.passed += 1


def run_lit(extra):
    tally = Tally()
    lit = shutil.which("lit", path="/usr/lib/llvm-22/bin:/usr/lib/llvm-22/build/utils/lit:" + os.environ["PATH"])
    if not (BUILD / "test" / "lit.site.cfg.py").exists() or not lit:
        tally.failures.append(("lit", "lit or build/test/lit.site.cfg.py is missing"))
        return tally
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        done = run([sys.executable, lit, "-q", "-j2", "--output", report.name, *extra, str(BUILD / "test")], timeout=2400)
        try:
            tests = json.load(open(report.name))["tests"]
        except (ValueError, KeyError):
            tally.failures.append(("lit", done.stdout[-3000:]))
            return tally
    for test in tests:
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            tally.passed += 1
        elif test["code"] in ("UNSUPPORTED", "EXCLUDED", "SKIPPED"):
            tally.skips.append((test["name"], test.get("output", "").strip() or "unsupported here"))
        else:
            tally.failures.append((test["name"], test.get("output", "")[-3000:]))
    return tally


def lit():
    """Compiler tests: RUN lines checked with FileCheck."""
    return run_lit([])


def roundtrip():
    """The MLIR tests again with round-trip verification."""
    return run_lit(["--param", "roundtrip=1", "--filter", r"\.mlir$"])


def programs():
    """`astrac test` over everything that holds test blocks."""
    tally = Tally()
    for folder in ("frontend/std", "examples", "test/e2e"):
        if not (ROOT / folder).exists():
            continue
        done = run([BUILD / "bin/astrac", "test", folder], cwd=ROOT, timeout=2400)
        last = re.search(r"(\d+) passed, (\d+) failed\s*$", done.stdout)
        if not last or (done.returncode != 0) != (last[2] != "0"):
            tally.failures.append((folder, f"exit status {done.returncode}\n{done.stdout[-3000:]}"))
            continue
        tally.passed += int(last[1])
        for number in range(int(last[2])):
            tally.failures.append((folder, done.stdout[-3000:] if number == 0 else "(see above)"))
    return tally


def run_checks():
    """The checks of test/checks.py and test/releases.py, one test each."""
    tally = Tally()
    for name, function in checks.ALL.items():
        try:
            function()
            tally.passed += 1
        except checks.Skip as reason:
            tally.skips.append((name, str(reason)))
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            tally.failures.append((name, f"{type(error).__name__}: {error}"))
    return tally


SUITES = {"unit": unit, "lit": lit, "roundtrip": roundtrip, "programs": programs, "checks": run_checks}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list the suites and checks")
    parser.add_argument("--only", action="append", choices=SUITES, help="run one suite (may be repeated)")
    parser.add_argument("--verbose", action="store_true", help="print failures in full")
    options = parser.parse_args()
    if options.list:
        for name, function in SUITES.items():
            print(f"{name:10} {function.__doc__.strip().splitlines()[0]}")
        print("checks:    " + " ".join(checks.ALL))
        return 0
    total = Tally()
    for name in options.only or SUITES:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        tally = SUITES[name]()
        for what, why in tally.failures:
            print(f"FAILED {what}\n    " + (why if options.verbose else why[-1500:]).replace("\n", "\n    "))
        for what, why in tally.skips:
            print(f"skipped {what}: {why}")
        print(f"   {name}: {tally.line()} ({time.monotonic() - start:.0f} s)", flush=True)
        total.add(tally)
    print(f"{total.passed} passed, {len(total.failures)} failed, {len(total.skips)} skipped")
    return 1 if total.failures or total.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
