"""Closest points against minimisation by sampling and identities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from pliant._kernels.closest import between_segments, crosses, on_segment, on_triangle

SEED = st.integers(0, 2**31)


def closest_by_nnls(p, corners):
    """min |sum u_k x_k - p| with u >= 0 and sum u = 1 (heavily weighted row)."""
    heavy = 1e6
    a = np.concatenate([corners.T, heavy * np.ones((1, len(corners)))])
    u, _ = nnls(a, np.append(p, heavy))
    return np.linalg.norm(u @ corners / u.sum() - p)


@settings(max_examples=200, deadline=None)
@given(seed=SEED)
def test_point_on_triangle(seed):
    rng = np.random.default_rng(seed)
    t, p = rng.normal(size=(3, 3)), 2 * rng.normal(size=3)
    u = np.array(on_triangle(p, *t))
    assert np.all(u >= 0.0)
    assert u.sum() == pytest.approx(1.0)
    assert np.linalg.norm(u @ t - p) == pytest.approx(closest_by_nnls(p, t), abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(seed=SEED)
def test_point_on_segment(seed):
    rng = np.random.default_rng(seed)
    a, b, p = rng.normal(size=(3, 3))
    s = on_segment(p, a, b)
    expected = closest_by_nnls(p, np.stack([a, b]))
    assert np.linalg.norm((1 - s) * a + s * b - p) == pytest.approx(expected, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(seed=SEED)
def test_between_lines_the_connection_is_perpendicular(seed):
    a, b, c, d = np.random.default_rng(seed).normal(size=(4, 3))
    s, t = between_segments(a, b, c, d)
    w = (1 - s) * a + s * b - (1 - t) * c - t * d
    assert w @ (b - a) == pytest.approx(0.0, abs=1e-8)
    assert w @ (d - c) == pytest.approx(0.0, abs=1e-8)


def test_parallel_lines_are_flagged():
    a, b = np.zeros(3), np.array([1.0, 0, 0])
    assert between_segments(a, b, a + 1.0, b + 1.0) == (-1.0, -1.0)


def test_features_are_exact_zeros():
    t = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert on_triangle(np.array([-1.0, -1, 1]), *t) == (1.0, 0.0, 0.0)
    assert on_triangle(np.array([0.5, -1.0, 1]), *t)[2] == 0.0
    assert min(on_triangle(np.array([0.2, 0.2, 1]), *t)) > 0.0


def test_degenerate_segment():
    a = np.ones(3)
    assert on_segment(np.zeros(3), a, a) == 0.0


def test_crossing():
    t = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert crosses(np.array([0.2, 0.2, 1]), np.array([0.2, 0.2, -1]), *t)
    assert not crosses(np.array([0.2, 0.2, 1]), np.array([0.2, 0.2, 0.5]), *t)
    assert not crosses(np.array([0.8, 0.8, 1]), np.array([0.8, 0.8, -1]), *t)
