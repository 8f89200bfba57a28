"""Compiled kernels of the symbolic analysis: everything about a Cholesky factor but its values.

A graph is (indptr, indices) with both directions of each edge; self loops are allowed and ignored.
The analysis runs on a graph of weighted nodes (the three unknowns of a mesh node are one node of weight
three), which makes it an order of magnitude cheaper than on the unknowns.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def group_equal_rows(indptr, indices, order, hashes):
    """Group rows with identical patterns; rows come in `order`, sorted by hash. Returns the group leaders."""
    n = indptr.size - 1
    leader = np.arange(n)
    start = 0
    while start < n:
        end = start
        while end < n and hashes[order[end]] == hashes[order[start]]:
            end += 1
        for a in range(start, end):
            i = order[a]
            for b in range(start, a):
                j = order[b]
                if leader[j] != j or indptr[i + 1] - indptr[i] != indptr[j + 1] - indptr[j]:
                    continue
                same = True
                for k in range(indptr[i + 1] - indptr[i]):
                    if indices[indptr[i] + k] != indices[indptr[j] + k]:
                        same = False
                        break
                if same:
                    leader[i] = j
                    break
        start = end
    return leader


@njit(cache=True)
def compress_graph(indptr, indices, leader, group, n_groups):
    """Graph of the groups without self loops: (indptr, indices)."""
    out_ptr = np.zeros(n_groups + 1, np.int32)
    out = np.empty(indices.size, np.int32)
    size = 0
    for i in range(leader.size):
        if leader[i] != i:
            continue
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if leader[j] == j and j != i:
                out[size] = group[j]
                size += 1
        out_ptr[group[i] + 1] = size
    return out_ptr, out[:size].copy()


@njit(cache=True)
def elimination_tree(indptr, indices, order, position):
    """Parent of each column in the elimination tree of the permuted graph (-1 for a root)."""
    n = order.size
    parent = np.full(n, -1, np.int64)
    ancestor = np.full(n, -1, np.int64)
    for j in range(n):
        node = order[j]
        for p in range(indptr[node], indptr[node + 1]):
            i = position[indices[p]]
            while i != -1 and i < j:
                above = ancestor[i]
                ancestor[i] = j
                if above == -1:
                    parent[i] = j
                i = above
    return parent


@njit(cache=True)
def postorder(parent):
    """Order in which each node follows all its descendants; children keep their relative order."""
    n = parent.size
    head = np.full(n, -1, np.int64)
    following = np.full(n, -1, np.int64)
    stack = np.empty(n, np.int64)
    order = np.empty(n, np.int64)
    for j in range(n - 1, -1, -1):
        if parent[j] >= 0:
            following[j] = head[parent[j]]
            head[parent[j]] = j
    count = 0
    for root in range(n):
        if parent[root] >= 0:
            continue
        stack[0] = root
        top = 1
        while top > 0:
            j = stack[top - 1]
            child = head[j]
            if child == -1:
                order[count] = j
                count += 1
                top -= 1
            else:
                head[j] = following[child]
                stack[top] = child
                top += 1
    return order


@njit(cache=True)
def column_counts(indptr, indices, order, position, parent):
    """Number of nodes in each column of the factor, the diagonal included (walks the row subtrees)."""
    n = order.size
    counts = np.ones(n, np.int64)
    mark = np.full(n, -1, np.int64)
    for i in range(n):
        mark[i] = i
        node = order[i]
        for p in range(indptr[node], indptr[node + 1]):
            j = position[indices[p]]
            while j < i and mark[j] != i:
                counts[j] += 1
                mark[j] = i
                j = parent[j]
    return counts


@njit(cache=True)
def supernodes(parent, counts):
    """First column of each maximal set of consecutive columns with the same pattern (ns + 1,)."""
    n = parent.size
    first = np.empty(n + 1, np.int64)
    ns = 0
    for j in range(n):
        if j == 0 or parent[j - 1] != j or counts[j - 1] != counts[j] + 1:
            first[ns] = j
            ns += 1
    first[ns] = n
    return first[: ns + 1].copy()


@njit(cache=True)
def supernode_rows(indptr, indices, order, position, first, counts):
    """Rows below the diagonal block of each supernode, unsorted: (row_ptr, rows, parent supernode)."""
    ns = first.size - 1
    n = order.size
    row_ptr = np.zeros(ns + 1, np.int64)
    owner = np.empty(n, np.int64)
    for s in range(ns):
        row_ptr[s + 1] = row_ptr[s] + counts[first[s]] - (first[s + 1] - first[s])
        owner[first[s] : first[s + 1]] = s
    rows = np.empty(row_ptr[ns], np.int64)
    parent = np.full(ns, -1, np.int64)
    head = np.full(ns, -1, np.int64)
    following = np.full(ns, -1, np.int64)
    mark = np.full(n, -1, np.int64)
    for s in range(ns):
        size = row_ptr[s]
        end = first[s + 1]
        lowest = n
        for j in range(first[s], end):
            node = order[j]
            for p in range(indptr[node], indptr[node + 1]):
                i = position[indices[p]]
                if i >= end and mark[i] != s:
                    mark[i] = s
                    rows[size] = i
                    size += 1
                    lowest = min(lowest, i)
        child = head[s]
        while child != -1:
            for p in range(row_ptr[child], row_ptr[child + 1]):
                i = rows[p]
                if i >= end and mark[i] != s:
                    mark[i] = s
                    rows[size] = i
                    size += 1
                    lowest = min(lowest, i)
            child = following[child]
        if lowest < n:
            above = owner[lowest]
            parent[s] = above
            following[s] = head[above]
            head[above] = s
    return row_ptr, rows, parent


@njit(cache=True)
def assembly_tree(indptr, indices, order):
    """Supernodes of a graph eliminated in (almost) the given order: (order, first, row_ptr, rows, parent).

    One function for all steps, since loading compiled functions takes a new process longer than running them.
    """
    position = np.empty(order.size, np.int64)
    for k in range(order.size):
        position[order[k]] = k
    order = order[postorder(elimination_tree(indptr, indices, order, position))]
    for k in range(order.size):
        position[order[k]] = k
    columns = elimination_tree(indptr, indices, order, position)
    counts = column_counts(indptr, indices, order, position, columns)
    first = supernodes(columns, counts)
    row_ptr, rows, parent = supernode_rows(indptr, indices, order, position, first, counts)
    return order, first, row_ptr, rows, parent


@njit(cache=True)
def front_cost(w, r):
    """Model of the time [ns] spent on a front of w pivots and r further rows.

    Fitted to OpenBLAS on one core: three calls, an arithmetic rate that grows with the width of the
    panel, and memory traffic of the panel and of the update matrix (written once, added once).
    """
    flops = w * w * w / 3.0 + w * w * r + w * r * r * 1.0
    return 300.0 + flops * (1.0 + 24.0 / w) / 40.0 + 0.5 * w * (w + r) + 0.3 * r * r


# A merge may fill this fraction of the panel with zeros, or any as long as the panel stays narrow. The cost
# model alone would go on merging along a chain: each next front is tiny, and looks expensive by itself.
_ZEROS = 0.15
_NARROW = 24


@njit(cache=True)
def amalgamate(parent, widths, heights):
    """Merge children into parents where `front_cost` gains; returns, per supernode, where it ended up.

    `widths` (pivots) and `heights` (further rows), in unknowns, are updated for those that remain.
    """
    ns = parent.size
    into = np.arange(ns)
    zeros = np.zeros(ns)
    head = np.full(ns, -1, np.int64)
    following = np.full(ns, -1, np.int64)
    for s in range(ns):
        # children of s are final: they precede it in postorder. Take the best one until none gains.
        while True:
            best = -1
            gain = 0.0
            own = front_cost(widths[s], heights[s])
            child = head[s]
            while child != -1:
                width = widths[s] + widths[child]
                extra = zeros[s] + zeros[child] + widths[child] * (widths[s] + heights[s] - heights[child])
                tolerated = _ZEROS * width * (0.5 * width + heights[s])
                merged = front_cost(width, heights[s])
                saved = own + front_cost(widths[child], heights[child]) - merged
                if saved > gain and (width <= _NARROW or extra <= tolerated):
                    gain = saved
                    best = child
                child = following[child]
            if best == -1:
                break
            into[best] = s
            zeros[s] += zeros[best] + widths[best] * (widths[s] + heights[s] - heights[best])
            widths[s] += widths[best]
            kept = -1  # rebuild the list of children: those of s without best, then those of best
            for source in (s, best):
                child = head[source]
                while child != -1:
                    after = following[child]
                    if child != best:
                        following[child] = kept
                        kept = child
                    child = after
            head[s] = kept
        if parent[s] >= 0:
            following[s] = head[parent[s]]
            head[parent[s]] = s
    for s in range(ns - 1, -1, -1):
        into[s] = into[into[s]]
    return into


@njit(cache=True)
def merge(parent, widths, heights):
    """Amalgamate, then number what remains in postorder again: a child need not have been the last one.

    Returns, per old supernode, its new number; per new one, which old one it was built on, and its parent; and the
    modelled time [ns] of all.
    """
    into = amalgamate(parent, widths, heights)
    ns = parent.size
    number = np.full(ns, -1, np.int64)
    kept = np.flatnonzero(into == np.arange(ns))
    for k in range(kept.size):
        number[kept[k]] = k
    tree = np.empty(kept.size, np.int64)
    cost = 0.0
    for k in range(kept.size):
        above = parent[kept[k]]
        tree[k] = number[into[above]] if above >= 0 else -1
        cost += front_cost(widths[kept[k]], heights[kept[k]])
    after = postorder(tree)
    rank = np.empty(kept.size, np.int64)
    for k in range(kept.size):
        rank[after[k]] = k
    new_parent = np.empty(kept.size, np.int64)
    for k in range(kept.size):
        above = tree[after[k]]
        new_parent[k] = rank[above] if above >= 0 else -1
    return rank[number[into]], kept[after], new_parent, cost


@njit(cache=True)
def meet_in_the_middle(indptr, indices, order):
    """Turn an order of small bandwidth into one from both ends towards a separator in the middle.

    The fill is the same, but the elimination tree has two branches of half the length.
    """
    n = order.size
    half = n // 2
    place = np.empty(n, np.int64)
    for k in range(n):
        place[order[k]] = k
    separates = np.zeros(n, np.bool_)
    for k in range(half):
        for p in range(indptr[order[k]], indptr[order[k] + 1]):
            if place[indices[p]] >= half:
                separates[indices[p]] = True
    result = np.empty(n, np.int64)
    result[:half] = order[:half]
    front = half
    for k in range(n - 1, half - 1, -1):
        if not separates[order[k]]:
            result[front] = order[k]
            front += 1
    for k in range(half, n):
        if separates[order[k]]:
            result[front] = order[k]
            front += 1
    return result


@njit(cache=True)
def bandwidth(indptr, indices, order):
    """Largest distance in the order between two neighbours."""
    place = np.empty(order.size, np.int64)
    for k in range(order.size):
        place[order[k]] = k
    widest = 0
    for i in range(order.size):
        for p in range(indptr[i], indptr[i + 1]):
            widest = max(widest, place[indices[p]] - place[i])
    return widest


@njit(cache=True)
def subtrees(parent, widths, heights):
    """Modelled time [ns] of each front; first supernode and modelled time of each subtree.

    In postorder a subtree is a range of supernodes that ends with its root.
    """
    costs = np.empty(parent.size)
    for s in range(parent.size):
        costs[s] = front_cost(float(widths[s]), float(heights[s]))
    low = np.arange(parent.size)
    total = costs.copy()
    for s in range(parent.size):
        if parent[s] >= 0:
            low[parent[s]] = min(low[parent[s]], low[s])
            total[parent[s]] += total[s]
    return costs, low, total
