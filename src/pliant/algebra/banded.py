"""LAPACK banded Cholesky factorisation after reverse Cuthill-McKee: good for very slender bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.factor import Array, Factor, NotPositiveDefinite, first_bad_pivot
from pliant.algebra.symbolic import bandwidth_order
from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern
from pliant.errors import SolveError


@dataclass(frozen=True, eq=False)
class Band:
    """Layout of a symmetric matrix as a band.

    Attributes:
        order: the unknown at each place of the band (n,).
        position: the place of each unknown (n,).
        width: number of subdiagonals.
        source: entries of the matrix that go into the lower band.
        target: where they go, in column-major (width + 1, n) storage.
    """

    order: NDArray[np.int64]
    position: NDArray[np.int64]
    width: int
    source: NDArray[np.int64]
    target: NDArray[np.int64]

    @property
    def flops(self) -> float:
        """Multiply-adds of the factorisation."""
        return self.order.size * float(self.width) ** 2 / 2


def lay_out(pattern: SymmetricPattern) -> Band:
    """Order the unknowns so that the band is narrow, and say where each entry goes."""
    nodes = bandwidth_order(pattern.node_indptr, pattern.node_indices)
    order = (nodes[:, None] * pattern.block + np.arange(pattern.block)).ravel()
    position = np.empty(pattern.n, dtype=np.int64)
    position[order] = np.arange(pattern.n)
    column = np.repeat(position, np.diff(pattern.indptr))
    below = position[pattern.indices] - column
    width = int(below.max(initial=0))
    source = np.flatnonzero(below >= 0)
    return Band(order, position, width, source, column[source] * (width + 1) + below[source])


class BandedFactor(Factor):
    """Banded Cholesky factor."""

    method = "banded"
    halves = True

    def __init__(self, matrix: SymmetricMatrix, shift: float = 0.0) -> None:
        from scipy.linalg.lapack import dpbtrf

        self._layout = band = matrix.pattern.band
        self.n = matrix.n
        self.nnz = self.n * (band.width + 1)
        flat = np.zeros(self.n * (band.width + 1))
        flat[band.target] = matrix.data[band.source]
        flat[:: band.width + 1] += shift
        storage = flat.reshape(self.n, band.width + 1).T
        self._lower, info = dpbtrf(storage, lower=1, overwrite_ab=1)
        failed = first_bad_pivot(self._lower[0], info)
        if failed >= 0:
            raise NotPositiveDefinite(band.order[failed])

    @property
    def logdet(self) -> float:
        """Natural logarithm of det A."""
        return 2.0 * float(np.log(self._lower[0]).sum())

    def _solve(self, b: Array) -> Array:
        from scipy.linalg.lapack import dpbtrs

        x, _ = dpbtrs(self._lower, b[self._layout.order], lower=1)
        return np.ascontiguousarray(x[self._layout.position]).reshape(b.shape)

    def _half_solve_sparse(self, B: Any) -> Array:
        from scipy.linalg.lapack import dtbtrs

        x, info = dtbtrs(self._lower, B.toarray()[self._layout.order], uplo="L")
        if info:
            raise SolveError("the banded factor is singular")
        return x

    def _back_solve(self, y: Array) -> Array:
        from scipy.linalg.lapack import dtbtrs

        x, info = dtbtrs(self._lower, y, uplo="L", trans="T")
        if info:
            raise SolveError("the banded factor is singular")
        return np.ascontiguousarray(x.reshape(y.shape)[self._layout.position])
