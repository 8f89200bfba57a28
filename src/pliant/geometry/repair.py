"""Remove the few chips that stuffing leaves hanging by a node or an edge at sharp corners."""

from __future__ import annotations

import numpy as np

from pliant.geometry import topology

CHIP = 16  # a face-connected part of fewer tets is a chip
ROUNDS = 4


def _face_pairs(tets: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of tets that share a face, (k,) and (k,), and the shared faces (k, 3)."""
    faces = topology.tet_faces(tets)
    keys = topology.face_keys(faces, count)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    one, two = order[same], order[same + 1]
    return one // 4, two // 4, faces[one]


def _smaller_fans(tets: np.ndarray, count: int, nodes: np.ndarray) -> np.ndarray:
    """Tets around the given nodes that do not belong to the largest face-connected group at that node."""
    one, two, faces = _face_pairs(tets, count)
    drop = []
    for node in nodes:
        around = np.flatnonzero((tets == node).any(axis=1))
        local = np.full(len(tets), -1)
        local[around] = np.arange(len(around))
        linked = (faces == node).any(axis=1)
        labels = topology.graph_components(local[one[linked]], local[two[linked]], len(around))
        sizes = np.bincount(labels)
        if len(sizes) > 1:
            drop.append(around[labels != np.argmax(sizes)])
    return np.unique(np.concatenate(drop)) if drop else np.zeros(0, dtype=np.int64)


def without_chips(nodes: np.ndarray, tets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tets without parts that hang by a node or an edge, where few tets have to go.

    Returns:
        (nodes, tets, kept): compacted, and which old nodes were kept. The surface may still be pinched.
    """
    empty = np.zeros((0, 8), dtype=np.int64)
    count = len(nodes)
    for _ in range(ROUNDS):
        boundary = topology.boundary_faces(tets, empty, count)[0]
        bad = np.union1d(topology.pinched_nodes(boundary), topology.open_edges(boundary).reshape(-1))
        if len(bad) == 0 or len(bad) > 50 + 0.02 * count:
            break
        drop = _smaller_fans(tets, count, bad)
        if len(drop) == 0 or len(drop) > CHIP * len(bad):
            break
        tets = np.delete(tets, drop, axis=0)
        one, two, _ = _face_pairs(tets, count)
        labels = topology.graph_components(one, two, len(tets))
        sizes = np.bincount(labels)
        if sizes.max() > CHIP:
            tets = tets[sizes[labels] >= CHIP]
    kept = np.zeros(count, dtype=bool)
    kept[tets.reshape(-1)] = True
    return nodes[kept], (np.cumsum(kept) - 1)[tets], kept
