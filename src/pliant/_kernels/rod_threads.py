"""Compiled threads embedded in rods: tendons and pressure channels along any material path.

A thread runs at r(s) in the section's axes. Its stretch is |xi_v + xi_w x r + r'|, a function of the local
strain only, so lengths, volumes and their first and second derivatives need no kinematics at all. The value
of a thread is the weighted sum over its quadrature points; the weight carries the sign and a channel's area.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant._kernels.lie import FAST
from pliant._kernels.rod import combine


class ThreadTables(NamedTuple):
    """Threads: nth threads, npt quadrature points.

    ptr (nth+1,): first point. seg (npt,): segment. weight (npt,): weight [m or m^3 per unit stretch].
    rest (npt,6), phi (npt,nbm,6): strain at the point. r, dr (npt,3): path and its slope. b (nbm,3): scratch.
    """

    ptr: np.ndarray
    seg: np.ndarray
    weight: np.ndarray
    rest: np.ndarray
    phi: np.ndarray
    r: np.ndarray
    dr: np.ndarray
    b: np.ndarray


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def path_slope(rest, r, dr, i, x):
    """Tangent of the path in the section's axes, for the strain change x (6-tuple)."""
    w0, w1, w2 = rest[i, 0] + x[0], rest[i, 1] + x[1], rest[i, 2] + x[2]
    r0, r1, r2 = r[i, 0], r[i, 1], r[i, 2]
    return (
        rest[i, 3] + x[3] + w1 * r2 - w2 * r1 + dr[i, 0],
        rest[i, 4] + x[4] + w2 * r0 - w0 * r2 + dr[i, 1],
        rest[i, 5] + x[5] + w0 * r1 - w1 * r0 + dr[i, 2],
    )


@njit(cache=True, fastmath=FAST, error_model="numpy")
def thread_values(t, c, q, value, grad):
    """value (nth,) and grad (nth, n) <- weighted stretch of each thread and its derivative."""
    ptr, seg, weight, rest, phi, r, dr = c.ptr, c.seg, c.weight, c.rest, c.phi, c.r, c.dr
    dofs, nbs, comp = t.dof0, t.nb, t.comp
    grad[:, :] = 0.0
    for a in range(value.shape[0]):
        total = 0.0
        for i in range(ptr[a], ptr[a + 1]):
            d0, nb = dofs[seg[i]], nbs[seg[i]]
            g0, g1, g2 = path_slope(rest, r, dr, i, combine(phi, i, q, d0, nb, comp))
            length = math.sqrt(g0 * g0 + g1 * g1 + g2 * g2)
            total += weight[i] * length
            f = weight[i] / length
            g0, g1, g2 = f * g0, f * g1, f * g2
            r0, r1, r2 = r[i, 0], r[i, 1], r[i, 2]
            m0, m1, m2 = r1 * g2 - r2 * g1, r2 * g0 - r0 * g2, r0 * g1 - r1 * g0
            for j in range(nb):
                grad[a, d0 + j] += (
                    phi[i, j, 0] * m0
                    + phi[i, j, 1] * m1
                    + phi[i, j, 2] * m2
                    + phi[i, j, 3] * g0
                    + phi[i, j, 4] * g1
                    + phi[i, j, 5] * g2
                )
        value[a] = total


@njit(cache=True, fastmath=FAST, error_model="numpy")
def add_pulls(t, c, q, effort, factor, value, grad, r):
    """r (n,) += factor times the generalised force of the threads with efforts (nth,); fills value and grad."""
    if effort.shape[0]:
        thread_values(t, c, q, value, grad)
        for a in range(effort.shape[0]):
            pull = factor * effort[a]
            for i in range(r.shape[0]):
                r[i] += pull * grad[a, i]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def thread_hessian(t, c, q, effort, H):
    """Adds sum effort[a] d^2 value[a] / dq^2 to H (n, n)."""
    ptr, seg, weight, rest, phi, r, dr, b = c.ptr, c.seg, c.weight, c.rest, c.phi, c.r, c.dr, c.b
    dofs, nbs, comp = t.dof0, t.nb, t.comp
    for a in range(ptr.shape[0] - 1):
        if effort[a] == 0.0:
            continue
        for i in range(ptr[a], ptr[a + 1]):
            d0, nb = dofs[seg[i]], nbs[seg[i]]
            g0, g1, g2 = path_slope(rest, r, dr, i, combine(phi, i, q, d0, nb, comp))
            length = math.sqrt(g0 * g0 + g1 * g1 + g2 * g2)
            g0, g1, g2 = g0 / length, g1 / length, g2 / length
            f = effort[a] * weight[i] / length
            r0, r1, r2 = r[i, 0], r[i, 1], r[i, 2]
            for j in range(nb):
                w0, w1, w2 = phi[i, j, 0], phi[i, j, 1], phi[i, j, 2]
                b0 = phi[i, j, 3] + w1 * r2 - w2 * r1
                b1 = phi[i, j, 4] + w2 * r0 - w0 * r2
                b2 = phi[i, j, 5] + w0 * r1 - w1 * r0
                s = b0 * g0 + b1 * g1 + b2 * g2
                b[j, 0] = b0 - s * g0
                b[j, 1] = b1 - s * g1
                b[j, 2] = b2 - s * g2
                for k in range(j + 1):
                    s = f * (b[j, 0] * b[k, 0] + b[j, 1] * b[k, 1] + b[j, 2] * b[k, 2])
                    H[d0 + j, d0 + k] += s
                    if k < j:
                        H[d0 + k, d0 + j] += s
