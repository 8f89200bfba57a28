"""Symbolic analysis of a sparse Cholesky factor: done once per pattern, used by every factorisation.

The unknowns are grouped into nodes that share one pattern (the three components of a mesh node), the
graph of the nodes is ordered by nested dissection, the columns are gathered in supernodes (dense panels),
and small supernodes are merged into their parents as long as a cost model says that this pays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant._kernels import symbolic as kernels
from pliant._kernels.panels import lay_out
from pliant.algebra.schedule import Schedule, plan

if TYPE_CHECKING:
    from pliant.algebra.symmetric import SymmetricPattern

Ints = NDArray[Any]

# rate assumed when judging a band before its supernodes are known; the judgement need not be good
_FLOPS_PER_NS = 30.0


@dataclass(frozen=True, eq=False)
class Symbolic:
    """Everything about a Cholesky factor but its values. Indices are of permuted unknowns.

    A supernode s is a range of columns with (almost) the same pattern: its panel is a dense
    column-major matrix of w + r rows and w columns, w pivots followed by the r rows below them.

    Attributes:
        n: number of unknowns.
        order: the unknown eliminated at each step (n,).
        position: the step at which each unknown is eliminated (n,).
        first: first column of each supernode (ns + 1,).
        row_ptr: start in `rows` of the rows below each supernode (ns + 1,).
        rows: those rows, ascending.
        parent: parent of each supernode in the assembly tree, -1 for a root (ns,).
        child_ptr: start in `children` of the children of each supernode (ns + 1,).
        children: the children, ascending.
        relative: position of each of `rows` in the front of the parent supernode.
        run_end: end of the run of rows around it that are consecutive in both fronts.
        split: how many of the rows of each supernode are pivots of its parent (ns,).
        panel_ptr: start of each panel in the storage of the factor (ns + 1,).
        source_ptr: start in `source` of the matrix entries of each column (n + 1,).
        source: position in the data of the matrix of each entry of its permuted lower triangle.
        target: position in the panels of each of these entries.
        flops: multiply-adds of a numeric factorisation, the added zeros included.
        nnz: entries of the factor, the added zeros included.
        max_front: largest w + r.
        max_pivots: largest w.
        supernode_of: supernode of each column (n,).
        schedule: how the work is cut into tasks for threads.
    """

    n: int
    order: Ints
    position: Ints
    first: Ints
    row_ptr: Ints
    rows: Ints
    parent: Ints
    child_ptr: Ints
    children: Ints
    relative: Ints
    run_end: Ints
    split: Ints
    panel_ptr: Ints
    source_ptr: Ints
    source: Ints
    target: Ints
    flops: float
    nnz: int
    max_front: int
    max_pivots: int
    supernode_of: Ints
    schedule: Schedule


@dataclass(frozen=True, eq=False)
class _Tree:
    """Assembly tree of one order of the nodes: as in `Symbolic`, but counted in nodes."""

    order: Ints
    first: Ints
    row_ptr: Ints
    rows: Ints
    parent: Ints
    cost: float


def analyse(pattern: SymmetricPattern) -> Symbolic:
    """Order the unknowns, find the supernodes and lay out the factor."""
    group, n_groups, graph_ptr, graph = _node_graph(pattern)
    weights = np.bincount(group, minlength=n_groups)
    tree = _assemble(graph_ptr, graph, weights, dissect(graph_ptr, graph, weights))
    sweep = bandwidth_order(graph_ptr, graph)
    band = float(kernels.bandwidth(graph_ptr, graph, sweep)) * weights.mean()
    if pattern.n * band**2 / _FLOPS_PER_NS < 2.0 * tree.cost:  # slender: a sweep may be the better order
        sweep = kernels.meet_in_the_middle(graph_ptr, graph, sweep)
        other = _assemble(graph_ptr, graph, weights, sweep)
        # a long branch makes sparse right-hand sides dearer, so the gain must be clear
        tree = other if other.cost < 0.8 * tree.cost else tree
    order, parent = tree.order, tree.parent

    # from nodes to unknowns
    weights = weights[order]
    start = np.concatenate(([0], np.cumsum(weights)))
    unknown_order = np.argsort(_invert(order)[group], kind="stable").astype(np.int32)
    unknown_position = _invert(unknown_order).astype(np.int32)
    first = start[tree.first]
    panels, relations, scatter = lay_out(
        pattern.indptr, pattern.indices, unknown_order, unknown_position, first, tree.row_ptr, tree.rows, start,
        weights, parent,
    )  # fmt: skip
    (row_ptr, rows, panel_ptr), (relative, run_end, split), (source_ptr, source, target) = panels, relations, scatter
    w, r = np.diff(first), np.diff(row_ptr)
    has_parent = parent >= 0
    child_ptr = np.concatenate(([0], np.cumsum(np.bincount(parent[has_parent], minlength=w.size))))
    children = np.flatnonzero(has_parent)[np.argsort(parent[has_parent], kind="stable")]
    wf, rf = w.astype(np.float64), r.astype(np.float64)
    return Symbolic(
        n=pattern.n,
        order=unknown_order,
        position=unknown_position,
        first=first,
        row_ptr=row_ptr,
        rows=rows,
        parent=parent,
        child_ptr=child_ptr,
        children=children,
        relative=relative,
        run_end=run_end,
        split=split,
        panel_ptr=panel_ptr,
        source_ptr=source_ptr,
        source=source,
        target=target,
        flops=float((wf**3 / 6 + wf**2 * rf / 2 + wf * rf**2 / 2).sum()),
        nnz=int((w * (w + 1) // 2 + w * r).sum()),
        max_front=int((w + r).max(initial=0)),
        max_pivots=int(w.max(initial=0)),
        supernode_of=np.repeat(np.arange(w.size), w),
        schedule=plan(parent, first, row_ptr, rows),
    )


def _assemble(graph_ptr: Ints, graph: Ints, weights: Ints, order: Ints) -> _Tree:
    """Supernodes of a graph of weighted nodes eliminated in (almost) the given order."""
    order, first, row_ptr, rows, parent = kernels.assembly_tree(graph_ptr, graph, order)
    in_order = weights[order]
    widths = np.add.reduceat(in_order, first[:-1]).astype(np.float64)
    summed = np.concatenate(([0], np.cumsum(in_order[rows])))
    heights = (summed[row_ptr[1:]] - summed[row_ptr[:-1]]).astype(np.float64)
    number, kept, parent, cost = kernels.merge(parent, widths, heights)
    supernode = np.repeat(number, np.diff(first))  # of each column
    columns = np.argsort(supernode, kind="stable")
    lengths = np.diff(row_ptr)[kept]
    new_ptr = np.concatenate(([0], np.cumsum(lengths)))
    taken = np.arange(new_ptr[-1]) + np.repeat(row_ptr[kept] - new_ptr[:-1], lengths)
    new_rows = _invert(columns)[rows[taken]]
    return _Tree(
        order=order[columns],
        first=np.concatenate(([0], np.cumsum(np.bincount(supernode, minlength=kept.size)))),
        row_ptr=new_ptr,
        rows=new_rows[np.lexsort((new_rows, np.repeat(np.arange(kept.size), lengths)))],
        parent=parent,
        cost=cost,
    )


def dissect(indptr: Ints, indices: Ints, weights: Ints) -> Ints:
    """Fill-reducing order of a graph without self loops: nested dissection.

    Falls back to reverse Cuthill-McKee where pymetis is missing.
    """
    n = indptr.size - 1
    if indices.size == 0 or n < 3:
        return np.arange(n)
    try:
        import pymetis
    except ImportError:
        return bandwidth_order(indptr, indices)
    # the interface changed in 2025.2.2: a graph object, and weights
    if hasattr(pymetis, "CSRAdjacency"):
        graph = pymetis.CSRAdjacency(indptr, indices)
        vweights = None if weights.min() == weights.max() else weights.astype(np.int32)
        order, _ = pymetis.nested_dissection(graph, vweights=vweights)
    else:
        order, _ = pymetis.nested_dissection(xadj=indptr, adjncy=indices)
    return np.asarray(order, dtype=np.int64)


def bandwidth_order(indptr: Ints, indices: Ints) -> Ints:
    """Order of a graph that keeps the band narrow: reverse Cuthill-McKee."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = indptr.size - 1
    graph = csr_array((np.ones(indices.size, dtype=np.int8), indices, indptr), shape=(n, n))
    return np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)


def _node_graph(pattern: SymmetricPattern) -> tuple[Ints, int, Ints, Ints]:
    """Unknowns grouped by equal patterns: (group of each unknown, groups, indptr, indices)."""
    if pattern.block > 1:
        n_groups = pattern.n // pattern.block
        every = np.arange(n_groups)
        graph_ptr, graph = kernels.compress_graph(
            pattern.node_indptr, pattern.node_indices, every, every, n_groups
        )
        return np.repeat(every, pattern.block), n_groups, graph_ptr, graph
    keys = np.random.default_rng(0).integers(0, 2**62, pattern.n, dtype=np.uint64)
    hashes = np.add.reduceat(keys[pattern.indices], pattern.indptr[:-1])
    order = np.argsort(hashes, kind="stable")
    leader = kernels.group_equal_rows(pattern.indptr, pattern.indices, order, hashes)
    leaders, group = np.unique(leader, return_inverse=True)
    graph_ptr, graph = kernels.compress_graph(pattern.indptr, pattern.indices, leader, group, leaders.size)
    return group, leaders.size, graph_ptr, graph


def _invert(order: Ints) -> Ints:
    inverse = np.empty(order.size, dtype=np.int64)
    inverse[order] = np.arange(order.size)
    return inverse
