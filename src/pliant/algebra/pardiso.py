"""MKL Pardiso through the optional package pypardiso (extra `pardiso`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.algebra.factor import Array, Factor, NotPositiveDefinite
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.errors import MissingExtraError, SolveError

# phases and matrix type of the Pardiso interface
_ANALYSE, _NUMERIC, _SOLVE, _FORWARD, _FREE = 11, 22, 33, 331, -1
_POSITIVE_DEFINITE = 2
_NOT_POSITIVE = -4


class PardisoFactor(Factor):
    """Cholesky factor held by MKL Pardiso. Unlike the others it is not for use from two threads at once."""

    method = "pardiso"

    def __init__(
        self, matrix: SymmetricMatrix, shift: float = 0.0, reuse: PardisoFactor | None = None
    ) -> None:
        pattern = matrix.pattern
        self.n = pattern.n
        self._pattern = pattern
        self._solver: Any = None
        self._upper: Any
        self._kept: Any
        if reuse is not None and reuse._solver is not None and reuse._pattern is pattern:
            self._solver, reuse._solver = reuse._solver, None
            self._upper, self._kept = reuse._upper, reuse._kept
        else:
            self._analyse()
        data = matrix.data if shift == 0.0 else matrix.add_diagonal(shift).data
        if not np.isfinite(data).all():  # Pardiso would hang or return nonsense
            rows = np.repeat(np.arange(self.n), np.diff(pattern.indptr))
            raise NotPositiveDefinite(rows[np.argmin(np.isfinite(data))])
        self._upper.data[:] = data[self._kept]
        self._call(_NUMERIC, np.zeros((self.n, 1)))
        self.nnz = int(self._solver.iparm[17])

    def _analyse(self) -> None:
        from scipy.sparse import csr_matrix

        try:
            from pypardiso import PyPardisoSolver
        except ImportError as error:
            raise MissingExtraError("pypardiso", "pardiso") from error
        pattern = self._pattern
        row = np.repeat(np.arange(self.n), np.diff(pattern.indptr))
        self._kept = np.flatnonzero(pattern.indices >= row)
        indptr = np.concatenate(([0], np.cumsum(np.bincount(row[self._kept], minlength=self.n))))
        self._upper = csr_matrix(
            (np.zeros(self._kept.size), pattern.indices[self._kept], indptr), shape=(self.n, self.n)
        )
        self._solver = PyPardisoSolver(mtype=_POSITIVE_DEFINITE)
        self._call(_ANALYSE, np.zeros((self.n, 1)))
        # the analysis filled in the defaults; all are kept but two steps of iterative refinement per solve,
        # which triple its time and change nothing for a positive definite matrix
        self._solver.iparm[0], self._solver.iparm[7] = 1, 0

    def _call(self, phase: int, b: Array) -> Array:
        from pypardiso.pardiso_wrapper import PyPardisoError

        if self._solver is None:
            raise SolveError("the storage of this factor was given to another one (reuse=)")
        self._solver.set_phase(phase)
        try:
            return self._solver._call_pardiso(self._upper, b)
        except PyPardisoError as error:
            if error.value == _NOT_POSITIVE:
                raise NotPositiveDefinite(max(0, int(self._solver.iparm[29]) - 1)) from error
            raise SolveError(f"Pardiso failed with its error code {error.value}") from error

    def __del__(self) -> None:
        if getattr(self, "_solver", None) is not None:
            self._call(_FREE, np.zeros((self.n, 1)))

    @property
    def logdet(self) -> float:
        """Not offered by this method."""
        raise SolveError("Pardiso keeps its pivots to itself; use method='supernodal' for logdet")

    def _solve(self, b: Array) -> Array:
        return self._call(_SOLVE, np.asfortranarray(b))

    def _half_solve_sparse(self, B: Any) -> Array:
        return self._call(_FORWARD, np.asfortranarray(B.toarray()))
