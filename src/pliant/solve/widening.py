"""A stiffness with entries between nodes that share no element: bodies that touch each other.

The pattern of a mesh has no place for them. It is widened once and kept while it suffices, so that its ordering and its
elimination tree are found once, not in every step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._kernels.turning import add_products
from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern

Array = np.ndarray
_MOST = 4  # times as many added entries as are needed: then the pattern is made afresh


class Widening:
    """The widened pattern of one model; grows as it must."""

    def __init__(self) -> None:
        self._base: SymmetricPattern | None = None
        self._extra = np.zeros((0, 2), dtype=np.int64)  # nodes, or unknowns, that are coupled besides
        self._wide: SymmetricPattern | None = None
        self._slots = np.zeros(0, dtype=np.int64)

    def sum(self, K: SymmetricMatrix, rows: Any, blocks: Array, sizes: Array) -> SymmetricMatrix:
        """K + J^T B J for the block diagonal B.

        Args:
            K: stiffness (n, n).
            rows: J in compressed rows, scipy (sum of sizes, n).
            blocks: the blocks of B, one after the other, flattened.
            sizes: of the blocks.
        """
        if self._base is not K.pattern:
            self._base, self._wide, self._extra = K.pattern, None, self._extra[:0]
        for _ in range(2):
            if self._wide is not None:
                data = np.zeros(self._wide.nnz)
                data[self._slots] = K.data
                wide = self._wide
                if add_products(rows.indptr, rows.indices, rows.data, blocks, sizes, wide.indptr, wide.indices, data):
                    return SymmetricMatrix(wide, data)
            self._grow(K.pattern, rows, sizes)
        raise AssertionError("a widened pattern has a place for every entry")

    def _grow(self, base: SymmetricPattern, rows: Any, sizes: Array) -> None:
        """Make room for what the rows of each block couple."""
        needed, first = [], 0
        for size in sizes:
            touched = np.unique(rows.indices[rows.indptr[first] : rows.indptr[first + size]] // base.block)
            needed.append(np.stack(np.meshgrid(touched, touched, indexing="ij"), axis=-1).reshape(-1, 2))
            first += size
        pairs = np.unique(np.concatenate(needed), axis=0)
        both = np.unique(np.concatenate([self._extra, pairs]), axis=0)
        self._extra = both if len(both) <= _MOST * len(pairs) else pairs
        count = base.n // base.block
        own = np.repeat(np.arange(count), np.diff(base.node_indptr))
        coupled = np.concatenate([np.column_stack([own, base.node_indices]), self._extra])
        self._wide = SymmetricPattern.from_blocks(coupled, count, base.block)
        line = np.repeat(np.arange(base.n), np.diff(base.indptr))
        self._slots = self._wide.slots(line, base.indices)
