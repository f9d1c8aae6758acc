#!/usr/bin/env python3
"""Fits every polynomial of kernels/math and writes Polynomials.def.

Usage: fit.py [NAME...] > report    (needs sollya, and mpmath from PyPI)

Functions that Sollya knows go through fpminimax, which chooses coefficients that
are numbers of the type. The others (gamma family, inverse error function) are
interpolated at Chebyshev points in high precision and rounded; the printed bound
is that of the rounded polynomial. With NAMEs only those rows are fitted again.
"""
import os
import re
import subprocess
import sys

import mpmath as mp

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "Polynomials.def")
BITS = {"f32": 24, "f64": 53}
TYPES = {"f32": "float", "f64": "double"}
mp.mp.dps = 60


def gelu_tail(b):
    v = f"({b}*(1+x)/(1-x))"
    return f"((1+{v}*64/59)*exp({v}^2/2)*erfc({v}*sqrt(1/2))-1)*({v}*64/59+1)/{v}"


# name: (what it is, row for f32, row for f64). A Sollya row is
# (function, fixed part, exponents, low, high) and perhaps "absolute", where it is
# that error which counts; the coefficient of x^e belongs to the row's variable as
# given by `step`: exponents first, first + step, ...
SOLLYA = {
    "expTail": ("e^r = 1 + r + r^2 expTail(r)", {
        "f32": ("exp(x)", "1+x", range(2, 7), "-0.347", "0.347"),
        "f64": ("exp(x)", "1+x", range(2, 12), "-0.347", "0.347")}),
    "exp2Tail": ("2^r = 1 + r ln 2 + r^2 exp2Tail(r)", {
        "f32": ("2^x", "1+x*log(2)", range(2, 7), "-0.5", "0.5"),
        "f64": ("2^x", "1+x*log(2)", range(2, 13), "-0.5", "0.5")}),
    "sinhTail": ("sinh r = r + r^3 sinhTail(r^2)", {
        "f32": ("sinh(x)", "x", range(3, 8, 2), "1b-20", "0.347"),
        "f64": ("sinh(x)", "x", range(3, 14, 2), "1b-20", "0.347")}),
    "coshTail": ("cosh r = 1 + r^2/2 + r^4 coshTail(r^2)", {
        "f32": ("cosh(x)", "1+x^2/2", range(4, 7, 2), "1b-10", "0.347"),
        "f64": ("cosh(x)", "1+x^2/2", range(4, 13, 2), "1b-10", "0.347")}),
    "tanhTail": ("tanh x = x + x^3 tanhTail(x^2), |x| < 9/16", {
        "f32": ("tanh(x)", "x", range(3, 12, 2), "1b-20", "0.5626"),
        "f64": ("tanh(x)", "x", range(3, 24, 2), "1b-20", "0.5626")}),
    "logTail": ("log(1 + f) = f - f^2/2 + f^3 logTail(f)", {
        "f32": ("log(1+x)", "x-x^2/2", range(3, 12), "-0.293", "0.4143")}),
    "logRatioTail": ("log((1 + s)/(1 - s)) = 2 s + s^3 logRatioTail(s^2)", {
        "f64": ("log((1+x)/(1-x))", "2*x", range(3, 18, 2), "1b-20", "0.17158")}),
    "powTail": ("log((1 + s)/(1 - s)) = 2 s + (2/3) s^3 + s^5 powTail(s^2)", {
        "f64": ("log((1+x)/(1-x))", "2*x+2/3*x^3", range(5, 22, 2), "1b-20", "0.17158")}),
    "sinTail": ("sin r = r + r^3 sinTail(r^2)", {
        "f32": ("sin(x)", "x", range(3, 10, 2), "1b-20", "0.786"),
        "f64": ("sin(x)", "x", range(3, 16, 2), "1b-20", "0.786")}),
    "cosTail": ("cos r = 1 - r^2/2 + r^4 cosTail(r^2)", {
        "f32": ("cos(x)", "1-x^2/2", range(4, 9, 2), "1b-10", "0.786"),
        "f64": ("cos(x)", "1-x^2/2", range(4, 15, 2), "1b-10", "0.786")}),
    "asinTail": ("asin x = x + x^3 asinTail(x^2)", {
        "f32": ("asin(x)", "x", range(3, 14, 2), "1b-20", "0.5"),
        "f64": ("asin(x)", "x", range(3, 28, 2), "1b-20", "0.5")}),
    "atanTail": ("atan t = t + t^3 atanTail(t^2)", {
        "f32": ("atan(x)", "x", range(3, 12, 2), "1b-20", "0.41422"),
        "f64": ("atan(x)", "x", range(3, 26, 2), "1b-20", "0.41422")}),
    "erfTail": ("erf x = x + x erfTail(x^2), |x| <= 7/8", {
        "f32": ("erf(x)", "x", range(1, 16, 2), "1b-20", "0.876"),
        "f64": ("erf(x)", "x", range(1, 28, 2), "1b-20", "0.876")}),
    "erfcTail": ("(1 + 2 a) e^(a^2) erfc a = 9/8 + erfcTail((a - 4)/(a + 4)), a >= 0.6", {
        "f32": ("(1+2*(4*(1+x)/(1-x)))*exp((4*(1+x)/(1-x))^2)*erfc(4*(1+x)/(1-x))",
                "9/8", range(0, 11), "-0.74", "0.45"),
        "f64": ("(1+2*(4*(1+x)/(1-x)))*exp((4*(1+x)/(1-x))^2)*erfc(4*(1+x)/(1-x))",
                "9/8", range(0, 24), "-0.74", "0.751")}),
    "geluTail": ("e^(v^2/2) erfc(v / sqrt 2) = (1 + f geluTail((v - b)/(v + b))) f / v, f = c v/(v + c), c = 59/64, b = 3 (double: 4)", {
        "f32": (gelu_tail(3), "0", range(0, 11), "-0.99999", "0.6572", "absolute"),
        "f64": (gelu_tail(4), "0", range(0, 24), "-0.99999", "0.8129", "absolute")}),
    "cbrtSeed": ("cube root of m, m in [1, 8), to about 7 bits", {
        "f32": ("x^(1/3)", "0", range(0, 4), "1", "8"),
        "f64": ("x^(1/3)", "0", range(0, 4), "1", "8")}),
}


