"""Our own sparse Cholesky factorisation: multifrontal, supernodal, nested dissection."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._kernels import cholesky
from pliant._kernels import triangular as kernels
from pliant.algebra.factor import Array, Factor, NotPositiveDefinite
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.algebra.threads import one_blas_thread, thread_count, together
from pliant.errors import SolveError


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
                self._storage = (self._storage[0], np.empty(workspace))
        else:
            self._storage = (np.empty(s.panel_ptr[-1]), np.empty(workspace))
        inverses, counters = np.empty(cholesky.TILE * cholesky.STRIP), np.zeros(2 * len(plan.phases) + 1, np.int64)
        counters[-1] = cholesky.NOTHING
        arguments = (
            s.first, s.row_ptr, s.child_ptr, s.children, s.relative, s.run_end, s.split, s.panel_ptr, s.source_ptr,
            s.source, s.target, s.max_front, plan.update_ptr, plan.floating, plan.stack_size, plan.task_low,
            plan.task_high, plan.phases, matrix.data, shift, *self._storage, inverses, counters,
        )  # fmt: skip
        with one_blas_thread():
            together(lambda thread: cholesky.factorise(thread, *arguments), threads)
        failed = int(counters[-1])
        if failed != cholesky.NOTHING:
            if reuse is not None:  # hand the storage back: the caller will try again with a shift
                reuse._storage, reuse._spoilt = self._storage, True
            raise NotPositiveDefinite(s.order[failed])

    _storage: tuple[Array, Array] | None
    _spoilt: bool = False

    @property
    def _panels(self) -> Array:
        if self._storage is None or self._spoilt:
            raise SolveError("the storage of this factor was given to another one (reuse=)")
        return self._storage[0]

    @property
    def logdet(self) -> float:
        """Natural logarithm of det A."""
        s = self._symbolic
        return 2.0 * float(kernels.log_diagonal(s.first, s.row_ptr, s.panel_ptr, self._panels))

    def _solve(self, b: Array) -> Array:
        s = self._symbolic
        x = b[s.order]
        factor = (s.first, s.row_ptr, s.rows, s.panel_ptr, self._panels)
        if b.size == self.n:
            flat, work = x.reshape(-1), np.empty(s.max_rows)
            with one_blas_thread():
                kernels.forward(*factor, flat, work)
                kernels.backward(*factor, flat, work)
            return x[s.position]
        x = np.ascontiguousarray(x)
        work = np.empty(s.max_rows * b.shape[1])
        with one_blas_thread():
            kernels.forward_many(*factor, x, work)
            kernels.backward_many(*factor, x, work)
        return x[s.position]

    def _half_solve_sparse(self, B: Any) -> Array:
        s = self._symbolic
        x, active = self._right_sides(B.shape[1])
        kernels.reach(B.indptr, B.indices, B.data, s.position, s.supernode_of, s.parent, x, active, 0)
        self._forward_sparse(x, active, np.empty((0, 0)))
        return x

    def _solve_sparse(self, B: Any) -> Array:
        return self._back_solve(self._half_solve_sparse(B))

    def _condense(self, dense: Array, sparse: Any) -> tuple[Array, Array]:
        s = self._symbolic
        m = dense.shape[0]
        k = m if sparse is None else m + sparse.shape[0]
        x, active = self._right_sides(k)
        kernels.reach_rows(dense, s.position, s.supernode_of, s.parent, x, active)
        if sparse is not None:  # the rows of a CSR matrix are the columns of its transpose
            kernels.reach(
                sparse.indptr, sparse.indices, sparse.data, s.position, s.supernode_of, s.parent, x, active, m
            )
        gram = np.zeros((k, k))
        self._forward_sparse(x, active, gram)
        kernels.mirror(gram)
        return gram, x

    def _back_solve(self, y: Array) -> Array:
        s = self._symbolic
        factor = (s.first, s.row_ptr, s.rows, s.panel_ptr, self._panels)
        x = y.copy()
        with one_blas_thread():
            if y.size == self.n:
                kernels.backward(*factor, x.reshape(-1), np.empty(s.max_rows))
            else:
                kernels.backward_many(*factor, x, np.empty(s.max_rows * x.shape[1]))
        return x[s.position]

    def _right_sides(self, k: int) -> tuple[Array, Any]:
        s = self._symbolic
        return np.zeros((self.n, k)), np.zeros((s.first.size - 1, k), dtype=np.bool_)

    def _forward_sparse(self, x: Array, active: Any, gram: Array) -> None:
        s = self._symbolic
        k = x.shape[1]
        work, lines = np.empty(s.max_rows * k), np.empty(s.max_pivots * k)
        with one_blas_thread():
            kernels.forward_sparse(
                s.first, s.row_ptr, s.rows, s.panel_ptr, self._panels, active, x, work, lines, gram
            )
