"""Local minimum distance between surfaces: features, their normal cones, and the narrow phase.

A surface is a set of primitives: triangles, and segments (third vertex -1). Every vertex and every
edge is owned by one primitive, so that a pair of features is tested once. A pair is a contact if it
is a local minimum of the distance: the direction between the two closest points lies in the normal
cone of both features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant._kernels.closest import between_segments, crosses, dot, on_segment, on_triangle

VERTEX_FACE, FACE_VERTEX, EDGE_EDGE, VERTEX_EDGE, EDGE_VERTEX, VERTEX_VERTEX = 1, 2, 3, 4, 5, 6
_STRICT = 1e-9  # ties on shared edges must be seen from both sides, or they are lost


class Faces(NamedTuple):
    """A surface as the kernels see it: topology, then geometry at the current positions."""

    prims: np.ndarray  # (np, 3)
    prim_edges: np.ndarray  # (np, 3) edge opposite to nothing: k is the edge k, k+1; -1 for none
    edges: np.ndarray  # (ne, 2)
    edge_prims: np.ndarray  # (ne, 2), -1 at a boundary
    vertex_owner: np.ndarray  # (n,)
    edge_owner: np.ndarray  # (ne,)
    ring_start: np.ndarray  # (n + 1,)
    ring: np.ndarray  # neighbours of each vertex
    body: np.ndarray  # (n,)
    radius: np.ndarray  # (n,)
    x: np.ndarray  # (n, 3)
    normals: np.ndarray  # (np, 3), zero for segments
    edge_normals: np.ndarray  # (ne, 3)
    vertex_normals: np.ndarray  # (n, 3)
    ridge: np.ndarray  # (ne,) True if the edge can touch another one: convex, or a curve


@njit(cache=True)
def update_features(f, flat):
    """Normals of faces, edges (mean) and vertices (angle-weighted), and which edges are ridges."""
    x = f.x
    f.vertex_normals[:] = 0.0
    for p in range(f.prims.shape[0]):
        a, b, c = f.prims[p, 0], f.prims[p, 1], f.prims[p, 2]
        if c < 0:
            f.normals[p] = 0.0
            continue
        u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        v0, v1, v2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        w0, w1, w2 = v0 - u0, v1 - u1, v2 - u2
        n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        area = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if area > 0.0:
            n0, n1, n2 = n0 / area, n1 / area, n2 / area
        f.normals[p, 0], f.normals[p, 1], f.normals[p, 2] = n0, n1, n2
        uv = u0 * v0 + u1 * v1 + u2 * v2
        uw = -(u0 * w0 + u1 * w1 + u2 * w2)
        vw = v0 * w0 + v1 * w1 + v2 * w2
        angles = (np.arctan2(area, uv), np.arctan2(area, uw), np.arctan2(area, vw))
        for k in range(3):
            v = f.prims[p, k]
            f.vertex_normals[v, 0] += angles[k] * n0
            f.vertex_normals[v, 1] += angles[k] * n1
            f.vertex_normals[v, 2] += angles[k] * n2
    for v in range(x.shape[0]):
        n = f.vertex_normals[v]
        length = np.sqrt(dot(n, n))
        if length > 0.0:
            f.vertex_normals[v] = n / length
    for e in range(f.edges.shape[0]):
        p, r = f.edge_prims[e, 0], f.edge_prims[e, 1]
        if f.prims[p, 2] < 0:
            f.edge_normals[e] = 0.0
            f.ridge[e] = True
            continue
        if r < 0:
            f.edge_normals[e] = f.normals[p]
            f.ridge[e] = True
            continue
        n0 = f.normals[p, 0] + f.normals[r, 0]
        n1 = f.normals[p, 1] + f.normals[r, 1]
        n2 = f.normals[p, 2] + f.normals[r, 2]
        length = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if length > 0.0:
            n0, n1, n2 = n0 / length, n1 / length, n2 / length
        f.edge_normals[e, 0], f.edge_normals[e, 1], f.edge_normals[e, 2] = n0, n1, n2
        a, b = f.edges[e, 0], f.edges[e, 1]
        o = f.prims[r, 0] + f.prims[r, 1] + f.prims[r, 2] - a - b
        height, length = 0.0, 0.0
        for d in range(3):
            s = x[o, d] - x[a, d]
            height += f.normals[p, d] * s
            length += s * s
        f.ridge[e] = height < -flat * np.sqrt(length)


@njit(cache=True)
def primitive_boxes(f, slack, low, high):
    """Boxes (np, 6): positions with their radius, and the normals that the features may push along."""
    for p in range(f.prims.shape[0]):
        count = 3 if f.prims[p, 2] >= 0 else 2
        for d in range(3):
            a, b = np.inf, -np.inf
            for k in range(count):
                v = f.prims[p, k]
                a = min(a, f.x[v, d] - f.radius[v])
                b = max(b, f.x[v, d] + f.radius[v])
            low[p, d], high[p, d] = a, b
        every = count == 2
        n = f.normals[p]
        spread = 1.0
        if not every:
            for d in range(3):
                low[p, 3 + d], high[p, 3 + d] = n[d], n[d]
            for k in range(3):
                e = f.prim_edges[p, k]
                r = f.edge_prims[e, 0] + f.edge_prims[e, 1] - p
                if f.edge_prims[e, 1] < 0:
                    every = True
                    break
                v = f.prims[p, k]
                m = f.normals[r]
                g = f.vertex_normals[v]
                h = f.edge_normals[e]
                spread = min(spread, dot(h, n), dot(g, n))
                for d in range(3):
                    low[p, 3 + d] = min(low[p, 3 + d], m[d], g[d], h[d])
                    high[p, 3 + d] = max(high[p, 3 + d], m[d], g[d], h[d])
        if every or spread < 0.0:  # spikes push anywhere
            for d in range(3, 6):
                low[p, d], high[p, d] = -2.0, 2.0
        else:
            # cones are arcs between the sampled normals; they bulge out of the box of their ends
            room = slack + 0.45 * (1.0 - spread)
            for d in range(3, 6):
                low[p, d] -= room
                high[p, d] += room


@njit(cache=True)
def _vertex_cone(f, v, d0, d1, d2, tolerance):
    """Is the direction in the normal cone of a vertex: no incident edge goes along it?"""
    n = f.vertex_normals[v]
    if n[0] * d0 + n[1] * d1 + n[2] * d2 < 0.0:
        return False
    for i in range(f.ring_start[v], f.ring_start[v + 1]):
        j = f.ring[i]
        e0, e1, e2 = f.x[j, 0] - f.x[v, 0], f.x[j, 1] - f.x[v, 1], f.x[j, 2] - f.x[v, 2]
        along = e0 * d0 + e1 * d1 + e2 * d2
        if along > 0.0 and along * along > tolerance * tolerance * (e0 * e0 + e1 * e1 + e2 * e2):
            return False
    return True


@njit(cache=True)
def _edge_cone(f, e, d0, d1, d2, tolerance):
    """Is the direction in the normal cone of an edge: it points into neither of its faces?"""
    a, b = f.edges[e, 0], f.edges[e, 1]
    t0, t1, t2 = f.x[b, 0] - f.x[a, 0], f.x[b, 1] - f.x[a, 1], f.x[b, 2] - f.x[a, 2]
    tt = t0 * t0 + t1 * t1 + t2 * t2
    for k in range(2):
        p = f.edge_prims[e, k]
        if p < 0 or f.prims[p, 2] < 0:
            continue
        o = f.prims[p, 0] + f.prims[p, 1] + f.prims[p, 2] - a - b
        m0, m1, m2 = f.x[o, 0] - f.x[a, 0], f.x[o, 1] - f.x[a, 1], f.x[o, 2] - f.x[a, 2]
        s = (m0 * t0 + m1 * t1 + m2 * t2) / tt
        m0, m1, m2 = m0 - s * t0, m1 - s * t1, m2 - s * t2
        along = m0 * d0 + m1 * d1 + m2 * d2
        if along > 0.0 and along * along > tolerance * tolerance * (m0 * m0 + m1 * m1 + m2 * m2):
            return False
    return True


@njit(cache=True)
def _near_on_surface(f, v, w):
    """Are two vertices the same or joined by an edge?"""
    if v == w:
        return True
    for i in range(f.ring_start[v], f.ring_start[v + 1]):  # noqa: SIM110
        if f.ring[i] == w:
            return True
    return False


@njit(cache=True)
def _excluded(f, v, g, p, same, rest, separation, allowed, skip):
    """Should vertex v of f and primitive p of g be left out?"""
    if not allowed[f.body[v], g.body[g.prims[p, 0]]]:
        return True
    if not same:
        return False
    for k in range(3):
        w = g.prims[p, k]
        if w < 0:
            continue
        if _near_on_surface(f, v, w):
            return True
        if separation > 0.0:
            total = 0.0
            for d in range(3):
                total += (rest[v, d] - rest[w, d]) ** 2
            if total < separation * separation:
                return True
    if skip.shape[0] > 0:
        key = v * g.prims.shape[0] + p
        at = np.searchsorted(skip, key)
        if at < skip.shape[0] and skip[at] == key:
            return True
    return False


@njit(cache=True)
def _edges_excluded(f, e1, g, e2, same, rest, separation, allowed):
    """Should two edges be left out?"""
    if not allowed[f.body[f.edges[e1, 0]], g.body[g.edges[e2, 0]]]:
        return True
    if not same:
        return False
    for i in range(2):
        for j in range(2):
            v, w = f.edges[e1, i], g.edges[e2, j]
            if _near_on_surface(f, v, w):
                return True
            if separation > 0.0:
                total = 0.0
                for d in range(3):
                    total += (rest[v, d] - rest[w, d]) ** 2
                if total < separation * separation:
                    return True
    return False


@njit(cache=True)
def _vertex_against(f, v, g, p, flip, same, alarm, tolerance, everything, record, ids):
    """Test vertex v of f against primitive p of g; fill the record and return True for a contact.

    record: gap, normal (towards the first surface), weights of v and of the primitive, point,
    signed distance without thickness.
    ids: kind, feature ids on side one and two, vertex, three vertices of the primitive (or -1).
    """
    x = f.x[v]
    a, b, c = g.prims[p, 0], g.prims[p, 1], g.prims[p, 2]
    if c < 0:
        t = on_segment(x, g.x[a], g.x[b])
        u0, u1, u2 = 1.0 - t, t, 0.0
        c = b
    else:
        u0, u1, u2 = on_triangle(x, g.x[a], g.x[b], g.x[c])
    q0 = u0 * g.x[a, 0] + u1 * g.x[b, 0] + u2 * g.x[c, 0]
    q1 = u0 * g.x[a, 1] + u1 * g.x[b, 1] + u2 * g.x[c, 1]
    q2 = u0 * g.x[a, 2] + u1 * g.x[b, 2] + u2 * g.x[c, 2]
    d0, d1, d2 = x[0] - q0, x[1] - q1, x[2] - q2
    distance = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    thickness = f.radius[v] + u0 * g.radius[a] + u1 * g.radius[b] + u2 * g.radius[c]
    if distance - thickness > alarm:
        return False
    zeros = int(u0 == 0.0) + int(u1 == 0.0) + int(u2 == 0.0)
    triangle = g.prims[p, 2] >= 0
    edge, corner = -1, -1
    if triangle and zeros == 1:
        edge = g.prim_edges[p, 1] if u0 == 0.0 else (g.prim_edges[p, 2] if u1 == 0.0 else g.prim_edges[p, 0])
    elif zeros == 2:
        corner = a if u0 > 0.0 else (b if u1 > 0.0 else c)
    elif not triangle:
        edge = g.prim_edges[p, 0]
    if edge >= 0:
        if g.edge_owner[edge] != p and not everything:
            return False
        n = g.edge_normals[edge]
    elif corner >= 0:
        if not everything and (g.vertex_owner[corner] != p or (same and v > corner) or (flip and not same)):
            return False
        n = g.vertex_normals[corner]
    else:
        n = g.normals[p]
    n0, n1, n2 = n[0], n[1], n[2]
    side = d0 * n0 + d1 * n1 + d2 * n2
    if n0 == 0.0 and n1 == 0.0 and n2 == 0.0:  # a curve: only the vertex may know its outside
        m = f.vertex_normals[v]
        side = -(d0 * m[0] + d1 * m[1] + d2 * m[2])
        n0, n1, n2 = -m[0], -m[1], -m[2]
        if side == 0.0:
            side = 1.0
    sign = 1.0 if side >= 0.0 else -1.0
    if (edge >= 0 or corner >= 0) and distance > 1e-14:
        n0, n1, n2 = sign * d0 / distance, sign * d1 / distance, sign * d2 / distance
    signed = sign * distance
    if signed < -alarm:
        return False
    if everything:
        m = f.vertex_normals[v]
        if signed >= 0.0 or n0 * m[0] + n1 * m[1] + n2 * m[2] >= -0.3:
            return False
    else:
        if distance > 1e-14:
            s0, s1, s2 = d0 / distance, d1 / distance, d2 / distance
            if edge >= 0 and not _edge_cone(g, edge, s0, s1, s2, _STRICT):
                return False
            if corner >= 0:
                for i in range(g.ring_start[corner], g.ring_start[corner + 1]):
                    j = g.ring[i]
                    e0 = g.x[j, 0] - g.x[corner, 0]
                    e1 = g.x[j, 1] - g.x[corner, 1]
                    e2 = g.x[j, 2] - g.x[corner, 2]
                    along = e0 * s0 + e1 * s1 + e2 * s2
                    if along > _STRICT * np.sqrt(e0 * e0 + e1 * e1 + e2 * e2):
                        return False
        if not _vertex_cone(f, v, -n0, -n1, -n2, tolerance):
            return False
    turn = -1.0 if flip else 1.0
    record[0], record[11] = signed - thickness, signed
    record[1], record[2], record[3] = turn * n0, turn * n1, turn * n2
    record[4], record[5], record[6], record[7] = turn, -turn * u0, -turn * u1, -turn * u2
    record[8], record[9], record[10] = 0.5 * (x[0] + q0), 0.5 * (x[1] + q1), 0.5 * (x[2] + q2)
    if edge >= 0:
        ids[0], other = (EDGE_VERTEX if flip else VERTEX_EDGE), edge
    elif corner >= 0:
        ids[0], other = VERTEX_VERTEX, corner
    else:
        ids[0], other = (FACE_VERTEX if flip else VERTEX_FACE), p
    ids[1], ids[2] = (other, v) if flip else (v, other)
    ids[3], ids[4], ids[5], ids[6] = v, a, b, c
    ids[7] = p
    return True


@njit(cache=True)
def _edges_against(f, e1, g, e2, alarm, tolerance, record, ids):
    """Test two ridges for an interior-interior contact."""
    a, b, c, d = f.edges[e1, 0], f.edges[e1, 1], g.edges[e2, 0], g.edges[e2, 1]
    s, t = between_segments(f.x[a], f.x[b], g.x[c], g.x[d])
    if s <= 1e-9 or s >= 1.0 - 1e-9 or t <= 1e-9 or t >= 1.0 - 1e-9:
        return False
    w = np.empty(3)
    middle = np.empty(3)
    for k in range(3):
        p = (1.0 - s) * f.x[a, k] + s * f.x[b, k]
        q = (1.0 - t) * g.x[c, k] + t * g.x[d, k]
        w[k] = p - q
        middle[k] = 0.5 * (p + q)
    distance = np.sqrt(dot(w, w))
    thickness = (1.0 - s) * f.radius[a] + s * f.radius[b] + (1.0 - t) * g.radius[c] + t * g.radius[d]
    if distance - thickness > alarm:
        return False
    n1, n2 = f.edge_normals[e1], g.edge_normals[e2]
    if distance > 1e-14:
        n = w / distance
    else:
        u, v = f.x[b] - f.x[a], g.x[d] - g.x[c]
        n = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])
        n /= np.sqrt(dot(n, n))
    side = dot(n, n2) - dot(n, n1)
    sign = 1.0 if side >= 0.0 else -1.0
    n = sign * n
    if dot(n, n2) < 0.0 or dot(n, n1) > 0.0:
        return False
    if not _edge_cone(f, e1, -n[0], -n[1], -n[2], tolerance):
        return False
    if not _edge_cone(g, e2, n[0], n[1], n[2], tolerance):
        return False
    if sign < 0.0:
        if distance > alarm:
            return False
        through = False  # ridges that penetrate cut through each other's faces
        for k in range(2):
            p = g.edge_prims[e2, k]
            if p >= 0 and g.prims[p, 2] >= 0:
                tri = g.prims[p]
                through |= crosses(f.x[a], f.x[b], g.x[tri[0]], g.x[tri[1]], g.x[tri[2]])
            p = f.edge_prims[e1, k]
            if p >= 0 and f.prims[p, 2] >= 0:
                tri = f.prims[p]
                through |= crosses(g.x[c], g.x[d], f.x[tri[0]], f.x[tri[1]], f.x[tri[2]])
        if not through:
            return False
    record[0], record[11] = sign * distance - thickness, sign * distance
    for k in range(3):
        record[1 + k] = n[k]
        record[8 + k] = middle[k]
    record[4], record[5], record[6], record[7] = 1.0 - s, s, t - 1.0, -t
    ids[0], ids[1], ids[2] = EDGE_EDGE, e1, e2
    ids[3], ids[4], ids[5], ids[6] = a, b, c, d
    ids[7] = -1
    return True


@njit(cache=True, inline="always")
def _share_vertex(f, p, r):
    """Do two primitives of the same surface share a vertex?"""
    for i in range(3):
        for j in range(3):
            if f.prims[p, i] >= 0 and f.prims[p, i] == f.prims[r, j]:
                return True
    return False


@njit(cache=True, inline="always")
def _far(f, v, low, high, p, margin):
    """Is a vertex with its radius farther than the margin from the box of a primitive?"""
    reach = margin + f.radius[v]
    for d in range(3):  # noqa: SIM110
        if f.x[v, d] > high[p, d] + reach or f.x[v, d] < low[p, d] - reach:
            return True
    return False


@njit(cache=True, inline="always")
def _averted(f, e1, g, e2, tolerance):
    """Can the normal cones of two edges never oppose each other?"""
    p, r = f.edge_prims[e1, 0], g.edge_prims[e2, 0]
    if f.edge_prims[e1, 1] < 0 or g.edge_prims[e2, 1] < 0:
        return False
    opposed, c1, c2 = 0.0, 0.0, 0.0
    for d in range(3):
        opposed -= f.edge_normals[e1, d] * g.edge_normals[e2, d]
        c1 += f.edge_normals[e1, d] * f.normals[p, d]
        c2 += g.edge_normals[e2, d] * g.normals[r, d]
    s1, s2 = np.sqrt(max(0.0, 1.0 - c1 * c1)), np.sqrt(max(0.0, 1.0 - c2 * c2))
    return opposed < c1 * c2 - s1 * s2 - 4.0 * tolerance - 1e-9


@njit(cache=True)
def narrow(
    pairs, count, f, low1, high1, g, low2, high2, same, rest, separation, allowed, skip,
    alarm, tolerance, everything, records, ids,
):  # fmt: skip
    """Contacts among pairs of primitives; returns their number, which may exceed len(records).

    With `everything`, all vertex-primitive pairs that face each other through the material are
    reported, cones or not.
    """
    found = 0
    record = np.empty(12)
    tags = np.empty(8, dtype=np.int64)
    for i in range(count):
        p1, p2 = pairs[i, 0], pairs[i, 1]
        if same and _share_vertex(f, p1, p2):
            continue
        for k in range(3):
            v = f.prims[p1, k]
            if v < 0 or f.vertex_owner[v] != p1 or _far(f, v, low2, high2, p2, alarm):
                continue
            if _excluded(f, v, g, p2, same, rest, separation, allowed, skip):
                continue
            if _vertex_against(f, v, g, p2, False, same, alarm, tolerance, everything, record, tags):
                if found < records.shape[0]:
                    records[found], ids[found] = record, tags
                found += 1
        for k in range(3):
            v = g.prims[p2, k]
            if v < 0 or g.vertex_owner[v] != p2 or _far(g, v, low1, high1, p1, alarm):
                continue
            if _excluded(g, v, f, p1, same, rest, separation, allowed.T, skip):
                continue
            if _vertex_against(g, v, f, p1, True, same, alarm, tolerance, everything, record, tags):
                if found < records.shape[0]:
                    records[found], ids[found] = record, tags
                found += 1
        if everything:
            continue
        for k1 in range(3):
            e1 = f.prim_edges[p1, k1]
            if e1 < 0 or f.edge_owner[e1] != p1 or not f.ridge[e1]:
                continue
            for k2 in range(3):
                e2 = g.prim_edges[p2, k2]
                if e2 < 0 or g.edge_owner[e2] != p2 or not g.ridge[e2] or _averted(f, e1, g, e2, tolerance):
                    continue
                if _edges_excluded(f, e1, g, e2, same, rest, separation, allowed):
                    continue
                if _edges_against(f, e1, g, e2, alarm, tolerance, record, tags):
                    if found < records.shape[0]:
                        records[found], ids[found] = record, tags
                    found += 1
    return found
