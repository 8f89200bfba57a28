"""A skin of triangles against a plane, sphere, capsule or cylinder, in one pass.

What is looked for is what `pliant.contact.analytic` says; there it is done for any obstacle, here for these four.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.closest import may_be_lower_inside, on_segment, on_triangle
from pliant._kernels.lowest import lowest_points, square_to
from pliant._kernels.round import signed_round

ROUND, FLAT, BALL, PLANE = 0, 1, 2, 3
VERTEX, EDGE, FACE = 8, 9, 10  # kinds in the keys, those of `pliant.contact.analytic`
_NEGLIGIBLE = 1e-4  # barycentric coordinates below this are zero
_ROUNDING = 1e-9  # of the alarm distance


@njit(cache=True)
def _signed(points, a, axis, length, radius, ends, aside):
    """Distance (n,) and gradient (n, 3) of a solid at points (n, 3)."""
    n = points.shape[0]
    distance, gradient = np.empty(n), np.empty((n, 3))
    if ends == PLANE:
        for p in range(n):
            distance[p] = 0.0
            for i in range(3):
                distance[p] += (points[p, i] - a[i]) * axis[i]
                gradient[p, i] = axis[i]
    else:
        signed_round(points, a, axis, length, radius, FLAT if ends == FLAT else ROUND, aside, distance, gradient)
    return distance, gradient


@njit(cache=True)
def _lowest(x, simplices, keep, a, axis, length, radius, ends, aside, shift):
    """Weights (m, k), points (m, 3) and distances (m,) of the lowest points of some simplices."""
    m, size = keep.shape[0], simplices.shape[1]
    corners = np.empty((m, size, 3))
    for s in range(m):
        for k in range(size):
            corners[s, k] = x[simplices[keep[s], k]]
    weights = np.empty((m, size))
    if ends != BALL:
        weights = lowest_points(corners, np.zeros((m, size)), shift, 17, 0.5, a, axis, length, radius, ends)
    points = np.zeros((m, 3))
    for s in range(m):
        if ends == BALL and size == 2:
            t = on_segment(a, corners[s, 0], corners[s, 1])
            weights[s, 0], weights[s, 1] = 1.0 - t, t
        elif ends == BALL:
            b = on_triangle(a, corners[s, 0], corners[s, 1], corners[s, 2])
            for k in range(3):
                weights[s, k] = b[k]
        total = 0.0
        for k in range(size):
            if weights[s, k] < _NEGLIGIBLE:
                weights[s, k] = 0.0
            total += weights[s, k]
        for k in range(size):
            weights[s, k] /= total
            for i in range(3):
                points[s, i] += weights[s, k] * corners[s, k, i]
    return weights, points, _signed(points, a, axis, length, radius, ends, aside)[0]


@njit(cache=True)
def _least(values, simplex):
    """The smallest of the values at the corners of a simplex."""
    least = np.inf
    for k in range(simplex.shape[0]):
        least = min(least, values[simplex[k]])
    return least


@njit(cache=True, nogil=True)
def skin_against_solid(
    x, thickness, triangles, prim_edges, edges, edge_prims, solid, grids, alarm, offset, sag, tolerance, between
):
    """Contacts of a skin at x (n, 3), in the order vertices, faces, edges.

    solid: start of the axis (centre, point of a plane), axis (normal), length, radius, one of the codes above, and the
    gradient on the axis itself. grids: for the search of lowest points, of a triangle and of a segment, relative
    to their centres. between: look between the vertices, of a skin without thickness. Returns kind, feature,
    vertices (m, 3) and weights (m, 3), gap, normal, position, point.
    """
    a, axis, length, radius, ends, aside = solid
    distance, normal = _signed(x, a, axis, length, radius, ends, aside)
    gap = distance - thickness - offset
    chosen = np.flatnonzero(gap < alarm)
    some, few = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)  # triangles, edges that may be lower inside
    if between:
        some = np.flatnonzero(may_be_lower_inside(x, triangles, gap, normal, alarm, sag, True))
    weights, points, depth = _lowest(x, triangles, some, a, axis, length, radius, ends, aside, grids[0])
    if some.shape[0] > 0:
        number = np.full(triangles.shape[0] + 1, -1)  # the last place is for the missing second triangle of a border
        seen = np.zeros(edges.shape[0], dtype=np.bool_)
        for s in range(some.shape[0]):
            number[some[s]] = s
            for k in range(3):
                seen[prim_edges[some[s], k]] = True
        few = np.flatnonzero(seen)
        few = few[may_be_lower_inside(x, edges[few], gap, normal, alarm, sag, True)]
    shares, places, own = _lowest(x, edges, few, a, axis, length, radius, ends, aside, grids[1])
    around = np.full(edges.shape[0] if some.shape[0] > 0 else 0, np.inf)
    good = np.zeros(few.shape[0], dtype=np.bool_)
    for e in range(few.shape[0]):
        depth_here = own[e] - offset
        good[e] = shares[e, 0] > 0.0 and shares[e, 1] > 0.0 and depth_here < alarm
        good[e] = good[e] and depth_here < _least(gap, edges[few[e]]) - sag
        for k in range(2):
            beside = number[edge_prims[few[e], k]]
            if beside >= 0:
                way = 0.0
                for i in range(3):
                    way += (places[e, i] - points[beside, i]) ** 2
                good[e] = good[e] and own[e] - depth[beside] <= tolerance * np.sqrt(way) + sag
        if good[e]:
            around[few[e]] = depth_here
    inside = np.zeros(some.shape[0], dtype=np.bool_)
    for s in range(some.shape[0]):
        # A lowest point inside a face counts where the edges around it are higher, by more than rounding.
        here, corner = depth[s] - offset, _least(gap, triangles[some[s]])
        least = min(corner, _least(around, prim_edges[some[s]]))
        inside[s] = here < alarm and here < corner - sag and here < least - _ROUNDING * alarm
        for k in range(3):
            inside[s] = inside[s] and weights[s, k] > 0.0
    faces, ridges = np.flatnonzero(inside), np.flatnonzero(good)
    m0, m1 = chosen.shape[0], chosen.shape[0] + faces.shape[0]
    m = m1 + ridges.shape[0]
    kind, feature = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    vertices, share = np.empty((m, 3), dtype=np.int64), np.zeros((m, 3))
    out_gap, out_normal, position, point = np.empty(m), np.empty((m, 3)), np.empty((m, 3)), np.empty((m, 3))
    for c in range(m0):
        v = chosen[c]
        kind[c], feature[c], out_gap[c], share[c, 0] = VERTEX, v, gap[v], 1.0
        vertices[c], position[c], out_normal[c] = v, x[v], normal[v]
        for i in range(3):
            point[c, i] = x[v, i] - distance[v] * normal[v, i]
    if m == m0:
        return kind, feature, vertices, share, out_gap, out_normal, position, point
    for c in range(m0, m):
        if c < m1:
            s = faces[c - m0]
            kind[c], feature[c], out_gap[c] = FACE, some[s], depth[s] - offset
            vertices[c], share[c], position[c] = triangles[some[s]], weights[s], points[s]
        else:
            e = ridges[c - m1]
            kind[c], feature[c], out_gap[c] = EDGE, few[e], own[e] - offset
            vertices[c, 0], vertices[c, 1], vertices[c, 2] = edges[few[e], 0], edges[few[e], 1], edges[few[e], 1]
            share[c, 0], share[c, 1], position[c] = shares[e, 0], shares[e, 1], places[e]
    away, push = _signed(position[m0:], a, axis, length, radius, ends, aside)
    corners = np.empty((m - m0, 3, 3))
    for c in range(m - m0):
        for k in range(3):
            corners[c, k] = x[vertices[m0 + c, k]]
    square_to(push, corners, share[m0:])
    for c in range(m - m0):
        out_normal[m0 + c] = push[c]
        for i in range(3):
            point[m0 + c, i] = position[m0 + c, i] - away[c] * push[c, i]
    return kind, feature, vertices, share, out_gap, out_normal, position, point
