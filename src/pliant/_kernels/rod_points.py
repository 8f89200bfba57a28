"""Compiled points carried by rods: where they are, their Jacobians, loads on them and the loads' tangent.

A point lies inside a step: it is reached from the node before by its own partial step (same Magnus rule).
It may lie anywhere. All results are consistent derivatives of the same discrete kinematics (rod.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant._kernels.lie import FAST, coefficients7
from pliant._kernels.rod import advance, columns, kinematics, poses, row6, spatial_tangent, step_strains
from pliant._kernels.rod_dynamics import cobracket, vector6
from pliant._kernels.rod_mass import dot6
from pliant._kernels.rod_tangent import local_terms


class PointTables(NamedTuple):
    """Points on rods: np points.

    seg (np,): segment. base (np,): node (step index) before the point, -1 for the segment's start.
    h, curved, rest1, rest2, phi1, phi2: the partial step, as in RodTables. offset (np,3): in the section's
    axes [m].
    R (np,3,3), p (np,3), Om (np,6), S (np,nbm,6): results of the partial step. X (6,6), bd (nbm,6): scratch.
    """

    seg: np.ndarray
    base: np.ndarray
    h: np.ndarray
    curved: np.ndarray
    rest1: np.ndarray
    rest2: np.ndarray
    phi1: np.ndarray
    phi2: np.ndarray
    offset: np.ndarray
    R: np.ndarray
    p: np.ndarray
    Om: np.ndarray
    S: np.ndarray
    X: np.ndarray
    bd: np.ndarray


@njit(cache=True, fastmath=FAST, error_model="numpy")
def place_points(t, w, c, q, x):
    """x (np, 3) <- positions [m]; needs the poses of a sweep at q. Fills c.R, c.p, c.Om."""
    seg, base, steps, curved, rest1, rest2 = c.seg, c.base, c.h, c.curved, c.rest1, c.rest2
    phi1, phi2, off, R, p, Om, comp = c.phi1, c.phi2, c.offset, c.R, c.p, c.Om, t.comp
    start_R, start_p, rotm, pos = w.start_R, w.start_p, w.R, w.p
    dofs, nbs = t.dof0, t.nb
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(seg.shape[0]):
        k = seg[i]
        _, _, om = step_strains(steps, curved, rest1, rest2, phi1, phi2, comp, i, q, dofs[k], nbs[k], zero)
        for r in range(6):
            Om[i, r] = om[r]
        coeff = coefficients7(om[0] * om[0] + om[1] * om[1] + om[2] * om[2])
        if base[i] < 0:
            advance(om, coeff, start_R, start_p, k, R, p, i)
        else:
            advance(om, coeff, rotm, pos, base[i], R, p, i)
        for r in range(3):
            x[i, r] = p[i, r] + R[i, r, 0] * off[i, 0] + R[i, r, 1] * off[i, 1] + R[i, r, 2] * off[i, 2]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def point_columns(t, c, q):
    """Columns of the partial steps: fills c.S; needs place_points."""
    steps, curved, rest1, rest2 = c.h, c.curved, c.rest1, c.rest2
    phi1, phi2, R, p, S, X, comp = c.phi1, c.phi2, c.R, c.p, c.S, c.X, t.comp
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(c.seg.shape[0]):
        k = c.seg[i]
        d0, nb = t.dof0[k], t.nb[k]
        x1, x2, om = step_strains(steps, curved, rest1, rest2, phi1, phi2, comp, i, q, d0, nb, zero)
        coeff = coefficients7(om[0] * om[0] + om[1] * om[1] + om[2] * om[2])
        spatial_tangent(om, coeff, R, p, i, X)
        columns(X, steps[i], curved[i], x1, x2, phi1, phi2, i, nb, comp, d0, S)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def point_twists(t, w, c, i, out):
    """out (n, 6) <- spatial twist of point i per coordinate; needs kinematics and point_columns."""
    out[:, :] = 0.0
    k, base = c.seg[i], c.base[i]
    for j in range(t.nb[k]):
        for r in range(6):
            s = c.S[i, j, r]
            if base >= 0:
                s += w.J[base, j, r]
            out[t.dof0[k] + j, r] = s
    a = t.parent[k]
    while a >= 0:
        last = t.step0[a + 1] - 1
        for j in range(t.nb[a]):
            for r in range(6):
                out[t.dof0[a] + j, r] = w.J[last, j, r]
        a = t.parent[a]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def point_jacobians(t, w, c, x, twists, jac):
    """jac (np, 6, n) <- d(rotation; position)/dq in world axes at the points x; twists (n, 6) is scratch."""
    n = twists.shape[0]
    for i in range(c.seg.shape[0]):
        point_twists(t, w, c, i, twists)
        x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
        for j in range(n):
            w0, w1, w2 = twists[j, 0], twists[j, 1], twists[j, 2]
            jac[i, 0, j] = w0
            jac[i, 1, j] = w1
            jac[i, 2, j] = w2
            jac[i, 3, j] = twists[j, 3] + w1 * x2 - w2 * x1
            jac[i, 4, j] = twists[j, 4] + w2 * x0 - w0 * x2
            jac[i, 5, j] = twists[j, 5] + w0 * x1 - w1 * x0


@njit(cache=True, fastmath=FAST, error_model="numpy")
def locate_points(t, w, c, q, x, twists, jac, with_jacobian):
    """Positions x (np, 3), frames (c.R) and, on request, Jacobians jac (np, 6, n) of points at q."""
    if not with_jacobian:
        poses(t, w, q)
        place_points(t, w, c, q, x)
        return
    kinematics(t, w, q)
    place_points(t, w, c, q, x)
    point_columns(t, c, q)
    point_jacobians(t, w, c, x, twists, jac)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def load_tangent(t, w, c, q, i, x, force, moment, follower, twists, H):
    """Adds d(J^T W)/dq to H (n, n): W is a force [N] at point i and a moment [N m], both in world axes.

    Dead loads keep their direction in the world; follower loads turn with the section. Needs kinematics at q,
    place_points and point_columns; twists (n, 6) is scratch.
    """
    n = twists.shape[0]
    point_twists(t, w, c, i, twists)
    x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
    f0, f1, f2 = force[0], force[1], force[2]
    W = (
        x1 * f2 - x2 * f1 + moment[0],
        x2 * f0 - x0 * f2 + moment[1],
        x0 * f1 - x1 * f0 + moment[2],
        f0,
        f1,
        f2,
    )
    # change of the wrench itself
    for j in range(n):
        X = vector6(twists, j)
        if follower:
            d = cobracket(X, W)
        else:
            d0 = X[3] + X[1] * x2 - X[2] * x1
            d1 = X[4] + X[2] * x0 - X[0] * x2
            d2 = X[5] + X[0] * x1 - X[1] * x0
            d = (d1 * f2 - d2 * f1, d2 * f0 - d0 * f2, d0 * f1 - d1 * f0, 0.0, 0.0, 0.0)
        for r in range(n):
            H[r, j] += dot6(vector6(twists, r), d)
    # change of the columns, segment by segment towards the base
    k = c.seg[i]
    end = c.base[i] + 1 if c.base[i] >= 0 else t.step0[k]
    leaf = True
    while k >= 0:
        d0_, nb = t.dof0[k], t.nb[k]
        if leaf:
            for j in range(nb):
                y = cobracket(vector6(twists, d0_ + j), W)
                for r in range(nb):
                    H[d0_ + r, d0_ + j] -= dot6(row6(c.S, i, r), y)
            local_terms(
                c.R,
                c.p,
                c.Om,
                c.h,
                c.curved,
                c.rest1,
                c.rest2,
                c.phi1,
                c.phi2,
                t.comp,
                i,
                q,
                d0_,
                nb,
                W,
                c.bd,
                H,
                1.0,
            )
        for m in range(t.step0[k], end):
            for j in range(nb):
                y = cobracket(row6(w.J, m, j), W)
                for r in range(nb):
                    H[d0_ + r, d0_ + j] -= dot6(row6(w.S, m, r), y)
            local_terms(
                w.R,
                w.p,
                w.Om,
                t.h,
                t.curved,
                t.rest1,
                t.rest2,
                t.phi1,
                t.phi2,
                t.comp,
                m,
                q,
                d0_,
                nb,
                W,
                c.bd,
                H,
                1.0,
            )
        a = t.parent[k]
        while a >= 0:
            for j in range(t.nb[a]):
                y = cobracket(vector6(twists, t.dof0[a] + j), W)
                for r in range(nb):
                    H[d0_ + r, t.dof0[a] + j] -= dot6(vector6(twists, d0_ + r), y)
            a = t.parent[a]
        k = t.parent[k]
        leaf = False
        if k >= 0:
            end = t.step0[k + 1]
