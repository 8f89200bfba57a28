"""Box trees for the search of pairs: clusters of eight primitives as leaves, tested eight at a time.

The tree is the upper part of that of `pliant._kernels.bvh`: nodes of at most eight primitives are its leaves. Boxes
have six dimensions, three of positions and three of surface normals (two patches that do not face each other are
discarded as early as two that are far apart), and are kept in single precision, rounded outwards, as

    low position, -high position, low normal, -high normal      (12 numbers) ,

so that two boxes meet if twelve sums are small enough: no branches, and eight boxes of a leaf at once. What is found
is a superset of the pairs that meet, by rounding only; those who take the pairs look at them exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit

WIDTH = 8
_OUTWARD = 1.5e-7  # relative rounding of single precision, and a little more


@njit(cache=True)
def outline(children, ranges, groups, order):
    """The upper part of a tree, all (n,): left child or -1, first, size, number of the leaf or -1, group or -1."""
    total = children.shape[0]
    number = np.full(total, -1, dtype=np.int32)
    left = np.full(total, -1, dtype=np.int32)
    first, size = np.zeros(total, dtype=np.int32), np.zeros(total, dtype=np.int32)
    leaf, group = np.full(total, -1, dtype=np.int32), np.full(total, -1, dtype=np.int32)
    number[0] = 0
    count, leaves = 1, 0
    for node in range(total):
        k = number[node]
        if k < 0:
            continue
        first[k], size[k] = ranges[node, 0], ranges[node, 1]
        if size[k] > 0:
            one, two = groups[order[first[k]]], groups[order[first[k] + size[k] - 1]]  # they come sorted
            group[k] = one if one == two else -1
        if size[k] > WIDTH:
            left[k] = count
            number[children[node, 0]], number[children[node, 1]] = count, count + 1
            count += 2
        else:
            leaf[k] = leaves
            leaves += 1
    return left[:count].copy(), first[:count].copy(), size[:count].copy(), leaf[:count].copy(), group[:count].copy()


@njit(cache=True, error_model="numpy", nogil=True)
def pack(left, first, size, leaf, order, low, high, rows, lanes):
    """Boxes of the nodes, rows (n, 12), and of the primitives in the leaves, lanes (leaves, 12, 8), in place.

    low, high (np, 6): boxes of the primitives. Places of a leaf that are not used meet nothing.
    """
    for k in range(left.shape[0] - 1, -1, -1):
        if left[k] >= 0:
            one, two = left[k], left[k] + 1
            for d in range(12):
                rows[k, d] = min(rows[one, d], rows[two, d])
            continue
        n = leaf[k]
        for d in range(12):
            rows[k, d] = np.inf
        for i in range(WIDTH):
            if i >= size[k]:
                for d in range(12):
                    lanes[n, d, i] = np.inf
                continue
            p = order[first[k] + i]
            for d in range(3):
                for half in range(2):
                    a, b = low[p, 3 * half + d], -high[p, 3 * half + d]
                    a, b = np.float32(a - _OUTWARD * abs(a)), np.float32(b - _OUTWARD * abs(b))
                    lanes[n, 6 * half + d, i], lanes[n, 6 * half + 3 + d, i] = a, b
                    rows[k, 6 * half + d] = min(rows[k, 6 * half + d], a)
                    rows[k, 6 * half + 3 + d] = min(rows[k, 6 * half + 3 + d], b)


@njit(cache=True, fastmath=True, forceinline=True)
def _meet(a, i, b, j, margin, turn):
    """Do two boxes meet: positions within the margin, normals opposed to within the turn?"""
    p = max(
        max(max(a[i, 0] + b[j, 3], a[i, 1] + b[j, 4]), max(a[i, 2] + b[j, 5], a[i, 3] + b[j, 0])),
        max(a[i, 4] + b[j, 1], a[i, 5] + b[j, 2]),
    )
    q = max(
        max(max(a[i, 6] + b[j, 6], a[i, 7] + b[j, 7]), max(a[i, 8] + b[j, 8], a[i, 9] + b[j, 9])),
        max(a[i, 10] + b[j, 10], a[i, 11] + b[j, 11]),
    )
    return p <= margin and q <= turn


@njit(cache=True, fastmath=True, forceinline=True)
def _meeting(v, lanes, j, margin, turn):
    """Which of the eight boxes of leaf j meet the box v: a bit for each."""
    mask = np.int32(0)
    for k in range(8):
        p = max(
            max(max(v[0] + lanes[j, 3, k], v[1] + lanes[j, 4, k]), max(v[2] + lanes[j, 5, k], v[3] + lanes[j, 0, k])),
            max(v[4] + lanes[j, 1, k], v[5] + lanes[j, 2, k]),
        )
        q = max(
            max(max(v[6] + lanes[j, 6, k], v[7] + lanes[j, 7, k]), max(v[8] + lanes[j, 8, k], v[9] + lanes[j, 9, k])),
            max(v[10] + lanes[j, 10, k], v[11] + lanes[j, 11, k]),
        )
        mask |= np.int32((p <= margin) & (q <= turn)) << np.int32(k)
    return mask


@njit(cache=True, forceinline=True)
def _row(rows, i):
    """Row i as a tuple."""
    return (
        rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5],
        rows[i, 6], rows[i, 7], rows[i, 8], rows[i, 9], rows[i, 10], rows[i, 11],
    )  # fmt: skip


@njit(cache=True, forceinline=True)
def _lane(lanes, j, k):
    """The k-th box of leaf j as a tuple."""
    return (
        lanes[j, 0, k], lanes[j, 1, k], lanes[j, 2, k], lanes[j, 3, k], lanes[j, 4, k], lanes[j, 5, k],
        lanes[j, 6, k], lanes[j, 7, k], lanes[j, 8, k], lanes[j, 9, k], lanes[j, 10, k], lanes[j, 11, k],
    )  # fmt: skip


@njit(cache=True, forceinline=True)
def _may(group1, i, group2, j, allowed):
    """May anything of node i meet anything of node j, as far as their groups tell?"""
    return group1[i] < 0 or group2[j] < 0 or allowed[group1[i], group2[j]]


@njit(cache=True, error_model="numpy", nogil=True)
def _search(tree1, tree2, same, margin, turn, allowed, work, stop, out):
    """`pairs_between` into `out`, as far as there is room; returns how many there are.

    With `stop` > 0, pairs of nodes with at most so many primitives, whose boxes meet: pieces of work, in order.
    """
    left1, first1, size1, leaf1, group1, order1, rows1, lanes1 = tree1
    left2, first2, size2, leaf2, group2, order2, rows2, lanes2 = tree2
    near, wide = np.float32(margin * (1.0 + 1e-6)), np.float32(turn * (1.0 + 1e-6))
    every, room = allowed.all(), out.shape[0]
    found = 0
    stack = np.empty((1024, 2), dtype=np.int32)  # a path down two trees of 2^250 primitives
    for w in range(work.shape[0]):
        stack[0, 0], stack[0, 1] = work[w, 0], work[w, 1]
        top = 1
        while top > 0:
            top -= 1
            i, j = stack[top, 0], stack[top, 1]
            l1, l2 = left1[i], left2[j]
            alone = same and i == j
            if size1[i] <= stop and size2[j] <= stop:
                if found < room:
                    out[found, 0], out[found, 1] = i, j
                found += 1
                continue
            if l1 >= 0 or l2 >= 0:
                if alone:
                    for a in range(l1, l1 + 2):
                        if every or _may(group1, a, group2, a, allowed):
                            stack[top, 0], stack[top, 1] = a, a
                            top += 1
                    if (every or _may(group1, l1, group2, l1 + 1, allowed)) and _meet(
                        rows1, l1, rows2, l1 + 1, near, wide
                    ):
                        stack[top, 0], stack[top, 1] = l1, l1 + 1
                        top += 1
                elif l2 < 0 or (l1 >= 0 and size1[i] >= size2[j]):
                    for a in range(l1, l1 + 2):
                        if (every or _may(group1, a, group2, j, allowed)) and _meet(rows1, a, rows2, j, near, wide):
                            stack[top, 0], stack[top, 1] = a, j
                            top += 1
                else:
                    for b in range(l2, l2 + 2):
                        if (every or _may(group1, i, group2, b, allowed)) and _meet(rows1, i, rows2, b, near, wide):
                            stack[top, 0], stack[top, 1] = i, b
                            top += 1
                continue
            m, n = leaf1[i], leaf2[j]
            some = np.int32(255) if alone else _meeting(_row(rows2, j), lanes1, m, near, wide)
            a = 0
            while some != 0:
                if some & 1:
                    hits = _meeting(_lane(lanes1, m, a), lanes2, n, near, wide)
                    if alone:
                        hits &= ~((np.int32(2) << np.int32(a)) - 1)
                    b = 0
                    while hits != 0:
                        if hits & 1:
                            p, r = order1[first1[i] + a], order2[first2[j] + b]
                            if same and p > r:  # the order of a pair must not depend on the tree
                                p, r = r, p
                            if found < room:
                                out[found, 0], out[found, 1] = p, r
                            found += 1
                        hits >>= 1
                        b += 1
                some >>= 1
                a += 1
    return found


@njit(cache=True, nogil=True)
def pairs_between(tree1, tree2, same, margin, turn, allowed, work, stop):
    """Pairs (m, 2) of primitives whose boxes meet, in the order of the trees, whatever the boxes are.

    tree = (left, first, size, leaf, group, order, rows, lanes). If `same`, tree1 is tree2 and every unordered
    pair of different primitives is reported once, the smaller one first. allowed (g1, g2): which groups may meet;
    mixed nodes are passed on. work (m, 2): pairs of nodes to start from, (0, 0) for all. With `stop` > 0, pairs of
    nodes of at most so many primitives instead: together they are the same work, in the same order.
    """
    if tree1[2][0] == 0 or tree2[2][0] == 0:
        return np.empty((0, 2), dtype=np.int32)
    out = np.empty((max(256, 16 * tree1[5].shape[0]), 2), dtype=np.int32)  # untouched memory costs nothing
    found = _search(tree1, tree2, same, margin, turn, allowed, work, stop, out)
    if found > out.shape[0]:
        out = np.empty((found, 2), dtype=np.int32)
        _search(tree1, tree2, same, margin, turn, allowed, work, stop, out)
    return out[:found]
