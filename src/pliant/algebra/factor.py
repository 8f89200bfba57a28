"""What a factorised matrix offers, whatever factorised it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ArgumentError, SolveError

Array = NDArray[np.float64]


class NotPositiveDefinite(SolveError):
    """A matrix that should be positive definite is not.

    Attributes:
        column: row and column of the matrix whose pivot was not positive (or not a number). The leading
            block up to it, in the order of elimination, is not positive definite.
    """

    def __init__(self, column: int) -> None:
        self.column = int(column)
        super().__init__(
            f"the matrix is not positive definite: the pivot of unknown {self.column} is not positive "
            "(or not finite). Add a shift, or check that the body is held and that no element is inverted"
        )


def first_bad_pivot(diagonal: Array, info: int) -> int:
    """Column at which a LAPACK Cholesky routine failed, or -1; OpenBLAS lets NaN and infinity through."""
    if info > 0:
        return info - 1
    bad = ~np.isfinite(diagonal)
    return int(bad.argmax()) if bad.any() else -1


class Factor(ABC):
    """A factorised matrix A: solves with it as often as wanted. Owns its storage; safe to share by threads.

    Attributes:
        n: number of rows.
        method: which method made it.
        halves: whether A = P^T L L^T P is solved in two halves (`condense`, `back_solve`).
        nnz: number of entries of the factor.
    """

    method: ClassVar[str]
    halves: ClassVar[bool] = False
    n: int
    nnz: int

    def solve(self, b: ArrayLike) -> Array:
        """A^-1 b for one or several right-hand sides, (n,) or (n, k); the result has the same shape."""
        rhs = np.asarray(b, dtype=np.float64)
        if rhs.ndim not in (1, 2) or rhs.shape[0] != self.n:
            raise ArgumentError("b", f"has shape {rhs.shape}", f"({self.n},) or ({self.n}, k)")
        if rhs.size == 0:
            return np.empty(rhs.shape)
        return self._solve(rhs)

    def solve_sparse(self, B: Any) -> Array:
        """A^-1 B for a scipy sparse B (n, k), as a dense array; skips what the zeros of B leave at zero."""
        columns = self._columns(B)
        return self._solve_sparse(columns) if columns.shape[1] else np.empty(columns.shape)

    def half_solve_sparse(self, B: Any) -> Array:
        """Y = L^-1 P B (n, k), dense, where A = P^T L L^T P: then Y^T Y = B^T A^-1 B.

        Costs half a solve, and less than that where B has few entries: the way to condense
        W = H A^-1 H^T, with B = H^T. The rows of Y are in the order of elimination.
        """
        columns = self._columns(B)
        return self._half_solve_sparse(columns) if columns.shape[1] else np.empty(columns.shape)

    def condense(self, dense: ArrayLike, sparse: Any = None) -> tuple[Array, Array]:
        """(W, Y) of rows R = [dense; sparse]: W = R A^-1 R^T (m, m), and Y = L^-1 P R^T (n, m).

        Only the half solves that W needs are done; `back_solve(Y @ z)` is then A^-1 R^T z.

        Args:
            dense: rows (k, n); their zeros are skipped where the method can.
            sparse: further rows, scipy CSR, or None.
        """
        rows = np.ascontiguousarray(dense, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n:
            raise ArgumentError("dense", f"has shape {rows.shape}", f"(k, {self.n})")
        if sparse is not None and (sparse.format != "csr" or sparse.shape[1] != self.n):
            raise ArgumentError("sparse", f"is {sparse.format} of shape {sparse.shape}", f"CSR (k, {self.n})")
        return self._condense(rows, sparse)

    def back_solve(self, y: ArrayLike) -> Array:
        """P^T L^-T y: the second half of a solve, for y (n,) or (n, k) in the order of elimination."""
        half = np.ascontiguousarray(y, dtype=np.float64)
        if half.ndim not in (1, 2) or half.shape[0] != self.n:
            raise ArgumentError("y", f"has shape {half.shape}", f"({self.n},) or ({self.n}, k)")
        return self._back_solve(half) if half.size else np.empty(half.shape)

    @property
    @abstractmethod
    def logdet(self) -> float:
        """Natural logarithm of |det A|."""

    @abstractmethod
    def _solve(self, b: Array) -> Array: ...

    @abstractmethod
    def _half_solve_sparse(self, B: Any) -> Array: ...

    def _solve_sparse(self, B: Any) -> Array:
        return self._solve(B.toarray())

    def _condense(self, dense: Array, sparse: Any) -> tuple[Array, Array]:
        from scipy.sparse import csc_array, vstack

        rows = dense if sparse is None else vstack([csc_array(dense), sparse])
        y = self._half_solve_sparse(csc_array(rows.T))
        return y.T @ y, y

    def _back_solve(self, y: Array) -> Array:
        raise SolveError(f"the method {self.method!r} has no half solves; use solve")

    def _columns(self, B: Any) -> Any:
        from scipy.sparse import csc_array

        columns = csc_array(B, dtype=np.float64)
        if columns.ndim != 2 or columns.shape[0] != self.n:
            raise ArgumentError("B", f"has shape {columns.shape}", f"({self.n}, k)")
        return columns


class DenseFactor(Factor):
    """LAPACK Cholesky factorisation of a dense matrix."""

    method = "dense"
    halves = True

    def __init__(self, matrix: Array, shift: float = 0.0) -> None:
        from scipy.linalg.lapack import dpotrf

        self.n = matrix.shape[0]
        self.nnz = self.n * (self.n + 1) // 2
        work = np.array(matrix, dtype=np.float64, order="F")
        if shift:
            work.ravel(order="K")[:: self.n + 1] += shift
        own = work.diagonal() * (4e-15 * self.n)
        self._lower, info = dpotrf(work, lower=1, clean=0, overwrite_a=1)
        square = self._lower.diagonal() ** 2
        if info == 0 and np.isfinite(np.add.reduce(square)) and (square > own).all():
            return
        failed = first_bad_pivot(square, info)
        if failed < 0:  # a pivot that is all rounding: the matrix is singular, whatever its sign
            failed = int(np.argmax(square <= own))
        raise NotPositiveDefinite(failed)

    @property
    def logdet(self) -> float:
        """Natural logarithm of det A."""
        return 2.0 * float(np.log(self._lower.diagonal()).sum())

    def _solve(self, b: Array) -> Array:
        from scipy.linalg.lapack import dpotrs

        return dpotrs(self._lower, b, lower=1)[0].reshape(b.shape)

    def _half_solve_sparse(self, B: Any) -> Array:
        from scipy.linalg.lapack import dtrtrs

        return dtrtrs(self._lower, B.toarray(), lower=1)[0]

    def _condense(self, dense: Array, sparse: Any) -> tuple[Array, Array]:
        from scipy.linalg.lapack import dtrtrs

        rows = dense if sparse is None else np.vstack([dense, sparse.toarray()])
        y = dtrtrs(self._lower, rows.T, lower=1)[0]
        return y.T @ y, y

    def _back_solve(self, y: Array) -> Array:
        from scipy.linalg.lapack import dtrtrs

        return dtrtrs(self._lower, y, lower=1, trans=1)[0].reshape(y.shape)


class GeneralFactor(Factor):
    """Sparse LU of a square matrix that need not be positive definite (SuperLU).

    Attributes:
        negative_eigenvalues: how many eigenvalues are negative, from the signs of the pivots; None when
            pivoting off the diagonal was needed, or the matrix is not symmetric.
    """

    method = "lu"

    def __init__(self, matrix: Any) -> None:
        from scipy.sparse.linalg import splu

        self.n = matrix.shape[0]
        self.negative_eigenvalues: int | None = None
        skew = abs(matrix - matrix.T)
        scale = float(abs(matrix.data).max(initial=0.0))
        if skew.nnz == 0 or skew.max() <= 1e-9 * scale:
            try:
                self._lu = splu(
                    matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
                )
                if self._accurate(matrix):
                    if np.array_equal(self._lu.perm_r, self._lu.perm_c):
                        self.negative_eigenvalues = int((self._lu.U.diagonal() < 0).sum())
                    self.nnz = self._lu.nnz
                    return
            except RuntimeError:
                pass  # a zero pivot on the diagonal: pivot properly
        try:
            self._lu = splu(matrix)
        except RuntimeError as error:
            raise SolveError(f"the matrix is singular ({error})") from error
        self.nnz = self._lu.nnz

    def _accurate(self, matrix: Any) -> bool:
        # without pivoting the elimination may be unstable: one solve with a known answer tells
        known = np.random.default_rng(0).uniform(0.5, 1.5, self.n)
        b = matrix @ known
        residual = np.abs(matrix @ self._lu.solve(b) - b).max()
        return bool(residual <= 1e-10 * np.abs(b).max())

    @property
    def logdet(self) -> float:
        """Natural logarithm of |det A|."""
        return float(np.log(np.abs(self._lu.U.diagonal())).sum())

    def _solve(self, b: Array) -> Array:
        return self._lu.solve(b)

    def _half_solve_sparse(self, B: Any) -> Array:
        raise SolveError("a matrix that is not positive definite has no half solve; use solve_sparse")
