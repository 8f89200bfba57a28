"""Cable lengths and enclosed volumes: values, gradients and second derivatives, scattered into global arrays.

A cable is a list of points; point i is fixed[i] + sum of weight * x[node] over entries ptr[i]..ptr[i+1]. Second
derivatives are written span by span, for all ordered pairs of entries of the two points, in the order of `cable_pairs`.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def cable_points(x, ptr, node, weight, fixed, out):
    """Positions of the points of a cable (n, 3)."""
    for i in range(len(fixed)):
        for j in range(3):
            p = fixed[i, j]
            for k in range(ptr[i], ptr[i + 1]):
                p += weight[k] * x[node[k], j]
            out[i, j] = p


@njit(cache=True)
def cable_spans(points, direction, length):
    """Unit vectors and lengths of the spans; returns the total length."""
    total = 0.0
    for i in range(len(length)):
        s = 0.0
        for j in range(3):
            direction[i, j] = points[i + 1, j] - points[i, j]
            s += direction[i, j] ** 2
        s = max(np.sqrt(s), 1e-12)
        length[i] = s
        total += s
        for j in range(3):
            direction[i, j] /= s
    return total


@njit(cache=True)
def measure_cable(x, ptr, node, weight, fixed, points, direction, length):
    """`cable_points` and `cable_spans` in one call."""
    cable_points(x, ptr, node, weight, fixed, points)
    return cable_spans(points, direction, length)


@njit(cache=True)
def capstan(direction, friction, out):
    """Tension of each span relative to the first: it falls by exp(-mu angle) at each bend."""
    out[0] = 1.0
    for i in range(1, len(out)):
        c = 0.0
        for j in range(3):
            c += direction[i - 1, j] * direction[i, j]
        out[i] = out[i - 1] * np.exp(-friction * np.arccos(min(1.0, max(-1.0, c)))) if friction > 0.0 else 1.0


@njit(cache=True)
def spread_spans(direction, span_force, ptr, node, weight, out):
    """out += sum over spans of span_force * d(-length) / d x."""
    for i in range(len(span_force)):
        f = span_force[i]
        if f == 0.0:
            continue
        for j in range(3):
            v = f * direction[i, j]
            for k in range(ptr[i], ptr[i + 1]):
                out[node[k], j] += weight[k] * v
            for k in range(ptr[i + 1], ptr[i + 2]):
                out[node[k], j] -= weight[k] * v


@njit(cache=True)
def pull_cable(x, ptr, node, weight, fixed, points, direction, length, tension, friction, out):
    """out += force on the nodes for a tension at the pulled end of a cable: measured, shared out and spread."""
    measure_cable(x, ptr, node, weight, fixed, points, direction, length)
    share = np.empty(len(length))
    capstan(direction, friction, share)
    for i in range(len(share)):
        share[i] *= tension
    spread_spans(direction, share, ptr, node, weight, out)


@njit(cache=True)
def cable_pairs(ptr, node):
    """Ordered pairs of nodes (m, 2) that the second derivative couples."""
    count = 0
    for i in range(len(ptr) - 2):
        count += (ptr[i + 2] - ptr[i]) ** 2
    out = np.empty((count, 2), np.int64)
    m = 0
    for i in range(len(ptr) - 2):
        for a in range(ptr[i], ptr[i + 2]):
            for b in range(ptr[i], ptr[i + 2]):
                out[m, 0] = node[a]
                out[m, 1] = node[b]
                m += 1
    return out


@njit(cache=True)
def curve_cable(x, ptr, node, weight, fixed, points, direction, length, tension, friction, slots, data):
    """data += derivative of minus the pull of a cable at a tension, bend angles held."""
    measure_cable(x, ptr, node, weight, fixed, points, direction, length)
    lateral = np.empty(len(length))
    capstan(direction, friction, lateral)
    for i in range(len(length)):
        lateral[i] *= -tension / length[i]
    scatter_spans(direction, np.zeros(len(length)), lateral, ptr, weight, slots, data)


@njit(cache=True)
def scatter_spans(direction, axial, lateral, ptr, weight, slots, data):
    """Add axial d d^T + lateral (I - d d^T), spread to the nodes of each span, to data."""
    B = np.empty((3, 3))
    m = 0
    for i in range(len(axial)):
        for r in range(3):
            for s in range(3):
                B[r, s] = (axial[i] - lateral[i]) * direction[i, r] * direction[i, s]
            B[r, r] += lateral[i]
        middle = ptr[i + 1]
        for a in range(ptr[i], ptr[i + 2]):
            wa = -weight[a] if a < middle else weight[a]
            for b in range(ptr[i], ptr[i + 2]):
                w = wa * (-weight[b] if b < middle else weight[b])
                for r in range(3):
                    for s in range(3):
                        if slots[m, r, s] >= 0:
                            data[slots[m, r, s]] += w * B[r, s]
                m += 1


@njit(cache=True)
def _cross(a, b, out):
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def _at(x, tri, N, da, db, g, p, a, b):
    p[:] = 0.0
    a[:] = 0.0
    b[:] = 0.0
    for k in range(len(tri)):
        for j in range(3):
            v = x[tri[k], j]
            p[j] += N[g, k] * v
            a[j] += da[g, k] * v
            b[j] += db[g, k] * v


@njit(cache=True)
def surface_volume(x, triangles, N, da, db, w):
    """Volume enclosed by an oriented surface."""
    p, a, b, n = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    total = 0.0
    for t in range(len(triangles)):
        for g in range(len(w)):
            _at(x, triangles[t], N, da, db, g, p, a, b)
            _cross(a, b, n)
            total += w[g] * (p[0] * n[0] + p[1] * n[1] + p[2] * n[2])
    return total / 3.0


@njit(cache=True)
def surface_volume_gradient(x, triangles, N, da, db, w, factor, out):
    """out += factor * d volume / d x."""
    p, a, b = np.empty(3), np.empty(3), np.empty(3)
    n, bp, pa = np.empty(3), np.empty(3), np.empty(3)
    for t in range(len(triangles)):
        for g in range(len(w)):
            _at(x, triangles[t], N, da, db, g, p, a, b)
            _cross(a, b, n)
            _cross(b, p, bp)
            _cross(p, a, pa)
            f = factor * w[g] / 3.0
            for k in range(triangles.shape[1]):
                for j in range(3):
                    out[triangles[t, k], j] += f * (N[g, k] * n[j] + da[g, k] * bp[j] + db[g, k] * pa[j])


@njit(cache=True)
def surface_volume_hessian(x, triangles, N, da, db, w, factor, slots, data):
    """Add factor * d2 volume / d x2 to data; slots are ordered by triangle, node, node (m, 3, 3)."""
    k = triangles.shape[1]
    p, a, b, v = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for t in range(len(triangles)):
        for g in range(len(w)):
            _at(x, triangles[t], N, da, db, g, p, a, b)
            f = factor * w[g] / 3.0
            for c in range(k):
                for d in range(k):
                    # The derivative of a trilinear form: [v]x with v gathered from the three cyclic terms.
                    xb = N[g, c] * da[g, d] - da[g, c] * N[g, d]
                    xa = N[g, c] * db[g, d] - db[g, c] * N[g, d]
                    ab = da[g, c] * db[g, d] - db[g, c] * da[g, d]
                    for j in range(3):
                        v[j] = f * (-xb * b[j] + xa * a[j] - ab * p[j])
                    m = (t * k + c) * k + d
                    _add_cross(v, slots[m], data)


@njit(cache=True)
def _add_cross(v, place, data):
    """data[place] += [v]x."""
    if place[0, 1] >= 0:
        data[place[0, 1]] -= v[2]
    if place[0, 2] >= 0:
        data[place[0, 2]] += v[1]
    if place[1, 0] >= 0:
        data[place[1, 0]] += v[2]
    if place[1, 2] >= 0:
        data[place[1, 2]] -= v[0]
    if place[2, 0] >= 0:
        data[place[2, 0]] -= v[1]
    if place[2, 1] >= 0:
        data[place[2, 1]] += v[0]
