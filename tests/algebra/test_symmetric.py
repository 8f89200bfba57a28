"""Patterns and matrices: every operation against dense arrays, and bad input at the border."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern
from pliant.errors import ArgumentError


def random_matrix(n: int, density: float, seed: int) -> SymmetricMatrix:
    rng = np.random.default_rng(seed)
    half = sp.random_array((n, n), density=density, rng=rng)
    return SymmetricMatrix.from_scipy(half + half.T + sp.eye_array(n))


def block_matrix(n_nodes: int, n_pairs: int, block: int, seed: int) -> SymmetricMatrix:
    rng = np.random.default_rng(seed)
    pattern = SymmetricPattern.from_blocks(rng.integers(0, n_nodes, (n_pairs, 2)), n_nodes, block)
    values = rng.normal(size=(pattern.n, pattern.n))
    rows = np.repeat(np.arange(pattern.n), np.diff(pattern.indptr))
    return SymmetricMatrix(pattern, (values + values.T)[rows, pattern.indices])


def test_from_blocks_is_full_blocks_sorted_symmetric_with_diagonal():
    pattern = SymmetricPattern.from_blocks([(0, 2), (2, 0), (3, 2)], 4, block=3)
    nodes = np.eye(4)
    nodes[[0, 2, 2, 3], [2, 0, 3, 2]] = 1
    expected = np.kron(nodes, np.ones((3, 3)))
    got = SymmetricMatrix(pattern, np.ones(pattern.nnz)).toarray()
    np.testing.assert_array_equal(got, expected)
    for i in range(pattern.n):
        assert (np.diff(pattern.indices[pattern.indptr[i] : pattern.indptr[i + 1]]) > 0).all()


def test_from_coo_mirrors_and_adds_the_diagonal():
    pattern = SymmetricPattern.from_coo([0, 0, 3], [1, 1, 1], 5)
    expected = np.eye(5)
    expected[[0, 1, 3, 1], [1, 0, 1, 3]] = 1
    np.testing.assert_array_equal(SymmetricMatrix(pattern, np.ones(pattern.nnz)).toarray(), expected)


def test_no_pairs_is_a_block_diagonal():
    pattern = SymmetricPattern.from_blocks([], 2, block=2)
    assert pattern.nnz == 8
    assert SymmetricPattern.from_coo([], [], 1).nnz == 1


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 30), density=st.floats(0, 0.5), seed=st.integers(0, 999))
def test_slots_find_every_entry(n, density, seed):
    matrix = random_matrix(n, density, seed)
    coo = matrix.tocsc().tocoo()
    shuffle = np.random.default_rng(seed).permutation(coo.nnz)
    slots = matrix.pattern.slots(coo.row[shuffle], coo.col[shuffle])
    np.testing.assert_array_equal(matrix.data[slots], coo.data[shuffle])
    assert slots.dtype == np.int64


def test_slots_broadcast():
    pattern = SymmetricPattern.from_blocks([(0, 1)], 2)
    every = np.arange(6)
    slots = pattern.slots(every[:, None], every)
    np.testing.assert_array_equal(slots, np.arange(36).reshape(6, 6))
    np.testing.assert_array_equal(pattern.diagonal_slots, np.diagonal(slots))


@pytest.mark.parametrize(("rows", "cols"), [([0], [4]), ([0], [3]), ([-1], [0]), ([0.5], [0])])
def test_slots_refuse_absent_entries(rows, cols):
    pattern = SymmetricPattern.from_coo([0], [1], 4)
    with pytest.raises(ArgumentError):
        pattern.slots(rows, cols)


def test_absent_entry_is_named():
    with pytest.raises(ArgumentError, match=r"\(2, 3\)"):
        SymmetricPattern.from_coo([0], [1], 4).slots([0, 2], [1, 3])


@settings(max_examples=20, deadline=None)
@given(n=st.integers(1, 25), k=st.integers(0, 5), block=st.sampled_from([1, 2, 3]), seed=st.integers(0, 999))
def test_product(n, k, block, seed):
    matrix = block_matrix(n, 2 * n, block, seed)
    dense = matrix.toarray()
    x = np.random.default_rng(seed).normal(size=(matrix.n, k))
    np.testing.assert_allclose(matrix @ x, dense @ x, atol=1e-12)
    np.testing.assert_allclose(x.T @ matrix, x.T @ dense, atol=1e-12)
    np.testing.assert_allclose(matrix @ np.asfortranarray(x), dense @ x, atol=1e-12)
    if k:
        np.testing.assert_allclose(matrix @ x[:, 0], dense @ x[:, 0], atol=1e-12)
        np.testing.assert_allclose(x[:, 0] @ matrix, dense @ x[:, 0], atol=1e-12)


def test_arithmetic():
    a, b = block_matrix(6, 9, 3, 0), block_matrix(6, 9, 3, 0).scaled(-2.0)
    np.testing.assert_allclose((a + b).toarray(), -a.toarray())
    np.testing.assert_allclose(a.diagonal(), np.diagonal(a.toarray()))
    d = np.arange(18.0)
    np.testing.assert_allclose(a.add_diagonal(d).toarray(), a.toarray() + np.diag(d))
    np.testing.assert_allclose(a.add_diagonal(2.0).toarray(), a.toarray() + 2 * np.eye(18))
    assert a.shape == (18, 18)
    assert not a.pattern.zeros().data.any()


def test_from_scipy_keeps_values_and_sums_duplicates():
    coo = sp.coo_array(([1.0, 2.0, 3.0, 3.0], ([0, 0, 0, 1], [0, 0, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(SymmetricMatrix.from_scipy(coo).toarray(), [[3, 3], [3, 0]])


@pytest.mark.parametrize(
    "matrix", [np.ones((2, 3)), np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[1.0, np.nan], [np.nan, 1.0]])]
)
def test_from_scipy_refuses(matrix):
    with pytest.raises(ArgumentError, match="matrix"):
        SymmetricMatrix.from_scipy(matrix)


def test_bad_input_is_named():
    pattern = SymmetricPattern.from_coo([0], [1], 4)
    matrix = SymmetricMatrix(pattern, np.ones(pattern.nnz))
    cases = [
        ("node_pairs", lambda: SymmetricPattern.from_blocks([(0, 4)], 4)),
        ("node_pairs", lambda: SymmetricPattern.from_blocks([0, 4], 4)),
        ("node_pairs", lambda: SymmetricPattern.from_blocks([(0.0, 1.0)], 4)),
        ("block", lambda: SymmetricPattern.from_blocks([(0, 1)], 4, block=0)),
        ("rows, cols", lambda: SymmetricPattern.from_coo([0, 1], [0], 4)),
        ("n", lambda: SymmetricPattern.from_coo([], [], 0)),
        ("data", lambda: SymmetricMatrix(pattern, np.ones(3))),
        ("vector", lambda: matrix @ np.ones(3)),
        ("diagonal", lambda: matrix.add_diagonal(np.ones(3))),
        ("other", lambda: matrix + SymmetricPattern.from_coo([], [], 4).zeros()),
    ]
    for argument, call in cases:
        with pytest.raises(ArgumentError) as caught:
            call()
        assert caught.value.argument == argument


def test_combined_is_the_sum_of_multiples_and_refuses_another_pattern():
    pattern = SymmetricPattern.from_coo([0, 1], [1, 2], 4)
    a, b, c = (SymmetricMatrix(pattern, np.arange(pattern.nnz) + shift) for shift in (1.0, 5.0, -3.0))
    got = a.combined((b, 2.0), (c, -0.5))
    assert np.array_equal(got.data, a.data + 2.0 * b.data - 0.5 * c.data)
    assert np.array_equal(a.data, np.arange(pattern.nnz) + 1.0)
    with pytest.raises(ArgumentError):
        a.combined((SymmetricPattern.from_coo([0], [3], 4).zeros(), 1.0))


def test_simplified_diagonal() -> None:
    rng = np.random.default_rng(3)
    full = SymmetricMatrix.from_scipy(sp.csr_matrix(np.diag([2.0, 3.0, 5.0]) + np.ones((3, 3))))
    assert not full.simplified().diagonal_only
    flat = SymmetricMatrix(full.pattern, np.diag([2.0, 3.0, 5.0]).ravel())
    simple = flat.simplified()
    assert simple.diagonal_only
    for x in (rng.standard_normal(3), rng.standard_normal((3, 2))):
        assert np.array_equal(simple @ x, flat @ x)
    assert np.array_equal(full.combined((simple, 0.5)).data, full.combined((flat, 0.5)).data)
