"""Cholesky factorisation behind one verb, `factorise`, and one noun, `Factor`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ArgumentError, SolveError
from pliant.solve.symmetric import SymmetricMatrix

Array = NDArray[np.float64]
METHODS = ("auto", "supernodal", "banded", "dense", "pardiso")


class NotPositiveDefinite(SolveError):
    """A matrix that should be positive definite is not.

    Attributes:
        column: the row and column of the matrix at which the factorisation broke down.
    """

    def __init__(self, column: int, detail: str = "") -> None:
        self.column = int(column)
        extra = f" ({detail})" if detail else ""
        super().__init__(
            f"the matrix is not positive definite: the pivot of column {self.column} is not positive{extra}"
        )


class Factor:
    """A factorisation, first version (splu behind the final interface)."""

    method = "splu"

    def __init__(self, matrix: SymmetricMatrix | Array, shift: float) -> None:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        csc = matrix.tocsc() if isinstance(matrix, SymmetricMatrix) else csc_array(matrix)
        self.n = csc.shape[0]
        if shift:
            from scipy.sparse import eye_array

            csc = csc + shift * eye_array(self.n)
        try:
            self._lu = splu(csc.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                            options={"SymmetricMode": True})
        except RuntimeError as error:
            raise NotPositiveDefinite(0, str(error)) from error
        self._d = self._lu.U.diagonal()
        if not (self._d > 0).all():
            raise NotPositiveDefinite(int(self._lu.perm_c.argsort()[np.argmin(self._d)]))
        self.nnz = self._lu.L.nnz

    @property
    def logdet(self) -> float:
        """Logarithm of the determinant."""
        return float(np.log(self._d).sum())

    def solve(self, b: ArrayLike) -> Array:
        """Solve for (n,) or (n, k)."""
        return self._lu.solve(np.asarray(b, dtype=np.float64))

    def solve_sparse(self, B: Any) -> Array:
        """Solve for sparse right-hand sides (n, k); dense result."""
        return self._lu.solve(B.toarray())

    def half_solve_sparse(self, B: Any) -> Array:
        """Y with Y^T Y = B^T A^-1 B."""
        from scipy.sparse.linalg import spsolve_triangular

        permuted = np.empty((self.n, B.shape[1]))
        permuted[self._lu.perm_r] = B.toarray()
        half = spsolve_triangular(self._lu.L.tocsr(), permuted, unit_diagonal=True)
        return half / np.sqrt(self._d)[:, None]


def factorise(
    matrix: SymmetricMatrix | NDArray[Any],
    *,
    shift: float = 0.0,
    method: str = "auto",
    reuse: Factor | None = None,
) -> Factor:
    """Factorise a symmetric positive definite matrix, after adding `shift` to its diagonal."""
    if method not in METHODS:
        raise ArgumentError("method", f"is {method!r}", ", ".join(METHODS))
    return Factor(matrix, float(shift))
