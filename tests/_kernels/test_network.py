"""Compiled networks against a NumPy reference, and their derivatives against differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pliant._kernels import network as kernels
from pliant._kernels import network_inverse as inverse
from pliant.errors import ArgumentError
from pliant.models.network import Network, initial, parameter_count


def reference(theta, sizes, x):
    at = 0
    for k, (a, b) in enumerate(itertools.pairwise(sizes)):
        W = theta[at : at + a * b].reshape(b, a)
        x = W @ x + theta[at + a * b : at + a * b + b]
        at += b * (a + 1)
        if k < len(sizes) - 2:
            x = 2.0 / (1.0 + np.exp(-2.0 * x)) - 1.0
    return x


def make(sizes, members=1, seed=0):
    rng = np.random.default_rng(seed)
    theta = np.array([initial(sizes, rng) for _ in range(members)])
    m, n = sizes[0], sizes[-1]
    return Network(sizes, theta, rng.normal(size=m), rng.uniform(0.5, 2, m), rng.normal(size=n), rng.uniform(0.5, 2, n))


@pytest.mark.parametrize("sizes", [(3, 3), (3, 8, 2), (2, 7, 5, 4), (1, 3, 3, 3, 1)])
def test_value_and_scaling(sizes):
    net = make(sizes, members=3)
    x = np.random.default_rng(1).normal(size=(5, sizes[0]))
    scaled = (x - net.x_mid) / net.x_half
    wanted = [np.mean([reference(t, sizes, s) for t in net.theta], axis=0) * net.y_half + net.y_mid for s in scaled]
    assert np.allclose(net(x), wanted, rtol=1e-12, atol=1e-13)
    assert np.allclose(net(x[0]), wanted[0], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("sizes", [(3, 3), (3, 8, 2), (2, 7, 5, 4)])
def test_derivative_is_exact(sizes):
    net = make(sizes, members=2)
    x = np.random.default_rng(1).normal(size=sizes[0])
    h = 1e-6
    wanted = np.stack([(net(x + e) - net(x - e)) / (2 * h) for e in h * np.eye(len(x))], axis=1)
    assert np.allclose(net.jacobian(x), wanted, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("slopes", [False, True])
def test_training_rows_are_exact(slopes):
    sizes = (3, 6, 5, 2)
    theta = initial(sizes, np.random.default_rng(0))
    layers = np.array(sizes, np.int64)
    x = np.random.default_rng(1).uniform(-1, 1, (4, 3))
    c = 8 if slopes else 2

    def values(t):
        v, rows = np.empty((4, c)), np.empty((4, c, len(t)))
        kernels.training_rows(t, layers, x, slopes, v, rows)
        return v, rows

    v, rows = values(theta)
    y, J = kernels.evaluate(theta[None], layers, x, True)
    assert np.allclose(v[:, :2], y)
    if slopes:
        assert np.allclose(v[:, 2:], J.reshape(4, 6))
    for p in range(len(theta)):
        e = np.zeros(len(theta))
        e[p] = 1e-6
        wanted = (values(theta + e)[0] - values(theta - e)[0]) / 2e-6
        assert np.allclose(rows[:, :, p], wanted, rtol=1e-6, atol=1e-9)


def test_spread_is_zero_for_one_member_and_positive_for_several():
    x = np.zeros((2, 3))
    assert (make((3, 5, 2)).spread(x) == 0).all()
    assert (make((3, 5, 2), members=4).spread(x) > 0).all()


def test_nan_is_not_hidden():
    net = make((2, 4, 1))
    assert np.isnan(net(np.array([np.nan, 0.0]))).all()


def test_parameter_counts_of_the_paper():
    assert parameter_count((3, 35, 35, 3)) == 1508
    assert parameter_count((3, 35, 35, 9)) == 1724
    assert parameter_count((3, 30, 30, 30, 2)) == 2042
    assert parameter_count((3, 64, 64, 6)) == 4806


@pytest.mark.parametrize(
    "change", [{"theta": np.zeros((1, 3))}, {"x_half": np.zeros(3)}, {"y_mid": np.full(2, np.nan)}]
)
def test_parts_that_do_not_fit_are_refused(change):
    net = make((3, 5, 2))
    with pytest.raises(ArgumentError):
        Network(**({k: getattr(net, k) for k in ("sizes", "theta", "x_mid", "x_half", "y_mid", "y_half")} | change))


def test_box_step_solves_the_bounded_quadratic():
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    for _ in range(60):
        m = int(rng.integers(1, 6))
        A = rng.normal(size=(m, m))
        H, g = A @ A.T + 0.05 * np.eye(m), rng.normal(size=m) * 3
        v = rng.choice([-1.0, 1.0, 0.3], m)
        d = np.zeros(m)
        inverse.box_step(H, g, v, d)
        best = minimize(
            lambda x, g=g, H=H: g @ x + 0.5 * x @ H @ x,
            np.clip(np.zeros(m), -1 - v, 1 - v),
            jac=lambda x, g=g, H=H: g + H @ x,
            bounds=list(zip(-1 - v, 1 - v)),
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-12},
        )
        assert (v + d <= 1 + 1e-12).all()
        assert (v + d >= -1 - 1e-12).all()
        assert g @ d + 0.5 * d @ H @ d <= best.fun + 1e-8
