"""Lie-group axioms, by hypothesis; derivatives of exp by finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm

from pliant import lie
from pliant.errors import ArgumentError

number = st.floats(-3.0, 3.0, allow_nan=False, width=64)
twist = arrays(np.float64, 6, elements=number)
vector = arrays(np.float64, 3, elements=number)
fast = settings(max_examples=60, deadline=None)


def shrink(x):
    """The twist with its rotation inside the ball of radius pi, where log inverts exp."""
    x = x.copy()
    n = np.linalg.norm(x[:3])
    if n > 3.1:
        x[:3] *= 3.1 / n
    return x


@fast
@given(twist)
def test_exp_is_the_matrix_exponential(x):
    assert np.allclose(lie.exp(x), expm(lie.hat(x)), atol=1e-12)
    assert np.allclose(lie.exp(x[:3]), expm(lie.hat(x[:3])), atol=1e-12)
    assert np.allclose(lie.vee(lie.hat(x)), x)


@fast
@given(twist)
def test_log_inverts_exp(x):
    x = shrink(x)
    assert np.allclose(lie.log(lie.exp(x)), x, atol=1e-10)
    assert np.allclose(lie.log(lie.exp(x[:3])), x[:3], atol=1e-10)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-4, 0.7, 3.0, np.pi - 1e-4, np.pi - 1e-9, np.pi])
def test_log_near_zero_and_pi(angle):
    axis = np.array([0.6, -0.64, 0.48])
    x = np.concatenate([angle * axis, [0.3, -0.2, 0.1]])
    g = lie.exp(x)
    back = lie.log(g)
    assert np.allclose(lie.exp(back), g, atol=1e-12)
    assert np.linalg.norm(back[:3]) == pytest.approx(angle, abs=1e-12)
    if angle < np.pi:
        assert np.allclose(back, x, atol=1e-9)


@fast
@given(twist, twist, twist)
def test_group_and_algebra_axioms(a, b, c):
    A, B, C = lie.exp(a), lie.exp(b), lie.exp(c)
    assert np.allclose((A @ B) @ C, A @ (B @ C), atol=1e-10)
    assert np.allclose(A @ lie.inverse(A), np.eye(4), atol=1e-12)
    assert np.allclose(lie.Ad(A) @ lie.Ad(B), lie.Ad(A @ B), atol=1e-9)
    assert np.allclose(lie.Ad(A) @ lie.Ad_inverse(A), np.eye(6), atol=1e-11)
    assert np.allclose(lie.hat(lie.Ad(A) @ b), A @ lie.hat(b) @ lie.inverse(A), atol=1e-9)
    assert np.allclose(lie.Ad(A), expm(lie.ad(a)), atol=1e-10)
    assert np.allclose(lie.hat(lie.ad(a) @ b), lie.hat(a) @ lie.hat(b) - lie.hat(b) @ lie.hat(a))
    jacobi = lie.ad(a) @ lie.ad(b) @ c + lie.ad(b) @ lie.ad(c) @ a + lie.ad(c) @ lie.ad(a) @ b
    assert np.allclose(jacobi, 0.0, atol=1e-9)


@fast
@given(twist)
def test_tangents(x):
    for n in (3, 6):
        y = x[:n]
        right, left = lie.right_tangent(y), lie.left_tangent(y)
        assert np.allclose(right, lie.left_tangent(-y), atol=1e-13)
        outer = lie.Ad(lie.exp(x)) if n == 6 else lie.exp(y)
        assert np.allclose(outer @ right, left, atol=1e-10)
        if np.linalg.norm(x[:3]) < 5.5:  # the inverse is singular at 2 pi
            assert np.allclose(right @ lie.right_tangent_inverse(y), np.eye(n), atol=1e-8)
            assert np.allclose(left @ lie.left_tangent_inverse(y), np.eye(n), atol=1e-8)


@pytest.mark.parametrize("scale", [1e-7, 1e-3, 0.3, 1.0, 3.3, 3.6, 6.0, 9.0])
def test_tangent_is_the_derivative_of_exp(scale):
    rng = np.random.default_rng(3)
    axis = rng.standard_normal(3)
    x = np.concatenate([scale * axis / np.linalg.norm(axis), rng.standard_normal(3)])
    T = lie.right_tangent(x)
    h = 1e-6
    for j in range(6):
        e = np.eye(6)[j] * h
        step = lie.log(lie.inverse(lie.exp(x - e)) @ lie.exp(x + e)) / (2 * h)
        assert np.allclose(T[:, j], step, atol=2e-8)


@fast
@given(arrays(np.float64, 4, elements=number))
def test_quaternions(q):
    if np.linalg.norm(q) < 1e-6:
        return
    R = lie.matrix_from_quaternion(q)
    assert np.allclose(R.T @ R, np.eye(3), atol=1e-13)
    assert np.linalg.det(R) == pytest.approx(1.0)
    back = lie.quaternion_from_matrix(R)
    unit = q / np.linalg.norm(q)
    assert min(np.abs(back - unit).max(), np.abs(back + unit).max()) < 1e-12


def test_quaternion_of_a_quarter_turn_is_wxyz():
    q = lie.quaternion_from_matrix(lie.exp([0, 0, np.pi / 2]))
    assert np.allclose(q, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])


def test_bad_input_is_named():
    with pytest.raises(ArgumentError, match="x: shape"):
        lie.exp([1, 2])
    with pytest.raises(ArgumentError, match="NaN"):
        lie.exp([np.nan, 0, 0])
    with pytest.raises(ArgumentError, match="not a rotation"):
        lie.log(2 * np.eye(3))
    with pytest.raises(ArgumentError, match="zero length"):
        lie.matrix_from_quaternion([0, 0, 0, 0])