def stirling(w):  # x (lgamma x - (x - 1/2) log x + x - log(2 pi)/2), w = 1/x^2
    x = 1 / mp.sqrt(w)
    return x * (mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_asymptotic(w):  # (log x - 1/(2 x) - digamma x) x^2
    x = 1 / mp.sqrt(w)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / w


def trigamma_asymptotic(w):  # (trigamma x - 1/x - 1/(2 x^2)) x^3
    x = 1 / mp.sqrt(w)
    return (mp.polygamma(1, x) - 1 / x - w / 2) * x ** 3


def lgamma_near_two(y):
    if abs(y) < 1e-20:
        return (mp.zeta(2) - 1) / 2
    return (mp.loggamma(2 + y) / y - (1 - mp.euler)) / y


ROOT = mp.findroot(mp.digamma, mp.mpf("1.46163214496836234126"))
ROOT_HIGH = mp.mpf(float(ROOT))


def erfinv_of(w):  # erfinv(x)/x where w = -log(1 - x^2)
    if w == 0:
        return mp.sqrt(mp.pi) / 2
    with mp.workdps(60):
        x = mp.sqrt(-mp.expm1(-w))
        y = mp.erfinv(x) if w < 30 else mp.findroot(
            lambda y: mp.log(mp.erfc(y)) - mp.log((1 - x)), mp.sqrt(w) * 0.9)
        return y / x


# Chebyshev rows: name: (what it is, {type: (function, degree, low, high)})
CHEBYSHEV = {
    "lgammaNearTwo": ("lgamma(2 + y) = (1 - gamma) y + y^2 lgammaNearTwo(y), |y| <= 1/2", {
        "f64": (lgamma_near_two, 20, -0.5, 0.5)}),
    "stirlingTail": ("lgamma x = (x - 1/2) log x - x + log(2 pi)/2 + stirlingTail(1/x^2)/x, x >= 8", {
        "f64": (stirling, 9, mp.mpf("1e-8"), mp.mpf(1) / 64)}),
    "digammaNearRoot": ("digamma(x0 + y) = (y - (what x0 lacks of the root)) digammaNearRoot(y), x in [1, 2]", {
        "f64": (lambda y: mp.digamma(ROOT_HIGH + y) / (ROOT_HIGH + y - ROOT), 24,
                1 - ROOT_HIGH, 2 - ROOT_HIGH)}),
    "digammaTail": ("digamma x = log x - 1/(2 x) - digammaTail(1/x^2)/x^2, x >= 8", {
        "f64": (digamma_asymptotic, 9, mp.mpf("1e-8"), mp.mpf(1) / 64)}),
    "trigammaTail": ("trigamma x = 1/x + 1/(2 x^2) + trigammaTail(1/x^2)/x^3, x >= 8", {
        "f64": (trigamma_asymptotic, 9, mp.mpf("1e-8"), mp.mpf(1) / 64)}),
    "erfinvCentre": ("erfinv x = about x erfinvCentre(w - 2.5), w = -log(1 - x^2) < 5", {
        "f32": (lambda u: erfinv_of(u + mp.mpf("2.5")), 8, mp.mpf("-2.5"), mp.mpf("2.5")),
        "f64": (lambda u: erfinv_of(u + mp.mpf("2.5")), 8, mp.mpf("-2.5"), mp.mpf("2.5"))}),
    "erfinvTail": ("erfinv x = about x erfinvTail(sqrt(w) - 3 or 4), w >= 5", {
        "f32": (lambda u: erfinv_of((u + 3) ** 2), 7, mp.sqrt(5) - 3, mp.mpf("1.2")),
        "f64": (lambda u: erfinv_of((u + 4) ** 2), 13, mp.sqrt(5) - 4, mp.mpf("2.1"))}),
}


def run_sollya(name, kind, row):
    function, fixed, exponents, low, high, *mode = row
    mode, difference = (mode[0], "p - f") if mode else ("relative", "p/f - 1")
    exponents = list(exponents)
    step = exponents[1] - exponents[0]
    fmt = ",".join(["SG" if kind == "f32" else "D"] * len(exponents))
    script = f"""
prec = 300; display = hexadecimal; verbosity = 0;
f = {function}; I = [{low};{high}];
p = fpminimax(f, [|{','.join(map(str, exponents))}|], [|{fmt}|], I, {mode}, floating, {fixed});
q = p - ({fixed});
for e from {exponents[0]} to {exponents[-1]} by {step} do print("C", D(coeff(q, e)));
display = decimal; print("E", dirtyinfnorm({difference}, I));
"""
    out = subprocess.run(["sollya"], input=script, capture_output=True, text=True).stdout
    values = [float.fromhex(v) for v in re.findall(r"C (\S+)", out)]
    error = float(mp.log(mp.mpf(re.search(r"E (\S+)", out).group(1)), 2))
    if len(values) != len(exponents):
        sys.exit(f"{name} {kind}: sollya said:\n{out}")
    return values, error


def round_to(value, bits):
    if value == 0:
        return 0.0
    exponent = int(mp.floor(mp.log(abs(value), 2))) - bits + 1
    return float(mp.ldexp(mp.nint(mp.ldexp(value, -exponent)), exponent))


def run_chebyshev(kind, row):
    function, degree, low, high = row
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2))
             for i in range(degree + 1)]
    matrix = mp.matrix(degree + 1, degree + 1)
    for i, x in enumerate(nodes):
        for j in range(degree + 1):
            matrix[i, j] = x ** j
    solution = mp.lu_solve(matrix, mp.matrix([function(x) for x in nodes]))
    values = [round_to(c, BITS[kind]) for c in solution]
    worst = mp.mpf(0)
    for i in range(301):
        x = low + (high - low) * (mp.mpf(i) + mp.mpf("0.137")) / 301
        exact = function(x)
        worst = max(worst, abs(mp.polyval([mp.mpf(v) for v in reversed(values)], x) / exact - 1))
    return values, float(mp.log(worst, 2))


