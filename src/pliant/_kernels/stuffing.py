"""Sequential parts of isosurface stuffing: vertex warping and guarded vertex moves."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def choose_warps(vertex, edge, order, edge_ends, alive, warped_to):
    """Snap lattice vertices to nearby cut points, nearest first.

    Args:
        vertex: (c,) vertex of each candidate (a cut point too close to this vertex).
        edge: (c,) the cut edge of each candidate.
        order: (c,) processing order.
        edge_ends: (e, 2) end vertices of the cut edges.
        alive: (e,) cut points that still exist; changed in place.
        warped_to: (n,) edge whose cut point the vertex moves to, -1 if none; changed in place.
    """
    for i in order:
        v, e = vertex[i], edge[i]
        # A warped vertex lies on the surface: none of its edges is cut any more.
        if not alive[e] or warped_to[edge_ends[e, 0]] >= 0 or warped_to[edge_ends[e, 1]] >= 0:
            alive[e] = False
            continue
        warped_to[v] = e
        alive[e] = False


@njit(cache=True)
def _quality(nodes, tets, t, v, x, y, z):
    """Volume-length quality of tet t with vertex v at (x, y, z)."""
    p = np.empty((4, 3))
    for i in range(4):
        n = tets[t, i]
        if n == v:
            p[i, 0], p[i, 1], p[i, 2] = x, y, z
        else:
            p[i, 0], p[i, 1], p[i, 2] = nodes[n, 0], nodes[n, 1], nodes[n, 2]
    square = 0.0
    for i in range(4):
        for j in range(i + 1, 4):
            for k in range(3):
                square += (p[i, k] - p[j, k]) ** 2
    ax, ay, az = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1], p[1, 2] - p[0, 2]
    bx, by, bz = p[2, 0] - p[0, 0], p[2, 1] - p[0, 1], p[2, 2] - p[0, 2]
    cx, cy, cz = p[3, 0] - p[0, 0], p[3, 1] - p[0, 1], p[3, 2] - p[0, 2]
    six = (ay * bz - az * by) * cx + (az * bx - ax * bz) * cy + (ax * by - ay * bx) * cz
    rms = np.sqrt(square / 6.0)
    if rms == 0.0:
        return 0.0
    return np.sqrt(2.0) * six / rms**3


@njit(cache=True)
def move_vertices(nodes, tets, start, incident, order, targets, floor, improve):
    """Move vertices one after the other to their targets where the tets around them allow it.

    Args:
        nodes: (n, 3), changed in place.
        tets: (m, 4).
        start: (n + 1,) offsets into incident.
        incident: tets around each vertex.
        order: vertices to try, in this order.
        targets: (n, 3).
        floor: quality that the worst tet around a moved vertex must keep.
        improve: accept only moves that raise the worst quality (else any move that keeps the floor).

    Returns:
        (n,) whether each vertex moved.
    """
    moved = np.zeros(nodes.shape[0], dtype=np.bool_)
    for v in order:
        before, after = np.inf, np.inf
        x, y, z = targets[v, 0], targets[v, 1], targets[v, 2]
        for s in range(start[v], start[v + 1]):
            t = incident[s]
            before = min(before, _quality(nodes, tets, t, v, nodes[v, 0], nodes[v, 1], nodes[v, 2]))
            after = min(after, _quality(nodes, tets, t, v, x, y, z))
        if improve:
            good = after > before
        else:
            good = after >= floor or after >= before
        if good:
            nodes[v, 0], nodes[v, 1], nodes[v, 2] = x, y, z
            moved[v] = True
    return moved


@njit(cache=True)
def interior_ascent(nodes, tets, start, incident, vertices, step):
    """Move interior vertices along a small set of directions whenever the worst quality around them rises."""
    gained = 0
    for v in vertices:
        length = step[v]
        worst = np.inf
        bad = -1
        for s in range(start[v], start[v + 1]):
            q = _quality(nodes, tets, incident[s], v, nodes[v, 0], nodes[v, 1], nodes[v, 2])
            if q < worst:
                worst, bad = q, incident[s]
        if bad < 0:
            continue
        for _ in range(6):
            improved = False
            for axis in range(3):
                for sign in (-1.0, 1.0):
                    x, y, z = nodes[v, 0], nodes[v, 1], nodes[v, 2]
                    if axis == 0:
                        x += sign * length
                    elif axis == 1:
                        y += sign * length
                    else:
                        z += sign * length
                    trial = np.inf
                    for s in range(start[v], start[v + 1]):
                        trial = min(trial, _quality(nodes, tets, incident[s], v, x, y, z))
                        if trial <= worst:
                            break
                    if trial > worst:
                        worst = trial
                        nodes[v, 0], nodes[v, 1], nodes[v, 2] = x, y, z
                        improved = True
                        gained += 1
            if not improved:
                length *= 0.5
    return gained
