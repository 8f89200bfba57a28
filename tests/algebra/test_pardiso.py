"""Pardiso behind the common interface, where it is installed; a clear message where it is not."""

import importlib.util

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.algebra.factorisation import NotPositiveDefinite, factorise
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.errors import MissingExtraError, SolveError

installed = importlib.util.find_spec("pypardiso") is not None


def matrix() -> SymmetricMatrix:
    half = sp.random_array((60, 60), density=0.05, rng=np.random.default_rng(0))
    return SymmetricMatrix.from_scipy(half + half.T + 10 * sp.eye_array(60))


@pytest.mark.skipif(installed, reason="pypardiso is installed")
def test_missing():
    with pytest.raises(MissingExtraError, match="pardiso"):
        factorise(matrix(), method="pardiso")


@pytest.mark.skipif(not installed, reason="pypardiso is not installed")
def test_agrees_with_ours():
    a = matrix()
    b = np.random.default_rng(1).normal(size=(60, 4))
    B = sp.random_array((60, 5), density=0.1, rng=np.random.default_rng(2), format="csc")
    theirs, ours = factorise(a, method="pardiso", shift=0.1), factorise(a, shift=0.1)
    np.testing.assert_allclose(theirs.solve(b), ours.solve(b), atol=1e-12)
    np.testing.assert_allclose(theirs.solve(b[:, 0]), ours.solve(b[:, 0]), atol=1e-12)
    y, z = theirs.half_solve_sparse(B), ours.half_solve_sparse(B)
    np.testing.assert_allclose(y.T @ y, z.T @ z, atol=1e-12)
    again = factorise(a, method="pardiso", reuse=theirs)
    np.testing.assert_allclose(a @ again.solve(b), b, atol=1e-12)
    with pytest.raises(SolveError):
        theirs.solve(b)
    with pytest.raises(SolveError):
        again.logdet
    with pytest.raises(NotPositiveDefinite):
        factorise(a, method="pardiso", shift=-100.0)
