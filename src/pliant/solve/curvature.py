"""Curvature of contacts: how contact forces turn and wander while the skin moves along a curved obstacle.

The gap of a triangle (or edge, or vertex) with an obstacle is the smallest signed distance d of its points,

    g(x) = min over t of d(p),   p = sum_k w_k(t) x_k,   C = Hessian of d,   n = gradient of d.

A step that only knows its slope takes the point that touches for fixed. On a ball of radius R that point
wanders by R times the tilt of a triangle: by a whole triangle, once triangles are small against R. The second
derivative knows that (e_a = d p / d t_a are edges, J = d p / d x),

    g'' = J' C J - B (e' C e)^-1 B',   B_a = J' C e_a + d(n . e_a)/dx at fixed n,

and -lam g'' belongs to the tangent stiffness. Its first part softens (the force turns towards the side that the point
moves to), its second part stiffens.

A vertex over a soft face, and soft edges that cross, have the distance of a point to a plane that two edges u, v span:

    g = w . N,   N = m / |m|,   m = u x v,   w from the plane to the point.

The normal turns with the face as much as with what presses on it. Without that, Newton's method on a skin over a ball
gains a quarter per step; with it, the number of digits doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant._kernels.turning import add_products, dense_products, every_direction, pressing_points, turning_blocks
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.contact.contacts import Contacts
from pliant.contact.retention import pairs_with_a_plane
from pliant.solve.widening import Widening

Array = np.ndarray
# how w, u and v are made of the four corners: of a vertex and a face, of two edges
_OVER_A_FACE = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, -1.0, 1.0, 0.0], [0.0, -1.0, 0.0, 1.0]])
_CROSSED = np.array([[1.0, 0.0, -1.0, 0.0], [-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0]])


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


def turning_pairs(contacts: Contacts, x: Array, *, edges: bool = True) -> list[tuple[Array, Array]]:
    """Corners (4,) and stiffness -lam g'' (12, 12) [N/m] of every pressing pair: soft vertex and face, or two edges.

    Args:
        contacts: with forces.
        x: positions of the skin [m] (n, 3).
        edges: crossed edges too.
    """
    over, crossed = pairs_with_a_plane(contacts)
    chosen = np.flatnonzero((contacts.forces > 0.0) & (over | crossed if edges else over))
    if not len(chosen):
        return []
    crossed = crossed[chosen]
    parts = np.where(crossed[:, None, None], _CROSSED, _OVER_A_FACE)
    corners = contacts.vertices[chosen, :4]
    # the vertex, or the first edge, may be of the second body: normals point towards the first
    turn = np.sign(contacts.weights[chosen, 0])
    hessian = plane_distance_hessian(parts, x[corners], turn[:, None] * contacts.normal[chosen])
    force = contacts.forces[chosen]
    return [(c, -lam * H) for c, lam, H in zip(corners, force, hessian) if np.isfinite(H).all()]


def plane_distance_hessian(parts: Array, corners: Array, towards: Array) -> Array:
    """Second derivative of distances g = w . (u x v) / |u x v| [1/m] (m, 12, 12).

    Args:
        parts: how w, u and v are made of the corners (m, 3, 4).
        corners: [m] (m, 4, 3).
        towards: direction (m, 3) in which the distance grows: it tells the sign of the plane's normal.
    """
    w, u, v = np.moveaxis(parts @ corners, 1, 0)
    m = np.cross(u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.linalg.norm(m, axis=1)[:, None]
        N = m / size
        gap = np.einsum("mi,mi->m", w, N)[:, None]
        along = w - gap * N
        # derivatives of w, u, v, of their product and of its direction with respect to the corners (m, 3, 12)
        Dw, Du, Dv = (np.einsum("mk,ij->mikj", parts[:, a], np.eye(3)).reshape(len(w), 3, 12) for a in range(3))
        Dm = np.cross(u[:, None], Dv.swapaxes(1, 2)) - np.cross(v[:, None], Du.swapaxes(1, 2))
        Dm = Dm.swapaxes(1, 2)
        DN = (Dm - np.einsum("mi,mj->mij", N, np.einsum("mi,mij->mj", N, Dm))) / size[:, None]
        out = np.einsum("mia,mib->mab", Dw, DN)
        out -= np.einsum("mia,mib->mab", Du, np.cross(along[:, None], Dv.swapaxes(1, 2)).swapaxes(1, 2)) / size[:, None]
        out -= np.einsum(
            "ma,mb->mab", np.einsum("mi,mia->ma", along, DN), np.einsum("mi,mia->ma", N, Dm)
        ) / size[:, None]
        out = out + out.swapaxes(1, 2) - gap[:, None] / size[:, None] * np.einsum("mia,mib->mab", DN, Dm)
    return np.sign(np.einsum("mi,mi->m", N, towards))[:, None, None] * out


def stiffened(
    model: Any, q: Array, K: Any, blocks: Sequence[tuple[Array, Array]], *, convex: bool, wider: Widening | None = None
) -> Any:
    """A tangent stiffness plus blocks over skin vertices; with `convex`, plus what they stiffen only.

    `wider` remembers where entries were added to the pattern: bodies that touch share no element.
    """
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
    # corners that no element shares
    return (Widening() if wider is None else wider).sum(K, rows, flat, sizes)
