"""Axis-aligned box trees: build once, refit often, find overlapping pairs.

A node is a row of `children` (left, right; -1 for a leaf) and of `ranges` (first, count) into `order`. The right
child follows the left one, and both come after their parent: refitting is one loop from the back. A box may have
more than three dimensions: contact adds the range of the surface normals as three more, so that two patches
that do not face each other are discarded as early as two patches that are far apart.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LEAF = 2


@njit(cache=True)
def build(centres):
    """Tree over primitives with the given centres (n, 3): children, ranges, order."""
    n = centres.shape[0]
    capacity = max(1, 2 * n)
    children = np.full((capacity, 2), -1, dtype=np.int64)
    ranges = np.zeros((capacity, 2), dtype=np.int64)
    order = np.arange(n)
    ranges[0, 1] = n
    count = 1
    node = 0
    while node < count:
        first, size = ranges[node, 0], ranges[node, 1]
        if size > LEAF:
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
def changes(low, high, old_low, old_high):
    """The largest change of any bound: of positions (dimensions 0 to 2), and of normals (3 to 5)."""
    moved, turned = 0.0, 0.0
    for i in range(low.shape[0]):
        for d in range(3):
            moved = max(moved, abs(low[i, d] - old_low[i, d]), abs(high[i, d] - old_high[i, d]))
        for d in range(3, low.shape[1]):
            turned = max(turned, abs(low[i, d] - old_low[i, d]), abs(high[i, d] - old_high[i, d]))
    return moved, turned


@njit(cache=True, forceinline=True)
def _meet(low1, high1, i, low2, high2, j, margin, turn):
    """Do box i and box j meet: positions within the margin, normals opposed (dimensions 3 to 5) to within the turn?"""
    for d in range(3):
        if low1[i, d] > high2[j, d] + margin or low2[j, d] > high1[i, d] + margin:
            return False
    for d in range(3, low1.shape[1]):
        if low1[i, d] > turn - low2[j, d] or -turn - high2[j, d] > high1[i, d]:
            return False
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def pairs_between(tree1, tree2, same, margin, turn):
    """Pairs (m, 2) of primitives whose boxes meet, in the order of the trees, whatever the boxes are.

    tree = (children, ranges, order, node_low, node_high, low, high). If `same`, tree1 is tree2 and
    every unordered pair of different primitives is reported once, the smaller one first.
    """
    children1, ranges1, order1, nlow1, nhigh1, low1, high1 = tree1
    children2, ranges2, order2, nlow2, nhigh2, low2, high2 = tree2
    out = np.empty((max(1024, 2 * order1.shape[0]), 2), dtype=np.int64)
    found = 0
    if order1.shape[0] == 0 or order2.shape[0] == 0:
        return out[:0]
    stack = np.empty((4096, 2), dtype=np.int64)
    top = 0
    if _meet(nlow1, nhigh1, 0, nlow2, nhigh2, 0, margin, turn):
        stack[0, 0], stack[0, 1] = 0, 0
        top = 1
    while top > 0:
        top -= 1
        i, j = stack[top, 0], stack[top, 1]
        if top + 4 > stack.shape[0]:
            bigger = np.empty((2 * stack.shape[0], 2), dtype=np.int64)
            bigger[: stack.shape[0]] = stack
            stack = bigger
        left1, left2 = children1[i, 0], children2[j, 0]
        if left1 < 0 and left2 < 0:
            first1, first2 = ranges1[i, 0], ranges2[j, 0]
            for a in range(first1, first1 + ranges1[i, 1]):
                for b in range(a + 1 if same and i == j else first2, first2 + ranges2[j, 1]):
                    p, r = order1[a], order2[b]
                    if not _meet(low1, high1, p, low2, high2, r, margin, turn):
                        continue
                    if found == out.shape[0]:
                        larger = np.empty((2 * found, 2), dtype=np.int64)
                        larger[:found] = out
                        out = larger
                    if same and p > r:  # the order of a pair must not depend on the tree
                        p, r = r, p
                    out[found, 0], out[found, 1] = p, r
                    found += 1
        elif same and i == j:
            for a, b in ((left1, left1), (left1 + 1, left1 + 1), (left1, left1 + 1)):
                if _meet(nlow1, nhigh1, a, nlow2, nhigh2, b, margin, turn):
                    stack[top, 0], stack[top, 1] = a, b
                    top += 1
        elif left2 < 0 or (left1 >= 0 and ranges1[i, 1] >= ranges2[j, 1]):
            for a in (left1, left1 + 1):
                if _meet(nlow1, nhigh1, a, nlow2, nhigh2, j, margin, turn):
                    stack[top, 0], stack[top, 1] = a, j
                    top += 1
        else:
            for b in (left2, left2 + 1):
                if _meet(nlow1, nhigh1, i, nlow2, nhigh2, b, margin, turn):
                    stack[top, 0], stack[top, 1] = i, b
                    top += 1
    return out[:found]


@njit(cache=True, inline="always")
def box_distance2(low, high, node, p):
    """Squared distance of a point to the box of a node."""
    total = 0.0
    for d in range(3):
        gap = max(low[node, d] - p[d], p[d] - high[node, d], 0.0)
        total += gap * gap
    return total
