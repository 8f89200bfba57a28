"""Dense fronts of a multifrontal Cholesky factorisation: partial factorisations over matrix products.

A panel is column-major, (w + r) x w: w pivots, then the r rows below them. LAPACK's own Cholesky and triangular
solves reach a fifth of the speed of a matrix product at a hundred columns, so here a panel is cut into strips
of a few columns: the diagonal block of a strip is factorised and inverted by loops, the rows below it are
multiplied by that inverse, and everything else is products of the largest size the recursion allows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.lapack import NO, TRANS, address, dgemm, dsyrk

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
    for j in range(n):
        own = at + j * lda
        pivot = a[own + j]
        if not 0.0 < pivot < np.inf:
            return j + 1
        pivot = np.sqrt(pivot)
        a[own + j] = pivot
        scale = 1.0 / pivot
        for i in range(j + 1, n):
            a[own + i] *= scale
        for c in range(j + 1, n):
            f = a[own + c]
            other = at + c * lda
            for i in range(c, n):
                a[other + i] -= f * a[own + i]
    for j in range(n):
        column = to + j * STRIP
        for i in range(n):
            inverse[column + i] = 0.0
        inverse[column + j] = 1.0
        for k in range(j, n):
            own = at + k * lda
            f = inverse[column + k] / a[own + k]
            inverse[column + k] = f
            for i in range(k + 1, n):
                inverse[column + i] -= f * a[own + i]
    return 0


@njit(cache=True, nogil=True)
def _times_inverse(rows, n, inverse, to, a, at, lda, scratch):
    """Rows below a diagonal block: a[at] (rows, n) times the transpose of the inverse of the block."""
    for c in range(n):
        for i in range(rows):
            scratch[c * rows + i] = a[at + c * lda + i]
    dgemm(
        NO, TRANS, rows, n, n, 1.0, address(scratch, 0), rows, address(inverse, to), STRIP, 0.0, address(a, at), lda
    )


@njit(cache=True, nogil=True)
def factor_panel(w, m, a, at, lda, inverse, scratch):
    """Factor the first w columns of m rows at a[at]; the inverses of its diagonal blocks stay in `inverse`.

    After strip j the last s strips are subtracted from the next s, where s is the largest power of two that
    divides j + 1: that is the recursion by halves, without recursion. `inverse` (w * STRIP,), `scratch`
    (m * STRIP,). Returns 0, or 1 + the pivot that is not positive.
    """
    strips = (w + STRIP - 1) // STRIP
    for j in range(strips):
        start = j * STRIP
        n = min(STRIP, w - start)
        info = _diagonal_block(n, a, at + start * (lda + 1), lda, inverse, start * STRIP)
        if info != 0:
            return start + info
        end = start + n
        if end < m:
            _times_inverse(m - end, n, inverse, start * STRIP, a, at + start * lda + end, lda, scratch)
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
def solve_rows(rows, w, a, diagonal, lda, inverse, at, scratch):
    """a[at] (rows, w) := itself times the inverse transpose of the factor that `factor_panel` left at a[diagonal]."""
    strips = (w + STRIP - 1) // STRIP
    for j in range(strips):
        start = j * STRIP
        n = min(STRIP, w - start)
        _times_inverse(rows, n, inverse, start * STRIP, a, at + start * lda, lda, scratch)
        end = start + n
        if end >= w:
            break
        k = ((j + 1) & -(j + 1)) * STRIP
        wide = min(k, w - end)
        dgemm(
            NO, TRANS, rows, wide, k, -1.0, address(a, at + (end - k) * lda), lda,
            address(a, diagonal + (end - k) * lda + end), lda, 1.0, address(a, at + end * lda), lda,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def front(w, r, panel, update, inverse, scratch):
    """As `small_front`, over matrix products."""
    m = w + r
    info = factor_panel(w, m, panel, 0, m, inverse, scratch)
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
