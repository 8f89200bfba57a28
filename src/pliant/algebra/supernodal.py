"""Our own sparse Cholesky factorisation: multifrontal, supernodal, nested dissection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant._kernels import cholesky
from pliant._kernels import triangular as kernels
from pliant._kernels.fronts import STRIP
from pliant.algebra.factor import Array, Factor, NotPositiveDefinite
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.algebra.threads import one_blas_thread, thread_count, together
from pliant.errors import SolveError

# entries of the factor, times 1 + k/8 for k right-hand sides, from which on threads are worth waking
_WORTH = 1e6
_EVERYWHERE = np.empty((0, 0), dtype=np.bool_)
_NO_GRAMS = np.empty((0, 0, 0))


class SupernodalFactor(Factor):
    """P A P^T = L L^T with L in dense panels over the columns of one supernode each."""

    method = "supernodal"
    halves = True

    def __init__(
        self, matrix: SymmetricMatrix, shift: float = 0.0, reuse: SupernodalFactor | None = None
    ) -> None:
        self._symbolic = s = matrix.pattern.symbolic
        self.n = s.n
        self.nnz = s.nnz
        plan = s.schedule
        threads = min(thread_count(), plan.useful_threads)
        workspace = plan.fixed_size + threads * plan.stack_size
        if reuse is not None and reuse._storage is not None and reuse._symbolic is s:
            self._storage, reuse._storage = reuse._storage, None
            if self._storage[1].size < workspace:
                self._storage = (self._storage[0], np.empty(workspace), self._storage[2])
        else:
            self._storage = (np.empty(s.panel_ptr[-1]), np.empty(workspace), np.empty(self.n * STRIP))
        counters = np.zeros(2 * len(plan.phases) + 1, np.int64)
        counters[-1] = cholesky.NOTHING
        arguments = (
            s.first, s.row_ptr, s.child_ptr, s.children, s.relative, s.run_end, s.split, s.panel_ptr, s.source_ptr,
            s.source, s.target, s.max_front, plan.update_ptr, plan.floating, plan.stack_size, plan.task_low,
            plan.task_high, plan.phases, matrix.data, shift, *self._storage, counters,
        )  # fmt: skip
        with one_blas_thread():
            together(lambda thread: cholesky.factorise(thread, *arguments), threads)
        failed = int(counters[-1])
        if failed != cholesky.NOTHING:
            if reuse is not None:  # hand the storage back: the caller will try again with a shift
                reuse._storage, reuse._spoilt = self._storage, True
            raise NotPositiveDefinite(s.order[failed])

    _storage: tuple[Array, Array, Array] | None  # panels, workspace, inverses of the diagonal blocks
    _spoilt: bool = False

    @property
    def _panels(self) -> Array:
        return self._held[0]

    @property
    def _held(self) -> tuple[Array, Array, Array]:
        if self._storage is None or self._spoilt:
            raise SolveError("the storage of this factor was given to another one (reuse=)")
        return self._storage

    @property
    def logdet(self) -> float:
        """Natural logarithm of det A."""
        s = self._symbolic
        return 2.0 * float(kernels.log_diagonal(s.first, s.row_ptr, s.panel_ptr, self._panels))

    def _solve(self, b: Array) -> Array:
        s = self._symbolic
        x = self._right_sides(b.size // self.n)
        np.take(b.reshape(self.n, -1), s.order, axis=0, out=x[: self.n], mode="clip")
        self._forward(x, _EVERYWHERE, _NO_GRAMS)
        self._backward(x)
        return x[s.position].reshape(b.shape)

    def _half_solve_sparse(self, B: Any) -> Array:
        s = self._symbolic
        x, active = self._right_sides(B.shape[1]), self._nowhere(B.shape[1])
        kernels.reach(B.indptr, B.indices, B.data, s.position, s.supernode_of, s.parent, x, active, 0)
        self._forward(x, active, _NO_GRAMS)
        return x[: self.n]

    def _solve_sparse(self, B: Any) -> Array:
        return self._back_solve(self._half_solve_sparse(B))

    def _condense(self, dense: Array, sparse: Any) -> tuple[Array, Array]:
        s = self._symbolic
        m = dense.shape[0]
        k = m if sparse is None else m + sparse.shape[0]
        x, active = self._right_sides(k), self._nowhere(k)
        kernels.reach_rows(dense, s.position, s.supernode_of, s.parent, x, active)
        if sparse is not None:  # the rows of a CSR matrix are the columns of its transpose
            kernels.reach(
                sparse.indptr, sparse.indices, sparse.data, s.position, s.supernode_of, s.parent, x, active, m
            )
        grams = np.zeros((len(s.schedule.task_low) + 1, k, k))
        self._forward(x, active, grams)
        return kernels.symmetric_sum(grams), x[: self.n]

    def _back_solve(self, y: Array) -> Array:
        x = y.reshape(self.n, -1).copy()
        self._backward(x)
        return x[self._symbolic.position].reshape(y.shape)

    def _right_sides(self, k: int) -> Array:
        """Zeros for k right-hand sides, with the lines that subtrees keep apart after those of the unknowns."""
        return np.zeros((self.n + self._symbolic.schedule.kept_ptr[-1], k))

    def _nowhere(self, k: int) -> NDArray[np.bool_]:
        return np.zeros((self._symbolic.first.size - 1, k), dtype=np.bool_)

    def _forward(self, x: Array, active: NDArray[np.bool_], grams: Array) -> None:
        s, (panels, _, inverses) = self._symbolic, self._held
        plan, k = s.schedule, x.shape[1]
        phases = plan.forward
        if grams.size and len(phases) > 1:
            phases = np.vstack([phases, [[kernels.GRAM, 0, 0, -(-k // kernels.TILE)]]])
        counters = np.zeros(2 * len(phases), np.int64)
        arguments = (
            s.first, s.row_ptr, s.rows, s.panel_ptr, panels, inverses, s.max_front, plan.task_low, plan.task_high,
            plan.local_rows, plan.kept_ptr, phases, self.n, active, x, grams, counters,
        )  # fmt: skip
        with one_blas_thread():
            together(lambda thread: kernels.forward(thread, *arguments), self._threads(k))

    def _backward(self, x: Array) -> None:
        s, (panels, _, inverses) = self._symbolic, self._held
        plan = s.schedule
        counters = np.zeros(2 * len(plan.backward), np.int64)
        arguments = (
            s.first, s.row_ptr, s.rows, s.panel_ptr, panels, inverses, s.max_front, plan.task_low, plan.task_high,
            plan.backward, x, counters,
        )  # fmt: skip
        with one_blas_thread():
            together(lambda thread: kernels.backward(thread, *arguments), self._threads(x.shape[1]))

    def _threads(self, k: int) -> int:
        """How many threads to share a solve of k right-hand sides among."""
        worth = self.nnz * (1.0 + k / 8.0) > _WORTH
        return min(thread_count(), self._symbolic.schedule.useful_threads) if worth else 1
