"""Axis-aligned box trees: build once, refit often (`pliant._kernels.clusters` finds overlapping pairs in them).

A node is a row of `children` (left, right; -1 for a leaf) and of `ranges` (first, count) into `order`. The right
child follows the left one, and both come after their parent: refitting is one loop from the back.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels import notice  # noqa: F401  says that kernels are being compiled

LEAF = 2


@njit(cache=True)
def _border(groups, order, first, size):
    """How many primitives come before the change of group nearest to the middle of a node; 0 if there is none."""
    best = 0
    for i in range(1, size):
        if groups[order[first + i]] != groups[order[first + i - 1]] and abs(2 * i - size) < abs(2 * best - size):
            best = i
    return best


@njit(cache=True)
def build(centres, groups=None):
    """Tree over primitives with the given centres (n, 3): children, ranges, order.

    With groups (n,), nodes are divided between groups first, so that few of them are mixed; `order` is sorted by group
    within every node.
    """
    n = centres.shape[0]
    capacity = max(1, 2 * n)
    children = np.full((capacity, 2), -1, dtype=np.int64)
    ranges = np.zeros((capacity, 2), dtype=np.int64)
    if groups is None:
        order = np.arange(n)
    else:
        order = np.argsort(groups, kind="mergesort")
    ranges[0, 1] = n
    count = 1
    node = 0
    while node < count:
        first, size = ranges[node, 0], ranges[node, 1]
        half = 0
        if groups is not None and size > LEAF:
            half = _border(groups, order, first, size)
        if size > LEAF and half == 0:
            axis, width = 0, -1.0
            for d in range(3):
                low, high = np.inf, -np.inf
                for i in range(first, first + size):
                    c = centres[order[i], d]
                    low, high = min(low, c), max(high, c)
                if high - low > width:
                    axis, width = d, high - low
            part = order[first : first + size].copy()
            values = np.empty(size)
            for i in range(size):
                values[i] = centres[part[i], axis]
            rank = np.argsort(values, kind="mergesort")
            for i in range(size):
                order[first + i] = part[rank[i]]
            half = size // 2
        if half > 0:
            children[node, 0], children[node, 1] = count, count + 1
            ranges[count, 0], ranges[count, 1] = first, half
            ranges[count + 1, 0], ranges[count + 1, 1] = first + half, size - half
            count += 2
        node += 1
    return children[:count].copy(), ranges[:count].copy(), order


@njit(cache=True, error_model="numpy", nogil=True)
def refit(children, ranges, order, low, high, node_low, node_high):
    """Boxes of all nodes from those of the primitives (n, d), bottom up, in place."""
    dim = low.shape[1]
    for node in range(children.shape[0] - 1, -1, -1):
        left = children[node, 0]
        if left < 0:
            first, size = ranges[node, 0], ranges[node, 1]
            for d in range(dim):
                a, b = np.inf, -np.inf
                for i in range(first, first + size):
                    p = order[i]
                    a, b = min(a, low[p, d]), max(b, high[p, d])
                node_low[node, d], node_high[node, d] = a, b
        else:
            right = children[node, 1]
            for d in range(dim):
                node_low[node, d] = min(node_low[left, d], node_low[right, d])
                node_high[node, d] = max(node_high[left, d], node_high[right, d])


@njit(cache=True, error_model="numpy", nogil=True)
def drift(x, old):
    """The least and the largest displacement along each axis, (2, 3), of points that were at `old` (n, 3)."""
    out = np.empty((2, 3))
    out[0], out[1] = np.inf, -np.inf
    for i in range(x.shape[0]):
        for d in range(3):
            moved = x[i, d] - old[i, d]
            out[0, d], out[1, d] = min(out[0, d], moved), max(out[1, d], moved)
    return out


@njit(cache=True, error_model="numpy", nogil=True)
def turning(low, high, old):
    """The largest change of any bound of normals: dimensions 3 to 5 of boxes (n, 6) that were old (2, n, 3)."""
    turned = 0.0
    for i in range(low.shape[0]):
        for d in range(3):
            turned = max(turned, abs(low[i, 3 + d] - old[0, i, d]), abs(high[i, 3 + d] - old[1, i, d]))
    return turned


@njit(cache=True, inline="always")
def box_distance2(low, high, node, p):
    """Squared distance of a point to the box of a node."""
    total = 0.0
    for d in range(3):
        gap = max(low[node, d] - p[d], p[d] - high[node, d], 0.0)
        total += gap * gap
    return total
