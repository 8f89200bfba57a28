"""Distance to the inside of tubes around line segments, and the lowest points of segments in them, compiled.

Free space is the union of the tubes: the distance is the largest of those to the single tubes. Each of them is concave
along a line, so between its ends a straight segment can only be lowest where one tube passes into another.
"""

from __future__ import annotations

import numpy as np
from numba import njit

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

    A look at `samples` equal parts brackets the lowest point; golden sections then find it to rounding.
    """
    m = len(corners)
    out, p = np.empty((m, 2)), np.empty(3)
    for i in range(m):
        a, b, r0, r1 = corners[i, 0], corners[i, 1], thickness[i, 0], thickness[i, 1]
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
