"""Factorisations against dense linear algebra, over sizes, shapes and methods."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.algebra.factor import DenseFactor
from pliant.algebra.factorisation import NotPositiveDefinite, factorise, factorise_general
from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern
from pliant.errors import ArgumentError, PliantError, SolveError

METHODS = ("auto", "supernodal", "banded", "dense")


def spd(n: int, density: float, seed: int) -> SymmetricMatrix:
    rng = np.random.default_rng(seed)
    half = sp.random_array((n, n), density=density, rng=rng, data_sampler=rng.standard_normal)
    both = half + half.T
    return SymmetricMatrix.from_scipy(both + sp.diags_array(np.asarray(abs(both).sum(axis=1)) + 1.0))


def lattice(shape: tuple[int, int, int], seed: int = 0) -> SymmetricMatrix:
    """A spring lattice in three dimensions, held by weak ground springs, nodes numbered at random."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).reshape(-1, 3)
    gap = np.abs(grid[:, None] - grid[None]).max(-1)
    i, j = np.nonzero(np.triu(gap == 1))
    number = rng.permutation(len(grid))
    direction = (grid[i] - grid[j]) / np.linalg.norm(grid[i] - grid[j], axis=1)[:, None]
    pattern = SymmetricPattern.from_blocks(np.stack((number[i], number[j]), 1), len(grid))
    stiffness = direction[:, :, None] * direction[:, None, :]
    data = np.zeros(pattern.nnz)
    for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
        rows = 3 * number[a][:, None, None] + np.arange(3)[:, None]
        cols = 3 * number[b][:, None, None] + np.arange(3)
        np.add.at(data, pattern.slots(rows, cols), sign * stiffness)
    return SymmetricMatrix(pattern, data).add_diagonal(1e-2)


def check(matrix: SymmetricMatrix, method: str, seed: int = 0, shift: float = 0.0) -> None:
    rng = np.random.default_rng(seed)
    dense = matrix.toarray() + shift * np.eye(matrix.n)
    factor = factorise(matrix, method=method, shift=shift)
    assert factor.n == matrix.n
    assert factor.nnz >= matrix.n
    scale = np.linalg.norm(np.linalg.inv(dense), 2)
    for b in (rng.normal(size=matrix.n), rng.normal(size=(matrix.n, 1)), rng.normal(size=(matrix.n, 7))):
        for given_b in (b, np.asfortranarray(b)):
            x = factor.solve(given_b)
            assert x.shape == b.shape
            np.testing.assert_allclose(x, np.linalg.solve(dense, b), atol=1e-10 * scale, rtol=1e-8)
    B = sp.random_array((matrix.n, 6), density=min(1.0, 3 / matrix.n), rng=rng, format="csc")
    x = factor.solve_sparse(B)
    expected = np.linalg.solve(dense, B.toarray())
    np.testing.assert_allclose(x, expected, atol=1e-10 * scale)
    y = factor.half_solve_sparse(B)
    assert y.shape == B.shape
    np.testing.assert_allclose(y.T @ y, B.T @ expected, atol=1e-10 * scale)
    check_halves(factor, dense, rng.normal(size=(4, matrix.n)) * (rng.random((4, matrix.n)) < 0.3), B.T.tocsr(), scale)
    np.testing.assert_allclose(factor.logdet, np.linalg.slogdet(dense)[1], rtol=1e-9, atol=1e-9)


def check_halves(factor, dense, rows, sparse, scale) -> None:
    """W = R A^-1 R^T and the solves that follow from its half solves, with and without sparse rows."""
    for further, R in ((None, rows), (sparse, np.vstack([rows, sparse.toarray()]))):
        solved = np.linalg.solve(dense, R.T)
        W, Y = factor.condense(rows, further)
        size = scale * max(1.0, float(np.abs(R).max()) ** 2 * R.shape[1])
        np.testing.assert_allclose(W, R @ solved, atol=1e-10 * size)
        np.testing.assert_array_equal(W, W.T)
        np.testing.assert_allclose(factor.back_solve(Y), solved, atol=1e-10 * size)
        z = np.arange(1.0, 1.0 + len(R))
        np.testing.assert_allclose(factor.back_solve(Y @ z), solved @ z, atol=1e-9 * size)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 120), density=st.floats(0, 0.3), seed=st.integers(0, 9999))
def test_random_patterns(n, density, seed):
    check(spd(n, density, seed), "supernodal", seed)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_small_and_sparse(n, method):
    check(spd(n, 0.05, n), method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 1), (4, 4, 4), (12, 2, 2), (5, 5, 2)])
def test_lattices(shape, method):
    check(lattice(shape), method)


