#!/usr/bin/env python3
"""Computes what the benchmarks must give, independently: in NumPy and JAX, f64,
from the definitions rather than from the programs beside this file.

Usage: reference.py ADBENCH FOLDER

ADBENCH is a copy of ADBench's sources. The published results in its tests are
checked first; then FOLDER gets gmm.txt, lstm.txt and ba.txt for the instances in
data: for each result how many numbers there are, and the numbers.
"""
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import expm
from jax.scipy.special import gammaln, logsumexp

jax.config.update("jax_enable_x64", True)
DATA = pathlib.Path(__file__).resolve().parent / "data"


class Numbers:
    """The numbers of a text file, taken in order."""

    def __init__(self, path):
        self.rest = [float(word) for word in path.read_text().split()]

    def __call__(self, *shape):
        count = int(np.prod(shape, dtype=int))
        taken, self.rest = self.rest[:count], self.rest[count:]
        return np.array(taken).reshape(shape)


def published(adbench, test, name):
    text = (adbench / f"test/cpp/modules/common/{test}Tests.cpp").read_text()
    return np.array([float(word) for word in re.search(name + r"\s*\{([^}]*)\}", text)[1].split(",")])


def flat(*arrays):
    return np.concatenate([np.ravel(np.asarray(array)) for array in arrays])


def gmm_read(path):
    take = Numbers(path)
    d, k, n = (int(v) for v in take(3))
    alpha, mu, factor, x = take(k), take(k, d), take(k, d * (d + 1) // 2), take(n, d)
    return (alpha, mu, factor[:, :d], factor[:, d:]), x, *take(2)


def gmm(mixture, x, gamma, extra, sign=1):
    """With the densities as defined: by precisions and their determinants."""
    alpha, mu, q, l = mixture
    k, d = q.shape
    below = [(i, j) for j in range(d) for i in range(j + 1, d)]
    freedom, terms, prior = d + extra + 1, [], 0
    log_gamma = 0.25 * d * (d - 1) * jnp.log(jnp.pi) + sum(gammaln(0.5 * (freedom - j)) for j in range(d))
    for c in range(k):
        factor = jnp.diag(jnp.exp(q[c]))
        for place, (i, j) in enumerate(below):
            factor = factor.at[i, j].set(l[c, place])
        precision = factor.T @ factor
        log_det = jnp.linalg.slogdet(precision)[1]
        terms.append(alpha[c] + 0.5 * log_det - 0.5 * jnp.einsum("ni,ij,nj->n", x - mu[c], precision, x - mu[c]))
        prior += (0.5 * (freedom - d - 1) * log_det - 0.5 * gamma**2 * jnp.trace(precision)
                  + freedom * d * (jnp.log(gamma) - 0.5 * jnp.log(2.0)) - log_gamma)
    likelihood = jnp.sum(logsumexp(jnp.stack(terms), axis=0)) - len(x) * (
        0.5 * d * jnp.log(2 * jnp.pi) + logsumexp(alpha))
    return likelihood + sign * prior


def lstm_read(path):
    take = Numbers(path)
    l, c, b = (int(v) for v in take(3))
    return (take(l, 2, 4, b), take(3, b)), take(l, 2, b), take(c, b)


def lstm(model, state, text):
    """Letter by letter, all layers for each."""
    main, extra = model

    def step(state, x):
        x, new = x * extra[0], []
        for (weight, bias), (hidden, cell) in zip(main, state):
            gate = lambda i, v: 1 / (1 + jnp.exp(-(v * weight[i] + bias[i])))
            cell = cell * gate(0, x) + gate(1, hidden) * jnp.tanh(hidden * weight[3] + bias[3])
            x = gate(2, x) * jnp.tanh(cell)
            new.append(jnp.stack([x, cell]))
        y = x * extra[1] + extra[2]
        return jnp.stack(new), y - jnp.log(jnp.sum(jnp.exp(y)) + 2)

    return -jnp.mean(text[1:] * jax.lax.scan(step, state, text[:-1])[1])


def ba_read(path):
    take = Numbers(path)
    take(3)
    return take(11), take(3), take(1)[0], take(2)


def ba(camera, point, weight, feature):
    """The rotation as the exponential of a matrix."""
    x, y, z = camera[:3]
    q = expm(jnp.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])) @ (point - camera[3:6])
    flat = q[:2] / q[2]
    square = flat @ flat
    stretch = 1 + camera[9] * square + camera[10] * square**2
    return weight * (flat * stretch * camera[6] + camera[7:9] - feature)


def ba_jacobian(*inputs):
    camera, point, weight = jax.jacobian(ba, (0, 1, 2))(*inputs)
    return np.concatenate([camera, point, weight[:, None]], axis=1)


def check_published(adbench):
    inputs = gmm_read(adbench / "data/gmm/test.txt")  # there the prior has the wrong sign
    value, (alpha, mu, q, l) = jax.value_and_grad(gmm)(*inputs, -1)
    np.testing.assert_allclose(value, 8.07380408004975791, rtol=1e-13)
    np.testing.assert_allclose(flat(alpha, mu, np.concatenate([q, l], axis=1)),
                               published(adbench, "Gmm", "expected_gradient"), rtol=1e-12)
    value, gradient = jax.value_and_grad(lstm)(*lstm_read(DATA / "lstm_l2_c1024.txt"))
    np.testing.assert_allclose(value, 0.66666518, atol=1e-8)
    np.testing.assert_allclose(flat(*gradient), published(adbench, "Lstm", "expectedGradient"), atol=1e-14)
    inputs = ba_read(adbench / "data/ba/test.txt")
    np.testing.assert_allclose(ba(*inputs), [-0.269048849235189402, 0.259944792677901881], rtol=1e-11)
    np.testing.assert_allclose(np.ravel(ba_jacobian(*inputs)), published(adbench, "Ba", "expected_J_vals")[:30],
                               rtol=1e-12, atol=1e-12)


def results():
    inputs = gmm_read(DATA / "gmm_d2_K5.txt")
    yield "gmm", [gmm(*inputs), *jax.grad(gmm)(*inputs)]
    value, gradient = jax.value_and_grad(lstm)(*lstm_read(DATA / "lstm_l2_c1024.txt"))
    yield "lstm", [value, *gradient]
    inputs = ba_read(DATA / "ba1_n49_m7776_p31843.txt")
    yield "ba", [ba(*inputs), 1 - inputs[2] ** 2, ba_jacobian(*inputs), -2 * inputs[2]]


def main(adbench, folder):
    check_published(pathlib.Path(adbench))
    for name, arrays in results():
        lines = [line for array in arrays for line in (f"{np.size(array)}", *(f"{v:.17g}" for v in flat(array)))]
        (pathlib.Path(folder) / f"{name}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
