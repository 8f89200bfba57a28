"""The constant matrix of the local/global iteration, factorised once per model.

The Hessian of the shape energy is bounded by that of sum_e V_e w_e |F|^2, a scalar Laplacian that acts on x, y and z
alike and depends on neither pose nor actuation. Rigid parts are condensed exactly: the fields that their motions
induce in the free nodes are four scalar solutions per part, whatever its orientation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from pliant.algebra.factorisation import factorise
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.models.couplings import Tube

if TYPE_CHECKING:
    from pliant.models.geometric import GeometricModel

Array = np.ndarray
#: Share of lambda in the weight 2 mu + 2 share lambda: 3/2 bounds every element, 1/2 the body as a whole (the integral
#: of (div u)^2 is at most that of |grad u|^2).
SHARE = 0.5


class Proxy:
    """The factorised matrix; `at(q)` gives the solver for the tangent space at a configuration.

    Args:
        model: the geometric model.
        share: see `SHARE`.
        extra: stiffness to add to the diagonal of each node [N/m] (N,), e.g. of contact springs.
    """

    def __init__(self, model: GeometricModel, *, share: float = SHARE, extra: Array | None = None) -> None:
        self.layout = model.layout
        self.share = share
        n = model.nodes
        rows, cols, vals = [], [], []
        for group, grads, row in zip(model.layout.groups, model._grads, model._material):
            w = 2.0 * (model._shear[row] + share * model._lame[row])
            blocks = np.einsum("eg,e,egai,egbi->eab", group.weights, w, grads, grads, optimize=True)
            k = group.cells.shape[1]
            rows.append(np.repeat(group.cells, k, axis=1).ravel())
            cols.append(np.tile(group.cells, (1, k)).ravel())
            vals.append(blocks.ravel())
        for spring in model._springs:
            if isinstance(spring, Tube):
                path = spring._path
                for i, k in enumerate(spring._k):
                    here, there = slice(*path._ptr[i : i + 2]), slice(*path._ptr[i + 1 : i + 3])
                    nodes = np.concatenate([path._node[here], path._node[there]])
                    signs = np.concatenate([-path._weight[here], path._weight[there]])
                    rows.append(np.repeat(nodes, len(nodes)))
                    cols.append(np.tile(nodes, len(nodes)))
                    vals.append(k * np.outer(signs, signs).ravel())
        if extra is not None:
            rows.append(np.arange(n))
            cols.append(np.arange(n))
            vals.append(extra)
        self.matrix = sp.csr_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))), shape=(n, n))
        self._factorise()

    def _factorise(self) -> None:
        layout = self.layout
        masks = [layout.dof[:, i] >= 0 for i in range(3)]
        self.uniform = all(np.array_equal(masks[0], m) for m in masks[1:])
        self.factorisations = 0
        self.free: list[Array] = []
        self.factors: list[Any] = []
        for i in range(3):
            if i and self.uniform:
                self.free.append(self.free[0])
                self.factors.append(self.factors[0])
                continue
            ids = np.flatnonzero(masks[i])
            self.free.append(ids)
            self.factors.append(factorise(SymmetricMatrix.from_scipy(self.matrix[ids][:, ids])) if len(ids) else None)
            self.factorisations += 1
        self.slot = [layout.dof[ids, i] for i, ids in enumerate(self.free)]
        self._modes()

    def _modes(self) -> None:
        """Harmonic fields of the rigid parts, and their energies."""
        parts = self.layout.parts
        self.fields: list[list[Array]] = [[] for _ in range(3)]
        self.gram: list[Array] = []
        if not parts:
            return
        shapes = []
        for part in parts:
            arm = self.layout.rest_nodes[part.nodes] - part.origin
            shapes.append(np.column_stack([np.ones(len(arm)), arm]))
        for i in range(3):
            if i and self.uniform:
                self.fields[i], gram = self.fields[0], self.gram[0]
                self.gram.append(gram)
                continue
            ids, factor = self.free[i], self.factors[i]
            couple = [self.matrix[ids][:, p.nodes] @ m for p, m in zip(parts, shapes)]
            self.fields[i] = [factor.solve(c) if factor is not None else np.zeros((0, 4)) for c in couple]
            gram = np.zeros((4 * len(parts), 4 * len(parts)))
            for a, (pa, ma) in enumerate(zip(parts, shapes)):
                for b, (pb, mb) in enumerate(zip(parts, shapes)):
                    block = ma.T @ (self.matrix[pa.nodes][:, pb.nodes] @ mb) - couple[a].T @ self.fields[i][b]
                    gram[4 * a : 4 * a + 4, 4 * b : 4 * b + 4] = block
            self.gram.append(gram)

    def at(self, q: Array) -> ProxySolver:
        """The solver for the tangent space at a configuration."""
        return ProxySolver(self, q)


class ProxySolver:
    """M^-1 at one configuration: the factor of the free nodes and the condensed rigid parts."""

    def __init__(self, proxy: Proxy, q: Array) -> None:
        self.proxy = proxy
        layout = proxy.layout
        self.n = layout.nv
        self._coefficients: list[tuple[int, Array]] = []  # part, (4, 3) node field per degree of freedom
        for index, part in enumerate(layout.parts):
            for j in range(part.translations):
                c = np.zeros((4, 3))
                c[0] = part.axes[:, j]
                self._coefficients.append((index, c))
            if part.rotates:
                R, _ = layout.part_pose(part, q)
                for e in np.eye(3):
                    c = np.zeros((4, 3))
                    c[1:] = np.cross(e, R.T)
                    self._coefficients.append((index, c))
        m = len(self._coefficients)
        if not m:
            return
        big = np.zeros((3, 4 * len(layout.parts), m))
        for d, (p, c) in enumerate(self._coefficients):
            big[:, 4 * p : 4 * p + 4, d] = c.T
        self._big = big
        self._schur = sum(big[i].T @ proxy.gram[i] @ big[i] for i in range(3))

    def solve(self, b: Array) -> Array:
        """M^-1 b for (nv,) or (nv, k)."""
        proxy = self.proxy
        rhs = b.reshape(len(b), -1)
        k = rhs.shape[1]
        out = np.empty_like(rhs)
        nf = len(proxy.layout.flat_free)
        if proxy.uniform and nf:
            solved = proxy.factors[0].solve(np.ascontiguousarray(rhs[:nf].reshape(-1, 3 * k)))
            out[:nf] = solved.reshape(nf, k)
        else:
            for slot, factor in zip(proxy.slot, proxy.factors):
                if factor is not None:
                    out[slot] = factor.solve(rhs[slot])
        if self._coefficients:
            load = rhs[nf:].copy()
            for i, slot in enumerate(proxy.slot):
                fields = np.hstack(proxy.fields[i])
                load -= self._big[i].T @ (fields.T @ rhs[slot])
            motion = np.linalg.solve(self._schur, load)
            out[nf:] = motion
            for i, slot in enumerate(proxy.slot):
                out[slot] -= np.hstack(proxy.fields[i]) @ (self._big[i] @ motion)
        return out.reshape(b.shape)
