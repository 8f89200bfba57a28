"""How the work of a factorisation, and of solves with it, is cut into tasks that threads can share.

The assembly tree is cut below its top: what hangs there are subtrees, one task each. The fronts of the top are few
and large, and are cut into tiles instead. Where to cut is decided by a model of the time that two and four threads
would take; it does not depend on how many there are, so that the factor does not either. A small factorisation is
one task.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant._kernels import cholesky, triangular
from pliant._kernels import symbolic as kernels
from pliant._kernels.cholesky import TILE
from pliant._kernels.panels import update_offsets

Ints = NDArray[Any]
Phase = tuple[int, int, int, int]
# modelled nanoseconds of a whole factorisation from which on it is cut: half a millisecond
_WORTH = 5e5
# modelled nanoseconds that threads lose by meeting at the end of a phase, and the most fronts to cut into tiles
_MEETING = 1.5e3
_MOST_TILED = 64
# time of a cut, relative to the best, that is as good
_AS_GOOD = 1.06


@dataclass(frozen=True, eq=False)
class Schedule:
    """Tasks and workspace of a factorisation.

    Attributes:
        task_low, task_high: supernodes of each subtree, low <= s < high, the dearest first (nt,).
        phases: kind, supernode, tile column and number of tasks of each phase (np, 4); see `_kernels.cholesky`.
        forward, backward: the same for the solves with the factor and with its transpose; see `_kernels.triangular`.
        update_ptr: start of the update matrix of each supernode in the workspace (ns,).
        floating: whether that start counts from the stack of the thread that has the subtree (ns,).
        fixed_size: size of the workspace before the stacks.
        stack_size: size of the stack of one thread.
        local_rows: the rows below each supernode, those above its subtree replaced by lines of their own after the n
            of the unknowns.
        kept_ptr: where the lines of each subtree start among these (nt + 1,).
    """

    task_low: Ints
    task_high: Ints
    phases: Ints
    forward: Ints
    backward: Ints
    update_ptr: Ints
    floating: NDArray[np.bool_]
    fixed_size: int
    stack_size: int
    local_rows: Ints
    kept_ptr: Ints

    @property
    def useful_threads(self) -> int:
        """More threads than this find nothing to do."""
        return int(self.phases[:, 3].max())


def plan(parent: Ints, first: Ints, row_ptr: Ints, rows: Ints) -> Schedule:
    """Cut the tree of supernodes (in postorder; see `Symbolic`) into tasks."""
    widths, heights = np.diff(first), np.diff(row_ptr)
    costs, low, total = kernels.subtrees(parent, widths, heights)
    if costs.sum() < _WORTH:
        offsets, size = update_offsets(parent, heights)
        one = np.array([[0, 0, 0, 1]])  # a phase of subtrees, of which there is one
        every = np.ones(parent.size, dtype=bool)
        return Schedule(
            np.array([0]), np.array([parent.size]), one, one, one, offsets, every, 0, int(size), rows, np.array([0, 0])
        )
    top, roots = _cut(parent, widths, heights, costs, total)
    tiled = np.zeros(parent.size, dtype=bool)
    tiled[top] = True
    inside = ~tiled
    inside[roots] = False
    # inside subtrees on stacks; their roots side by side, for the top to take; those of the top on stacks again
    floating_ptr, stack_size = update_offsets(parent, np.where(inside, heights, 0))
    top_ptr, top_size = update_offsets(parent, np.where(tiled, heights, 0))
    root_ptr = top_size + np.concatenate(([0], np.cumsum(heights[roots] ** 2)))
    update_ptr = np.where(inside, root_ptr[-1] + floating_ptr, top_ptr)
    update_ptr[roots] = root_ptr[:-1]
    numeric = [(cholesky.SUBTREES, 0, 0, roots.size)]
    forward = [(triangular.SUBTREES, 0, 0, roots.size), (triangular.JOIN, 0, 0, 1)]
    backward: list[Phase] = []
    for s in top:
        numeric += _numeric_phases(s, int(widths[s]), int(heights[s]))
        forward += _forward_phases(s, int(widths[s]), int(heights[s]))
        backward = _backward_phases(s, int(widths[s]), int(heights[s])) + backward
    backward.append((triangular.SUBTREES, 0, 0, roots.size))
    kept_ptr = np.concatenate(([0], np.cumsum(heights[roots])))
    return Schedule(
        task_low=low[roots],
        task_high=roots + 1,
        phases=np.array(numeric, dtype=np.int64),
        forward=np.array(forward, dtype=np.int64),
        backward=np.array(backward, dtype=np.int64),
        update_ptr=update_ptr,
        floating=inside,
        fixed_size=int(root_ptr[-1]),
        stack_size=int(stack_size),
        local_rows=_keep_apart(low[roots], roots, first, row_ptr, rows, kept_ptr),
        kept_ptr=kept_ptr,
    )


def _keep_apart(low: Ints, roots: Ints, first: Ints, row_ptr: Ints, rows: Ints, kept_ptr: Ints) -> Ints:
    """Rows with those above the subtree they belong to led to lines of their own."""
    local = rows.copy()
    for start, root, kept in zip(low, roots, kept_ptr):
        mine = slice(row_ptr[start], row_ptr[root + 1])
        above = rows[mine] >= first[root + 1]
        known = rows[row_ptr[root] : row_ptr[root + 1]]  # all rows above the subtree are rows of its root
        local[mine][above] = first[-1] + kept + np.searchsorted(known, rows[mine][above])
    return local


def _cut(parent: Ints, widths: Ints, heights: Ints, costs: Any, total: Any) -> tuple[Ints, Ints]:
    """Supernodes to cut into tiles, ascending, and roots of the subtrees below them, the dearest first."""
    roots = np.flatnonzero(parent < 0)
    order = np.argsort(parent, kind="stable")
    child_ptr = np.searchsorted(parent[order], np.arange(parent.size + 1))
    waiting = [(-float(total[s]), int(s)) for s in roots]
    heapq.heapify(waiting)
    top: list[int] = []
    tiled = {2: 0.0, 4: 0.0}
    cuts: list[tuple[float, list[int], list[int]]] = []
    best = np.inf
    while sum(tiled.values()) < best and len(top) < _MOST_TILED:
        tasks = sorted(waiting)
        time = sum(tiled[k] + _longest([-cost for cost, _ in tasks], k) for k in tiled)
        cuts.append((time, sorted(top), [s for _, s in tasks]))
        best = min(best, time)
        _, s = heapq.heappop(waiting)
        children = order[child_ptr[s] : child_ptr[s + 1]]
        if children.size == 0:
            break
        top.append(s)
        for c in children:
            heapq.heappush(waiting, (-float(total[c]), int(c)))
        for threads in tiled:
            tiled[threads] += _tiled_cost(int(widths[s]), int(heights[s]), float(costs[s]), threads)
    # of those that take about the least time, the one that needs the least memory
    good = [(tops, below) for time, tops, below in cuts if time <= _AS_GOOD * best]
    chosen = min(good, key=lambda cut: _workspace(parent, heights, *cut))
    return np.array(chosen[0], dtype=np.int64), np.array(chosen[1], dtype=np.int64)


def _workspace(parent: Ints, heights: Ints, top: list[int], roots: list[int]) -> float:
    """Size of the update matrices at the cut and above it."""
    tiled = np.zeros_like(heights)
    tiled[top] = heights[top]
    return float(update_offsets(parent, tiled)[1] + (heights[roots] ** 2).sum())


def _longest(costs: list[float], threads: int) -> float:
    """Time of the last of some threads that take tasks, the dearest first."""
    loads = [0.0] * threads
    for cost in costs:
        heapq.heapreplace(loads, loads[0] + cost)
    return max(loads)


def _tiled_cost(w: int, r: int, cost: float, threads: int) -> float:
    """Modelled time of a front in tiles: its diagonal tiles wait for nobody and nobody helps them."""
    tiles = -(-w // TILE)
    rows = -(-(w + r) // TILE)
    alone = tiles * 2e4 * (min(w, TILE) / TILE) ** 2
    shared = max(0.0, cost - alone)
    return alone + shared / min(threads, max(1, rows - 1)) + (2 + 3 * tiles) * _MEETING


def _numeric_phases(s: int, w: int, r: int) -> list[Phase]:
    """Phases of the factorisation of one front in tiles."""
    columns, rows = -(-w // TILE), -(-(w + r) // TILE)
    phases = [(cholesky.COLUMNS, s, 0, columns)]
    for j in range(columns):
        phases.append((cholesky.DIAGONAL, s, j, 1))
        below = w + r - min(w, (j + 1) * TILE)
        if below > 0:
            phases.append((cholesky.BELOW, s, j, -(-below // TILE)))
        reach = min((j + 1) & -(j + 1), columns - (j + 1))
        if reach > 0:
            phases.append((cholesky.RIGHT_OF, s, j, sum(rows - c for c in range(j + 1, j + 1 + reach))))
    if r > 0:
        phases.append((cholesky.UPDATE, s, 0, -(-r // TILE)))
    return phases


def _forward_phases(s: int, w: int, r: int) -> list[Phase]:
    """Phases of the solve with one front in tiles."""
    phases = []
    for j in range(-(-w // TILE)):
        phases.append((triangular.PIVOTS, s, j, 1))
        below = w + r - min(w, (j + 1) * TILE)
        if below > 0:
            phases.append((triangular.BELOW, s, j, -(-below // TILE)))
    return phases


def _backward_phases(s: int, w: int, r: int) -> list[Phase]:
    """Phases of the solve with the transpose of one front in tiles."""
    columns = -(-w // TILE)
    phases = [(triangular.OUTER, s, 0, columns)] if r > 0 else []
    for j in range(columns - 1, -1, -1):
        phases.append((triangular.PIVOTS, s, j, 1))
        if j > 0:
            phases.append((triangular.LEFT_OF, s, j, j))
    return phases