def test_lattice_against_splu():
    matrix = lattice((8, 8, 8))
    b = np.random.default_rng(0).normal(size=(matrix.n, 20))
    expected = sp.linalg.splu(matrix.tocsc()).solve(b)
    factor = factorise(matrix)
    assert factor.method == "supernodal"
    np.testing.assert_allclose(factor.solve(b), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_diagonal_matrix(method):
    check(SymmetricMatrix.from_scipy(sp.diags_array(np.arange(1.0, 71.0))), method)


@pytest.mark.parametrize("method", METHODS)
def test_full_matrix(method):
    root = np.random.default_rng(0).normal(size=(70, 70))
    check(SymmetricMatrix.from_scipy(root @ root.T + np.eye(70)), method)


@pytest.mark.parametrize("method", METHODS)
def test_disconnected_blocks(method):
    parts = [spd(m, 0.3, m).tocsc() for m in (1, 30, 1, 25, 7)]
    check(SymmetricMatrix.from_scipy(sp.block_diag(parts)), method)


def test_arrow_matrix():
    n = 300
    arrow = sp.lil_array((n, n))
    arrow[0, :] = arrow[:, [0]] = 0.1
    arrow.setdiag(10.0)
    check(SymmetricMatrix.from_scipy(arrow), "supernodal")


def test_unequal_blocks_are_found():
    # the same lattice with some unknowns taken out: nodes of one, two and three unknowns
    full = lattice((4, 4, 3)).tocsc()
    keep = np.flatnonzero(np.random.default_rng(3).random(full.shape[0]) < 0.7)
    check(SymmetricMatrix.from_scipy(full[keep][:, keep]), "supernodal")


@pytest.mark.parametrize("method", METHODS)
def test_shift_is_added_to_the_diagonal(method):
    check(lattice((4, 3, 3)), method, shift=0.7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 4, 4)])
