"""Compiled kernels that lay out the panels and update matrices of a Cholesky factor (see `pliant.algebra.symbolic`)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def expand_rows(node_ptr, node_rows, node_start, weights):
    """From rows counted in nodes to rows counted in unknowns: (row_ptr, rows)."""
    ns = node_ptr.size - 1
    row_ptr = np.zeros(ns + 1, np.int64)
    for s in range(ns):
        total = 0
        for p in range(node_ptr[s], node_ptr[s + 1]):
            total += weights[node_rows[p]]
        row_ptr[s + 1] = row_ptr[s] + total
    rows = np.empty(row_ptr[ns], np.int32)
    q = 0
    for p in range(node_rows.size):
        start = node_start[node_rows[p]]
        for c in range(weights[node_rows[p]]):
            rows[q] = start + c
            q += 1
    return row_ptr, rows


@njit(cache=True)
def relative_rows(first, row_ptr, rows, parent):
    """Position of each row of a supernode in the front of its parent (pivots first, then rows).

    Returns (relative, run_end, split): `run_end` is, for each row, where the run of rows that are
    consecutive also in the parent ends, and `split` is how many rows
    of the supernode are pivots of the parent.
    """
    ns = first.size - 1
    relative = np.empty(rows.size, np.int64)
    run_end = np.empty(rows.size, np.int64)
    split = np.zeros(ns, np.int64)
    where = np.empty(first[ns], np.int32)
    # parents are visited once each; their children are chained
    head = np.full(ns, -1, np.int64)
    following = np.full(ns, -1, np.int64)
    for s in range(ns):
        if parent[s] >= 0:
            following[s] = head[parent[s]]
            head[parent[s]] = s
    for s in range(ns):
        child = head[s]
        if child == -1:
            continue
        w = first[s + 1] - first[s]
        for j in range(w):
            where[first[s] + j] = j
        for p in range(row_ptr[s], row_ptr[s + 1]):
            where[rows[p]] = w + p - row_ptr[s]
        while child != -1:
            low = row_ptr[child]
            for p in range(low, row_ptr[child + 1]):
                relative[p] = where[rows[p]]
                if relative[p] < w:
                    split[child] += 1
            for p in range(row_ptr[child + 1] - 1, low - 1, -1):
                run_end[p] = p + 1 - low
                if p + 1 < row_ptr[child + 1] and relative[p + 1] == relative[p] + 1:
                    run_end[p] = run_end[p + 1]
            child = following[child]
    return relative, run_end, split


@njit(cache=True)
def update_offsets(parent, heights):
    """Where the update matrix of each supernode lives while it waits for its parent: (offsets, size).

    Two stacks, one for even and one for odd depths: the update matrix of a parent is built on one
    while those of its children, on top of the other, are consumed. Nothing has to be moved.
    """
    ns = parent.size
    depth = np.zeros(ns, np.int64)
    for s in range(ns - 1, -1, -1):
        if parent[s] >= 0:
            depth[s] = 1 - depth[parent[s]]
    offsets = np.empty(ns, np.int64)
    base = np.full(ns, -1, np.int64)  # offset of the first child of each supernode
    top = np.zeros(2, np.int64)
    peak = np.zeros(2, np.int64)
    for s in range(ns):
        if base[s] >= 0:
            top[1 - depth[s]] = base[s]
        side = depth[s]
        offsets[s] = top[side]
        if parent[s] >= 0 and base[parent[s]] < 0:
            base[parent[s]] = top[side]
        top[side] += heights[s] * heights[s]
        peak[side] = max(peak[side], top[side])
    for s in range(ns):
        if depth[s] == 1:
            offsets[s] += peak[0]
    return offsets, peak[0] + peak[1]


@njit(cache=True)
def scatter_map(indptr, indices, order, position, first, row_ptr, rows, panel_ptr):
    """Where each lower entry of the permuted matrix goes: (source_ptr, source in data, target in panels).

    `source_ptr` (n + 1,) says where the entries of each permuted column start.
    """
    ns = first.size - 1
    n = order.size
    source_ptr = np.zeros(n + 1, np.int64)
    source = np.empty((indices.size + n) // 2, np.int32)
    target = np.empty(source.size, np.int64)
    where = np.empty(n, np.int64)
    size = 0
    for s in range(ns):
        w = first[s + 1] - first[s]
        m = w + row_ptr[s + 1] - row_ptr[s]
        for j in range(w):
            where[first[s] + j] = j
        for p in range(row_ptr[s], row_ptr[s + 1]):
            where[rows[p]] = w + p - row_ptr[s]
        for j in range(w):
            column = first[s] + j
            node = order[column]
            for p in range(indptr[node], indptr[node + 1]):
                i = position[indices[p]]
                if i >= column:
                    source[size] = p
                    target[size] = panel_ptr[s] + j * m + where[i]
                    size += 1
            source_ptr[column + 1] = size
    return source_ptr, source, target


@njit(cache=True)
def lay_out(indptr, indices, order, position, first, node_ptr, node_rows, node_start, weights, parent):
    """Everything about the panels: (row_ptr, rows, panel_ptr), then what `relative_rows` and `scatter_map` give."""
    row_ptr, rows = expand_rows(node_ptr, node_rows, node_start, weights)
    panel_ptr = np.zeros(first.size, np.int64)
    for s in range(first.size - 1):
        w = first[s + 1] - first[s]
        panel_ptr[s + 1] = panel_ptr[s] + w * (w + row_ptr[s + 1] - row_ptr[s])
    return (
        (row_ptr, rows, panel_ptr),
        relative_rows(first, row_ptr, rows, parent),
        scatter_map(indptr, indices, order, position, first, row_ptr, rows, panel_ptr),
    )
