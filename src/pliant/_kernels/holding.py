"""The dense algebra of bodies that only contacts hold, and their rows taken apart, compiled.

See `pliant.inverse.holding` for what it means.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.lapack import LEFT, NO, address, dpotrf, dtrsm


@njit(cache=True)
def part_rows(indptr, indices, data, pressing, n):
    """CSR rows (m, n) taken apart: those that press, and the others with unit rows of what those touch below them.

    Returns the pressing rows over the columns that they touch (r, k), dense; those columns (k,), ascending; and data,
    columns and starts of the other rows and the k unit rows.
    """
    number = np.full(n, -1, np.int64)
    lines, others = 0, 0
    for i in range(len(pressing)):
        if pressing[i]:
            lines += 1
            for at in range(indptr[i], indptr[i + 1]):
                number[indices[at]] = 0
        else:
            others += indptr[i + 1] - indptr[i]
    k = 0
    for j in range(n):
        if number[j] == 0:
            number[j] = k
            k += 1
    touched = np.empty(k, np.int32)
    for j in range(n):
        if number[j] >= 0:
            touched[number[j]] = j
    compact = np.zeros((lines, k))
    values = np.ones(others + k)
    columns = np.empty(others + k, np.int32)
    starts = np.zeros(len(pressing) - lines + k + 1, np.int32)
    line, other, end = 0, 0, 0
    for i in range(len(pressing)):
        if pressing[i]:
            for at in range(indptr[i], indptr[i + 1]):
                compact[line, number[indices[at]]] += data[at]
            line += 1
        else:
            for at in range(indptr[i], indptr[i + 1]):
                values[end], columns[end] = data[at], indices[at]
                end += 1
            other += 1
            starts[other] = end
    for j in range(k):
        columns[end + j] = touched[j]
        starts[other + 1 + j] = end + 1 + j
    return compact, touched, values, columns, starts


@njit(cache=True)
def _factor(matrix):
    """Cholesky factor of a symmetric matrix in place, as its transpose above the diagonal; whether there is one."""
    k = len(matrix)
    if dpotrf(k, address(matrix, 0), k) != 0:
        return False
    return np.isfinite(np.diag(matrix)).all()


@njit(cache=True)
def resolve(flexibility, added, rows, scale, parts):
    """(S, rho) of `Holding.resolved`; rho is negative if there is none.

    With G = L L^T, M = rho C^T C - E and B = I + L^T M L, positive definite exactly where the matrix wanted is:
    S = M (I + G M)^-1 = M - M L B^-1 L^T M.
    """
    k = len(added)
    upper = flexibility.copy()
    if not _factor(upper):
        return np.empty((0, 0)), -1.0
    L = np.zeros((k, k))
    for i in range(k):
        for j in range(i, k):
            L[j, i] = upper[i, j]
    stiff = np.empty((k, k))
    for i in range(k):
        root = np.sqrt(added[i])
        for j in range(k):
            stiff[i, j] = root * L[i, j]
    alone = -(stiff.T @ stiff)
    for i in range(k):
        alone[i, i] += 1.0
    rho = 0.0
    B = alone.copy()
    if not _factor(B):
        held = rows @ L
        square = held.T @ held
        rho = -1.0
        for part in parts:
            B = alone + part * scale * square
            if _factor(B):
                rho = part * scale
                break
        if rho < 0.0:
            return np.empty((0, 0)), rho
    M = np.zeros((k, k))
    if rho > 0.0:
        M = rho * (rows.T @ rows)
    for i in range(k):
        M[i, i] -= added[i]
    half = M @ L
    dtrsm(LEFT, NO, k, k, address(B, 0), k, address(half, 0), k)
    return M - half @ half.T, rho


@njit(cache=True)
def add_springs(rows, diagonal, stiffness, extra):
    """Springs on coordinates with derivatives rows (m, n), where that is a single entry: at least as stiff as the mean.

    stiffness (m,) is zero where there is none; extra (n,) += what they add to the diagonal.
    """
    typical = diagonal.mean()
    for i in range(len(rows)):
        where, count = 0, 0
        for j in range(rows.shape[1]):
            if rows[i, j] != 0.0:
                where = j
                count += 1
        stiffness[i] = 0.0
        if count == 1:
            stiffness[i] = max(diagonal[where], typical)
            extra[where] += stiffness[i] * rows[i, where] ** 2
