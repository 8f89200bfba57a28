"""Curvature of contacts: how contact forces turn and wander while the skin moves along a curved obstacle.

The gap of a triangle (or edge, or vertex) with an obstacle is the smallest signed distance d of its points,

    g(x) = min over t of d(p),   p = sum_k w_k(t) x_k,   C = Hessian of d,   n = gradient of d.

A step that only knows its slope takes the point that touches for fixed. On a ball of radius R that point
wanders by R times the tilt of a triangle: by a whole triangle, once triangles are small against R. The second
derivative knows that (e_a = d p / d t_a are edges, J = d p / d x),

    g'' = J' C J - B (e' C e)^-1 B',   B_a = J' C e_a + d(n . e_a)/dx at fixed n,

and -lam g'' belongs to the tangent stiffness. Its first part softens (the force turns towards the side that the point
moves to), its second part stiffens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from pliant.algebra.symmetric import SymmetricMatrix
from pliant.contact.contacts import Contacts
from pliant.errors import ArgumentError

Array = np.ndarray


def gap_hessian(C: Array, n: Array, corners: Array, weights: Array) -> Array:
    """Second derivative of the smallest distance of a simplex with respect to its corners (3k, 3k).

    Args:
        C: Hessian of the distance where it is smallest [1/m] (3, 3).
        n: its gradient (3,).
        corners: of the simplex that the point lies inside of [m] (k, 3).
        weights: of that point (k,), all positive.
    """
    k = len(weights)
    J = np.kron(weights, np.eye(3))
    H = J.T @ C @ J
    if k == 1:
        return H
    e = corners[1:] - corners[0]
    B = J.T @ C @ e.T
    for a in range(1, k):
        B[3 * a : 3 * a + 3, a - 1] += n
        B[:3, a - 1] -= n
    bend = e @ C @ e.T
    size = float(np.abs(C).max() * np.einsum("ai,ai->", e, e))
    if not size > 0.0:
        return H
    # where the obstacle is flat along the simplex the point is anywhere, and stays; so it does at a kink of the distance
    values, axes = np.linalg.eigh(bend)
    curved = values > 1e-6 * size
    slide = B @ axes[:, curved]
    return H - (slide / values[curved]) @ slide.T


def turning_forces(obstacles: Sequence[Any], contacts: Contacts, x: Array) -> list[tuple[Array, Array]]:
    """Corners (k,) and stiffness -lam g'' (3k, 3k) [N/m] of every pressing contact with an obstacle of known curvature.

    Args:
        obstacles: what the contacts count.
        contacts: with forces.
        x: positions of the skin [m] (n, 3).
    """
    out: list[tuple[Array, Array]] = []
    if contacts.gradients is not None:
        return out
    for index, obstacle in enumerate(obstacles):
        bending = getattr(obstacle, "curvature", None)
        if bending is None or getattr(obstacle, "flat", False):
            continue
        pressing = np.flatnonzero((contacts.forces > 0.0) & (contacts.obstacle == index))
        if not len(pressing):
            continue
        points = np.einsum("mk,mki->mi", contacts.weights[pressing], x[contacts.vertices[pressing]])
        curvatures = bending(points)
        if curvatures is None:
            continue
        for i, C in zip(pressing, curvatures, strict=True):
            used = contacts.weights[i] > 0.0
            corners = contacts.vertices[i, used]
            if C.any():
                H = gap_hessian(C, contacts.normal[i], x[corners], contacts.weights[i, used])
                out.append((corners, -contacts.forces[i] * H))
    return out


def stiffened(model: Any, q: Array, K: Any, blocks: Sequence[tuple[Array, Array]], *, convex: bool) -> Any:
    """A tangent stiffness plus blocks over skin vertices; with `convex`, plus what they stiffen only."""
    if not blocks:
        return K
    squares = [0.5 * (block + block.T) for _, block in blocks]
    if convex:
        split = [np.linalg.eigh(block) for block in squares]
        squares = [(axes * np.maximum(values, 0.0)) @ axes.T for values, axes in split]
    corners = np.concatenate([c for c, _ in blocks])
    rows = model.skin_rows(
        q, np.repeat(corners, 3)[:, None], np.ones((3 * len(corners), 1)), np.tile(np.eye(3), (len(corners), 1))
    )
    if not isinstance(K, np.ndarray):
        rows = sp.csr_matrix(rows)
        return _added(K, (rows.T @ sp.block_diag(squares, format="csr") @ rows).tocoo())
    every = rows.toarray() if sp.issparse(rows) else rows
    return K + every.T @ (block_diag(*squares) @ every)


def _added(K: SymmetricMatrix, extra: Any) -> SymmetricMatrix:
    """A symmetric matrix plus sparse entries, most often where it has entries already."""
    try:
        slots = K.pattern.slots(extra.row, extra.col)
    except ArgumentError:  # corners that no element shares (a skin apart from its mesh)
        return SymmetricMatrix.from_scipy(K.tocsc() + extra.tocsc())
    return SymmetricMatrix(K.pattern, K.data + np.bincount(slots, weights=extra.data, minlength=len(K.data)))
