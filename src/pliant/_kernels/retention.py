"""Contacts of vertices with triangles or segments, followed from pose to pose (`pliant.contact.retention`)."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.closest import between_segments
from pliant._kernels.features import at, inner, minus


@njit(cache=True, error_model="numpy", nogil=True)
def over_planes(vertices, x, radius, offset):
    """Outward normal (m, 3), gap (m,) and foot (m, 3) of vertices over planes of triangles or lines of segments.

    vertices (m, 4): the vertex, then the triangle, or the segment with its last vertex twice; nan where it has no size.
    """
    m = vertices.shape[0]
    normal, gap, bary = np.empty((m, 3)), np.empty(m), np.empty((m, 3))
    for i in range(m):
        v, a, b, c = vertices[i, 0], vertices[i, 1], vertices[i, 2], vertices[i, 3]
        u, w, d = minus(at(x, b), at(x, a)), minus(at(x, c), at(x, a)), minus(at(x, v), at(x, a))
        if b == c:  # of a curve: the way to the nearest point of the line takes the place of the normal
            t = inner(d, u) / inner(u, u)
            n = d[0] - t * u[0], d[1] - t * u[1], d[2] - t * u[2]
            bary[i, 0], bary[i, 1], bary[i, 2] = 1.0 - t, t, 0.0
        else:
            n = u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]
            dw = d[1] * w[2] - d[2] * w[1], d[2] * w[0] - d[0] * w[2], d[0] * w[1] - d[1] * w[0]
            ud = u[1] * d[2] - u[2] * d[1], u[2] * d[0] - u[0] * d[2], u[0] * d[1] - u[1] * d[0]
            second, third = inner(dw, n) / inner(n, n), inner(ud, n) / inner(n, n)
            bary[i, 0], bary[i, 1], bary[i, 2] = 1.0 - second - third, second, third
        length = np.sqrt(inner(n, n))
        n = n[0] / length, n[1] / length, n[2] / length
        normal[i, 0], normal[i, 1], normal[i, 2] = n
        thick = radius[v] + bary[i, 0] * radius[a] + bary[i, 1] * radius[b] + bary[i, 2] * radius[c]
        gap[i] = inner(d, n) - thick - offset
    return normal, gap, bary


@njit(cache=True, error_model="numpy", nogil=True)
def touches_alike(vertices, normals, found_vertices, found_weights, found_normals, alike):
    """Does a contact that was found have each vertex (m,) alone on one side, and a normal like the given one (m, 3)?"""
    out = np.zeros(vertices.shape[0], dtype=np.bool_)
    for i in range(vertices.shape[0]):
        for c in range(found_vertices.shape[0]):
            for k in range(found_vertices.shape[1]):
                alone = found_vertices[c, k] == vertices[i] and abs(found_weights[c, k]) > 1.0 - 1e-6
                if alone and inner(at(found_normals, c), at(normals, i)) > alike:
                    out[i] = True
    return out


@njit(cache=True, error_model="numpy", nogil=True)
def pairs_followed(crossed, vertices, weights, normal, x, radius, offset):
    """Gap (m,), normal (m, 3) and weights (m, 4) of pairs of soft features that stay the same while the skin moves.

    A vertex (column 0) over a face, an edge or a vertex (those with weights), or, where `crossed` (m,), two edges.
    Features that touch have no direction between them: then faces and crossed edges know their normal, and that of
    other pairs turns with the edge only.
    """
    m = vertices.shape[0]
    gap, out, w = np.empty(m), np.empty((m, 3)), np.zeros((m, 4))
    for i in range(m):
        a, b, c, d = vertices[i, 0], vertices[i, 1], vertices[i, 2], vertices[i, 3]
        old = at(normal, i)
        sign = 1.0 if weights[i, 0] > 0.0 else -1.0
        for k in range(4):
            w[i, k] = weights[i, k]
        if crossed[i]:
            u, v = minus(at(x, b), at(x, a)), minus(at(x, d), at(x, c))
            n = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
            s, t = between_segments(at(x, a), at(x, b), at(x, c), at(x, d))
            if s >= 0.0:
                w[i, 0], w[i, 1], w[i, 2], w[i, 3] = sign * (1.0 - s), sign * s, sign * (t - 1.0), -sign * t
            else:  # parallel
                n = old
        elif weights[i, 1] != 0.0 and weights[i, 2] != 0.0 and weights[i, 3] != 0.0:
            u, v, h = minus(at(x, c), at(x, b)), minus(at(x, d), at(x, b)), minus(at(x, a), at(x, b))
            n = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
            hv = h[1] * v[2] - h[2] * v[1], h[2] * v[0] - h[0] * v[2], h[0] * v[1] - h[1] * v[0]
            uh = u[1] * h[2] - u[2] * h[1], u[2] * h[0] - u[0] * h[2], u[0] * h[1] - u[1] * h[0]
            second, third = inner(hv, n) / inner(n, n), inner(uh, n) / inner(n, n)
            w[i, 1], w[i, 2], w[i, 3] = -sign * (1.0 - second - third), -sign * second, -sign * third
        else:
            n = old
            places = np.nonzero(weights[i, 1:])[0] + 1
            if len(places) == 2:
                e, f = vertices[i, places[0]], vertices[i, places[1]]
                u, h = minus(at(x, f), at(x, e)), minus(at(x, a), at(x, e))
                t, along = inner(h, u) / inner(u, u), inner(old, u) / inner(u, u)
                w[i, places[0]], w[i, places[1]] = -sign * (1.0 - t), -sign * t
                n = old[0] - along * u[0], old[1] - along * u[1], old[2] - along * u[2]
        apart, thick = (0.0, 0.0, 0.0), 0.0
        for k in range(4):
            z = at(x, vertices[i, k])
            apart = apart[0] + w[i, k] * z[0], apart[1] + w[i, k] * z[1], apart[2] + w[i, k] * z[2]
            thick += abs(w[i, k]) * radius[vertices[i, k]]
        if thick > 0.0 and not (inner(n, n) > 0.0 and inner(apart, apart) == 0.0):
            n = apart
        length = np.sqrt(inner(n, n))
        if inner(n, old) < 0.0:
            length = -length
        out[i, 0], out[i, 1], out[i, 2] = n[0] / length, n[1] / length, n[2] / length
        gap[i] = inner(apart, at(out, i)) - thick - offset
    return gap, out, w
