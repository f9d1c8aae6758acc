#!/usr/bin/env python3
"""Writes Constants.def: every mathematical constant of kernels/math in both types.

Usage: constants.py     (needs mpmath). A name's parts add up to the constant: each is
the rest rounded to the type, or to the number of bits asked for.
"""
import os

import mpmath as mp

mp.mp.dps = 80
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Constants.def")
ROOT = mp.findroot(mp.digamma, mp.mpf("1.46163214496836234126265954232572132846819620400644629512"))
# (names of the parts, what, value, bits of the first part for f32 and f64)
TABLE = [
    (("log2E", "log2ELow"), "1 / log 2", 1 / mp.log(2), (24, 53)),
    (("ln2", "ln2Low"), "log 2", mp.log(2), (24, 53)),
    (("ln2Short", "ln2ShortLow"), "log 2, the first part exact times an exponent", mp.log(2), (15, 41)),
    (("log10Of2Short", "log10Of2ShortLow"), "log10 2, likewise", mp.log10(2), (15, 41)),
    (("log10E", "log10ELow"), "1 / log 10", 1 / mp.log(10), (24, 53)),
    (("twoOverPi",), "2 / pi", 2 / mp.pi, (24, 53)),
    (("halfPi", "halfPiLow", "halfPiLowest"), "pi / 2", mp.pi / 2, (24, 53)),
    (("pi", "piLow"), "pi", mp.pi, (24, 53)),
    (("sqrtHalf", "sqrtHalfLow"), "1 / sqrt 2", mp.sqrt(mp.mpf(1) / 2), (24, 53)),
    (("twoOverSqrtPi",), "2 / sqrt pi", 2 / mp.sqrt(mp.pi), (24, 53)),
    (("twoThirds", "twoThirdsLow"), "2 / 3", mp.mpf(2) / 3, (24, 53)),
    (("tanPiOver8",), "tan(pi / 8)", mp.sqrt(2) - 1, (24, 53)),
    (("halfLog2Pi", "halfLog2PiLow"), "log(2 pi) / 2", mp.log(2 * mp.pi) / 2, (24, 53)),
    (("logPi", "logPiLow"), "log pi", mp.log(mp.pi), (24, 53)),
    (("oneMinusGamma", "oneMinusGammaLow"), "1 - Euler's constant", 1 - mp.euler, (24, 53)),
    (("digammaRoot", "digammaRootLow"), "the positive zero of digamma", ROOT, (24, 53)),
    *(((f"bernoulli{n}",), f"B{n} / {n}!, of the series of Euler and Maclaurin", mp.bernoulli(n) / mp.factorial(n), (24, 53))
      for n in range(2, 25, 2)),
]


def round_to(value, bits):
    exponent = int(mp.floor(mp.log(abs(value), 2))) - bits + 1
    return mp.ldexp(mp.nint(mp.ldexp(value, -exponent)), exponent)


def literal(value, suffix):
    mantissa, exponent = float(value).hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}{suffix}"


def parts(value, names, first, full):
    out, rest = [], value
    for i in range(len(names)):
        part = round_to(rest, first if i == 0 else full)
        out.append(part)
        rest -= part
    return out


with open(OUT, "w") as out:
    out.write("""// Every mathematical constant of kernels/math: ASTRA_CONSTANT(name, float, double).
// Parts named Low and Lowest continue the one before. Written by fit/constants.py.
""")
    for names, what, value, (bits32, bits64) in TABLE:
        out.write(f"\n// {what}\n")
        singles, doubles = parts(value, names, bits32, 24), parts(value, names, bits64, 53)
        for name, single, double in zip(names, singles, doubles):
            out.write(f"ASTRA_CONSTANT({name}, {literal(single, 'f')}, {literal(double, '')})\n")
