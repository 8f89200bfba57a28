"""Where the entries of a solid model's matrices are, and how values get there.

Entries between free nodes go straight to their slot. Entries that involve a node of a rigid part are collected on
the side and condensed with the tangent map of the parts; there are few of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern
from pliant.models.couplings import Coupling
from pliant.models.layout import Layout

Array = np.ndarray


class Sparsity:
    """The fixed sparsity of a solid model.

    Args:
        layout: nodes and degrees of freedom.
        couplings: actuators and springs whose second derivatives enter the stiffness.
        cells: nodes of the elements, one array per group.
    """

    def __init__(self, layout: Layout, couplings: list[Coupling], cells: list[Array]) -> None:
        self._layout = layout
        self._couplings = couplings
        pairs = [np.stack(np.broadcast_arrays(c[:, :, None], c[:, None, :]), -1).reshape(-1, 2) for c in cells]
        pairs += [c.pairs for c in couplings if len(c.pairs)]
        every = np.vstack(pairs) if pairs else np.zeros((0, 2), int)
        keys = np.unique(np.minimum(every[:, 0], every[:, 1]) * len(layout.rest_nodes) + every.max(axis=1))
        first, second = keys // len(layout.rest_nodes), keys % len(layout.rest_nodes)
        self.pattern = self._make_pattern(first, second)
        self._mixed_rows: list[Array] = []
        self._mixed_cols: list[Array] = []
        self._mixed = 0
        self.slots = [self._slots_of(_flat(c)[:, :, None], _flat(c)[:, None, :]) for c in cells]
        self._coupling_slots = []
        for c in couplings:
            n = c.pairs
            rows, cols = 3 * n[:, 0, None] + np.arange(3), 3 * n[:, 1, None] + np.arange(3)
            self._coupling_slots.append(self._slots_of(rows[:, :, None], cols[:, None, :]))
        self._rows = np.concatenate(self._mixed_rows) if self._mixed_rows else np.zeros(0, int)
        self._cols = np.concatenate(self._mixed_cols) if self._mixed_cols else np.zeros(0, int)

    def _make_pattern(self, first: Array, second: Array) -> SymmetricPattern:
        layout = self._layout
        node_free: Array = np.all(layout.dof >= 0, axis=1)
        node_held = (layout.dof < 0).all(axis=1)
        if not layout.parts and (node_free | node_held).all():
            number = np.cumsum(node_free) - 1
            keep = node_free[first] & node_free[second]
            pairs = np.column_stack([number[first[keep]], number[second[keep]]])
            return SymmetricPattern.from_blocks(pairs, int(node_free.sum()), 3)
        expand = self._possible()
        size = layout.rest_nodes.size
        three = np.arange(3)
        rows = np.broadcast_to(3 * first[:, None, None] + three[:, None], (len(first), 3, 3)).ravel()
        cols = np.broadcast_to(3 * second[:, None, None] + three, (len(first), 3, 3)).ravel()
        graph = sp.csr_matrix((np.ones(len(rows)), (rows, cols)), shape=(size, size))
        reduced = (expand.T @ graph @ expand).tocoo()
        # A part without elements around it still has its own block.
        own = (expand.T @ expand).tocoo()
        return SymmetricPattern.from_coo(
            np.concatenate([reduced.row, own.row]), np.concatenate([reduced.col, own.col]), layout.nv
        )

    def _possible(self) -> sp.csr_matrix:
        """Which degrees of freedom can move which node coordinate (3 N, nv), as ones."""
        layout = self._layout
        rows, cols = [layout.flat_free], [np.arange(len(layout.flat_free))]
        for part in layout.parts:
            width = part.translations + (3 if part.rotates else 0)
            flat = (3 * part.nodes[:, None] + np.arange(3)).ravel()
            rows.append(np.repeat(flat, width))
            cols.append(np.tile(part.v_start + np.arange(width), len(flat)))
        r, c = np.concatenate(rows), np.concatenate(cols)
        return sp.csr_matrix((np.ones(len(r)), (r, c)), shape=(layout.rest_nodes.size, layout.nv))

    def _slots_of(self, rows: Array, cols: Array) -> Array:
        """Slots of node-coordinate pairs: >= 0 in the data, beyond nnz on the side, -1 if held."""
        layout = self._layout
        rows, cols = np.broadcast_arrays(rows, cols)
        dof = layout.dof.reshape(-1)
        carried = np.repeat(layout.carried >= 0, 3)
        r, c = dof[rows], dof[cols]
        out = np.full(rows.shape, -1, dtype=np.int32)
        plain = (r >= 0) & (c >= 0)
        out[plain] = self.pattern.slots(r[plain], c[plain])
        if layout.parts:
            mixed = ((r >= 0) | carried[rows]) & ((c >= 0) | carried[cols]) & ~plain
            count = int(mixed.sum())
            out[mixed] = self.pattern.nnz + self._mixed + np.arange(count)
            self._mixed_rows.append(rows[mixed])
            self._mixed_cols.append(cols[mixed])
            self._mixed += count
        return out

    @cached_property
    def carried(self) -> tuple[Array, sp.csr_array]:
        """Which of the data (c,) entries on the side (m,) add to, where no part rotates, and the map to these (c, m).

        It is T^T M T with a constant tangent map T.
        """
        T = self._layout.tangent_map(self._layout.rest, self._layout.rest_nodes)
        first, second = T[self._rows], T[self._cols]  # what moves the row and the column of each entry
        counts = np.diff(first.indptr) * np.diff(second.indptr)
        entry = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        width = np.diff(second.indptr)[entry]
        a, b = first.indptr[entry] + within // width, second.indptr[entry] + within % width
        slots = self.pattern.slots(first.indices[a], second.indices[b])
        touched, row = np.unique(slots, return_inverse=True)
        shape = (len(touched), self._mixed)
        return touched, sp.csr_array((first.data[a] * second.data[b], (row, entry)), shape=shape)

    def start(self) -> Assembly:
        """A fresh set of values to scatter into."""
        return Assembly(self, np.zeros(self.pattern.nnz + self._mixed))

    def zero(self) -> SymmetricMatrix:
        """The zero matrix on this sparsity."""
        return SymmetricMatrix(self.pattern, np.zeros(self.pattern.nnz))

    def from_scipy(self, matrix: sp.spmatrix) -> SymmetricMatrix:
        """A scipy matrix whose entries lie within the pattern."""
        coo = matrix.tocoo()
        data = np.zeros(self.pattern.nnz)
        np.add.at(data, self.pattern.slots(coo.row, coo.col), coo.data)
        return SymmetricMatrix(self.pattern, data)


@dataclass(frozen=True, eq=False)
class Assembly:
    """Values being collected for one matrix."""

    sparsity: Sparsity
    data: Array

    @property
    def slots(self) -> list[Array]:
        """Slots of the elements, one array per group (ne, 3k, 3k)."""
        return self.sparsity.slots

    def finish(self, q: Array, x: Array, g: Array | None, weights: list[float] | None) -> SymmetricMatrix:
        """Add the couplings and condense the rigid parts.

        Args:
            q, x: configuration and node positions.
            g: force on the nodes (N, 3), for the geometric stiffness of rotating parts; None to leave it out.
            weights: factor on the second derivative of each coupling; None to leave them out.
        """
        s = self.sparsity
        if weights is not None:
            for coupling, slots, w in zip(s._couplings, s._coupling_slots, weights):
                if w and slots.size:
                    coupling.add_hessian(x, w, slots, self.data)
        nnz = s.pattern.nnz
        if not s._layout.parts:
            return SymmetricMatrix(s.pattern, self.data)
        if not any(p.rotates for p in s._layout.parts):
            touched, carried = s.carried
            self.data[touched] += carried @ self.data[nnz:]
            return SymmetricMatrix(s.pattern, self.data[:nnz])
        size = x.size
        mixed = sp.csr_matrix((self.data[nnz:], (s._rows, s._cols)), shape=(size, size))
        T = s._layout.tangent_map(q, x)
        matrix = SymmetricMatrix(s.pattern, self.data[:nnz]) + s.from_scipy(T.T @ mixed @ T)
        if g is not None:
            self._add_spin(matrix.data, q, x, g)
        return matrix

    def _add_spin(self, data: Array, q: Array, x: Array, g: Array) -> None:
        layout = self.sparsity._layout
        for part in layout.parts:
            if part.rotates:
                _, p = layout.part_pose(part, q)
                r, f = x[part.nodes] - p, g[part.nodes]
                # -d(r x f)/d omega with f held: -[f]x[r]x = (f.r) I - r f^T, symmetrised.
                moment = -(r.T @ f)
                block = moment + moment.T
                block = 0.5 * block + np.eye(3) * float((r * f).sum())
                ids = part.v_start + part.translations + np.arange(3)
                data[self.sparsity.pattern.slots(ids[:, None], ids[None, :])] += block


def _flat(cells: Array) -> Array:
    """Flat coordinate indices of the nodes of elements (ne, 3 k)."""
    return (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), -1)
