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
def _heights(f, p, g, r):
    """Heights of the vertices of primitive p of f over the plane of primitive r of g; zero where r has no plane."""
    n, a = at(g.normals, r), at(g.x, g.prims[r, 0])
    last = f.prims[p, 2] if f.prims[p, 2] >= 0 else f.prims[p, 1]
    return (
        inner(n, minus(at(f.x, f.prims[p, 0]), a)),
        inner(n, minus(at(f.x, f.prims[p, 1]), a)),
        inner(n, minus(at(f.x, last), a)),
    )


@njit(cache=True, forceinline=True)
def _apart(h, reach):
    """Is a primitive whose vertices have heights h altogether farther than `reach` from a plane?"""
    return min(h[0], h[1], h[2]) > reach or max(h[0], h[1], h[2]) < -reach


@njit(cache=True, forceinline=True)
def _owned(f, p, h, reach):
    """A bit for each vertex (0 to 2) and each edge (3 to 5) that p owns and that is within `reach` of a plane.

    h: heights of the vertices of p over the plane.
    """
    bits = 0
    for k in range(3):
        v, e = f.prims[p, k], f.prim_edges[p, k]
        a = h[0] if k == 0 else (h[1] if k == 1 else h[2])
        b = h[1] if k == 0 else (h[2] if k == 1 else h[0])
        if v >= 0 and f.vertex_owner[v] == p and abs(a) <= reach:
            bits |= 1 << k
        if e >= 0 and f.edge_owner[e] == p and min(a, b) <= reach and max(a, b) >= -reach:
            bits |= 8 << k
    return bits


@njit(cache=True, forceinline=True)
def _thickest(f, p):
    """The largest radius around the vertices of a primitive."""
    thick = max(f.radius[f.prims[p, 0]], f.radius[f.prims[p, 1]])
    return thick if f.prims[p, 2] < 0 else max(thick, f.radius[f.prims[p, 2]])


@njit(cache=True, forceinline=True)
def _vertices(f, p, bits, g, r, low, high, same, rest, separation, skip, margin, out, found):
    """Vertices of primitive p of f with set bits that may meet primitive r of g, whose box is low, high, into `out`."""
    for k in range(3):
        if not bits >> k & 1:
            continue
        v = f.prims[p, k]
        near = True
        for d in range(3):
            room = margin + f.radius[v]
            if f.x[v, d] > high[r, d] + room or f.x[v, d] < low[r, d] - room:
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
def features_facing(pairs, f, g, boxes1, boxes2, same, rest, separation, allowed, skip, alarm, span, ridges):
    """Features that may meet among pairs of primitives (n, 2) of f and g, as three lists (m, 2).

    Vertices of f with primitives of g, vertices of g with primitives of f, edges of f with edges of g. Left out is
    what topology, bodies (`allowed`) and rest shape forbid, and what is farther away than the `alarm` even if its
    two sides move by `span` relative to each other along every axis [m]. boxes: low and high (np, 6) of f and of g.
    ridges: whether edges are wanted.
    """
    low1, high1 = boxes1
    low2, high2 = boxes2
    margin = (alarm + span) * _ROUNDING
    far = (alarm + np.sqrt(3.0) * span) * _ROUNDING
    near = np.empty((pairs.shape[0], 4), dtype=np.int32)  # primitives and bits of what may meet
    n = 0
    for i in range(pairs.shape[0]):
        p, r = np.int64(pairs[i, 0]), np.int64(pairs[i, 1])
        if not allowed[f.body[f.prims[p, 0]], g.body[g.prims[r, 0]]] or (same and share_vertex(f.prims, p, r)):
            continue
        reach = far + _thickest(f, p) + _thickest(g, r)
        over = _heights(f, p, g, r)
        if _apart(over, reach):
            continue
        under = _heights(g, r, f, p)
        if _apart(under, reach):
            continue
        one, two = _owned(f, p, over, reach), _owned(g, r, under, reach)
        if not ridges:
            one, two = one & 7, two & 7
        if one & 7 or two & 7 or (one and two):
            near[n, 0], near[n, 1], near[n, 2], near[n, 3] = p, r, one, two
            n += 1
    vertices, others = np.empty((3 * n, 2), dtype=np.int32), np.empty((3 * n, 2), dtype=np.int32)
    edges = np.empty((9 * n if ridges else 0, 2), dtype=np.int32)
    m1, m2, m3 = 0, 0, 0
    for i in range(n):
        p, r, one, two = np.int64(near[i, 0]), np.int64(near[i, 1]), np.int64(near[i, 2]), np.int64(near[i, 3])
        m1 = _vertices(f, p, one, g, r, low2, high2, same, rest, separation, skip, margin, vertices, m1)
        m2 = _vertices(g, r, two, f, p, low1, high1, same, rest, separation, skip, margin, others, m2)
        for k in range(3):
            if not one >> (3 + k) & 1:
                continue
            e = f.prim_edges[p, k]
            for j in range(3):
                if not two >> (3 + j) & 1:
                    continue
                h = g.prim_edges[r, j]
                if not _edges_near(f, e, g, h, margin):
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
    return vertices[:m1].copy(), others[:m2].copy(), edges[:m3].copy()
