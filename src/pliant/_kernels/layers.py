"""Layered depth images on the CPU: where rays along an axis enter and leave closed surfaces."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _scan(x, triangles, axis, low, pixel, shape, counts, start, fill, hit_triangle, hit_depth, hit_bary):
    """Count the hits per pixel, or (fill) store them from start[pixel] on."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        au, av = (x[a, u] - low[u]) / pixel, (x[a, v] - low[v]) / pixel
        bu, bv = (x[b, u] - low[u]) / pixel, (x[b, v] - low[v]) / pixel
        cu, cv = (x[c, u] - low[u]) / pixel, (x[c, v] - low[v]) / pixel
        area = (bu - au) * (cv - av) - (bv - av) * (cu - au)
        if area == 0.0:
            continue
        # pixel centres lie at whole numbers
        i0 = max(0, int(np.ceil(min(au, bu, cu))))
        i1 = min(shape[0] - 1, int(np.floor(max(au, bu, cu))))
        j0 = max(0, int(np.ceil(min(av, bv, cv))))
        j1 = min(shape[1] - 1, int(np.floor(max(av, bv, cv))))
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                wa = ((bu - i) * (cv - j) - (bv - j) * (cu - i)) / area
                wb = ((cu - i) * (av - j) - (cv - j) * (au - i)) / area
                wc = 1.0 - wa - wb
                if wa < 0.0 or wb < 0.0 or wc < 0.0:
                    continue
                p = i * shape[1] + j
                if fill:
                    at = start[p] + counts[p]
                    hit_triangle[at] = t if area > 0.0 else -t - 1
                    hit_depth[at] = wa * x[a, axis] + wb * x[b, axis] + wc * x[c, axis]
                    hit_bary[at, 0], hit_bary[at, 1], hit_bary[at, 2] = wa, wb, wc
                counts[p] += 1


@njit(cache=True)
def raster(x, triangles, axis, low, pixel, shape):
    """Hits of the rays through all pixels, sorted by pixel and depth.

    Returns start (pixels + 1,), triangle (a triangle whose normal is against the ray is stored as
    -t - 1), depth, barycentric coordinates.
    """
    pixels = shape[0] * shape[1]
    counts = np.zeros(pixels, dtype=np.int64)
    none_i, none_f, none_b = np.empty(0, np.int64), np.empty(0), np.empty((0, 3))
    _scan(x, triangles, axis, low, pixel, shape, counts, counts, False, none_i, none_f, none_b)
    start = np.zeros(pixels + 1, dtype=np.int64)
    for p in range(pixels):
        start[p + 1] = start[p] + counts[p]
        counts[p] = 0
    total = start[pixels]
    triangle, depth, bary = np.empty(total, np.int64), np.empty(total), np.empty((total, 3))
    _scan(x, triangles, axis, low, pixel, shape, counts, start, True, triangle, depth, bary)
    for p in range(pixels):
        for i in range(start[p] + 1, start[p + 1]):
            j = i
            while j > start[p] and depth[j - 1] > depth[j]:
                depth[j - 1], depth[j] = depth[j], depth[j - 1]
                triangle[j - 1], triangle[j] = triangle[j], triangle[j - 1]
                for k in range(3):
                    bary[j - 1, k], bary[j, k] = bary[j, k], bary[j - 1, k]
                j -= 1
    return start, triangle, depth, bary


@njit(cache=True)
def overlaps(start, triangle, label, twice):
    """Intervals along the rays inside of both labels 0 and 1 (or twice inside of label 0).

    Returns pixel, first hit, last hit. A ray that leaves a body it never entered (a surface
    that is not closed) is not trusted: its pixel gives nothing.
    """
    pixels = start.shape[0] - 1
    room = max(16, triangle.shape[0])
    out = np.empty((room, 3), dtype=np.int64)
    found = 0
    for p in range(pixels):
        inside = np.zeros(2, dtype=np.int64)
        begin = -1
        mark = found
        sound = True
        for i in range(start[p], start[p + 1]):
            t = triangle[i]
            entering = t < 0
            which = label[-t - 1 if entering else t]
            if which < 0:
                continue
            inside[which] += 1 if entering else -1
            if inside[which] < 0:
                sound = False
            active = inside[0] >= 2 if twice else (inside[0] > 0 and inside[1] > 0)
            if active and begin < 0:
                begin = i
            elif not active and begin >= 0:
                out[found, 0], out[found, 1], out[found, 2] = p, begin, i
                found += 1
                begin = -1
        if not sound or inside[0] != 0 or inside[1] != 0:
            found = mark
    return out[:found].copy()
