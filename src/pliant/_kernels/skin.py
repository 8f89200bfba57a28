"""Compiled rows of the skin of a solid body: derivatives of weighted sums of vertex positions."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def skin_entries(nodes, vertices, weights, directions, map_ptr, map_columns, map_values):
    """Derivatives of sum_k w[i,k] d[i] . x[vertices[i,k]] as a CSR matrix: (values, columns, row starts).

    nodes (n,): node of each vertex. map_*: CSR arrays of d x / d q, three rows per node. Entries of one row may repeat
    a column: their sum is what counts.
    """
    m, k = vertices.shape
    starts = np.empty(m + 1, np.int32)
    starts[0] = 0
    count = 0
    for i in range(m):
        for j in range(k):
            if weights[i, j] != 0.0:
                at = 3 * nodes[vertices[i, j]]
                count += map_ptr[at + 3] - map_ptr[at]
        starts[i + 1] = count
    columns = np.empty(count, np.int32)
    values = np.empty(count)
    n = 0
    for i in range(m):
        for j in range(k):
            w = weights[i, j]
            if w != 0.0:
                at = 3 * nodes[vertices[i, j]]
                for axis in range(3):
                    d = w * directions[i, axis]
                    for p in range(map_ptr[at + axis], map_ptr[at + axis + 1]):
                        columns[n] = map_columns[p]
                        values[n] = d * map_values[p]
                        n += 1
    return values, columns, starts
