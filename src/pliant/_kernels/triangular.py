"""Triangular solves with the panels of a multifrontal Cholesky factor, over BLAS.

The arguments that describe the factor are the arrays of `pliant.algebra.symbolic.Symbolic`, under the same
names. Right-hand sides are C-ordered (n, k) in eliminated order, which a column-major routine sees as (k, n): the
values of one unknown are contiguous, so gathering and scattering rows is copying.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.lapack import NO, RIGHT, TRANS, address, dgemm, dgemv, dsyrk, dtrsm, dtrsv

# below this many pivots the loops here beat the calls (measured with OpenBLAS)
_FEW = 4


@njit(cache=True, nogil=True)
def forward(first, row_ptr, rows, panel_ptr, panels, x, work):
    """Solve L y = x in place for one right-hand side (n,); work (max r,)."""
    for s in range(first.size - 1):
        f = first[s]
        w = first[s + 1] - f
        low = row_ptr[s]
        r = row_ptr[s + 1] - low
        m = w + r
        start = panel_ptr[s]
        if w < _FEW:
            for j in range(w):
                column = panels[start + j * m : start + (j + 1) * m]
                value = x[f + j] / column[j]
                x[f + j] = value
                for i in range(j + 1, w):
                    x[f + i] -= column[i] * value
                for i in range(r):
                    x[rows[low + i]] -= column[w + i] * value
        else:
            dtrsv(NO, w, address(panels, start), m, address(x, f))
            if r > 0:
                dgemv(NO, r, w, 1.0, address(panels, start + w), m, address(x, f), 0.0, address(work, 0))
                for i in range(r):
                    x[rows[low + i]] -= work[i]


@njit(cache=True, nogil=True)
def backward(first, row_ptr, rows, panel_ptr, panels, x, work):
    """Solve L^T y = x in place for one right-hand side (n,); work (max r,)."""
    for s in range(first.size - 2, -1, -1):
        f = first[s]
        w = first[s + 1] - f
        low = row_ptr[s]
        r = row_ptr[s + 1] - low
        m = w + r
        start = panel_ptr[s]
        for i in range(r):
            work[i] = x[rows[low + i]]
        if w < _FEW:
            for j in range(w - 1, -1, -1):
                column = panels[start + j * m : start + (j + 1) * m]
                value = x[f + j]
                for i in range(j + 1, w):
                    value -= column[i] * x[f + i]
                for i in range(r):
                    value -= column[w + i] * work[i]
                x[f + j] = value / column[j]
        else:
            if r > 0:
                dgemv(TRANS, r, w, -1.0, address(panels, start + w), m, address(work, 0), 1.0, address(x, f))
            dtrsv(TRANS, w, address(panels, start), m, address(x, f))


@njit(cache=True, nogil=True)
def forward_many(first, row_ptr, rows, panel_ptr, panels, x, work):
    """Solve L Y = X in place for C-ordered (n, k); work (max r, k)."""
    k = x.shape[1]
    flat = x.reshape(-1)
    for s in range(first.size - 1):
        f = first[s]
        w = first[s + 1] - f
        low = row_ptr[s]
        r = row_ptr[s + 1] - low
        start = panel_ptr[s]
        at = address(flat, f * k)
        dtrsm(RIGHT, TRANS, k, w, address(panels, start), w + r, at, k)
        if r > 0:
            below = address(panels, start + w)
            dgemm(NO, TRANS, k, r, w, 1.0, at, k, below, w + r, 0.0, address(work, 0), k)
            for i in range(r):
                line = x[rows[low + i]]
                for c in range(k):
                    line[c] -= work[i * k + c]


@njit(cache=True, nogil=True)
def backward_many(first, row_ptr, rows, panel_ptr, panels, x, work):
    """Solve L^T Y = X in place for C-ordered (n, k); work (max r * k,)."""
    k = x.shape[1]
    flat = x.reshape(-1)
    for s in range(first.size - 2, -1, -1):
        f = first[s]
        w = first[s + 1] - f
        low = row_ptr[s]
        r = row_ptr[s + 1] - low
        start = panel_ptr[s]
        at = address(flat, f * k)
        if r > 0:
            for i in range(r):
                line = x[rows[low + i]]
                for c in range(k):
                    work[i * k + c] = line[c]
            below = address(panels, start + w)
            dgemm(NO, NO, k, w, r, -1.0, address(work, 0), k, below, w + r, 1.0, at, k)
        dtrsm(RIGHT, NO, k, w, address(panels, start), w + r, at, k)


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


@njit(cache=True, nogil=True)
def forward_sparse(first, row_ptr, rows, panel_ptr, panels, active, x, work, lines, gram):
    """Solve L Y = X in place for C-ordered (n, k), at each supernode only for the columns active there.

    work (max r * k,), lines (max w * k,). gram: Y^T Y (k, k) is added to its upper triangle; none if empty.
    """
    k = x.shape[1]
    columns = np.empty(k, np.int64)
    product = np.empty(gram.size)
    for s in range(first.size - 1):
        q = 0
        for c in range(k):
            if active[s, c]:
                columns[q] = c
                q += 1
        if q == 0:
            continue
        f = first[s]
        w = first[s + 1] - f
        low = row_ptr[s]
        r = row_ptr[s + 1] - low
        start = panel_ptr[s]
        for j in range(w):
            for c in range(q):
                lines[j * q + c] = x[f + j, columns[c]]
        at = address(lines, 0)
        dtrsm(RIGHT, TRANS, q, w, address(panels, start), w + r, at, q)
        for j in range(w):
            for c in range(q):
                x[f + j, columns[c]] = lines[j * q + c]
        if gram.size > 0:
            dsyrk(q, w, 1.0, at, q, 0.0, address(product, 0), q)
            for a in range(q):
                line = gram[columns[a]]
                for b in range(a, q):
                    line[columns[b]] += product[a * q + b]
        if r > 0:
            below = address(panels, start + w)
            dgemm(NO, TRANS, q, r, w, 1.0, at, q, below, w + r, 0.0, address(work, 0), q)
            for i in range(r):
                line = x[rows[low + i]]
                for c in range(q):
                    line[columns[c]] -= work[i * q + c]


@njit(cache=True)
def mirror(gram):
    """Copy the upper triangle to the lower one."""
    for i in range(gram.shape[0]):
        for j in range(i):
            gram[i, j] = gram[j, i]


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
