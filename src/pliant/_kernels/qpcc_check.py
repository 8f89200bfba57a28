"""Compiled evaluation of a QPCC point: values reached and the worst violation."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.qpcc_table import CLOSED, OPEN


@njit(cache=True)
def _affine(A, x, B, y, offset, out, size):
    """out <- A x + B y + offset and the sum of the absolute terms."""
    for i in range(offset.size):
        v, total = offset[i], abs(offset[i])
        for j in range(x.size):
            v += A[i, j] * x[j]
            total += abs(A[i, j] * x[j])
        for j in range(y.size):
            v += B[i, j] * y[j]
            total += abs(B[i, j] * y[j])
        out[i] = v
        size[i] = max(total, 1e-300)


@njit(cache=True)
def evaluate(problem, a, c, state, step, slack):
    """(effector, displacement, gap, residual) at efforts a and forces c; slack (na + nr,): relaxed limits.

    Contact conditions are measured in displacement (force times own compliance) against the largest one,
    limits against the terms of their row.
    """
    Wea, Wec, de, Waa, Wac, da, Wca, Wcc, dc, lo, hi, dlo, dhi, Ca, Cc, d = problem
    na, nr = da.size, d.size
    error, stroke, gap, rows = np.empty(de.size), np.empty(na), np.empty(dc.size), np.empty(nr)
    size = np.empty(max(de.size, na, dc.size, nr, 1))
    _affine(Wea, a, Wec, c, de, error, size)
    _affine(Waa, a, Wac, c, da, stroke, size)
    worst, effort = 0.0, 1e-300
    for i in range(na):
        effort = max(effort, abs(a[i]) * np.sqrt(max(Waa[i, i], 0.0)))
    for i in range(na):
        over = max(dlo[i] - stroke[i], stroke[i] - dhi[i]) - slack[i]
        worst = max(worst, over / size[i])
        unit = np.sqrt(max(Waa[i, i], 0.0))  # efforts of different kinds compare through their compliance
        worst = max(worst, max(lo[i] - a[i], a[i] - hi[i]) * unit / effort)
    _affine(Ca, a, Cc, c, np.zeros(nr), rows, size)
    for i in range(nr):
        worst = max(worst, (d[i] - slack[na + i] - rows[i]) / max(size[i], abs(d[i])))
    _affine(Wca, a, Wcc, c, dc, gap, size)
    largest = 1e-300
    for i in range(dc.size):
        largest = max(largest, abs(dc[i]), abs(c[i]) * Wcc[i, i])
    for i in range(dc.size):
        s = state[i // step]
        if s == CLOSED or (s != OPEN and i % step == 0):
            worst = max(worst, abs(gap[i]) / largest)
        else:
            worst = max(worst, abs(c[i]) * Wcc[i, i] / largest)
        if i % step == 0:
            worst = max(worst, -c[i] * Wcc[i, i] / largest, -gap[i] / largest)
    return error, stroke, gap, worst


@njit(cache=True)
def unit_weight(Wea, Waa):
    """|Wea'Wea|_inf / |Waa|_inf, zero where nothing moves (spec 6.6)."""
    na = Waa.shape[0]
    largest, size = 0.0, 0.0
    for i in range(na):
        row, own = 0.0, 0.0
        for j in range(na):
            v = 0.0
            for e in range(Wea.shape[0]):
                v += Wea[e, i] * Wea[e, j]
            row += abs(v)
            own += abs(Waa[i, j])
        largest, size = max(largest, row), max(size, own)
    return largest / size if size > 0.0 else 0.0
