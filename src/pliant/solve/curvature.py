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

from pliant._kernels.turning import add_products, dense_products, every_direction, pressing_points, turning_blocks
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.contact.contacts import Contacts

Array = np.ndarray


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
    # few layouts of arrays: each one is compiled for
    weights, vertices = np.ascontiguousarray(contacts.weights), np.ascontiguousarray(contacts.vertices)
    normal, forces = np.ascontiguousarray(contacts.normal), np.ascontiguousarray(contacts.forces)
    for index, obstacle in enumerate(obstacles):
        bending = getattr(obstacle, "curvature", None)
        if bending is None or getattr(obstacle, "flat", False):
            continue
        pressing, points = pressing_points(forces, contacts.obstacle, index, weights, vertices, x)
        curvatures = bending(points) if len(pressing) else None
        if curvatures is None:
            continue
        curvatures = np.ascontiguousarray(curvatures)
        sizes, corners, blocks = turning_blocks(pressing, curvatures, normal, vertices, weights, forces, x)
        out += [(c[:k], block[: 3 * k, : 3 * k]) for k, c, block in zip(sizes, corners, blocks) if k]
    return out


def stiffened(model: Any, q: Array, K: Any, blocks: Sequence[tuple[Array, Array]], *, convex: bool) -> Any:
    """A tangent stiffness plus blocks over skin vertices; with `convex`, plus what they stiffen only."""
    if not blocks:
        return K
    squares = [0.5 * (block + block.T) for _, block in blocks]
    if convex:
        split = [np.linalg.eigh(block) for block in squares]
        squares = [(axes * np.maximum(values, 0.0)) @ axes.T for values, axes in split]
    rows = model.skin_rows(q, *every_direction(np.concatenate([c for c, _ in blocks])))
    flat, sizes = np.concatenate([b.ravel() for b in squares]), np.array([len(b) for b in squares])
    if isinstance(K, np.ndarray):
        every = rows.toarray() if sp.issparse(rows) else rows
        return dense_products(np.ascontiguousarray(every), flat, sizes, np.ascontiguousarray(K))
    rows, data, pattern = sp.csr_matrix(rows), K.data.copy(), K.pattern
    if add_products(rows.indptr, rows.indices, rows.data, flat, sizes, pattern.indptr, pattern.indices, data):
        return SymmetricMatrix(pattern, data)
    # corners that no element shares (a skin apart from its mesh)
    return SymmetricMatrix.from_scipy(K.tocsc() + (rows.T @ sp.block_diag(squares, format="csr") @ rows).tocsc())
