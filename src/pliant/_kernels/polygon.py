"""Distance to a closed polygon."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def polygon_distance(vertices, points, turn):
    """Signed distance (n,) and gradient (n, 2) of points (n, 2) to a polygon (k, 2).

    Nearest edge; sign by the crossing number. `turn` is +1 for a counter-clockwise polygon, -1 otherwise.
    """
    n, k = points.shape[0], vertices.shape[0]
    value, gradient = np.empty(n), np.empty((n, 2))
    for i in range(n):
        px, py = points[i, 0], points[i, 1]
        best, gx, gy, nx, ny = np.inf, 0.0, 0.0, 0.0, 0.0
        inside = False
        for j in range(k):
            ax, ay = vertices[j, 0], vertices[j, 1]
            bx, by = vertices[(j + 1) % k, 0], vertices[(j + 1) % k, 1]
            ex, ey, wx, wy = bx - ax, by - ay, px - ax, py - ay
            square = ex * ex + ey * ey
            t = min(max((wx * ex + wy * ey) / square, 0.0), 1.0)
            dx, dy = wx - t * ex, wy - t * ey
            d2 = dx * dx + dy * dy
            if d2 < best:
                best, gx, gy = d2, dx, dy
                length = np.sqrt(square)
                nx, ny = turn * ey / length, -turn * ex / length
            if (ay > py) != (by > py) and px < ax + wy * ex / ey:
                inside = not inside
        d = np.sqrt(best)
        sign = -1.0 if inside else 1.0
        value[i] = sign * d
        if d > 0.0:
            gradient[i, 0], gradient[i, 1] = sign * gx / d, sign * gy / d
        else:  # on the outline the direction to the nearest point is lost: use the edge normal
            gradient[i, 0], gradient[i, 1] = nx, ny
    return value, gradient
