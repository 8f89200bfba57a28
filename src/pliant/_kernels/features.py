"""A surface as the contact kernels see it: its features, their normals, and the boxes of its primitives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Faces(NamedTuple):
    """Topology, then geometry at the current positions."""

    prims: np.ndarray  # (np, 3) triangles, and segments with third vertex -1
    prim_edges: np.ndarray  # (np, 3) edge opposite to nothing: k is the edge k, k+1; -1 for none
    edges: np.ndarray  # (ne, 2)
    edge_prims: np.ndarray  # (ne, 2), -1 at a boundary
    vertex_owner: np.ndarray  # (n,)
    edge_owner: np.ndarray  # (ne,)
    ring_start: np.ndarray  # (n + 1,)
    ring: np.ndarray  # neighbours of each vertex
    fan_start: np.ndarray  # (n + 1,)
    fan: np.ndarray  # primitives around each vertex
    body: np.ndarray  # (n,)
    radius: np.ndarray  # (n,)
    x: np.ndarray  # (n, 3)
    normals: np.ndarray  # (np, 3), zero for segments
    edge_normals: np.ndarray  # (ne, 3)
    vertex_normals: np.ndarray  # (n, 3)
    ridge: np.ndarray  # (ne,) True if the edge can touch another one: convex, or a curve


@njit(cache=True, forceinline=True)
def at(x, i):
    """Row i of (n, 3) as a tuple: no view of an array is made, which would cost more than the arithmetic."""
    return x[i, 0], x[i, 1], x[i, 2]


@njit(cache=True, forceinline=True)
def minus(a, b):
    """a - b for vectors of three."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(cache=True, forceinline=True)
def inner(a, b):
    """a . b for vectors of three."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, error_model="numpy", nogil=True)
def update_features(f, flat):
    """Normals of faces, edges (mean) and vertices (angle-weighted), and which edges are ridges."""
    x, prims, normals, vertex_normals, edge_normals = f.x, f.prims, f.normals, f.vertex_normals, f.edge_normals
    edges, edge_prims, ridge = f.edges, f.edge_prims, f.ridge
    vertex_normals[:] = 0.0
    for p in range(prims.shape[0]):
        a, b, c = prims[p, 0], prims[p, 1], prims[p, 2]
        if c < 0:
            normals[p, 0], normals[p, 1], normals[p, 2] = 0.0, 0.0, 0.0
            continue
        u, v = minus(at(x, b), at(x, a)), minus(at(x, c), at(x, a))
        w = minus(v, u)
        n0, n1, n2 = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
        area = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if area > 0.0:
            n0, n1, n2 = n0 / area, n1 / area, n2 / area
        normals[p, 0], normals[p, 1], normals[p, 2] = n0, n1, n2
        first, second = np.arctan2(area, inner(u, v)), np.arctan2(area, -inner(u, w))
        angles = (first, second, np.pi - first - second)
        for k in range(3):
            i = prims[p, k]
            vertex_normals[i, 0] += angles[k] * n0
            vertex_normals[i, 1] += angles[k] * n1
            vertex_normals[i, 2] += angles[k] * n2
    for i in range(x.shape[0]):
        length = np.sqrt(inner(at(vertex_normals, i), at(vertex_normals, i)))
        if length > 0.0:
            for d in range(3):
                vertex_normals[i, d] /= length
    for e in range(edges.shape[0]):
        p, r = edge_prims[e, 0], edge_prims[e, 1]
        if prims[p, 2] < 0 or r < 0:
            for d in range(3):
                edge_normals[e, d] = normals[p, d]  # zero for a curve
            ridge[e] = True
            continue
        n0, n1, n2 = normals[p, 0] + normals[r, 0], normals[p, 1] + normals[r, 1], normals[p, 2] + normals[r, 2]
        length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if length > 0.0:
            n0, n1, n2 = n0 / length, n1 / length, n2 / length
        edge_normals[e, 0], edge_normals[e, 1], edge_normals[e, 2] = n0, n1, n2
        a, b = edges[e, 0], edges[e, 1]
        o = prims[r, 0] + prims[r, 1] + prims[r, 2] - a - b
        across = minus(at(x, o), at(x, a))
        ridge[e] = inner(at(normals, p), across) < -flat * np.sqrt(inner(across, across))


@njit(cache=True, error_model="numpy", nogil=True)
def primitive_boxes(f, slack, low, high):
    """Boxes (np, 6): positions with their radius, and the normals that features owned by a primitive may push along.

    A vertex pushes along the spherical hull of the normals around it, an edge along the arc between its two. Both
    are normalised sums of unit vectors, at least c long where c is the smallest cosine to their middle: they
    leave the box of those vectors by 1 / c - 1 at most.
    """
    x, prims, radius, normals, vertex_owner = f.x, f.prims, f.radius, f.normals, f.vertex_owner
    prim_edges, edge_prims, edge_owner = f.prim_edges, f.edge_prims, f.edge_owner
    vertex_normals, edge_normals = f.vertex_normals, f.edge_normals
    around = np.empty((x.shape[0], 6))
    around[:, :3], around[:, 3:] = np.inf, -np.inf
    narrowest = np.ones(x.shape[0])
    for p in range(prims.shape[0]):
        if prims[p, 2] >= 0:
            n = at(normals, p)
            for k in range(3):
                v = prims[p, k]
                narrowest[v] = min(narrowest[v], inner(n, at(vertex_normals, v)))
                for d in range(3):
                    around[v, d], around[v, 3 + d] = min(around[v, d], n[d]), max(around[v, 3 + d], n[d])
    for p in range(prims.shape[0]):
        count = 3 if prims[p, 2] >= 0 else 2
        for d in range(3):
            a, b = np.inf, -np.inf
            for k in range(count):
                v = prims[p, k]
                a = min(a, x[v, d] - radius[v])
                b = max(b, x[v, d] + radius[v])
            low[p, d], high[p, d] = a, b
        every = count == 2
        least = 1.0
        if not every:
            n = at(normals, p)
            for d in range(3):
                low[p, 3 + d], high[p, 3 + d] = n[d], n[d]
            for k in range(3):
                e, v = prim_edges[p, k], prims[p, k]
                if edge_prims[e, 1] < 0:
                    every = True
                    break
                if edge_owner[e] == p:
                    m = at(normals, edge_prims[e, 1])
                    least = min(least, inner(at(edge_normals, e), n))
                    for d in range(3):
                        low[p, 3 + d], high[p, 3 + d] = min(low[p, 3 + d], m[d]), max(high[p, 3 + d], m[d])
                if vertex_owner[v] == p:
                    least = min(least, narrowest[v])
                    for d in range(3):
                        low[p, 3 + d] = min(low[p, 3 + d], around[v, d])
                        high[p, 3 + d] = max(high[p, 3 + d], around[v, 3 + d])
        room = np.inf if every or least < 0.3 else slack + 1.0 / least - 1.0  # spikes push anywhere
        for d in range(3, 6):
            low[p, d], high[p, d] = max(low[p, d] - room, -1.5), min(high[p, d] + room, 1.5)
