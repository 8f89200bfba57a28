"""Multifrontal supernodal Cholesky factorisation, by any number of threads.

The arguments that describe the factor are the arrays of `pliant.algebra.symbolic.Symbolic` and of
`pliant.algebra.schedule.Schedule`, under the same names. The work is a list of phases, each of some tasks that do not
depend on each other: first the subtrees, then, front by front, the top of the tree in tiles. Every thread runs through
all phases, takes tasks from the counter of a phase while there are any, and waits until all of them are done.
The tasks do not depend on the number of threads, so the factor does not either, to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.atomic import add, counter, lower, read, wait_for
from pliant._kernels.fronts import STRIP, extend_add, factor_panel, front, small_front, solve_rows
from pliant._kernels.lapack import NO, TRANS, address, dgemm, dsyrk

# below this many pivots loops beat calls (measured with OpenBLAS)
_FEW = 4
#: rows and columns of a tile
TILE = 128
#: what the tasks of a phase are: subtrees; columns of a front assembled; its diagonal tile; rows below that;
#: tiles to the right of it; columns of the update matrix
SUBTREES, COLUMNS, DIAGONAL, BELOW, RIGHT_OF, UPDATE = range(6)
NOTHING = 2**62  # no pivot failed


@njit(cache=True, nogil=True)
def _within(low, high, bounds, start, end):
    """Range of places in bounds[low:high], ascending, with start <= value < end, counted from low."""
    a = low + np.searchsorted(bounds[low:high], start)
    b = low + np.searchsorted(bounds[low:high], end)
    return a - low, b - low


@njit(cache=True, nogil=True)
def _update_of(s, row_ptr, update_ptr, floating, stack, updates):
    """The update matrix of a supernode; those inside a subtree float on the stack of the thread."""
    r = row_ptr[s + 1] - row_ptr[s]
    start = update_ptr[s] + (stack if floating[s] else 0)
    return updates[start : start + r * r]


@njit(cache=True, nogil=True)
def _one_front(
    s, first, row_ptr, child_ptr, children, relative, run_end, split, panel_ptr, update_ptr, floating, source_ptr,
    source, target, data, shift, panels, updates, stack, inverses, scratch,
):
    """Assemble and factor the front of one supernode; returns 0, or 1 + the pivot that is not positive."""
    w = first[s + 1] - first[s]
    r = row_ptr[s + 1] - row_ptr[s]
    m = w + r
    start = panel_ptr[s]
    panel = panels[start : start + m * w]
    update = _update_of(s, row_ptr, update_ptr, floating, stack, updates)
    panel[:] = 0.0
    for p in range(source_ptr[first[s]], source_ptr[first[s + 1]]):
        panels[target[p]] = data[source[p]]
    if shift != 0.0:
        for j in range(w):
            panel[j * (m + 1)] += shift
    zero = np.int64(0)  # typed numbers: see `_kernels.arrays`
    for p in range(child_ptr[s], child_ptr[s + 1]):
        c = children[p]
        low = row_ptr[c]
        high = row_ptr[c + 1]
        child = _update_of(c, row_ptr, update_ptr, floating, stack, updates)
        extend_add(zero, split[c], relative[low:high], run_end[low:high], child, zero, m, panel)
    if w < _FEW:
        info = small_front(w, r, panel, update)
    else:
        info = front(w, r, panel, update, inverses, first[s] * STRIP, scratch)
    if info != 0:
        return info
    # what the children add below the pivots comes after the outer product, which then need not be added
    for p in range(child_ptr[s], child_ptr[s + 1]):
        c = children[p]
        low = row_ptr[c]
        high = row_ptr[c + 1]
        child = _update_of(c, row_ptr, update_ptr, floating, stack, updates)
        extend_add(split[c], high - low, relative[low:high], run_end[low:high], child, w, r, update)
    return 0


@njit(cache=True, nogil=True)
def _assemble_columns(
    s, t, first, row_ptr, child_ptr, children, relative, run_end, split, panel_ptr, update_ptr, floating, source_ptr,
    source, target, data, shift, panels, updates,
):
    """Values of tile column t of the panel of s: from the matrix and from the children."""
    w = first[s + 1] - first[s]
    m = w + row_ptr[s + 1] - row_ptr[s]
    begin = t * TILE
    end = min(w, begin + TILE)
    start = panel_ptr[s]
    panel = panels[start : start + m * w]
    panel[begin * m : end * m] = 0.0
    for p in range(source_ptr[first[s] + begin], source_ptr[first[s] + end]):
        panels[target[p]] = data[source[p]]
    if shift != 0.0:
        for j in range(begin, end):
            panel[j * (m + 1)] += shift
    for p in range(child_ptr[s], child_ptr[s + 1]):
        c = children[p]
        low = row_ptr[c]
        high = row_ptr[c + 1]
        a, b = _within(low, low + split[c], relative, begin, end)
        child = _update_of(c, row_ptr, update_ptr, floating, 0, updates)
        extend_add(a, b, relative[low:high], run_end[low:high], child, np.int64(0), m, panel)


@njit(cache=True, nogil=True)
def _tile_right_of(j, t, w, m, panel):
    """Subtract the last tile columns up to j from tile t of those to the right of them (see `factor_panel`)."""
    s = (j + 1) & -(j + 1)
    end = (j + 1) * TILE
    k = s * TILE
    tiles = (m + TILE - 1) // TILE
    column = j + 1
    while t >= tiles - column:
        t -= tiles - column
        column += 1
    row = (column + t) * TILE
    column *= TILE
    wide = min(TILE, w - column)
    left = (end - k) * m
    bottom = min(row + TILE, m)
    if row == column:
        dsyrk(wide, k, -1.0, address(panel, left + row), m, 1.0, address(panel, column * m + row), m)
        row += wide
    if row < bottom:
        dgemm(
            NO, TRANS, bottom - row, wide, k, -1.0, address(panel, left + row), m, address(panel, left + column), m,
            1.0, address(panel, column * m + row), m,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def _update_columns(
    s, t, first, row_ptr, child_ptr, children, relative, run_end, split, panel_ptr, update_ptr, floating, panels,
    updates,
):
    """Tile column t of the update matrix of s: minus the outer product, plus what the children add."""
    w = first[s + 1] - first[s]
    r = row_ptr[s + 1] - row_ptr[s]
    m = w + r
    begin = t * TILE
    end = min(r, begin + TILE)
    below = panel_ptr[s] + w
    update = _update_of(s, row_ptr, update_ptr, floating, 0, updates)
    dsyrk(end - begin, w, -1.0, address(panels, below + begin), m, 0.0, address(update, begin * (r + 1)), r)
    if end < r:
        dgemm(
            NO, TRANS, r - end, end - begin, w, -1.0, address(panels, below + end), m, address(panels, below + begin),
            m, 0.0, address(update, begin * r + end), r,
        )  # fmt: skip
    for p in range(child_ptr[s], child_ptr[s + 1]):
        c = children[p]
        low = row_ptr[c]
        high = row_ptr[c + 1]
        a, b = _within(low, high, relative, w + begin, w + end)
        child = _update_of(c, row_ptr, update_ptr, floating, 0, updates)
        extend_add(a, b, relative[low:high], run_end[low:high], child, w, r, update)


@njit(cache=True, nogil=True)
def factorise(
    thread, first, row_ptr, child_ptr, children, relative, run_end, split, panel_ptr, source_ptr, source, target,
    max_front, update_ptr, floating, stack_size, task_low, task_high, phases, data, shift, panels, updates, inverses,
    counters,
):
    """Factor the matrix whose values are `data` plus `shift` on the diagonal, into `panels`.

    thread: number of the caller, from 0. inverses: those of the diagonal blocks of STRIP columns, (n * STRIP,).
    counters: two per phase, zero, then one for the result: the first permuted column whose pivot is not positive,
    NOTHING before.
    """
    stack = thread * stack_size
    scratch = np.empty(max_front * STRIP)
    failed = counter(counters, 2 * len(phases))
    for p in range(len(phases)):
        kind, s, j, tasks = phases[p, 0], phases[p, 1], phases[p, 2], phases[p, 3]
        following = counter(counters, 2 * p)
        done = counter(counters, 2 * p + 1)
        while True:
            t = add(following, 1)
            if t >= tasks:
                break
            if kind == SUBTREES:
                low = task_low[t]
                if read(failed) >= first[low]:  # so that the first column is found whatever the order of the tasks
                    for i in range(low, task_high[t]):
                        info = _one_front(
                            i, first, row_ptr, child_ptr, children, relative, run_end, split, panel_ptr, update_ptr,
                            floating, source_ptr, source, target, data, shift, panels, updates, stack, inverses,
                            scratch,
                        )  # fmt: skip
                        if info != 0:
                            lower(failed, first[i] + info - 1)
                            break
            elif read(failed) == NOTHING:
                w = first[s + 1] - first[s]
                m = w + row_ptr[s + 1] - row_ptr[s]
                start = panel_ptr[s]
                panel = panels[start : start + m * w]
                if kind == COLUMNS:
                    _assemble_columns(
                        s, t, first, row_ptr, child_ptr, children, relative, run_end, split, panel_ptr, update_ptr,
                        floating, source_ptr, source, target, data, shift, panels, updates,
                    )  # fmt: skip
                elif kind == DIAGONAL:
                    n = min(TILE, w - j * TILE)
                    to = (first[s] + j * TILE) * STRIP
                    info = factor_panel(n, n, panel, j * TILE * (m + 1), m, inverses, to, scratch)
                    if info != 0:
                        lower(failed, first[s] + j * TILE + info - 1)
                elif kind == BELOW:
                    n = min(TILE, w - j * TILE)
                    begin = j * TILE + n + t * TILE
                    rows = min(TILE, m - begin)
                    corner = j * TILE * (m + 1)
                    to = (first[s] + j * TILE) * STRIP
                    solve_rows(rows, n, panel, corner, m, inverses, to, panel, j * TILE * m + begin, m, scratch)
                elif kind == RIGHT_OF:
                    _tile_right_of(j, t, w, m, panel)
                else:
                    _update_columns(
                        s, t, first, row_ptr, child_ptr, children, relative, run_end, split, panel_ptr, update_ptr,
                        floating, panels, updates,
                    )  # fmt: skip
            add(done, 1)
        wait_for(done, tasks)
