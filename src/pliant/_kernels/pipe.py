"""Distance to the inside of tubes around line segments, and the lowest points of segments in them, compiled.

Free space is the union of the tubes: the distance is the largest of those to the single tubes. Each of them is concave
along a line, so between its ends a straight segment can only be lowest where one tube passes into another.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.closest import may_be_lower_inside
from pliant._kernels.lowest import square_to

VERTEX, EDGE = 8, 9  # kinds in the keys, those of `pliant.contact.analytic`
SAMPLES = 8  # of a segment, to bracket its lowest point
_NEGLIGIBLE = 1e-4  # barycentric coordinates below this are zero
_GOLDEN = 0.6180339887498949


@njit(cache=True)
def _free(p, start, axis, square, low, high, radius):
    """The largest free distance of a point (3,), and the tube that it belongs to."""
    best, which = -np.inf, 0
    for s in range(len(start)):
        t = 0.0
        for k in range(3):
            t += (p[k] - start[s, k]) * axis[s, k]
        t = min(max(t / square[s], low[s]), high[s])
        r = 0.0
        for k in range(3):
            r += (p[k] - start[s, k] - t * axis[s, k]) ** 2
        value = radius[s] - np.sqrt(r)
        if value > best:
            best, which = value, s
    return best, which


@njit(cache=True)
def pipe_nearest(points, start, axis, square, low, high, radius):
    """Per point: distance (n,), offset from the nearest centreline (n, 3), its tube (n,), whether beside a barrel."""
    n = len(points)
    free, offset = np.empty(n), np.empty((n, 3))
    tube, barrel = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    for i in range(n):
        free[i], s = _free(points[i], start, axis, square, low, high, radius)
        tube[i] = s
        t = 0.0
        for k in range(3):
            t += (points[i, k] - start[s, k]) * axis[s, k]
        t /= square[s]
        barrel[i] = low[s] < t < high[s]
        t = min(max(t, low[s]), high[s])
        for k in range(3):
            offset[i, k] = points[i, k] - start[s, k] - t * axis[s, k]
    return free, offset, tube, barrel


@njit(cache=True)
def pipe_signed(points, start, axis, square, low, high, radius):
    """Distance (n,) and gradient (n, 3), which points to the centreline (anywhere across on the centreline itself)."""
    free, offset, tube, _ = pipe_nearest(points, start, axis, square, low, high, radius)
    for i in range(len(points)):
        size = np.sqrt(offset[i, 0] ** 2 + offset[i, 1] ** 2 + offset[i, 2] ** 2)
        if size > 1e-300:
            for k in range(3):
                offset[i, k] *= -1.0 / size
        else:
            a = axis[tube[i]]
            least = 0
            for k in range(1, 3):
                if abs(a[k]) < abs(a[least]):
                    least = k
            j, m = (least + 1) % 3, (least + 2) % 3
            size = np.sqrt(a[j] ** 2 + a[m] ** 2)
            offset[i, least], offset[i, j], offset[i, m] = 0.0, a[m] / size, -a[j] / size
    return free, offset


@njit(cache=True)
def _at(t, a, b, r0, r1, p, start, axis, square, low, high, radius):
    """Gap of a capsule at a parameter t of its segment."""
    for k in range(3):
        p[k] = (1.0 - t) * a[k] + t * b[k]
    return _free(p, start, axis, square, low, high, radius)[0] - (1.0 - t) * r0 - t * r1


@njit(cache=True)
def pipe_lowest(corners, thickness, samples, start, axis, square, low, high, radius):
    """Weights (m, 2) of the lowest point of each segment (m, 2, 3) with thickness (m, 2) at its ends.

    Where both ends have the same nearest tube, one of them is lowest: that tube's gap is concave in between, and the
    others only add room. Elsewhere a look at `samples` equal parts brackets the lowest point; golden sections then find
    it to rounding.
    """
    m = len(corners)
    out, p = np.empty((m, 2)), np.empty(3)
    for i in range(m):
        a, b, r0, r1 = corners[i, 0], corners[i, 1], thickness[i, 0], thickness[i, 1]
        first, here = _free(a, start, axis, square, low, high, radius)
        last, there = _free(b, start, axis, square, low, high, radius)
        if here == there:
            out[i, 0], out[i, 1] = (1.0, 0.0) if first - r0 <= last - r1 else (0.0, 1.0)
            continue
        best, lowest = 0, np.inf
        for s in range(samples + 1):
            value = _at(s / samples, a, b, r0, r1, p, start, axis, square, low, high, radius)
            if value < lowest:
                best, lowest = s, value
        if best == 0 or best == samples:
            # at an end, unless a kink hides between it and the next sample
            inner = _at(
                0.02 / samples if best == 0 else 1.0 - 0.02 / samples,
                a, b, r0, r1, p, start, axis, square, low, high, radius,
            )  # fmt: skip
            if inner >= lowest:
                out[i, 0], out[i, 1] = (1.0, 0.0) if best == 0 else (0.0, 1.0)
                continue
        left, right = max(best - 1, 0) / samples, min(best + 1, samples) / samples
        x, y = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        fx = _at(x, a, b, r0, r1, p, start, axis, square, low, high, radius)
        fy = _at(y, a, b, r0, r1, p, start, axis, square, low, high, radius)
        for _ in range(60):
            if fx < fy:
                right, y, fy = y, x, fx
                x = right - _GOLDEN * (right - left)
                fx = _at(x, a, b, r0, r1, p, start, axis, square, low, high, radius)
            else:
                left, x, fx = x, y, fy
                y = left + _GOLDEN * (right - left)
                fy = _at(y, a, b, r0, r1, p, start, axis, square, low, high, radius)
        t = x if fx < fy else y
        out[i, 0], out[i, 1] = 1.0 - t, t
    return out


@njit(cache=True)
def pipe_hessian(points, start, axis, square, low, high, radius):
    """Second derivative (n, 3, 3) of the distance: -(I - n n^T [- a a^T on a barrel]) / rho, n away from the axis."""
    _, offset, tube, barrel = pipe_nearest(points, start, axis, square, low, high, radius)
    out, n = np.empty((len(points), 3, 3)), np.empty(3)
    for p in range(len(points)):
        rho = np.sqrt(offset[p, 0] ** 2 + offset[p, 1] ** 2 + offset[p, 2] ** 2)
        n[0], n[1], n[2] = 0.0, 0.0, 1.0
        if rho > 1e-150:
            for k in range(3):
                n[k] = offset[p, k] / rho
        s = tube[p]
        flat = 1.0 / square[s] if barrel[p] else 0.0
        for i in range(3):
            for j in range(3):
                own = 1.0 if i == j else 0.0
                out[p, i, j] = -(own - n[i] * n[j] - flat * axis[s, i] * axis[s, j]) / max(rho, 1e-300)
    return out


@njit(cache=True)
def curves_in_pipe(x, thickness, segments, features, tubes, alarm, offset, sag, between, index):
    """Contacts of a skin of curves with the inside of tubes, vertices first, then points between them.

    Args:
        x: positions of the skin's vertices in the pipe's frame [m] (n, 3).
        thickness: around them [m] (n,).
        segments: of the skin (m, 2).
        features: what segments are called in the keys (m,).
        tubes: start, axis, square of its length, least and largest parameter, radius.
        alarm, offset, sag: see `pliant.contact.analytic.Sampling`.
        between: look between the vertices.
        index: of the obstacle.

    Returns:
        keys, vertices (c, 2), weights (c, 2), gaps, normals (c, 3), positions (c, 3), points of the wall
        (c, 3) and whether every contact is one of a vertex.
    """
    distance, normal = pipe_signed(x, *tubes)
    gap = distance - thickness - offset
    keep = np.zeros(0, dtype=np.int64)
    if between:
        keep = np.flatnonzero(may_be_lower_inside(x, segments, gap, normal, alarm, sag, False))
    corners, thick = np.empty((len(keep), 2, 3)), np.empty((len(keep), 2))
    for s in range(len(keep)):
        for k in range(2):
            corners[s, k] = x[segments[keep[s], k]]
            thick[s, k] = thickness[segments[keep[s], k]]
    inner = pipe_lowest(corners, thick, SAMPLES, *tubes)
    places, depth, good = np.empty((len(keep), 3)), np.empty(len(keep)), np.zeros(len(keep), dtype=np.bool_)
    for s in range(len(keep)):
        if inner[s, 0] < _NEGLIGIBLE or inner[s, 1] < _NEGLIGIBLE:
            continue  # at an end
        total = inner[s, 0] + inner[s, 1]
        inner[s, 0], inner[s, 1] = inner[s, 0] / total, inner[s, 1] / total
        for i in range(3):
            places[s, i] = inner[s, 0] * corners[s, 0, i] + inner[s, 1] * corners[s, 1, i]
        depth[s] = _free(places[s], *tubes)[0] - (inner[s, 0] * thick[s, 0] + inner[s, 1] * thick[s, 1]) - offset
        least = min(gap[segments[keep[s], 0]], gap[segments[keep[s], 1]])
        good[s] = depth[s] < least - sag and depth[s] < alarm
    chosen, between_them = np.flatnonzero(gap < alarm), np.flatnonzero(good)
    c, m = len(chosen), len(chosen) + len(between_them)
    key, vertices = np.empty(m, np.int64), np.empty((m, 2), np.int64)
    weights, gaps = np.empty((m, 2)), np.empty(m)
    normals, positions, points = np.empty((m, 3)), np.empty((m, 3)), np.empty((m, 3))
    for r in range(c):
        v = chosen[r]
        key[r], vertices[r, 0], vertices[r, 1] = ((index << 5 | VERTEX) << 50) | (v << 25), v, v
        weights[r, 0], weights[r, 1], gaps[r] = 1.0, 0.0, gap[v]
        for i in range(3):
            normals[r, i], positions[r, i] = normal[v, i], x[v, i]
            points[r, i] = x[v, i] - distance[v] * normal[v, i]
    if m > c:
        found = places[between_them]
        away, across = pipe_signed(found, *tubes)
        square_to(across, corners[between_them], inner[between_them])
        for j in range(m - c):
            r, s = c + j, between_them[j]
            key[r], gaps[r] = ((index << 5 | EDGE) << 50) | (features[keep[s]] << 25), depth[s]
            for k in range(2):
                vertices[r, k], weights[r, k] = segments[keep[s], k], inner[s, k]
            for i in range(3):
                normals[r, i], positions[r, i] = across[j, i], found[j, i]
                points[r, i] = found[j, i] - away[j] * across[j, i]
    return key, vertices, weights, gaps, normals, positions, points, m == c
