"""Triangular solves with the panels of a multifrontal Cholesky factor, over BLAS, by any number of threads.

The arguments that describe the factor are the arrays of `pliant.algebra.symbolic.Symbolic` and of
`pliant.algebra.schedule.Schedule`, under the same names. Right-hand sides are C-ordered (n, k) in eliminated order,
which a column-major routine sees as (k, n): the values of one unknown are contiguous, so gathering and scattering
rows is copying. Work is shared as in `cholesky`: subtrees, then the fronts of the top in tiles. What a subtree
subtracts from unknowns above it is kept apart, in lines after the n of the unknowns (`local_rows` leads there), until
all subtrees are done.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.atomic import add, counter, wait_for
from pliant._kernels.fronts import STRIP, solve_rows, solve_rows_back
from pliant._kernels.lapack import NO, TRANS, address, dgemm, dgemv, dsyrk, dtrsv

# below this many pivots the loops here beat the calls (measured with OpenBLAS)
_FEW = 4
#: rows and columns of a tile
TILE = 128
#: what the tasks of a phase are. Forward: subtrees; what these left for the top; a diagonal tile; tiles below it;
#: columns of Y^T Y. Backward: tile columns, from the rows below the pivots; a diagonal tile; tiles left of it
SUBTREES, JOIN, PIVOTS, BELOW, GRAM, OUTER, LEFT_OF = range(7)


@njit(cache=True, nogil=True)
def _pivots(k, w, panels, at, m, inverses, to, x, here, scratch):
    """Solve with a diagonal block: x[here] (w, k), in place."""
    if k == 1:
        dtrsv(NO, w, address(panels, at), m, address(x, here))
    else:
        solve_rows(k, w, panels, at, m, inverses, to, x, here, k, scratch)


@njit(cache=True, nogil=True)
def _pivots_back(k, w, panels, at, m, inverses, to, x, here, scratch):
    """Solve with the transpose of a diagonal block: x[here] (w, k), in place."""
    if k == 1:
        dtrsv(TRANS, w, address(panels, at), m, address(x, here))
    else:
        solve_rows_back(k, w, panels, at, m, inverses, to, x, here, k, scratch)


@njit(cache=True, nogil=True)
def _product(k, rows, w, panels, at, m, x, here, work):
    """work (rows, k) = a block of a panel times x[here] (w, k)."""
    if k == 1:
        dgemv(NO, rows, w, 1.0, address(panels, at), m, address(x, here), 0.0, address(work, 0))
    else:
        dgemm(
            NO, TRANS, k, rows, w, 1.0, address(x, here), k, address(panels, at), m, 0.0, address(work, 0), k
        )  # fmt: skip


@njit(cache=True, nogil=True)
def _subtract_transposed(k, rows, w, panels, at, m, work, there, x, here):
    """x[here] (w, k) -= the transpose of a block of a panel times work[there] (rows, k)."""
    if k == 1:
        dgemv(TRANS, rows, w, -1.0, address(panels, at), m, address(work, there), 1.0, address(x, here))
    else:
        dgemm(
            NO, NO, k, w, rows, -1.0, address(work, there), k, address(panels, at), m, 1.0, address(x, here), k
        )  # fmt: skip


@njit(cache=True, nogil=True)
def _subtract_rows(k, rows, low, count, work, x):
    """Subtract work (count, k) from the lines rows[low:low + count] of x."""
    if k == 1:
        for i in range(count):
            x[rows[low + i]] -= work[i]
        return
    for i in range(count):
        line = rows[low + i] * k
        for c in range(k):
            x[line + c] -= work[i * k + c]


@njit(cache=True, nogil=True)
def _few_forward(k, w, r, panels, at, f, rows, low, x):
    """Forward solve with a supernode of few pivots."""
    m = w + r
    if k == 1:
        for j in range(w):
            column = panels[at + j * m : at + (j + 1) * m]
            value = x[f + j] / column[j]
            x[f + j] = value
            for i in range(j + 1, w):
                x[f + i] -= column[i] * value
            for i in range(r):
                x[rows[low + i]] -= column[w + i] * value
        return
    for j in range(w):
        own = (f + j) * k
        column = at + j * m
        scale = 1.0 / panels[column + j]
        for c in range(k):
            x[own + c] *= scale
        for i in range(j + 1, m):
            a = panels[column + i]
            line = (f + i) * k if i < w else rows[low + i - w] * k
            for c in range(k):
                x[line + c] -= a * x[own + c]


@njit(cache=True, nogil=True)
def _few_backward(k, w, r, panels, at, f, rows, low, x):
    """Backward solve with a supernode of few pivots."""
    m = w + r
    if k == 1:
        for j in range(w - 1, -1, -1):
            column = panels[at + j * m : at + (j + 1) * m]
            value = x[f + j]
            for i in range(j + 1, w):
                value -= column[i] * x[f + i]
            for i in range(r):
                value -= column[w + i] * x[rows[low + i]]
            x[f + j] = value / column[j]
        return
    for j in range(w - 1, -1, -1):
        own = (f + j) * k
        column = at + j * m
        for i in range(j + 1, m):
            a = panels[column + i]
            line = (f + i) * k if i < w else rows[low + i - w] * k
            for c in range(k):
                x[own + c] -= a * x[line + c]
        scale = 1.0 / panels[column + j]
        for c in range(k):
            x[own + c] *= scale


@njit(cache=True, nogil=True)
def _subtree_forward(
    low, high, first, row_ptr, rows, panel_ptr, panels, inverses, active, k, x, work, lines, scratch, columns, gram,
    product,
):
    """Forward solves of the supernodes low <= s < high, at each only for the columns active there.

    active: (ns, k), or empty if all columns are everywhere. gram: Y^T Y of these supernodes is added; none if empty.
    """
    sparse = active.size > 0
    for s in range(low, high):
        q = k
        if sparse:
            q = 0
            for c in range(k):
                if active[s, c]:
                    columns[q] = c
                    q += 1
            if q == 0:
                continue
        f = first[s]
        w = first[s + 1] - f
        begin = row_ptr[s]
        r = row_ptr[s + 1] - begin
        at = panel_ptr[s]
        if q == k and w < _FEW:
            _few_forward(k, w, r, panels, at, f, rows, begin, x)
        elif q == k:
            _pivots(k, w, panels, at, w + r, inverses, f * STRIP, x, f * k, scratch)
            if r > 0:
                _product(k, r, w, panels, at + w, w + r, x, f * k, work)
                _subtract_rows(k, rows, begin, r, work, x)
        else:
            for j in range(w):
                for c in range(q):
                    lines[j * q + c] = x[(f + j) * k + columns[c]]
            if w < _FEW:  # their inverses are not kept
                for j in range(w):
                    for i in range(j):
                        a = panels[at + i * (w + r) + j]
                        for c in range(q):
                            lines[j * q + c] -= a * lines[i * q + c]
                    scale = 1.0 / panels[at + j * (w + r + 1)]
                    for c in range(q):
                        lines[j * q + c] *= scale
            else:
                _pivots(q, w, panels, at, w + r, inverses, f * STRIP, lines, 0, scratch)
            for j in range(w):
                for c in range(q):
                    x[(f + j) * k + columns[c]] = lines[j * q + c]
            if r > 0:
                _product(q, r, w, panels, at + w, w + r, lines, 0, work)
                for i in range(r):
                    line = rows[begin + i] * k
                    for c in range(q):
                        x[line + columns[c]] -= work[i * q + c]
        if gram.size > 0:
            if q == k:
                dsyrk(k, w, 1.0, address(x, f * k), k, 1.0, address(gram, 0), k)
            else:
                dsyrk(q, w, 1.0, address(lines, 0), q, 0.0, address(product, 0), q)
                for a in range(q):
                    line = columns[a] * k
                    for b in range(a, q):
                        gram[line + columns[b]] += product[a * q + b]


@njit(cache=True, nogil=True)
def forward(
    thread, first, row_ptr, rows, panel_ptr, panels, inverses, max_front, task_low, task_high, local_rows, kept_ptr,
    phases, n, active, x, grams, counters,
):
    """Solve L Y = X in place: x (n + kept, k), flat, the lines beyond n zero.

    active: (ns, k), which columns visit which supernode (`reach`), or empty for all. grams: (tasks + 1, k, k) zeros,
    one to be filled by each subtree and one by the top, whose lower halves, column by column, sum up to Y^T Y; or
    empty. counters: two per phase, zero.
    """
    k = x.shape[1]
    flat = x.reshape(-1)
    work = np.empty(max_front * k)
    lines = np.empty(max_front * k)
    scratch = np.empty(k * STRIP)
    columns = np.empty(k, np.int64)
    product = np.empty(k * k if grams.size > 0 else 0)
    none = np.empty(0)
    for p in range(len(phases)):
        kind, s, j, tasks = phases[p, 0], phases[p, 1], phases[p, 2], phases[p, 3]
        following = counter(counters, 2 * p)
        done = counter(counters, 2 * p + 1)
        f = first[s]
        w = first[s + 1] - f
        begin = row_ptr[s]
        m = w + row_ptr[s + 1] - begin
        at = panel_ptr[s] + j * TILE * (m + 1)
        here = (f + j * TILE) * k
        n_tile = min(TILE, w - j * TILE)
        while True:
            t = add(following, 1)
            if t >= tasks:
                break
            if kind == SUBTREES:
                _subtree_forward(
                    task_low[t], task_high[t], first, row_ptr, local_rows, panel_ptr, panels, inverses, active, k, flat,
                    work, lines, scratch, columns, grams[t].reshape(-1) if grams.size > 0 else none, product,
                )  # fmt: skip
            elif kind == JOIN:
                for i in range(len(task_low)):
                    root = task_high[i] - 1
                    for q in range(kept_ptr[i + 1] - kept_ptr[i]):
                        line, kept = x[rows[row_ptr[root] + q]], x[n + kept_ptr[i] + q]
                        for c in range(k):
                            line[c] += kept[c]
            elif kind == PIVOTS:
                _pivots(k, n_tile, panels, at, m, inverses, (f + j * TILE) * STRIP, flat, here, scratch)
            elif kind == BELOW:
                start = n_tile + t * TILE  # counted from the diagonal tile
                count = min(TILE, m - j * TILE - start)
                _product(k, count, n_tile, panels, at + start, m, flat, here, work)
                place = j * TILE + start
                inside = max(0, min(count, w - place))  # rows that are pivots
                for i in range(inside * k):
                    flat[(f + place) * k + i] -= work[i]
                _subtract_rows(k, rows, begin + place + inside - w, count - inside, work[inside * k :], flat)
            else:  # GRAM: columns t * TILE ... of the product, from all fronts of the top
                c = t * TILE
                wide = min(TILE, k - c)
                for other in range(p):
                    if phases[other, 0] == PIVOTS:
                        g = first[phases[other, 1]] + phases[other, 2] * TILE
                        v = min(TILE, first[phases[other, 1] + 1] - g)
                        dgemm(
                            NO, TRANS, k - c, wide, v, 1.0, address(flat, g * k + c), k, address(flat, g * k + c), k,
                            1.0, address(grams, len(task_low) * k * k + c * (k + 1)), k,
                        )  # fmt: skip
            add(done, 1)
        wait_for(done, tasks)


@njit(cache=True, nogil=True)
def _gather(k, rows, low, count, x, work):
    """work (count, k) = lines rows[low:low + count] of x."""
    if k == 1:
        for i in range(count):
            work[i] = x[rows[low + i]]
        return
    for i in range(count):
        line = rows[low + i] * k
        for c in range(k):
            work[i * k + c] = x[line + c]


@njit(cache=True, nogil=True)
def backward(
    thread, first, row_ptr, rows, panel_ptr, panels, inverses, max_front, task_low, task_high, phases, x, counters
):
    """Solve L^T Y = X in place: x (n, k). counters: two per phase, zero."""
    k = x.shape[1]
    flat = x.reshape(-1)
    work = np.empty(max_front * k)
    scratch = np.empty(k * STRIP)
    for p in range(len(phases)):
        kind, s, j, tasks = phases[p, 0], phases[p, 1], phases[p, 2], phases[p, 3]
        following = counter(counters, 2 * p)
        done = counter(counters, 2 * p + 1)
        f = first[s]
        w = first[s + 1] - f
        begin = row_ptr[s]
        m = w + row_ptr[s + 1] - begin
        at = panel_ptr[s]
        while True:
            t = add(following, 1)
            if t >= tasks:
                break
            if kind == SUBTREES:
                for i in range(task_high[t] - 1, task_low[t] - 1, -1):
                    _one_backward(i, first, row_ptr, rows, panel_ptr, panels, inverses, k, flat, work, scratch)
            elif kind == OUTER:
                wide = min(TILE, w - t * TILE)
                _gather(k, rows, begin, m - w, flat, work)
                here = (f + t * TILE) * k
                _subtract_transposed(k, m - w, wide, panels, at + t * TILE * m + w, m, work, 0, flat, here)
            elif kind == PIVOTS:
                n_tile = min(TILE, w - j * TILE)
                place = f + j * TILE
                corner = at + j * TILE * (m + 1)
                _pivots_back(k, n_tile, panels, corner, m, inverses, place * STRIP, flat, place * k, scratch)
            else:  # LEFT_OF
                n_tile = min(TILE, w - j * TILE)
                block = at + t * TILE * m + j * TILE
                there, here = (f + j * TILE) * k, (f + t * TILE) * k
                _subtract_transposed(k, n_tile, TILE, panels, block, m, flat, there, flat, here)
            add(done, 1)
        wait_for(done, tasks)


@njit(cache=True, nogil=True)
def _one_backward(s, first, row_ptr, rows, panel_ptr, panels, inverses, k, x, work, scratch):
    """Backward solve of one supernode."""
    f = first[s]
    w = first[s + 1] - f
    begin = row_ptr[s]
    r = row_ptr[s + 1] - begin
    at = panel_ptr[s]
    if w < _FEW:
        _few_backward(k, w, r, panels, at, f, rows, begin, x)
        return
    if r > 0:
        _gather(k, rows, begin, r, x, work)
        _subtract_transposed(k, r, w, panels, at + w, w + r, work, 0, x, f * k)
    _pivots_back(k, w, panels, at, w + r, inverses, f * STRIP, x, f * k, scratch)


@njit(cache=True)
def reach(column_ptr, row_indices, values, position, supernode_of, parent, x, active, at):
    """Add sparse columns to x (n, k) from column `at` on, and mark in active (ns, k) what their solves visit."""
    for c in range(column_ptr.size - 1):
        for p in range(column_ptr[c], column_ptr[c + 1]):
            i = position[row_indices[p]]
            x[i, at + c] += values[p]
            s = supernode_of[i]
            while s >= 0 and not active[s, at + c]:
                active[s, at + c] = True
                s = parent[s]


@njit(cache=True)
def reach_rows(lines, position, supernode_of, parent, x, active):
    """As `reach` for dense rows (m, n), which become the first columns of x; their zeros are skipped."""
    for c in range(lines.shape[0]):
        for j in range(lines.shape[1]):
            value = lines[c, j]
            if value != 0.0:
                i = position[j]
                x[i, c] = value
                s = supernode_of[i]
                while s >= 0 and not active[s, c]:
                    active[s, c] = True
                    s = parent[s]


@njit(cache=True)
def symmetric_sum(grams):
    """Sum of matrices (t, k, k) of which only one half is right: that of rows above the diagonal."""
    t, k, _ = grams.shape
    out = np.zeros((k, k))
    for b in range(t):
        for i in range(k):
            for j in range(i, k):
                out[i, j] += grams[b, i, j]
    for i in range(k):
        for j in range(i):
            out[i, j] = out[j, i]
    return out


@njit(cache=True)
def log_diagonal(first, row_ptr, panel_ptr, panels):
    """Sum of the logarithms of the diagonal of L."""
    total = 0.0
    for s in range(first.size - 1):
        w = first[s + 1] - first[s]
        m = w + row_ptr[s + 1] - row_ptr[s]
        for j in range(w):
            total += np.log(panels[panel_ptr[s] + j * (m + 1)])
    return total
