"""The symbolic analysis: invariants of the tree and of the layout, orders, and the fallback."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant._kernels import symbolic as kernels
from pliant.algebra.factorisation import factorise
from pliant.algebra.symbolic import Symbolic, analyse, bandwidth_order, dissect
from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern


def random_pattern(n: int, density: float, block: int, seed: int) -> SymmetricPattern:
    rng = np.random.default_rng(seed)
    half = sp.random_array((n, n), density=density, rng=rng).tocoo()
    return SymmetricPattern.from_blocks(np.stack((half.row, half.col), 1), n, block)


def chain(n: int, reach: int) -> SymmetricPattern:
    """A shuffled band: the graph of a slender body."""
    i, j = np.nonzero(np.triu(np.ones((n, n)), 1) - np.triu(np.ones((n, n)), reach + 1))
    number = np.random.default_rng(0).permutation(n)
    return SymmetricPattern.from_blocks(np.stack((number[i], number[j]), 1), n, 3)


def panel_pattern(s: Symbolic) -> np.ndarray:
    dense = np.zeros((s.n, s.n), dtype=bool)
    for k in range(s.parent.size):
        columns = np.arange(s.first[k], s.first[k + 1])
        dense[np.ix_(np.concatenate((columns, s.rows[s.row_ptr[k] : s.row_ptr[k + 1]])), columns)] = True
    return np.tril(dense)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 60), density=st.floats(0, 0.2), block=st.sampled_from([1, 3]), seed=st.integers(0, 9999)
)
def test_invariants(n, density, block, seed):
    pattern = random_pattern(n, density, block, seed)
    s = analyse(pattern)
    np.testing.assert_array_equal(np.sort(s.order), np.arange(pattern.n))
    np.testing.assert_array_equal(s.order[s.position], np.arange(pattern.n))
    every = np.arange(s.parent.size)
    assert ((s.parent > every) | (s.parent == -1)).all()
    for k in every:
        rows = s.rows[s.row_ptr[k] : s.row_ptr[k + 1]]
        assert (np.diff(rows) > 0).all()
        assert (rows >= s.first[k + 1]).all()
        assert (rows.size == 0) == (s.parent[k] == -1)
        if rows.size:
            assert s.supernode_of[rows[0]] == s.parent[k] or s.parent[k] > k
    # the panels hold the factor of any matrix with this pattern
    full = SymmetricMatrix(pattern, np.full(pattern.nnz, 1.0)).add_diagonal(float(pattern.n)).toarray()
    lower = np.linalg.cholesky(full[np.ix_(s.order, s.order)])
    held = panel_pattern(s)
    assert not (np.abs(lower) > 1e-14)[~held].any()
    assert s.nnz == held.sum()
    assert s.source.size == s.target.size == (pattern.nnz + pattern.n) // 2
    assert np.unique(s.target).size == s.target.size


def test_slender_bodies_are_swept_from_both_ends():
    pattern = chain(400, 8)
    s = analyse(pattern)
    band = pattern.n * 3 * 8
    assert s.nnz < 1.6 * band
    roots = np.flatnonzero(s.parent == -1)
    assert roots.size == 1
    children = np.bincount(s.parent[s.parent >= 0], minlength=s.parent.size)
    assert children.max() == 2
    assert (children == 0).sum() == 2


def test_equal_rows_are_one_node():
    by_block = analyse(chain(60, 4))
    pattern = chain(60, 4)
    rows = np.repeat(np.arange(pattern.n), np.diff(pattern.indptr))
    by_entry = analyse(SymmetricPattern.from_coo(rows, pattern.indices, pattern.n))
    assert by_entry.nnz == by_block.nnz


def test_orders_are_permutations():
    pattern = chain(50, 5)
    graph = (pattern.node_indptr, pattern.node_indices)
    every = np.arange(50)
    np.testing.assert_array_equal(np.sort(bandwidth_order(*graph)), every)
    sweep = kernels.meet_in_the_middle(*graph, bandwidth_order(*graph))
    np.testing.assert_array_equal(np.sort(sweep), every)
    assert kernels.bandwidth(*graph, bandwidth_order(*graph)) <= 10


def test_without_pymetis(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    pattern = random_pattern(40, 0.1, 3, 0)
    no_loops = kernels.compress_graph(pattern.node_indptr, pattern.node_indices, *[np.arange(40)] * 2, 40)
    np.testing.assert_array_equal(np.sort(dissect(*no_loops, np.full(40, 3))), np.arange(40))
    matrix = SymmetricMatrix(pattern, np.ones(pattern.nnz)).add_diagonal(float(pattern.n))
    np.testing.assert_allclose(matrix @ factorise(matrix).solve(np.ones(matrix.n)), 1.0)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_no_edges(n):
    s = analyse(SymmetricPattern.from_coo([], [], n))
    assert s.nnz == n
    assert s.schedule.fixed_size == s.schedule.stack_size == 0
