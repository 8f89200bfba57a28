"""Anderson acceleration solves linear fixed points like GMRES and leaves the plain iteration alone without a window."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.anderson import Anderson


def contraction(n: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A symmetric contraction of largest factor 0.98, its constant part and its fixed point."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = Q @ np.diag(np.linspace(0.2, 0.98, n)) @ Q.T
    b = rng.standard_normal(n)
    return M, b, np.linalg.solve(np.eye(n) - M, b)


def iterate(M: np.ndarray, b: np.ndarray, window: int, steps: int) -> np.ndarray:
    anderson, q = Anderson(window), np.zeros(len(b))
    for _ in range(steps):
        q = q + anderson.step(M @ q + b - q)
    return q


def test_without_a_window_it_is_the_plain_iteration() -> None:
    M, b, _ = contraction()
    plain = np.zeros(len(b))
    for _ in range(7):
        plain = M @ plain + b
    np.testing.assert_allclose(iterate(M, b, 0, 7), plain, rtol=1e-13)


def test_a_linear_map_of_n_unknowns_is_solved_in_n_and_a_few_steps() -> None:
    M, b, exact = contraction()
    size = np.linalg.norm(exact)
    assert np.linalg.norm(iterate(M, b, 8, 9) - exact) < 1e-5 * size
    assert np.linalg.norm(iterate(M, b, 0, 9) - exact) > 0.1 * size


@pytest.mark.parametrize("window", [2, 4, 12])
def test_every_window_beats_the_plain_iteration(window: int) -> None:
    M, b, exact = contraction(20)
    plain, fast = (np.linalg.norm(iterate(M, b, w, 40) - exact) for w in (0, window))
    assert fast < 0.2 * plain


def test_one_unknown_is_the_secant_method() -> None:
    anderson, q = Anderson(3), 1.0
    for _ in range(8):
        f = np.cos(q) - q
        q += float(anderson.step(np.array([f]))[0])
    assert q == pytest.approx(0.7390851332151607, abs=1e-10)


def test_at_the_fixed_point_nothing_moves() -> None:
    anderson = Anderson(4)
    for _ in range(4):
        np.testing.assert_array_equal(anderson.step(np.zeros(3)), 0.0)


def test_a_shortened_step_is_taken_into_account() -> None:
    """After halved steps that it was told of, the secants are right: the next full step solves the linear map."""
    M, b, exact = contraction(4)
    errors = []
    for tell in (True, False):
        anderson, q = Anderson(6), np.zeros(4)
        for _ in range(5):
            step = 0.5 * anderson.step(M @ q + b - q)
            q = q + step
            if tell:
                anderson.moved(step)
        errors.append(np.linalg.norm(q + anderson.step(M @ q + b - q) - exact))
    assert errors[0] < 1e-4 * np.linalg.norm(exact)
    assert errors[0] < 1e-2 * errors[1]


def test_restart_forgets() -> None:
    M, b, _ = contraction()
    anderson, q = Anderson(5), np.zeros(len(b))
    for _ in range(4):
        q = q + anderson.step(M @ q + b - q)
    anderson.restart()
    f = M @ q + b - q
    np.testing.assert_array_equal(anderson.step(f), f)
