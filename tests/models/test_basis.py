"""Strain bases."""

import numpy as np
import pytest

from pliant.errors import ArgumentError, UnknownNameError
from pliant.models import basis as b

X = np.linspace(0, 1, 41)


@pytest.mark.parametrize("basis", [b.legendre(3), b.chebyshev(3), b.monomial(3), b.hermite(1)])
def test_polynomial_bases_span_cubics(basis):
    values = basis.scalar(X)
    for k in range(4):
        fit, *_ = np.linalg.lstsq(values, X**k, rcond=None)
        assert np.allclose(values @ fit, X**k, atol=1e-12)


def test_hats_are_a_partition_of_unity_and_interpolate():
    basis = b.piecewise_linear(4)
    assert np.allclose(basis.scalar(X).sum(axis=1), 1.0)
    assert np.allclose(basis.scalar(np.linspace(0, 1, 5)), np.eye(5))


def test_table_places_each_function_in_its_strain():
    basis = b.legendre(1, strains=("bend_z", "stretch"))
    table = basis.table(np.array([1.0]))[0]
    assert basis.size == 4
    assert np.array_equal(basis.components, [2, 2, 3, 3])
    assert np.allclose(table[:, 2], [1, 1, 0, 0])
    assert np.allclose(table[:, 3], [0, 0, 1, 1])


def test_modes_are_interpolated():
    s = np.linspace(0, 1, 30)
    basis = b.from_modes(np.array([np.sin(s), np.cos(s)]), strain="bend_y")
    table = basis.table(X)
    assert table.shape == (41, 2, 6)
    assert np.allclose(table[:, 0, 1], np.sin(X), atol=1e-6)
    assert basis.strains == ("bend_y",)


def test_bad_input_is_named():
    with pytest.raises(UnknownNameError, match="bend_y"):
        b.legendre(2, strains=("bend",))
    with pytest.raises(ArgumentError, match="order"):
        b.legendre(-1)
    with pytest.raises(ArgumentError, match="modes"):
        b.from_modes(np.zeros((2, 5, 6)))
    with pytest.raises(ArgumentError, match="segments"):
        b.constant(segments=0)
