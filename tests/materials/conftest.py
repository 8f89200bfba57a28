"""Readable NumPy energies of every law, straight from the formulas; the kernels are checked against them."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import materials as pm


def lame(m):
    E, nu = m.young, m.poisson
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def signed_polar(F):
    U, _, Vt = np.linalg.svd(F)
    d = np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    R = U @ np.diag([1.0, 1.0, d]) @ Vt
    return R, R.T @ F


def linear(m, F):
    mu, lam = lame(m)
    e = (F + F.T) / 2 - np.eye(3)
    return mu * np.sum(e * e) + lam / 2 * np.trace(e) ** 2


def corotational(m, F):
    mu, lam = lame(m)
    S = signed_polar(F)[1] - np.eye(3)
    return mu * np.sum(S * S) + lam / 2 * np.trace(S) ** 2


def stvk(m, F):
    mu, lam = lame(m)
    E = (F.T @ F - np.eye(3)) / 2
    return mu * np.sum(E * E) + lam / 2 * np.trace(E) ** 2


def neo_hookean(m, F):
    """Smith et al. 2018, eq. 14 with the Lame constants corrected, less its value at rest."""
    mu_lame, lam_lame = lame(m)
    mu, lam = 4 / 3 * mu_lame, lam_lame + 5 / 6 * mu_lame
    alpha = 1 + mu / lam - mu / (4 * lam)

    def raw(I1, J):
        return mu / 2 * (I1 - 3) + lam / 2 * (J - alpha) ** 2 - mu / 2 * np.log(I1 + 1)

    return raw(np.sum(F * F), np.linalg.det(F)) - raw(3.0, 1.0)


def neo_hookean_log(m, F):
    mu, lam = lame(m)
    J = np.linalg.det(F)
    return mu / 2 * (np.sum(F * F) - 3) - mu * np.log(J) + lam / 2 * np.log(J) ** 2


def mooney_rivlin(m, F):
    C, J = F.T @ F, np.linalg.det(F)
    I1 = np.trace(C)
    I2 = (I1**2 - np.trace(C @ C)) / 2
    iso = m.c10 * (J ** (-2 / 3) * I1 - 3) + m.c01 * (J ** (-4 / 3) * I2 - 3)
    return iso + m.bulk / 2 * (J - 1) ** 2


def yeoh(m, F):
    J = np.linalg.det(F)
    x = J ** (-2 / 3) * np.sum(F * F) - 3
    iso = sum(c * x ** (i + 1) for i, c in enumerate(m.c))
    return iso + sum((J - 1) ** (2 * (j + 1)) / d for j, d in enumerate(m.d))


def ogden(m, F):
    J = np.linalg.det(F)
    b = np.linalg.svd(F, compute_uv=False) * J ** (-1 / 3)
    iso = sum(mu / a * (np.sum(b**a) - 3) for mu, a in zip(m.mu, m.alpha))
    return iso + m.bulk / 2 * (J - 1) ** 2


ENERGY = {
    "linear": linear,
    "corotational": corotational,
    "st-venant-kirchhoff": stvk,
    "neo-hookean": neo_hookean,
    "neo-hookean-log": neo_hookean_log,
    "mooney-rivlin": mooney_rivlin,
    "yeoh": yeoh,
    "ogden": ogden,
}

LAWS = [
    pm.Linear(1.3, 0.3),
    pm.Corotational(1.3, 0.3),
    pm.StVenantKirchhoff(1.3, 0.3),
    pm.NeoHookean(1.3, 0.4),
    pm.NeoHookeanLog(1.3, 0.4),
    pm.MooneyRivlin(0.7, 0.4, 5.0),
    pm.Yeoh((0.7, 0.1, 0.05), (0.3, 0.5, 1.0)),
    pm.Ogden((0.6, 0.1, -0.2), (1.5, 5.0, -2.0), 5.0),
]
FINITE_EVERYWHERE = ("linear", "corotational", "st-venant-kirchhoff", "neo-hookean")


@pytest.fixture(params=LAWS, ids=lambda m: m.law)
def material(request):
    """One representative of every law."""
    return request.param


@pytest.fixture(params=[m for m in LAWS if m.law != "linear"], ids=lambda m: m.law)
def objective(request):
    """One representative of every law but the linear one, which rotations change."""
    return request.param


@pytest.fixture
def reference(material):
    """Readable energy of the same law."""
    return lambda F: ENERGY[material.law](material, F)


def rotation(rng):
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Q * np.sign(np.linalg.det(Q))


def samples(law, seed=0):
    """Gradients to test: near rotations, far stretched, repeated stretches, inverted where allowed."""
    rng = np.random.default_rng(seed)
    R = [rotation(rng) for _ in range(40)]
    F = [r + 1e-3 * rng.normal(size=(3, 3)) for r in R[:5]]
    F += [r + 0.1 * rng.normal(size=(3, 3)) for r in R[:5]]
    F += [R[i] @ np.diag(np.exp(0.6 * rng.normal(size=3))) @ R[i + 1] for i in range(10)]
    F += [R[i] @ np.diag([3.0, 3.0**-0.5, 3.0**-0.5]) @ R[i + 1].T for i in range(3)]
    F += [R[i] @ np.diag([1.8, 1.8, 0.4]) @ R[i + 1].T for i in range(3)]
    F += [R[i] @ np.diag([1.5, 1.5 + 1e-9, 0.5]) @ R[i + 1].T for i in range(3)]
    F += [np.eye(3), 1.3 * R[0], 0.7 * R[1], np.diag([1.2, 1.2, 1.2])]
    if law in FINITE_EVERYWHERE:
        F += [R[i] @ np.diag([1.5, 0.9, -0.5]) @ R[i + 1] for i in range(3)]
    return np.array(F)


# Eighth-order central difference: exact enough to compare to 1e-9 without complex arithmetic.
STENCIL = {-4: 1 / 280, -3: -4 / 105, -2: 1 / 5, -1: -4 / 5, 1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}


def difference(function, F, h):
    """d function / d F, last axis over the nine entries of F row by row."""
    columns = []
    for r in range(9):
        total = 0.0
        for k, w in STENCIL.items():
            G = F.copy()
            G.flat[r] += k * h
            total = total + w / h * np.asarray(function(G))
        columns.append(total)
    return np.stack(columns, axis=-1)


@pytest.fixture(name="difference")
def difference_fixture():
    """The difference quotient as a function of (function, F, h)."""
    return difference


@pytest.fixture(name="samples")
def samples_fixture():
    """Gradients to test a law at, as a function of its name."""
    return samples


@pytest.fixture(name="random_rotation")
def rotation_fixture():
    """A random rotation as a function of a generator."""
    return rotation
