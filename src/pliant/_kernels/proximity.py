"""Local minimum distance between surfaces: which of the features that may meet do.

A surface is a set of primitives: triangles, and segments (third vertex -1). Every vertex and every
edge is owned by one primitive, so that a pair of features is tested once. A pair is a contact if it
is a local minimum of the distance: the direction between the two closest points lies in the normal
cone of both features.

The candidates come from `pliant._kernels.facing`; they are a superset, and every one is looked at exactly here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.closest import between_segments, crosses, on_segment, on_triangle
from pliant._kernels.features import at, inner, minus

VERTEX_FACE, FACE_VERTEX, EDGE_EDGE, VERTEX_EDGE, EDGE_VERTEX, VERTEX_VERTEX = 1, 2, 3, 4, 5, 6
_STRICT = 1e-9  # ties on shared edges must be seen from both sides, or they are lost
_ROUNDING = 1e-15  # of the coordinates: what is known of the vector between two closest points
_PARALLEL = 1e-3  # sine of an angle between edges below which their ends tell where they touch
_BLIND = 1e-4  # rounding relative to the distance beyond which the direction between closest points says nothing


@njit(cache=True, forceinline=True)
def _larger(array):
    """The same rows with twice the room."""
    out = np.empty((2 * array.shape[0], array.shape[1]), dtype=array.dtype)
    out[: array.shape[0]] = array
    return out


# ---- normal cones --------------------------------------------------------------------------------------
@njit(cache=True, forceinline=True)
def _vertex_cone(v, d, tolerance, x, vertex_normals, ring_start, ring):
    """Is the direction in the normal cone of a vertex: no incident edge goes along it?"""
    if inner(at(vertex_normals, v), d) < 0.0:
        return False
    for i in range(ring_start[v], ring_start[v + 1]):
        e = minus(at(x, ring[i]), at(x, v))
        along = inner(e, d)
        if along > 0.0 and along * along > tolerance * tolerance * inner(e, e):
            return False
    return True


@njit(cache=True, forceinline=True)
def _edge_cone(e, d, tolerance, x, edges, edge_prims, prims):
    """Is the direction in the normal cone of an edge: it points into neither of its faces?"""
    a, b = edges[e, 0], edges[e, 1]
    t = minus(at(x, b), at(x, a))
    tt = inner(t, t)
    for k in range(2):
        p = edge_prims[e, k]
        if p < 0 or prims[p, 2] < 0:
            continue
        o = prims[p, 0] + prims[p, 1] + prims[p, 2] - a - b
        m = minus(at(x, o), at(x, a))
        s = inner(m, t) / tt
        m = m[0] - s * t[0], m[1] - s * t[1], m[2] - s * t[2]
        along = inner(m, d)
        if along > 0.0 and along * along > tolerance * tolerance * inner(m, m):
            return False
    return True


@njit(cache=True, forceinline=True)
def _corner_cone(corner, d, tolerance, y, star_start, star):
    """Is the direction in the polar cone of the edges at a corner?"""
    for j in range(star_start[corner], star_start[corner + 1]):
        e = minus(at(y, star[j]), at(y, corner))
        if inner(e, d) > tolerance * np.sqrt(inner(e, e)):
            return False
    return True


@njit(cache=True, error_model="numpy")
def _normal_of_touching(v, edge, corner, tolerance, f, g):
    """The normal of a vertex that lies on an edge or corner, to rounding: one that both normal cones hold, if any.

    Tried are the normals of the faces at that feature and, turned, those of the faces at the vertex: where flat
    meets flat, or flat meets a ridge, one of them is what the normal was before they touched. Returns (found, normal).
    """
    corners = (corner, corner, v) if corner >= 0 else (g.edges[edge, 0], g.edges[edge, 1], v)
    for k in range(3):
        if k == 1 and corner >= 0:
            continue
        start, fan = (f.fan_start, f.fan) if k == 2 else (g.fan_start, g.fan)
        for i in range(start[corners[k]], start[corners[k] + 1]):
            n = at(f.normals, fan[i]) if k == 2 else at(g.normals, fan[i])
            n = (-n[0], -n[1], -n[2]) if k == 2 else n
            back = -n[0], -n[1], -n[2]
            if inner(n, n) == 0.0:
                continue
            if edge >= 0 and not _edge_cone(edge, n, tolerance, g.x, g.edges, g.edge_prims, g.prims):
                continue
            if corner >= 0 and not _corner_cone(corner, n, tolerance, g.x, g.ring_start, g.ring):
                continue
            if _vertex_cone(v, back, tolerance, f.x, f.vertex_normals, f.ring_start, f.ring):
                return True, n
    return False, (0.0, 0.0, 0.0)


# ---- the tests -----------------------------------------------------------------------------------------
@njit(cache=True, error_model="numpy", nogil=True)
def vertex_contacts(candidates, f, g, low, high, flip, same, alarm, tolerance, everything):
    """Contacts of vertices of f with primitives of g, whose boxes are low, high (np, 6): records and ids.

    record (12): gap, normal (towards the first surface), weights of the vertex and of the primitive, point,
    signed distance without thickness. ids (8): kind, feature ids on side one and two, vertex, three vertices of the
    primitive (or -1), primitive. With `flip`, f is the second surface. With `everything`, all vertices that face a
    primitive through the material are reported, cones or not.
    """
    x, radius, vertex_normals, ring_start, ring = f.x, f.radius, f.vertex_normals, f.ring_start, f.ring
    y, thick, prims, prim_edges, edges, edge_prims = g.x, g.radius, g.prims, g.prim_edges, g.edges, g.edge_prims
    normals, edge_normals, corner_normals = g.normals, g.edge_normals, g.vertex_normals
    edge_owner, corner_owner, star_start, star = g.edge_owner, g.vertex_owner, g.ring_start, g.ring
    records, ids = np.empty((64, 12)), np.empty((64, 8), dtype=np.int64)
    found = 0
    turn = -1.0 if flip else 1.0
    for i in range(candidates.shape[0]):
        v, p = np.int64(candidates[i, 0]), np.int64(candidates[i, 1])
        z = at(x, v)
        reach = alarm + radius[v]
        if (
            z[0] > high[p, 0] + reach or z[0] < low[p, 0] - reach or z[1] > high[p, 1] + reach
            or z[1] < low[p, 1] - reach or z[2] > high[p, 2] + reach or z[2] < low[p, 2] - reach
        ):  # fmt: skip
            continue
        a, b, c = prims[p, 0], prims[p, 1], prims[p, 2]
        triangle = c >= 0
        if triangle:
            u0, u1, u2 = on_triangle(z, at(y, a), at(y, b), at(y, c))
        else:
            t = on_segment(z, at(y, a), at(y, b))
            u0, u1, u2 = 1.0 - t, t, 0.0
            c = b
        q = (
            u0 * y[a, 0] + u1 * y[b, 0] + u2 * y[c, 0],
            u0 * y[a, 1] + u1 * y[b, 1] + u2 * y[c, 1],
            u0 * y[a, 2] + u1 * y[b, 2] + u2 * y[c, 2],
        )
        d = minus(z, q)
        distance = np.sqrt(inner(d, d))
        thickness = radius[v] + u0 * thick[a] + u1 * thick[b] + u2 * thick[c]
        if distance - thickness > alarm:
            continue
        zeros = int(u0 == 0.0) + int(u1 == 0.0) + int(u2 == 0.0)
        edge, corner = -1, -1
        if triangle and zeros == 1:
            edge = prim_edges[p, 1] if u0 == 0.0 else (prim_edges[p, 2] if u1 == 0.0 else prim_edges[p, 0])
        elif zeros == 2:
            corner = a if u0 > 0.0 else (b if u1 > 0.0 else c)
        elif not triangle:
            edge = prim_edges[p, 0]
        if edge >= 0:
            if edge_owner[edge] != p and not everything:
                continue
            n = at(edge_normals, edge)
        elif corner >= 0:
            if not everything and (corner_owner[corner] != p or (same and v > corner) or (flip and not same)):
                continue
            n = at(corner_normals, corner)
        else:
            n = at(normals, p)
        side = inner(d, n)
        if n[0] == 0.0 and n[1] == 0.0 and n[2] == 0.0:  # a curve: only the vertex may know its outside
            m = at(vertex_normals, v)
            side = -inner(d, m)
            n = -m[0], -m[1], -m[2]
            if side == 0.0:
                side = 1.0
        sign = 1.0 if side >= 0.0 else -1.0
        unknown = _ROUNDING * (abs(z[0]) + abs(z[1]) + abs(z[2])) / max(distance, 1e-300)
        touching = (edge >= 0 or corner >= 0) and unknown > _BLIND
        if touching and not everything:
            known, n = _normal_of_touching(v, edge, corner, tolerance, f, g)
            if not known:
                continue
            sign, distance = 1.0, inner(d, n)
        elif (edge >= 0 or corner >= 0) and distance > 0.0:
            n = sign * d[0] / distance, sign * d[1] / distance, sign * d[2] / distance
        signed = sign * distance
        if signed < -alarm:
            continue
        if everything:
            if signed >= 0.0 or inner(n, at(vertex_normals, v)) >= -0.3:
                continue
        elif not touching:
            strict = _STRICT + unknown
            s = sign * n[0], sign * n[1], sign * n[2]
            if edge >= 0 and not _edge_cone(edge, s, strict, y, edges, edge_prims, prims):
                continue
            if corner >= 0 and not _corner_cone(corner, s, strict, y, star_start, star):
                continue
            back = -n[0], -n[1], -n[2]
            if not _vertex_cone(v, back, tolerance, x, vertex_normals, ring_start, ring):
                continue
        if found == records.shape[0]:
            records, ids = _larger(records), _larger(ids)
        records[found, 0], records[found, 11] = signed - thickness, signed
        records[found, 4], records[found, 5] = turn, -turn * u0
        records[found, 6], records[found, 7] = -turn * u1, -turn * u2
        for k in range(3):
            records[found, 1 + k] = turn * n[k]
            records[found, 8 + k] = 0.5 * (z[k] + q[k])
        if edge >= 0:
            ids[found, 0], other = (EDGE_VERTEX if flip else VERTEX_EDGE), edge
        elif corner >= 0:
            ids[found, 0], other = VERTEX_VERTEX, corner
        else:
            ids[found, 0], other = (FACE_VERTEX if flip else VERTEX_FACE), p
        ids[found, 1], ids[found, 2] = (other, v) if flip else (v, other)
        ids[found, 3], ids[found, 4], ids[found, 5], ids[found, 6], ids[found, 7] = v, a, b, c, p
        found += 1
    return records[:found].copy(), ids[:found].copy()


@njit(cache=True, forceinline=True)
def _averted(n1, n2, m1, m2, open_ended, tolerance):
    """Can the normal cones of two edges (mean normals n, one face normal m) never oppose each other?"""
    if open_ended:
        return False
    c1, c2 = inner(n1, m1), inner(n2, m2)
    s1, s2 = np.sqrt(max(0.0, 1.0 - c1 * c1)), np.sqrt(max(0.0, 1.0 - c2 * c2))
    return -inner(n1, n2) < c1 * c2 - s1 * s2 - 4.0 * tolerance - 1e-9


@njit(cache=True, forceinline=True)
def _parallel(u, v):
    """Are edges so nearly parallel that rounding decides where they are closest, and along which normal?"""
    w = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    return inner(w, w) < _PARALLEL * _PARALLEL * inner(u, u) * inner(v, v)


@njit(cache=True)
def _cut_through(ends, e, x, edge_prims, prims):
    """Does a segment (two points) pass through a face of an edge?"""
    for k in range(2):
        p = edge_prims[e, k]
        if p < 0 or prims[p, 2] < 0:
            continue
        if crosses(ends[0], ends[1], at(x, prims[p, 0]), at(x, prims[p, 1]), at(x, prims[p, 2])):
            return True
    return False


@njit(cache=True, error_model="numpy", nogil=True)
def edge_contacts(candidates, f, g, alarm, tolerance):
    """Contacts between the interiors of ridges of f and g: records (m, 12) and ids (m, 8) as `vertex_contacts`."""
    x, radius, edges, ridge, edge_prims = f.x, f.radius, f.edges, f.ridge, f.edge_prims
    prims, normals, edge_normals = f.prims, f.normals, f.edge_normals
    y, thick, other_edges, other_ridge, other_edge_prims = g.x, g.radius, g.edges, g.ridge, g.edge_prims
    other_prims, other_normals, other_edge_normals = g.prims, g.normals, g.edge_normals
    records, ids = np.empty((64, 12)), np.empty((64, 8), dtype=np.int64)
    found = 0
    for i in range(candidates.shape[0]):
        e1, e2 = np.int64(candidates[i, 0]), np.int64(candidates[i, 1])
        if not ridge[e1] or not other_ridge[e2]:
            continue
        n1, n2 = at(edge_normals, e1), at(other_edge_normals, e2)
        open_ended = edge_prims[e1, 1] < 0 or other_edge_prims[e2, 1] < 0
        m1, m2 = at(normals, edge_prims[e1, 0]), at(other_normals, other_edge_prims[e2, 0])
        if _averted(n1, n2, m1, m2, open_ended, tolerance):
            continue
        a, b, c, d = edges[e1, 0], edges[e1, 1], other_edges[e2, 0], other_edges[e2, 1]
        xa, xb, xc, xd = at(x, a), at(x, b), at(y, c), at(y, d)
        if _parallel(minus(xb, xa), minus(xd, xc)):
            continue
        s, t = between_segments(xa, xb, xc, xd)
        if s <= 1e-9 or s >= 1.0 - 1e-9 or t <= 1e-9 or t >= 1.0 - 1e-9:
            continue
        p = (1 - s) * xa[0] + s * xb[0], (1 - s) * xa[1] + s * xb[1], (1 - s) * xa[2] + s * xb[2]
        q = (1 - t) * xc[0] + t * xd[0], (1 - t) * xc[1] + t * xd[1], (1 - t) * xc[2] + t * xd[2]
        w = minus(p, q)
        distance = np.sqrt(inner(w, w))
        thickness = (1.0 - s) * radius[a] + s * radius[b] + (1.0 - t) * thick[c] + t * thick[d]
        if distance - thickness > alarm:
            continue
        if distance <= 1e-14:
            u, v = minus(xb, xa), minus(xd, xc)
            w = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
        length = np.sqrt(inner(w, w))
        n = w[0] / length, w[1] / length, w[2] / length
        sign = 1.0 if inner(n, n2) - inner(n, n1) >= 0.0 else -1.0
        n = sign * n[0], sign * n[1], sign * n[2]
        if inner(n, n2) < 0.0 or inner(n, n1) > 0.0:
            continue
        if not _edge_cone(e1, (-n[0], -n[1], -n[2]), tolerance, x, edges, edge_prims, prims):
            continue
        if not _edge_cone(e2, n, tolerance, y, other_edges, other_edge_prims, other_prims):
            continue
        if sign < 0.0:
            if distance > alarm:
                continue
            # ridges that penetrate cut through each other's faces
            if not _cut_through((xa, xb), e2, y, other_edge_prims, other_prims) and not _cut_through(
                (xc, xd), e1, x, edge_prims, prims
            ):
                continue
        if found == records.shape[0]:
            records, ids = _larger(records), _larger(ids)
        records[found, 0], records[found, 11] = sign * distance - thickness, sign * distance
        for k in range(3):
            records[found, 1 + k] = n[k]
            records[found, 8 + k] = 0.5 * (p[k] + q[k])
        records[found, 4], records[found, 5], records[found, 6], records[found, 7] = 1.0 - s, s, t - 1.0, -t
        ids[found, 0], ids[found, 1], ids[found, 2], ids[found, 7] = EDGE_EDGE, e1, e2, -1
        ids[found, 3], ids[found, 4], ids[found, 5], ids[found, 6] = a, b, c, d
        found += 1
    return records[:found].copy(), ids[:found].copy()
