"""Contacts of vertices with triangles or segments, followed from pose to pose (`pliant.contact.retention`)."""

from __future__ import annotations

import numpy as np
from numba import njit

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
