"""Which features of two surfaces may meet: pairs of primitives near each other, sorted out by topology, rest shape
and position.

What depends on topology and rest shape only is decided here, once per list of candidates; positions serve to leave out
what is farther away than the list has to reach.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.features import at, inner, minus

_ROUNDING = 1.0 + 1e-9


@njit(cache=True, forceinline=True)
def share_vertex(prims, p, r):
    """Do two primitives of the same surface share a vertex?"""
    for i in range(3):
        for j in range(3):
            if prims[p, i] >= 0 and prims[p, i] == prims[r, j]:
                return True
    return False


@njit(cache=True, forceinline=True)
def _neighbours(v, w, ring_start, ring, rest, separation):
    """Are two vertices the same, joined by an edge, or closer than the separation at rest?"""
    if v == w:
        return True
    for i in range(ring_start[v], ring_start[v + 1]):
        if ring[i] == w:
            return True
    if separation > 0.0:
        apart = minus(at(rest, v), at(rest, w))
        return inner(apart, apart) < separation * separation
    return False


@njit(cache=True, forceinline=True)
def _listed(skip, key):
    """Is a key in a sorted list?"""
    low, high = 0, skip.shape[0]
    while low < high:
        middle = (low + high) // 2
        if skip[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < skip.shape[0] and skip[low] == key


@njit(cache=True, forceinline=True)
def _room(array, used, more):
    """The same rows, with room for more of them."""
    if used + more <= array.shape[0]:
        return array
    out = np.empty((2 * array.shape[0] + more, 2), dtype=np.int32)
    out[:used] = array[:used]
    return out


@njit(cache=True, forceinline=True)
def _beside_plane(f, p, g, r, reach):
    """Is primitive r of g altogether farther than `reach` from the plane of primitive p of f? A curve has none."""
    n, a = at(f.normals, p), at(f.x, f.prims[p, 0])
    least, most = np.inf, -np.inf
    for k in range(3):
        v = g.prims[r, k]
        if v >= 0:
            h = inner(n, minus(at(g.x, v), a))
            least, most = min(least, h), max(most, h)
    return least > reach or most < -reach


@njit(cache=True, forceinline=True)
def _thickest(f, p):
    """The largest radius around the vertices of a primitive."""
    thick = max(f.radius[f.prims[p, 0]], f.radius[f.prims[p, 1]])
    return thick if f.prims[p, 2] < 0 else max(thick, f.radius[f.prims[p, 2]])


@njit(cache=True, forceinline=True)
def _vertices(f, p, g, r, low, high, same, rest, separation, skip, margin, out, found):
    """Vertices owned by primitive p of f that may meet primitive r of g, whose boxes are low, high, into `out`."""
    for k in range(3):
        v = f.prims[p, k]
        if v < 0 or f.vertex_owner[v] != p:
            continue
        near = True
        for d in range(3):
            reach = margin + f.radius[v]
            if f.x[v, d] > high[r, d] + reach or f.x[v, d] < low[r, d] - reach:
                near = False
        if not near:
            continue
        left_out = False
        if same:
            for j in range(3):
                w = g.prims[r, j]
                if w >= 0 and _neighbours(v, w, f.ring_start, f.ring, rest, separation):
                    left_out = True
            left_out = left_out or _listed(skip, v * g.prims.shape[0] + r)
        if not left_out:
            out[found, 0], out[found, 1] = v, r
            found += 1
    return found


@njit(cache=True, forceinline=True)
def _edges_near(f, e, g, h, margin):
    """Do the boxes of two edges come within the margin?"""
    a, b, c, d = f.edges[e, 0], f.edges[e, 1], g.edges[h, 0], g.edges[h, 1]
    reach = margin + max(f.radius[a], f.radius[b]) + max(g.radius[c], g.radius[d])
    for i in range(3):
        if min(f.x[a, i], f.x[b, i]) > max(g.x[c, i], g.x[d, i]) + reach:
            return False
        if min(g.x[c, i], g.x[d, i]) > max(f.x[a, i], f.x[b, i]) + reach:
            return False
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def features_facing(pairs, f, g, boxes1, boxes2, same, rest, separation, allowed, skip, alarm, span):
    """Features that may meet among pairs of primitives (n, 2) of f and g, as three lists (m, 2).

    Vertices of f with primitives of g, vertices of g with primitives of f, edges of f with edges of g. Left out is
    what topology, bodies (`allowed`) and rest shape forbid, and what is farther away than the `alarm` even if its
    two sides move by `span` relative to each other along every axis [m]. boxes: low and high (np, 6) of f and of g.
    """
    low1, high1 = boxes1
    low2, high2 = boxes2
    one, two = np.empty((256, 2), dtype=np.int32), np.empty((256, 2), dtype=np.int32)
    edges = np.empty((256, 2), dtype=np.int32)
    m1, m2, m3 = 0, 0, 0
    margin = (alarm + span) * _ROUNDING
    far = (alarm + np.sqrt(3.0) * span) * _ROUNDING
    for i in range(pairs.shape[0]):
        p, r = np.int64(pairs[i, 0]), np.int64(pairs[i, 1])
        if not allowed[f.body[f.prims[p, 0]], g.body[g.prims[r, 0]]] or (same and share_vertex(f.prims, p, r)):
            continue
        reach = far + _thickest(f, p) + _thickest(g, r)
        if _beside_plane(f, p, g, r, reach) or _beside_plane(g, r, f, p, reach):
            continue
        one, two, edges = _room(one, m1, 3), _room(two, m2, 3), _room(edges, m3, 9)
        m1 = _vertices(f, p, g, r, low2, high2, same, rest, separation, skip, margin, one, m1)
        m2 = _vertices(g, r, f, p, low1, high1, same, rest, separation, skip, margin, two, m2)
        for k in range(3):
            e = f.prim_edges[p, k]
            if e < 0 or f.edge_owner[e] != p:
                continue
            for j in range(3):
                h = g.prim_edges[r, j]
                if h < 0 or g.edge_owner[h] != r or not _edges_near(f, e, g, h, margin):
                    continue
                a, b, c, d = f.edges[e, 0], f.edges[e, 1], g.edges[h, 0], g.edges[h, 1]
                if same and (
                    _neighbours(a, c, f.ring_start, f.ring, rest, separation)
                    or _neighbours(a, d, f.ring_start, f.ring, rest, separation)
                    or _neighbours(b, c, f.ring_start, f.ring, rest, separation)
                    or _neighbours(b, d, f.ring_start, f.ring, rest, separation)
                ):
                    continue
                edges[m3, 0], edges[m3, 1] = e, h
                m3 += 1
    return one[:m1], two[:m2], edges[:m3]
