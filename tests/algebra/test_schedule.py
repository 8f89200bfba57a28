"""Threads change nothing but the time: tasks cover the tree, and factors are the same to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.algebra import supernodal
from pliant.algebra.factorisation import NotPositiveDefinite, factorise
from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern
from pliant.algebra.threads import use_threads


def block(shape: tuple[int, int, int], pinned: float = 1.0) -> SymmetricMatrix:
    """Three unknowns per point of a grid, all neighbours coupled by one block each; positive definite."""
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).reshape(-1, 3)
    number = np.arange(len(grid)).reshape(shape)
    pairs = []
    for step in np.stack(np.meshgrid(*[[0, 1]] * 3, indexing="ij"), -1).reshape(-1, 3)[1:]:
        kept = (grid + step < shape).all(axis=1)
        pairs.append(np.column_stack([np.flatnonzero(kept), number[tuple((grid[kept] + step).T)]]))
    pattern = SymmetricPattern.from_blocks(np.vstack(pairs), len(grid), 3)
    rows = np.repeat(np.arange(pattern.n), np.diff(pattern.indptr))
    low, high = np.minimum(rows, pattern.indices), np.maximum(rows, pattern.indices)
    data = np.where(low == high, pinned + 30.0, np.sin(1.0 + low + 3.0 * high))
    return SymmetricMatrix(pattern, data)


@pytest.mark.parametrize("shape", [(9, 9, 8), (40, 5, 4), (14, 14, 3)])
def test_tasks_cover_the_tree_once(shape):
    s = block(shape).pattern.symbolic
    plan = s.schedule
    top = np.unique(plan.phases[1:, 1])
    seen = np.zeros(s.parent.size, dtype=int)
    for low, high in zip(plan.task_low, plan.task_high):
        seen[low:high] += 1
        assert (s.parent[low : high - 1] < high).all()  # a whole subtree
    seen[top] += 1
    assert (seen == 1).all()
    assert len(plan.task_low) > 1
    assert plan.floating.sum() == s.parent.size - len(plan.task_low) - len(top)


def test_a_small_factorisation_is_one_task():
    plan = block((3, 3, 3)).pattern.symbolic.schedule
    assert plan.phases.shape == (1, 4)
    assert plan.useful_threads == 1


@pytest.mark.parametrize("shape", [(9, 9, 8), (40, 5, 4)])
def test_the_factor_does_not_depend_on_the_number_of_threads(monkeypatch, shape):
    monkeypatch.setattr(supernodal, "_WORTH", 0.0)
    matrix = block(shape)
    b = np.random.default_rng(0).normal(size=(matrix.n, 7))
    with use_threads(1):
        alone = factorise(matrix)
        x, one, logdet = alone.solve(b), alone.solve(b[:, 0]), alone.logdet
    np.testing.assert_allclose(matrix @ x, b, atol=1e-12)
    for count in (2, 3, 5):
        with use_threads(count):
            for _ in range(4):
                factor = factorise(matrix)
                assert factor.logdet == logdet
                np.testing.assert_array_equal(factor.solve(b), x)
                np.testing.assert_array_equal(factor.solve(b[:, 0]), one)


def test_the_first_bad_pivot_does_not_depend_on_the_number_of_threads():
    matrix = block((9, 9, 8))
    bad = matrix.data.copy()
    bad[matrix.pattern.diagonal_slots[[40, 700, 1500]]] = -1.0
    found = set()
    for count in (1, 2, 4):
        with use_threads(count):
            for _ in range(3):
                with pytest.raises(NotPositiveDefinite) as caught:
                    factorise(SymmetricMatrix(matrix.pattern, bad))
                found.add(caught.value.column)
    assert found in ({40}, {700}, {1500})


def test_a_bad_pivot_at_the_top_of_the_tree():
    matrix = block((9, 9, 8))
    s = matrix.pattern.symbolic
    last = int(s.order[-1])
    bad = matrix.data.copy()
    bad[matrix.pattern.diagonal_slots[last]] = -1.0
    for count in (1, 3):
        with use_threads(count), pytest.raises(NotPositiveDefinite) as caught:
            factorise(SymmetricMatrix(matrix.pattern, bad))
        assert caught.value.column == last


def test_storage_is_reused_by_more_threads():
    matrix = block((9, 9, 8))
    b = np.ones(matrix.n)
    with use_threads(1):
        factor = factorise(matrix)
        x = factor.solve(b)
    with use_threads(4):
        np.testing.assert_array_equal(factorise(matrix, reuse=factor).solve(b), x)


@pytest.mark.parametrize("shape", [(9, 9, 8), (40, 5, 4), (3, 3, 3)])
def test_condensation_does_not_depend_on_the_number_of_threads(monkeypatch, shape):
    monkeypatch.setattr(supernodal, "_WORTH", 0.0)
    matrix = block(shape)
    n = matrix.n
    rng = np.random.default_rng(1)
    dense = rng.normal(size=(3, n)) * (rng.random((3, n)) < 0.05)
    sparse = sp.random(150, n, density=4.0 / n, random_state=2, format="csr")
    rows = np.vstack([dense, sparse.toarray()])
    full = np.linalg.solve(matrix.toarray(), rows.T)
    with use_threads(1):
        factor = factorise(matrix)
        w, y = factor.condense(dense, sparse)
        back = factor.back_solve(y)
        half = factor.half_solve_sparse(sparse.T)
    np.testing.assert_allclose(w, rows @ full, atol=1e-12)
    np.testing.assert_allclose(y.T @ y, w, atol=1e-12)
    np.testing.assert_allclose(back, full, atol=1e-12)
    np.testing.assert_allclose(half.T @ half, w[3:, 3:], atol=1e-12)
    for count in (2, 4):
        with use_threads(count):
            w2, y2 = factor.condense(dense, sparse)
            np.testing.assert_array_equal(w2, w)
            np.testing.assert_array_equal(y2, y)
            np.testing.assert_array_equal(factor.back_solve(y), back)
            np.testing.assert_array_equal(factor.half_solve_sparse(sparse.T), half)
