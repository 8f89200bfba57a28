"""Local minimum distance between meshes: skin against skin, skin against a rigid mesh.

Box trees are refitted, overlapping pairs of primitives are found, and pairs of features are kept if
they are a local minimum of the distance (see `pliant._kernels.proximity`).
"""

from __future__ import annotations

import numpy as np

from pliant._kernels.features import Faces
from pliant._kernels.proximity import EDGE_EDGE, EDGE_VERTEX, FACE_VERTEX, edge_contacts, vertex_contacts
from pliant._kernels.sight import suspicious, unseen
from pliant.contact.analytic import pack
from pliant.contact.candidates import Candidates
from pliant.contact.contacts import Contacts
from pliant.contact.surface import Tree

Array = np.ndarray


def behind_at_rest(tree: Tree, faces: Faces, allowed: Array, *, depth: float) -> Array:
    """Sorted keys vertex * primitives + primitive of pairs that face each other through the material.

    In the rest shape nothing penetrates, so that what looks like penetration is a thin wall.
    """
    known, key = tree.surface.walls, (depth, allowed.tobytes(), faces.x.tobytes())
    if key not in known:
        tree.refit(faces, slack=4.0)  # no culling by normals
        near = Candidates(alarm=depth, allowed=allowed, rest=faces.x, span=0.0, edges=False)
        _, ids = local_minima(tree, faces, tree, faces, near, tolerance=1.0, everything=True)
        known[key] = np.unique(ids[:, 3] * len(faces.prims) + ids[:, 7])
    return known[key]


def local_minima(
    tree1: Tree, first: Faces, tree2: Tree, second: Faces, near: Candidates, *, tolerance: float,
    everything: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """Records (m, 12) and ids (m, 8) of the kernel for two (refitted) surfaces, all of them, sorted by their features.

    Which of two contacts that repeat each other is kept later must not depend on the trees.
    """
    one, two, edges = near.refresh(tree1, first, tree2, second)
    same = tree1 is tree2
    parts = [
        vertex_contacts(
            one, first, second, tree2.low, tree2.high, False, same, near.alarm, tolerance, everything
        ),
        vertex_contacts(
            two, second, first, tree1.low, tree1.high, True, same, near.alarm, tolerance, everything
        ),
    ]
    if not everything:
        parts.append(edge_contacts(edges, first, second, near.alarm, tolerance))
    records, ids = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    order = np.lexsort((ids[:, 2], ids[:, 1], ids[:, 0]))
    return records[order], ids[order]


def feature_pairs(
    tree1: Tree, first: Faces, tree2: Tree, second: Faces, near: Candidates, *, tolerance: float
) -> tuple[Array, Array]:
    """Records (m, 12) and ids (m, 8) of the local minima between two (refitted) surfaces that are real."""
    records, ids = local_minima(tree1, first, tree2, second, near, tolerance=tolerance)
    keep = _credible(records, ids, tree1, first, tree2, second)
    return records[keep], ids[keep]


def _credible(records: Array, ids: Array, tree1: Tree, first: Faces, tree2: Tree, second: Faces) -> Array:
    """Which contacts are real: a vertex penetrates only once, and only through what it can see.

    A vertex behind two layers of material looks like one that has penetrated; the straight line
    to its closest point crosses other surface then.
    """
    suspects = suspicious(records, ids)
    if not suspects.any():
        return np.ones(len(records), dtype=bool)
    hidden = unseen(records, ids, suspects, first, second, tree1.clusters, tree2.clusters, tree1 is tree2)
    return (suspects < 2) & ~hidden


def as_contacts(
    records: Array, ids: Array, index: int, *, friction: float, offset: float, x: Array, soft: bool
) -> Contacts:
    """Contacts out of the kernel's records; a rigid second side has no weights."""
    weights, vertices = records[:, 4:8].copy(), ids[:, 3:7].copy()
    if not soft:
        edge = ids[:, 0] == EDGE_EDGE
        # the second side: columns 2, 3 of two edges; otherwise what has negative weight
        second = weights < 0.0
        second[edge] = [False, False, True, True]
        weights[second] = 0.0
        mine = np.argmax(weights > 0.0, axis=1)
        lead = vertices[np.arange(len(ids)), mine]
        vertices = np.where(second, lead[:, None], vertices)
        unused = weights == 0.0
        vertices = np.where(unused, lead[:, None], vertices)
    return Contacts.build(
        gap=records[:, 0] - offset, normal=records[:, 1:4].copy(), vertices=vertices, weights=weights,
        position=np.einsum("mk,mki->mi", weights, x[vertices]), point=records[:, 8:11].copy(),
        obstacle=np.full(len(ids), index), key=pack(index, ids[:, 0], ids[:, 1], ids[:, 2]),
        friction=np.full(len(ids), friction),
    )  # fmt: skip


def without_vertices(records: Array, ids: Array) -> tuple[Array, Array]:
    """Leave out pairs whose first side is a vertex (those are tested by the signed distance)."""
    keep = (ids[:, 0] == EDGE_EDGE) | (ids[:, 0] == FACE_VERTEX) | (ids[:, 0] == EDGE_VERTEX)
    return records[keep], ids[keep]

