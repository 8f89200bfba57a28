"""Which vertices that seem to have penetrated can see where they would have come in."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.closest import crosses
from pliant._kernels.features import at
from pliant._kernels.proximity import EDGE_EDGE


@njit(cache=True, forceinline=True)
def _beside_box(p, q, box):
    """Does the box of segment p-q miss a box given as low, -high (`pliant._kernels.clusters`)?"""
    apart = False
    for d in range(3):
        if min(p[d], q[d]) > -box[3 + d] or max(p[d], q[d]) < box[d]:
            apart = True
    return apart


@njit(cache=True, nogil=True)
def blocked(p, q, x, prims, tree, skip_vertex, skip_triangle):
    """Does the segment p-q cross a triangle, other than those around a vertex or next to a triangle?

    tree: see `pliant._kernels.clusters`. skip_vertex, skip_triangle: -1 for none. Triangles sharing a vertex
    with skip_triangle are skipped too, for the segment ends there.
    """
    left, first, size, leaf, _, order, rows, lanes = tree
    stack = np.empty(256, dtype=np.int64)
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if _beside_box(p, q, rows[node]):
            continue
        if left[node] >= 0:
            stack[top], stack[top + 1] = left[node], left[node] + 1
            top += 2
            continue
        for k in range(size[node]):
            t = order[first[node] + k]
            if prims[t, 2] < 0 or _beside_box(p, q, lanes[leaf[node], :, k]):
                continue
            skip = False
            for c in range(3):
                v = prims[t, c]
                if v == skip_vertex:
                    skip = True
                if skip_triangle >= 0:
                    for e in range(3):
                        if prims[skip_triangle, e] == v:
                            skip = True
            if not skip and crosses(p, q, at(x, prims[t, 0]), at(x, prims[t, 1]), at(x, prims[t, 2])):
                return True
    return False


@njit(cache=True, nogil=True)
def suspicious(records, ids):
    """Contacts (m,) of a vertex that has penetrated, the least deep one of each vertex, and whether any is repeated.

    Returns 1 for those, 2 for deeper ones of the same vertex, 0 for all others.
    """
    out = np.zeros(records.shape[0], dtype=np.int8)
    for i in range(records.shape[0]):
        if records[i, 11] >= 0.0 or ids[i, 0] == EDGE_EDGE:
            continue
        out[i] = 1
        for j in range(i):
            if out[j] == 1 and ids[j, 3] == ids[i, 3] and (records[j, 4] < 0.0) == (records[i, 4] < 0.0):
                if records[i, 11] > records[j, 11]:
                    out[j] = 2
                else:
                    out[i] = 2
    return out


@njit(cache=True, nogil=True)
def unseen(records, ids, suspects, f, g, tree1, tree2, same):
    """Which suspects (m,) of `suspicious` cannot see their closest point: the line to it crosses other surface."""
    out = np.zeros(records.shape[0], dtype=np.bool_)
    for i in range(records.shape[0]):
        if suspects[i] != 1:
            continue
        turned = records[i, 4] < 0.0  # the vertex belongs to the second surface
        v, p = ids[i, 3], ids[i, 7]
        owner = g.vertex_owner[v] if turned else f.vertex_owner[v]
        n = at(g.normals, owner) if turned else at(f.normals, owner)
        if n[0] == 0.0 and n[1] == 0.0 and n[2] == 0.0:
            continue
        start = at(g.x, v) if turned else at(f.x, v)
        end = np.zeros(3)
        for k in range(3):
            for d in range(3):
                end[d] += abs(records[i, 5 + k]) * (f.x[ids[i, 4 + k], d] if turned else g.x[ids[i, 4 + k], d])
        goal = end[0], end[1], end[2]
        own = v if same else np.int64(-1)
        if turned:
            out[i] = blocked(start, goal, f.x, f.prims, tree1, own, p)
            if not same and not out[i]:
                out[i] = blocked(start, goal, g.x, g.prims, tree2, v, np.int64(-1))
        else:
            out[i] = blocked(start, goal, g.x, g.prims, tree2, own, p)
            if not same and not out[i]:
                out[i] = blocked(start, goal, f.x, f.prims, tree1, v, np.int64(-1))
    return out
