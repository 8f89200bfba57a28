"""Closest points of triangles, segments and points, and a closest-point query on a tree."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.bvh import box_distance2


@njit(cache=True, inline="always")
def dot(a, b):
    """a . b for vectors of three."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def on_segment(p, a, b):
    """Parameter in [0, 1] of the point of a-b nearest to p."""
    length2, along = 0.0, 0.0
    for d in range(3):
        e = b[d] - a[d]
        length2 += e * e
        along += e * (p[d] - a[d])
    if length2 <= 0.0:
        return 0.0
    return min(1.0, max(0.0, along / length2))


@njit(cache=True)
def on_triangle(p, a, b, c):
    """Barycentric coordinates (u, v, w) of the point of triangle a, b, c nearest to p.

    Coordinates that vanish are exactly zero, so that they tell the feature (vertex, edge, face).
    """
    ab0, ab1, ab2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    ac0, ac1, ac2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    ap0, ap1, ap2 = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    d1 = ab0 * ap0 + ab1 * ap1 + ab2 * ap2
    d2 = ac0 * ap0 + ac1 * ap1 + ac2 * ap2
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    bp0, bp1, bp2 = p[0] - b[0], p[1] - b[1], p[2] - b[2]
    d3 = ab0 * bp0 + ab1 * bp1 + ab2 * bp2
    d4 = ac0 * bp0 + ac1 * bp1 + ac2 * bp2
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    cp0, cp1, cp2 = p[0] - c[0], p[1] - c[1], p[2] - c[2]
    d5 = ab0 * cp0 + ab1 * cp1 + ab2 * cp2
    d6 = ac0 * cp0 + ac1 * cp1 + ac2 * cp2
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    total = va + vb + vc
    v, w = vb / total, vc / total
    return 1.0 - v - w, v, w


@njit(cache=True)
def between_segments(a, b, c, d):
    """Parameters s of a-b and t of c-d of the nearest points; (-1, -1) if the lines are parallel."""
    uu, vv, uv, uw, vw = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        u, v, w = b[i] - a[i], d[i] - c[i], a[i] - c[i]
        uu += u * u
        vv += v * v
        uv += u * v
        uw += u * w
        vw += v * w
    det = uu * vv - uv * uv
    if det <= 1e-12 * uu * vv:
        return -1.0, -1.0
    s = (uv * vw - vv * uw) / det
    t = (uu * vw - uv * uw) / det
    return s, t


@njit(cache=True)
def crosses(p, q, a, b, c):
    """Does the open segment p-q pass through the triangle a, b, c?"""
    n0 = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])
    n1 = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2])
    n2 = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    hp = n0 * (p[0] - a[0]) + n1 * (p[1] - a[1]) + n2 * (p[2] - a[2])
    hq = n0 * (q[0] - a[0]) + n1 * (q[1] - a[1]) + n2 * (q[2] - a[2])
    if hp * hq >= 0.0:
        return False
    t = hp / (hp - hq)
    x = (p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2]))
    size = n0 * n0 + n1 * n1 + n2 * n2
    corners = (a, b, c)
    for k in range(3):
        e, f = corners[k], corners[(k + 1) % 3]
        c0 = (f[1] - e[1]) * (x[2] - e[2]) - (f[2] - e[2]) * (x[1] - e[1])
        c1 = (f[2] - e[2]) * (x[0] - e[0]) - (f[0] - e[0]) * (x[2] - e[2])
        c2 = (f[0] - e[0]) * (x[1] - e[1]) - (f[1] - e[1]) * (x[0] - e[0])
        if n0 * c0 + n1 * c1 + n2 * c2 < -1e-12 * size:
            return False
    return True


@njit(cache=True)
def nearest_on_mesh(points, x, triangles, children, ranges, order, node_low, node_high):
    """For each point: index of the nearest triangle and barycentric coordinates there."""
    n = points.shape[0]
    which = np.full(n, -1, dtype=np.int64)
    bary = np.zeros((n, 3))
    stack = np.empty(256, dtype=np.int64)
    for i in range(n):
        p = points[i]
        best = np.inf
        if i > 0:  # neighbouring points tend to have neighbouring answers
            t = which[i - 1]
            u, v, w = on_triangle(p, x[triangles[t, 0]], x[triangles[t, 1]], x[triangles[t, 2]])
            total = 0.0
            for d in range(3):
                e = u * x[triangles[t, 0], d] + v * x[triangles[t, 1], d] + w * x[triangles[t, 2], d] - p[d]
                total += e * e
            best, which[i] = total, t
            bary[i, 0], bary[i, 1], bary[i, 2] = u, v, w
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if box_distance2(node_low, node_high, node, p) >= best:
                continue
            if children[node, 0] < 0:
                first, size = ranges[node, 0], ranges[node, 1]
                for k in range(first, first + size):
                    t = order[k]
                    u, v, w = on_triangle(p, x[triangles[t, 0]], x[triangles[t, 1]], x[triangles[t, 2]])
                    total = 0.0
                    for d in range(3):
                        e = (
                            u * x[triangles[t, 0], d]
                            + v * x[triangles[t, 1], d]
                            + w * x[triangles[t, 2], d]
                            - p[d]
                        )
                        total += e * e
                    if total < best:
                        best, which[i] = total, t
                        bary[i, 0], bary[i, 1], bary[i, 2] = u, v, w
            else:
                a, b = children[node, 0], children[node, 1]
                da = box_distance2(node_low, node_high, a, p)
                db = box_distance2(node_low, node_high, b, p)
                if da < db:
                    a, b = b, a
                stack[top], stack[top + 1] = a, b  # the nearer one is looked at first
                top += 2
    return which, bary


@njit(cache=True)
def may_be_lower_inside(x, simplices, gap, normal, alarm, sag, convex):
    """Which segments or triangles may be lower between their vertices than at them, by more than the sag?

    The distance is 1-Lipschitz. If it is convex as well, it lies above its tangents: each vertex
    gives a lower bound over the simplex, and a vertex from which it grows towards all others is
    the lowest point.
    """
    count, size = simplices.shape
    result = np.zeros(count, dtype=np.bool_)
    for s in range(count):
        least, length2 = np.inf, 0.0
        for i in range(size):
            v, w = simplices[s, i], simplices[s, (i + 1) % size]
            least = min(least, gap[v])
            total = 0.0
            for d in range(3):
                total += (x[v, d] - x[w, d]) ** 2
            length2 = max(length2, total)
        reach = np.sqrt(length2) * (0.5 if size == 2 else 0.578)
        if least - reach >= alarm or reach <= sag:
            continue
        if not convex:
            result[s] = True
            continue
        bound = -np.inf
        at_vertex = False
        for i in range(size):
            v = simplices[s, i]
            ahead = np.inf
            for j in range(size):
                w = simplices[s, j]
                if w != v:
                    slope = 0.0
                    for d in range(3):
                        slope += (x[w, d] - x[v, d]) * normal[v, d]
                    ahead = min(ahead, slope)
            if ahead >= 0.0:
                at_vertex = True
            bound = max(bound, gap[v] + min(ahead, 0.0))
        result[s] = not at_vertex and least - bound > sag and bound < alarm
    return result
