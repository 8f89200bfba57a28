"""Which contacts repeat another one."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def first_of_each(obstacle, vertices, weights, normal):
    """True (m,) for contacts that are not the same as an earlier one, to 1e-4 in the weights and 0.005 in the normal.

    obstacle (m,), vertices and weights (m, k), normal (m, 3). Vertices count in any order and only with weight, and a
    pair may be seen from either side.
    """
    m, size = vertices.shape
    tags = np.empty((m, 2 * size + 4), dtype=np.int64)
    mixed = np.empty(m, dtype=np.int64)
    keep = np.ones(m, dtype=np.bool_)
    for i in range(m):
        tag = tags[i]
        for k in range(size):
            w = np.int64(np.rint(1e4 * weights[i, k]))
            v = vertices[i, k] if w != 0 else np.int64(-1)
            j = k
            while j > 0 and tag[j - 1] > v:
                tag[j], tag[size + j] = tag[j - 1], tag[size + j - 1]
                j -= 1
            tag[j], tag[size + j] = v, w
        side = np.sign(tag[2 * size - 1])
        for k in range(size):
            tag[size + k] *= side
        for d in range(3):
            tag[2 * size + d] = np.int64(np.rint(200.0 * side * normal[i, d]))
        tag[2 * size + 3] = obstacle[i]
        total = np.int64(0)
        for d in range(tag.shape[0]):
            total = total * 1000003 + tag[d]
        mixed[i] = total
        for j in range(i):
            if mixed[j] == total and keep[j] and np.array_equal(tags[j], tag):
                keep[i] = False
                break
    return keep
