"""Dense fronts of a multifrontal Cholesky factorisation: partial factorisations over matrix products.

A panel is column-major, (w + r) x w: w pivots, then the r rows below them. LAPACK's own Cholesky and triangular
solves reach a fifth of the speed of a matrix product at a hundred columns, so here a panel is cut into strips
of a few columns: the diagonal block of a strip is factorised and inverted, the rows below it are
multiplied by that inverse, and everything else is products of the largest size the recursion allows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.lapack import NO, TRANS, address, dgemm, dpotrf, dsyrk

#: columns of a strip
STRIP = 16


@njit(cache=True, nogil=True)
def small_front(w, r, panel, update):
    """Factor a panel of few pivots in place; the update matrix is minus its outer product.

    Returns 0, or 1 + the pivot that is not positive.
    """
    m = w + r
    for j in range(w):
        pivot = panel[j * m + j]
        if not 0.0 < pivot < np.inf:
            return j + 1
        pivot = np.sqrt(pivot)
        panel[j * m + j] = pivot
        scale = 1.0 / pivot
        for i in range(j + 1, m):
            panel[j * m + i] *= scale
        for c in range(j + 1, w):
            a = panel[j * m + c]
            for i in range(c, m):
                panel[c * m + i] -= a * panel[j * m + i]
    for c in range(r):
        column = update[c * r : (c + 1) * r]
        for j in range(w):
            below = panel[j * m + w : (j + 1) * m]
            a = below[c]
            if j == 0:
                for i in range(c, r):
                    column[i] = -a * below[i]
            else:
                for i in range(c, r):
                    column[i] -= a * below[i]
    return 0


@njit(cache=True, nogil=True)
def _diagonal_block(n, a, at, lda, inverse, to):
    """Cholesky factor of an n x n block at a[at], in place; its inverse goes to inverse[to], STRIP apart.

    Returns 0, or 1 + the pivot that is not positive.
    """
    info = dpotrf(n, address(a, at), lda)
    if info != 0:
        return info
    for j in range(n):  # OpenBLAS lets NaN and infinity through
        if not 0.0 < a[at + j * (lda + 1)] < np.inf:
            return j + 1
    for j in range(n - 1, -1, -1):  # columns of the inverse, from those to the right of them; loops of fixed length
        own = at + j * lda
        column = to + j * STRIP
        for i in range(STRIP):
            inverse[column + i] = 0.0
        for k in range(j + 1, n):
            f = a[own + k]
            other = to + k * STRIP
            for i in range(STRIP):
                inverse[column + i] -= f * inverse[other + i]
        scale = 1.0 / a[own + j]
        for i in range(STRIP):
            inverse[column + i] *= scale
        inverse[column + j] = scale
    return 0


@njit(cache=True, nogil=True)
def _times_inverse(trans, rows, n, inverse, to, a, at, lda, scratch):
    """a[at] (rows, n) := itself times the inverse of a diagonal block, or the transpose of that inverse."""
    for c in range(n):
        for i in range(rows):
            scratch[c * rows + i] = a[at + c * lda + i]
    dgemm(
        NO, trans, rows, n, n, 1.0, address(scratch, 0), rows, address(inverse, to), STRIP, 0.0, address(a, at), lda
    )


@njit(cache=True, nogil=True)
def factor_panel(w, m, a, at, lda, inverse, to, scratch):
    """Factor the first w columns of m rows at a[at]; the inverses of its diagonal blocks go to inverse[to].

    After strip j the last s strips are subtracted from the next s, where s is the largest power of two that
    divides j + 1: that is the recursion by halves, without recursion. `scratch` (m * STRIP,).
    Returns 0, or 1 + the pivot that is not positive.
    """
    strips = (w + STRIP - 1) // STRIP
    for j in range(strips):
        start = j * STRIP
        n = min(STRIP, w - start)
        info = _diagonal_block(n, a, at + start * (lda + 1), lda, inverse, to + start * STRIP)
        if info != 0:
            return start + info
        end = start + n
        if end < m:
            _times_inverse(TRANS, m - end, n, inverse, to + start * STRIP, a, at + start * lda + end, lda, scratch)
        if end >= w:
            break
        k = ((j + 1) & -(j + 1)) * STRIP
        wide = min(k, w - end)
        left = at + (end - k) * lda
        right = at + end * lda
        dsyrk(wide, k, -1.0, address(a, left + end), lda, 1.0, address(a, right + end), lda)
        after = end + wide
        if after < m:
            dgemm(
                NO, TRANS, m - after, wide, k, -1.0, address(a, left + after), lda, address(a, left + end), lda, 1.0,
                address(a, right + after), lda,
            )  # fmt: skip
    return 0


@njit(cache=True, nogil=True)
def solve_rows(rows, w, a, at, lda, inverse, to, b, here, ldb, scratch):
    """b[here] (rows, w) := itself times L^-T, where L and its inverse blocks are as `factor_panel` left them.

    scratch (rows * STRIP,).
    """
    strips = (w + STRIP - 1) // STRIP
    for j in range(strips):
        start = j * STRIP
        n = min(STRIP, w - start)
        _times_inverse(TRANS, rows, n, inverse, to + start * STRIP, b, here + start * ldb, ldb, scratch)
        end = start + n
        if end >= w:
            break
        k = ((j + 1) & -(j + 1)) * STRIP
        wide = min(k, w - end)
        dgemm(
            NO, TRANS, rows, wide, k, -1.0, address(b, here + (end - k) * ldb), ldb,
            address(a, at + (end - k) * lda + end), lda, 1.0, address(b, here + end * ldb), ldb,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def solve_rows_back(rows, w, a, at, lda, inverse, to, b, here, ldb, scratch):
    """As `solve_rows`, times L^-1: the same recursion from the other end."""
    strips = (w + STRIP - 1) // STRIP
    for j in range(strips - 1, -1, -1):
        start = j * STRIP
        n = min(STRIP, w - start)
        _times_inverse(NO, rows, n, inverse, to + start * STRIP, b, here + start * ldb, ldb, scratch)
        if start == 0:
            break
        k = (j & -j) * STRIP
        wide = min(k, w - start)
        dgemm(
            NO, NO, rows, k, wide, -1.0, address(b, here + start * ldb), ldb,
            address(a, at + (start - k) * lda + start), lda, 1.0, address(b, here + (start - k) * ldb), ldb,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def front(w, r, panel, update, inverse, to, scratch):
    """As `small_front`, over matrix products."""
    m = w + r
    info = factor_panel(w, m, panel, np.int64(0), m, inverse, to, scratch)
    if info == 0 and r > 0:
        dsyrk(r, w, -1.0, address(panel, w), m, 0.0, address(update, 0), r)
    return info


@njit(cache=True, nogil=True)
def extend_add(low, high, relative, run_end, child, lead, stride, target):
    """Add columns low..high of the update matrix of a child to those of its parent's front.

    Row and column t of the front are at t - lead of `target`, whose columns are `stride` apart. Rows
    come in runs that are contiguous in both, which makes the inner loop a vector addition.
    """
    q = relative.size
    for j in range(low, high):
        base = (relative[j] - lead) * stride - lead
        i = j
        while i < q:
            end = run_end[i]
            there = base + relative[i]
            here = j * q + i
            for k in range(end - i):
                target[there + k] += child[here + k]
            i = end