def literal(value, kind):
    mantissa, exponent = value.hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}" + ("f" if kind == "f32" else "")


def existing():
    rows = {}
    if os.path.exists(OUT):
        for match in re.finditer(r"// ([^\n]*)\nASTRA_POLYNOMIAL\((\w+), (\w+),\n(.*?)\)\n", open(OUT).read(), re.S):
            rows[match.group(2), "f32" if match.group(3) == "float" else "f64"] = match.group(0)
    return rows


def main():
    chosen, rows = set(sys.argv[1:]), existing()
    text = [HEADER]
    for table, run in ((SOLLYA, run_sollya), (CHEBYSHEV, None)):
        for name, (what, kinds) in table.items():
            for kind, row in kinds.items():
                if chosen and name not in chosen:
                    text.append(rows[name, kind])
                    continue
                values, error = run_sollya(name, kind, row) if run else run_chebyshev(kind, row)
                print(f"{name} {kind}: degree {len(values) - 1}, error 2^{error:.1f}", flush=True)
                body = ",\n".join("                 " + literal(v, kind) for v in values)
                text.append(f"// {what}\nASTRA_POLYNOMIAL({name}, {TYPES[kind]},\n{body})\n")
    open(OUT, "w").write("\n".join(text))


HEADER = """// Every fitted polynomial of kernels/math: coefficients in ascending order, which
// Polynomials.h evaluates by Horner's rule with one fma a step. Written by
// fit/fit.py; not edited by hand. Includers define ASTRA_POLYNOMIAL(name, type, ...).
"""

if __name__ == "__main__":
    main()
