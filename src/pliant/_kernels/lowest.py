"""The lowest point of a triangle or segment over a sphere, cylinder or capsule, and the normal there, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.closest import on_segment, on_triangle
from pliant._kernels.round import ROUND


@njit(cache=True)
def _distance(p, a, axis, length, radius, ends):
    """Signed distance of a point from a capsule (ends ROUND) or a cylinder with flat ends."""
    t = 0.0
    for i in range(3):
        t += (p[i] - a[i]) * axis[i]
    if ends == ROUND:
        t = min(max(t, 0.0), length)
    r = 0.0
    for i in range(3):
        r += (p[i] - a[i] - t * axis[i]) ** 2
    r = np.sqrt(r) - radius
    if ends == ROUND:
        return r
    beyond = max(-t, t - length)
    if r <= 0.0 and beyond <= 0.0:
        return max(r, beyond)
    return np.sqrt(max(r, 0.0) ** 2 + max(beyond, 0.0) ** 2)


@njit(cache=True)
def _beside_axis(corners, a, axis, length, radius, best):
    """Lowest point of one evenly thick simplex by projection along the axis; False where an end may matter.

    Across the axis a simplex is a triangle or a segment in the plane, and its point nearest to the axis lies on an
    edge (or the axis pierces it). No point is nearer to the obstacle if that one is beside it, not beyond its ends.
    """
    size = corners.shape[0]
    flat = np.empty((size, 3))
    for k in range(size):
        t = 0.0
        for i in range(3):
            t += (corners[k, i] - a[i]) * axis[i]
        for i in range(3):
            flat[k, i] = corners[k, i] - a[i] - t * axis[i]
    least = np.inf
    for k in range(size if size == 3 else 1):
        m = (k + 1) % size
        along, square = 0.0, 0.0
        for i in range(3):
            side = flat[m, i] - flat[k, i]
            along -= flat[k, i] * side
            square += side * side
        w = min(max(along / square, 0.0), 1.0) if square > 0.0 else 0.0
        r = 0.0
        for i in range(3):
            r += ((1.0 - w) * flat[k, i] + w * flat[m, i]) ** 2
        if r < least:
            least = r
            best[:] = 0.0
            best[k] = 1.0 - w
            best[m] += w
    t = 0.0
    for k in range(size):
        for i in range(3):
            t += best[k] * (corners[k, i] - a[i]) * axis[i]
    depth = np.sqrt(least) - radius
    if size == 3 and depth < -0.9 * radius:
        return False  # the axis may pierce the triangle
    return max(-t, t - length) <= min(depth, 0.0)


@njit(cache=True)
def lowest_points(corners, thickness, shift, levels, shrink, a, axis, length, radius, ends):
    """Barycentric coordinates (m, k) of the lowest point of each simplex: exact beside the obstacle, else by grids.

    corners (m, k, 3), thickness (m, k); shift (g, k): grid relative to its centre; each level shrinks the grid.
    """
    m, size = corners.shape[0], corners.shape[1]
    out = np.empty((m, size))
    trial, best, centre = np.empty(size), np.empty(size), np.empty(size)
    p = np.empty(3)
    for s in range(m):
        even = True  # the same thickness everywhere moves no lowest point
        for k in range(1, size):
            even = even and thickness[s, k] == thickness[s, 0]
        if even and _beside_axis(corners[s], a, axis, length, radius, out[s]):
            continue
        centre[:] = 1.0 / size
        scale = 1.0
        for _ in range(levels):
            least = np.inf
            for g in range(shift.shape[0]):
                total = 0.0
                for k in range(size):
                    trial[k] = max(centre[k] + scale * shift[g, k], 0.0)
                    total += trial[k]
                value = 0.0
                p[:] = 0.0
                for k in range(size):
                    trial[k] /= total
                    value -= trial[k] * thickness[s, k]
                    for i in range(3):
                        p[i] += trial[k] * corners[s, k, i]
                value += _distance(p, a, axis, length, radius, ends)
                if value < least:
                    least = value
                    best[:] = trial
            centre[:] = best
            scale *= shrink
        out[s] = centre
    return out


@njit(cache=True)
def nearest_points(point, corners):
    """Barycentric coordinates (m, k) of the point of each simplex (m, k, 3) that is nearest to a point."""
    m, size = corners.shape[0], corners.shape[1]
    out = np.empty((m, size))
    for s in range(m):
        if size == 2:
            t = on_segment(point, corners[s, 0], corners[s, 1])
            out[s, 0], out[s, 1] = 1.0 - t, t
        else:
            b = on_triangle(point, corners[s, 0], corners[s, 1], corners[s, 2])
            for k in range(3):
                out[s, k] = b[k]
    return out


@njit(cache=True)
def square_to(normals, corners, weights):
    """Normals (m, 3), in place, without their part along the active edges, which vanishes at a smooth minimum.

    Inside of a box the gradient jumps from face to face; the skin's own normal is what remains. Weights (m, k) tell
    which corners (m, k, 3) are active.
    """
    size = corners.shape[1]
    first, second, better = np.empty(3), np.empty(3), np.empty(3)
    for s in range(normals.shape[0]):
        base, count = -1, 0
        for k in range(size):
            if weights[s, k] > 0.0:
                count += 1
                if base < 0:
                    base = k
        if count < 2:
            continue
        first[:] = 0.0
        second[:] = 0.0
        found = 0
        for k in range(base + 1, size):
            if weights[s, k] > 0.0:
                found += 1
                for i in range(3):
                    span = corners[s, k, i] - corners[s, base, i]
                    if found == 1:
                        first[i] = span
                    else:
                        second[i] = span
        n = normals[s]
        if count == 3:  # the triangle's own normal
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                better[i] = first[j] * second[k] - first[k] * second[j]
        else:
            for i in range(3):
                better[i] = first[i]
        square, along = 0.0, 0.0
        for i in range(3):
            square += better[i] * better[i]
            along += better[i] * n[i]
        if square == 0.0:
            continue
        length = 0.0
        for i in range(3):
            part = better[i] * along / square
            better[i] = part if count == 3 else n[i] - part
            length += better[i] * better[i]
        length = np.sqrt(length)
        if length > 1e-3:
            for i in range(3):
                n[i] = better[i] / length
