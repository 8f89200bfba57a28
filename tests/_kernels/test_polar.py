"""Polar and singular value kernels against LAPACK, also for inverted, flat and zero matrices."""

from __future__ import annotations

import numpy as np
import pytest

from pliant._kernels.polar import SUM_FLOOR, polar, polar_batch, rotation_and_spin, svd_batch

RNG = np.random.default_rng(0)
HARD = np.array(
    [
        np.eye(3), -np.eye(3), np.zeros((3, 3)), np.ones((3, 3)), 1e-8 * RNG.normal(size=(3, 3)),
        np.diag([1, 1, -1.0]), np.diag([2.0, 0, 0]), np.diag([1, 0.5, -0.5]),
        np.diag([1, 0.5, -0.5 + 1e-9]), np.diag([1e3, 1, 1e-3]),
    ]
)  # fmt: skip
NEAR = np.eye(3) + 0.1 * RNG.normal(size=(500, 3, 3))
MATRICES = np.concatenate([HARD, RNG.normal(size=(500, 3, 3)), NEAR])


def test_polar_is_a_proper_polar_decomposition():
    R, S = np.empty_like(MATRICES), np.empty_like(MATRICES)
    polar_batch(MATRICES, R, S)
    size = np.abs(MATRICES).max(axis=(1, 2)) + 1e-300
    assert (np.abs(R @ S - MATRICES).max(axis=(1, 2)) / size).max() < 1e-12
    assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-13
    assert np.abs(np.linalg.det(R) - 1).max() < 1e-13
    assert np.array_equal(S, np.swapaxes(S, 1, 2))


def test_rotation_is_the_sign_fixed_one():
    R, S = np.empty_like(MATRICES), np.empty_like(MATRICES)
    polar_batch(MATRICES, R, S)
    U, s, Vt = np.linalg.svd(MATRICES)
    d = np.linalg.det(U @ Vt)
    U[:, :, 2] *= d[:, None]
    unique = s[:, 1] + d * s[:, 2] > 1e-3 * s[:, 0]
    assert unique.sum() > 900
    assert np.abs(R - U @ Vt)[unique].max() < 1e-11


def test_svd():
    U, s, V = np.empty_like(MATRICES), np.empty((len(MATRICES), 3)), np.empty_like(MATRICES)
    svd_batch(MATRICES, U, s, V)
    size = np.abs(MATRICES).max(axis=(1, 2)) + 1e-300
    assert (np.abs(np.einsum("nij,nj,nkj->nik", U, s, V) - MATRICES).max(axis=(1, 2)) / size).max() < 1e-13
    assert np.abs(np.linalg.det(U) - 1).max() < 1e-13
    assert np.abs(np.linalg.det(V) - 1).max() < 1e-13
    assert (s[:, 0] >= s[:, 1]).all()
    assert (s[:, 1] >= np.abs(s[:, 2]) - 1e-14).all()
    reference = np.linalg.svd(MATRICES, compute_uv=False)
    assert (np.abs(np.abs(s) - reference).max(axis=1) / size).max() < 1e-13


@pytest.mark.parametrize(
    "F", [np.diag([1, 0.5, -0.5]), np.zeros((3, 3)), 1e-3 * np.eye(3), np.diag([1, 1e-4, -1e-5])]
)
def test_spin_is_clamped(F):
    g = rotation_and_spin(F, np.empty((3, 3)))[1:]
    G = np.array([[g[0], g[1], g[2]], [g[1], g[3], g[4]], [g[2], g[4], g[5]]])
    assert np.linalg.eigvalsh(G).max() <= 1 / SUM_FLOOR * (1 + 1e-9)


def test_fast_and_slow_paths_agree_where_they_meet():
    """Gradients on both sides of the switch have nearly the same rotation."""
    R, S = np.empty((3, 3)), np.empty((3, 3))
    Q = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    previous = None
    for x in np.linspace(0.44, 0.499, 60):
        polar(Q @ np.diag([1, 0.5, -x]) @ Q.T, R, S)
        if previous is not None:
            assert np.abs(R - previous).max() < 1e-10
        previous = R.copy()
