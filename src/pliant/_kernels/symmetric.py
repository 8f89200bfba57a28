"""Compiled kernels on symmetric sparse matrices in full (both triangles) compressed storage."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def find_slots(indptr, indices, rows, cols, out):
    """Write into `out` the position of each (row, col), by bisection; return the first absent or -1."""
    for k in range(rows.size):
        col = cols[k]
        low = indptr[rows[k]]
        end = indptr[rows[k] + 1]
        high = end
        while low < high:
            mid = (low + high) >> 1
            if indices[mid] < col:
                low = mid + 1
            else:
                high = mid
        if low >= end or indices[low] != col:
            return k
        out[k] = low
    return -1


@njit(cache=True)
def add_scaled(values, factor, out):
    """out += factor * values, without a temporary array."""
    for i in range(out.size):
        out[i] += factor * values[i]


@njit(cache=True)
def matvec(indptr, indices, data, x, y):
    """y = A x for a vector."""
    for i in range(y.size):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * x[indices[p]]
        y[i] = total


@njit(cache=True)
def matvec_blocks(indptr, node_indptr, node_indices, data, x, y):
    """y = A x for a vector, when A is made of full 3 x 3 blocks: the three rows of a node run together."""
    for a in range(node_indptr.size - 1):
        p0 = indptr[3 * a]
        p1 = indptr[3 * a + 1]
        p2 = indptr[3 * a + 2]
        t0 = 0.0
        t1 = 0.0
        t2 = 0.0
        for q in range(node_indptr[a], node_indptr[a + 1]):
            c = 3 * node_indices[q]
            x0 = x[c]
            x1 = x[c + 1]
            x2 = x[c + 2]
            t0 += data[p0] * x0 + data[p0 + 1] * x1 + data[p0 + 2] * x2
            t1 += data[p1] * x0 + data[p1 + 1] * x1 + data[p1 + 2] * x2
            t2 += data[p2] * x0 + data[p2 + 1] * x1 + data[p2 + 2] * x2
            p0 += 3
            p1 += 3
            p2 += 3
        y[3 * a] = t0
        y[3 * a + 1] = t1
        y[3 * a + 2] = t2


@njit(cache=True)
def matmat(indptr, indices, data, x, y):
    """y = A x for a C-ordered (n, k) array."""
    k = x.shape[1]
    for i in range(y.shape[0]):
        row = y[i]
        for c in range(k):
            row[c] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            a = data[p]
            source = x[indices[p]]
            for c in range(k):
                row[c] += a * source[c]


@njit(cache=True)
def expand_blocks(node_indptr, node_indices, block, indptr, indices):
    """Blow a node pattern up to one of block x block dense blocks (both already allocated)."""
    position = 0
    indptr[0] = 0
    for a in range(node_indptr.size - 1):
        for r in range(block):
            for q in range(node_indptr[a], node_indptr[a + 1]):
                base = block * node_indices[q]
                for c in range(block):
                    indices[position] = base + c
                    position += 1
            indptr[block * a + r + 1] = position


@njit(cache=True)
def max_asymmetry(indptr, indices, data):
    """Largest |a_ij - a_ji|; rows are walked with one moving pointer per column, so it is linear."""
    n = indptr.size - 1
    moving = np.empty(n, np.int64)
    for i in range(n):
        moving[i] = indptr[i]
    worst = 0.0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            difference = abs(data[p] - data[moving[j]])
            moving[j] += 1
            if difference > worst:
                worst = difference
    return worst