def test_not_positive_definite(method, shape):
    matrix = lattice(shape)
    bad = np.zeros(matrix.n)
    bad[matrix.n // 2] = -100.0
    with pytest.raises(NotPositiveDefinite) as caught:
        factorise(matrix.add_diagonal(bad), method=method)
    assert 0 <= caught.value.column < matrix.n
    assert isinstance(caught.value, PliantError)


@pytest.mark.parametrize("method", METHODS)
def test_column_of_a_diagonal_matrix_is_the_right_one(method):
    diagonal = np.ones(80)
    diagonal[37] = -1.0
    with pytest.raises(NotPositiveDefinite) as caught:
        factorise(SymmetricMatrix.from_scipy(sp.diags_array(diagonal)), method=method)
    assert caught.value.column == 37


@pytest.mark.parametrize("method", METHODS)
def test_nan_is_not_positive(method):
    matrix = lattice((4, 4, 4))
    data = matrix.data.copy()
    data[17] = data[matrix.pattern.diagonal_slots[5]] = np.nan
    with pytest.raises(NotPositiveDefinite):
        factorise(SymmetricMatrix(matrix.pattern, data), method=method)


def test_sparse_right_hand_sides_touch_only_their_path():
    matrix = lattice((10, 3, 3))
    factor = factorise(matrix, method="supernodal")
    unit = sp.csc_array(([1.0], ([4], [0])), shape=(matrix.n, 1))
    y = factor.half_solve_sparse(unit)
    assert 0 < np.count_nonzero(y) < matrix.n
    np.testing.assert_allclose((y.T @ y)[0, 0], np.linalg.inv(matrix.toarray())[4, 4], rtol=1e-9)


def test_sparse_formats_repeats_and_empty_columns():
    matrix = lattice((4, 4, 4))
    factor = factorise(matrix)
    repeated = sp.coo_array(([1.0, 2.0], ([3, 3], [1, 1])), shape=(matrix.n, 3))
    expected = factor.solve(repeated.toarray())
    for form in (repeated, repeated.tocsr(), repeated.tocsc(), sp.csc_matrix(repeated)):
        np.testing.assert_allclose(factor.solve_sparse(form), expected, atol=1e-12)
    assert factor.solve_sparse(sp.csc_array((matrix.n, 0))).shape == (matrix.n, 0)
    assert factor.solve(np.empty((matrix.n, 0))).shape == (matrix.n, 0)


def test_refactorisation_and_reuse():
    matrix = lattice((5, 5, 5))
    b = np.ones(matrix.n)
    first = factorise(matrix)
    kept = first.solve(b)
    second = factorise(matrix.scaled(2.0))
    np.testing.assert_allclose(first.solve(b), kept)  # separate storage
    np.testing.assert_allclose(second.solve(b), kept / 2, rtol=1e-10)
    third = factorise(matrix.scaled(4.0), reuse=first)
    np.testing.assert_allclose(third.solve(b), kept / 4, rtol=1e-10)
    with pytest.raises(SolveError, match="reuse"):
        first.solve(b)
    other = factorise(lattice((6, 5, 5)), reuse=third)  # does not fit: left alone
    np.testing.assert_allclose(third.solve(b), kept / 4, rtol=1e-10)
    assert other.n != third.n


def test_reuse_after_a_failure():
    matrix = lattice((5, 5, 5))
    spare = factorise(matrix)
    with pytest.raises(NotPositiveDefinite):
        factorise(matrix, shift=-100.0, reuse=spare)
    with pytest.raises(SolveError):
        spare.solve(np.ones(matrix.n))
    again = factorise(matrix, reuse=spare)
    np.testing.assert_allclose(matrix @ again.solve(np.ones(matrix.n)), 1.0, rtol=1e-9)


def test_threads():
    matrix = lattice((6, 6, 6))
    b = np.random.default_rng(0).normal(size=(matrix.n, 5))
    _ = matrix.pattern.symbolic
    results = [None] * 6

    def work(i: int) -> None:
        for _ in range(5):
            results[i] = factorise(matrix.scaled(1.0 + i)).solve(b)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = factorise(matrix).solve(b)
    for i, result in enumerate(results):
        np.testing.assert_allclose(result * (1.0 + i), expected, rtol=1e-9, atol=1e-12)


def test_dense_arrays():
    root = np.random.default_rng(0).normal(size=(5, 5))
    matrix = root @ root.T + np.eye(5)
    factor = factorise(matrix, shift=0.5)
    assert factor.method == "dense"
    np.testing.assert_allclose(factor.solve(np.eye(5)), np.linalg.inv(matrix + 0.5 * np.eye(5)), atol=1e-12)
    with pytest.raises(NotPositiveDefinite) as caught:
        factorise(np.diag([1.0, 1.0, -1.0]))
    assert caught.value.column == 2


def test_bad_input_is_named():
    matrix = lattice((4, 4, 4))
    factor = factorise(matrix)
    cases = [
        ("method", lambda: factorise(matrix, method="magic")),
        ("shift", lambda: factorise(matrix, shift=np.nan)),
        ("matrix", lambda: factorise(np.ones((2, 3)))),
        ("matrix", lambda: factorise(np.empty((0, 0)))),
        ("matrix", lambda: factorise(np.array([[1.0, np.nan], [np.nan, 1.0]]))),
        ("matrix", lambda: factorise(np.array([[1.0, 0.5], [0.0, 1.0]]))),
        ("matrix", lambda: factorise_general(np.full((2, 2), np.inf))),
        ("b", lambda: factor.solve(np.ones(3))),
        ("b", lambda: factor.solve(np.ones((matrix.n, 1, 1)))),
        ("B", lambda: factor.solve_sparse(sp.csc_array((3, 2)))),
    ]
    for argument, call in cases:
        with pytest.raises(ArgumentError) as caught:
            call()
        assert caught.value.argument == argument


def test_general_counts_negative_eigenvalues():
    matrix = lattice((4, 4, 3))
    dense = matrix.toarray() - 0.5 * np.eye(matrix.n)
    factor = factorise_general(matrix.add_diagonal(-0.5))
    b = np.random.default_rng(0).normal(size=(matrix.n, 3))
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(dense, b), rtol=1e-7, atol=1e-9)
    assert factor.negative_eigenvalues == (np.linalg.eigvalsh(dense) < 0).sum()
    np.testing.assert_allclose(factor.logdet, np.linalg.slogdet(dense)[1], rtol=1e-9)


def test_general_saddle_and_unsymmetric():
    saddle = np.array([[0.0, 1.0], [1.0, 0.0]])
    factor = factorise_general(saddle)
    np.testing.assert_allclose(factor.solve([1.0, 2.0]), [2.0, 1.0])
    skewed = factorise_general(np.array([[1.0, 2.0], [0.0, 1.0]]))
    assert skewed.negative_eigenvalues is None
    np.testing.assert_allclose(skewed.solve([1.0, 1.0]), [-1.0, 1.0])
    with pytest.raises(SolveError):
        factorise_general(np.ones((2, 2)))
    with pytest.raises(SolveError, match="half"):
        factor.half_solve_sparse(sp.eye_array(2))


def test_dense_factor_knows_a_pivot_that_is_all_rounding():
    """A chain of springs that nothing holds: singular, though rounding may leave its last pivot positive."""
    for seed in range(20):
        k = np.random.default_rng(seed).uniform(1.0, 2.0, 30)
        K = np.diag(np.append(k, 0.0)) + np.diag(np.append(0.0, k)) - np.diag(k, 1) - np.diag(k, -1)
        with pytest.raises(NotPositiveDefinite):
            DenseFactor(K)
        K[0, 0] += 1e-9  # held, however softly
        DenseFactor(K)
