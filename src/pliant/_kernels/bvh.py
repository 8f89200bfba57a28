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


@njit(cache=True)
def blocks(children, ranges, most):
    """Pieces of a tree: first and count (m, 2) into `order` of the largest nodes of at most so many primitives."""
    out = np.empty((children.shape[0], 2), dtype=np.int64)
    whole = np.ones(children.shape[0], dtype=np.bool_)  # whether the node is not part of a piece yet
    m = 0
    for node in range(children.shape[0]):
        left = children[node, 0]
        small = ranges[node, 1] <= most or left < 0
        if whole[node] and small:
            out[m] = ranges[node]
            m += 1
        if left >= 0:
            whole[left] = whole[children[node, 1]] = whole[node] and not small
    return out[:m].copy()


@njit(cache=True, error_model="numpy", nogil=True)
def motions(pieces, order, prims, x, old, low, high, normals):
    """Of each piece of a tree (m, 13): box (lower, upper), least and largest displacement along each axis, turn.

    Points were at `old` (n, 3). low, high: boxes of the primitives (np, 6), whose bounds of normals were `normals`
    (2, np, 3), or (2, 0, 3) where turns are not asked for.
    """
    out = np.empty((pieces.shape[0], 13))
    for i in range(pieces.shape[0]):
        out[i, 0:3], out[i, 3:6], out[i, 6:9], out[i, 9:12], out[i, 12] = np.inf, -np.inf, np.inf, -np.inf, 0.0
        for j in range(pieces[i, 0], pieces[i, 0] + pieces[i, 1]):
            p = order[j]
            for d in range(3):
                out[i, d], out[i, 3 + d] = min(out[i, d], low[p, d]), max(out[i, 3 + d], high[p, d])
                for k in range(3):
                    v = prims[p, k]
                    if v >= 0:
                        moved = x[v, d] - old[v, d]
                        out[i, 6 + d], out[i, 9 + d] = min(out[i, 6 + d], moved), max(out[i, 9 + d], moved)
                if normals.shape[1]:
                    turned = max(abs(low[p, 3 + d] - normals[0, p, d]), abs(high[p, 3 + d] - normals[1, p, d]))
                    out[i, 12] = max(out[i, 12], turned)
    return out


@njit(cache=True, error_model="numpy", nogil=True)
def relative_motion(one, two, same, reach):
    """The most that two pieces (rows of `motions`) have moved relative to each other, and the sum of their turns.

    Pieces whose boxes are farther apart than `reach` do not count: nothing of them can meet.
    """
    moved, turned = 0.0, 0.0
    for i in range(one.shape[0]):
        for j in range(i if same else 0, two.shape[0]):
            near = True
            for d in range(3):
                if one[i, d] > two[j, 3 + d] + reach or two[j, d] > one[i, 3 + d] + reach:
                    near = False
            if near:
                turned = max(turned, one[i, 12] + two[j, 12])
                for d in range(3):
                    moved = max(moved, one[i, 9 + d] - two[j, 6 + d], two[j, 9 + d] - one[i, 6 + d])
    return moved, turned


@njit(cache=True, inline="always")
def box_distance2(low, high, node, p):
    """Squared distance of a point to the box of a node."""
    total = 0.0
    for d in range(3):
        gap = max(low[node, d] - p[d], p[d] - high[node, d], 0.0)
        total += gap * gap
    return total
