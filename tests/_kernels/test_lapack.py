"""BLAS and LAPACK called from compiled code, against numpy."""

import numpy as np
from numba import njit

from pliant._kernels import lapack
from pliant._kernels.lapack import LEFT, NO, RIGHT, TRANS, address


@njit
def _all(a, b, c, x, y, n, k):
    info = lapack.dpotrf(n, address(a, 0), n)
    lapack.dtrsm(LEFT, NO, n, k, address(a, 0), n, address(b, 0), n)
    lapack.dsyrk(n, k, 1.0, address(b, 0), n, 0.0, address(c, 0), n)
    lapack.dtrsv(TRANS, n, address(a, 0), n, address(x, 0))
    lapack.dgemv(TRANS, n, k, 2.0, address(b, 0), n, address(x, 0), 0.0, address(y, 0))
    return info


@njit
def _products(a, b, c, d, lower, m, n, k):
    lapack.dgemm(NO, TRANS, m, n, k, 1.0, address(a, 0), m, address(b, 0), n, 0.5, address(c, 0), m)
    lapack.dtrsm(RIGHT, TRANS, m, n, address(lower, 0), n, address(d, 0), m)


def flat(a: np.ndarray) -> np.ndarray:
    return a.ravel(order="F").copy()


def test_factor_solve_and_update():
    rng = np.random.default_rng(0)
    n, k = 7, 4
    root = rng.normal(size=(n, n))
    matrix, b, x = root @ root.T + np.eye(n), rng.normal(size=(n, k)), rng.normal(size=n)
    a_, b_, c_, x_, y_ = flat(matrix), flat(b), np.zeros(n * n), x.copy(), np.zeros(k)
    assert _all(a_, b_, c_, x_, y_, n, k) == 0
    lower = np.linalg.cholesky(matrix)
    half = np.linalg.solve(lower, b)
    np.testing.assert_allclose(np.tril(a_.reshape(n, n).T), lower)
    np.testing.assert_allclose(b_.reshape(k, n).T, half)
    np.testing.assert_allclose(np.tril(c_.reshape(n, n).T), np.tril(half @ half.T))
    np.testing.assert_allclose(x_, np.linalg.solve(lower.T, x))
    np.testing.assert_allclose(y_, 2 * half.T @ x_)


def test_potrf_names_the_column():
    a = flat(np.diag([1.0, 2.0, -1.0]))
    assert _all(a, np.zeros(3), np.zeros(9), np.zeros(3), np.zeros(1), 3, 1) == 3


def test_products():
    rng = np.random.default_rng(1)
    m, n, k = 3, 5, 4
    a, b, c, d = (rng.normal(size=shape) for shape in ((m, k), (n, k), (m, n), (m, n)))
    lower = np.tril(rng.normal(size=(n, n))) + 5 * np.eye(n)
    c_, d_ = flat(c), flat(d)
    _products(flat(a), flat(b), c_, d_, flat(lower), m, n, k)
    np.testing.assert_allclose(c_.reshape(n, m).T, a @ b.T + 0.5 * c)
    np.testing.assert_allclose(d_.reshape(n, m).T, d @ np.linalg.inv(lower.T))
