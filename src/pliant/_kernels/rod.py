"""Compiled kinematics of trees of strain-parametrised Cosserat rods, in world axes.

A robot is a tree of segments. A segment owns `nb` coordinates and is cut into steps; on a step of length h
the strain xi(s) = rest(s) + Phi(s) q is replaced by the fourth-order Magnus (Zanna) increment

    Omega = h/2 (xi1 + xi2) + sqrt(3)/12 h^2 [xi1, xi2],   g_end = g_start exp(Omega),

with xi1, xi2 at the two Gauss points of the step (exact for constant strain). This discrete map *is* the
kinematics: every Jacobian and derivative below is the exact derivative of it, so energies, forces and
tangents are consistent to rounding.

All twists are spatial (world axes, world origin). A coordinate of step m then moves everything behind it by
the same twist S_m = Ad_g T(Omega) dOmega/dq, so upstream columns never need to be carried along: the
Jacobian at a node is the running sum of S, and inertias of everything behind a segment simply add.
Columns are stored as contiguous 6-vectors: S[step, coordinate, 6].
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant._kernels.lie import FAST, bracket, coefficients7

MAGNUS = math.sqrt(3.0) / 12.0


class RodTables(NamedTuple):
    """Constant tables of a tree of rods: ns segments, nst steps, n coordinates, nbm = largest nb.

    parent (ns,): segment at whose end this one starts, -1 for the world; parents come first.
    dof0, nb (ns,): first coordinate and number of coordinates. step0 (ns+1,): first step.
    attach_R (ns,3,3), attach_p (ns,3): start frame in the parent's end frame (or in the world).
    h (nst,): step lengths [m]. curved (nst,): 1 if the strain varies on the step, 2 if it is constant there,
        0 if it is also that of the segment's step before (constant strain).
    rest1, rest2 (nst,6), phi1, phi2 (nst,nbm,6): rest strain and basis at the two Gauss points.
    comp (n,): the single strain component of a coordinate, -1 if it has several.
    mass (nst,), moment (nst,3), rot (nst,6): inertia lumped at the step's end: mass [kg], first moment
        [kg m] and rotational inertia about the node (xx, yy, zz, xy, xz, yz) [kg m^2], body axes.
    K, D (n,nbm): rows of the block-diagonal stiffness and viscosity.
    """

    parent: np.ndarray
    dof0: np.ndarray
    nb: np.ndarray
    step0: np.ndarray
    attach_R: np.ndarray  # noqa: N815
    attach_p: np.ndarray
    h: np.ndarray
    curved: np.ndarray
    rest1: np.ndarray
    rest2: np.ndarray
    phi1: np.ndarray
    phi2: np.ndarray
    comp: np.ndarray
    mass: np.ndarray
    moment: np.ndarray
    rot: np.ndarray
    K: np.ndarray
    D: np.ndarray


class RodWork(NamedTuple):
    """Work arrays of a sweep; what they hold afterwards is part of the result.

    start_R (ns,3,3), start_p (ns,3): pose of each segment's first node. R (nst,3,3), p (nst,3): step ends.
    Om (nst,6): increments. S (nst,nbm,6): columns of a step. J (nst,nbm,6): their running sum in the segment.
    V, A, F (nst,6): spatial twist, acceleration, wrench. W (nst,10): inertia in world axes (mass, first
    moment, rotational). B, C (ns,nbm,6), L (ns,nbm,nbm), IA (ns,6,6), pa (ns,6), Wc (ns,10): per-segment
    blocks. X (6,6): scratch.
    """

    start_R: np.ndarray  # noqa: N815
    start_p: np.ndarray
    R: np.ndarray
    p: np.ndarray
    Om: np.ndarray
    S: np.ndarray
    J: np.ndarray
    V: np.ndarray
    A: np.ndarray
    F: np.ndarray
    W: np.ndarray
    B: np.ndarray
    C: np.ndarray
    L: np.ndarray
    IA: np.ndarray
    pa: np.ndarray
    Wc: np.ndarray
    X: np.ndarray


def make_work(t: RodTables) -> RodWork:
    """Work arrays that fit the tables."""
    ns, nst, nbm = len(t.parent), len(t.h), t.phi1.shape[1]
    z = np.zeros
    return RodWork(
        z((ns, 3, 3)),
        z((ns, 3)),
        z((nst, 3, 3)),
        z((nst, 3)),
        z((nst, 6)),
        z((nst, nbm, 6)),
        z((nst, nbm, 6)),
        z((nst, 6)),
        z((nst, 6)),
        z((nst, 6)),
        z((nst, 10)),
        z((ns, nbm, 6)),
        z((ns, nbm, 6)),
        z((ns, nbm, nbm)),
        z((ns, 6, 6)),
        z((ns, 6)),
        z((ns, 10)),
        z((6, 6)),
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def combine(phi, m, q, dof0, nb, comp):
    """Phi q at a Gauss point of step m, as a 6-tuple; phi (nst, nbm, 6)."""
    x0 = x1 = x2 = x3 = x4 = x5 = 0.0
    for j in range(nb):
        v = q[dof0 + j]
        c = comp[dof0 + j]
        if c == 0:
            x0 += v * phi[m, j, 0]
        elif c == 1:
            x1 += v * phi[m, j, 1]
        elif c == 2:
            x2 += v * phi[m, j, 2]
        elif c == 3:
            x3 += v * phi[m, j, 3]
        elif c == 4:
            x4 += v * phi[m, j, 4]
        elif c == 5:
            x5 += v * phi[m, j, 5]
        else:
            x0 += v * phi[m, j, 0]
            x1 += v * phi[m, j, 1]
            x2 += v * phi[m, j, 2]
            x3 += v * phi[m, j, 3]
            x4 += v * phi[m, j, 4]
            x5 += v * phi[m, j, 5]
    return x0, x1, x2, x3, x4, x5


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def strain(rest, phi, m, q, dof0, nb, comp):
    """rest + Phi q at a Gauss point of step m, as a 6-tuple."""
    x = combine(phi, m, q, dof0, nb, comp)
    return (
        x[0] + rest[m, 0],
        x[1] + rest[m, 1],
        x[2] + rest[m, 2],
        x[3] + rest[m, 3],
        x[4] + rest[m, 4],
        x[5] + rest[m, 5],
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def magnus(h, x1, x2):
    """Omega of a step from the strains at its two Gauss points."""
    b = bracket(x1, x2)
    e = 0.5 * h
    m = MAGNUS * h * h
    return (
        e * (x1[0] + x2[0]) + m * b[0],
        e * (x1[1] + x2[1]) + m * b[1],
        e * (x1[2] + x2[2]) + m * b[2],
        e * (x1[3] + x2[3]) + m * b[3],
        e * (x1[4] + x2[4]) + m * b[4],
        e * (x1[5] + x2[5]) + m * b[5],
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def row6(x, m, j):
    """x[m, j, :] as a 6-tuple."""
    return x[m, j, 0], x[m, j, 1], x[m, j, 2], x[m, j, 3], x[m, j, 4], x[m, j, 5]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def magnus_column(h, x1, x2, a, b):
    """d Omega along a coordinate with basis values a, b (6-tuples) at the Gauss points."""
    c = bracket(a, x2)
    d = bracket(x1, b)
    e = 0.5 * h
    m = MAGNUS * h * h
    return (
        e * (a[0] + b[0]) + m * (c[0] + d[0]),
        e * (a[1] + b[1]) + m * (c[1] + d[1]),
        e * (a[2] + b[2]) + m * (c[2] + d[2]),
        e * (a[3] + b[3]) + m * (c[3] + d[3]),
        e * (a[4] + b[4]) + m * (c[4] + d[4]),
        e * (a[5] + b[5]) + m * (c[5] + d[5]),
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def advance(om, c, R0, p0, i0, R, p, m):
    """(R, p)[m] <- (R0, p0)[i0] exp(om), with c = coefficients7 of om."""
    x, y, z, v0, v1, v2 = om
    c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
    xy, xz, yz = c2 * x * y, c2 * x * z, c2 * y * z
    sx, sy, sz = c1 * x, c1 * y, c1 * z
    e00, e01, e02 = c0 + c2 * x * x, xy - sz, xz + sy
    e10, e11, e12 = xy + sz, c0 + c2 * y * y, yz - sx
    e20, e21, e22 = xz - sy, yz + sx, c0 + c2 * z * z
    a0, a1, a2 = y * v2 - z * v1, z * v0 - x * v2, x * v1 - y * v0
    t0 = v0 + c2 * a0 + c3 * (y * a2 - z * a1)
    t1 = v1 + c2 * a1 + c3 * (z * a0 - x * a2)
    t2 = v2 + c2 * a2 + c3 * (x * a1 - y * a0)
    for i in range(3):
        r0, r1, r2 = R0[i0, i, 0], R0[i0, i, 1], R0[i0, i, 2]
        p[m, i] = p0[i0, i] + r0 * t0 + r1 * t1 + r2 * t2
        R[m, i, 0] = r0 * e00 + r1 * e10 + r2 * e20
        R[m, i, 1] = r0 * e01 + r1 * e11 + r2 * e21
        R[m, i, 2] = r0 * e02 + r1 * e12 + r2 * e22


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def spatial_tangent(om, k, R, p, m, X):
    """X (6, 6) <- columns of Ad_(R,p)[m] T(om): X[c] is the spatial twist of a unit change of om[c].

    T is the body (right) tangent: blocks A = I - c2 hat(w) + c3 hat(w)^2 and its derivative along v;
    k = coefficients7 of om.
    """
    x, y, z, v0, v1, v2 = om
    u = x * x + y * y + z * z
    a, b, c4, c5 = -k[2], k[3], k[4], k[5]
    s = x * v0 + y * v1 + z * v2
    da = s * (b - 2.0 * c4)
    db = s * (3.0 * c5 - c4)
    xy, xz, yz = b * x * y, b * x * z, b * y * z
    sx, sy, sz = a * x, a * y, a * z
    d = 1.0 - b * u
    a00, a01, a02 = d + b * x * x, xy - sz, xz + sy
    a10, a11, a12 = xy + sz, d + b * y * y, yz - sx
    a20, a21, a22 = xz - sy, yz + sx, d + b * z * z
    e0, e1, e2 = a * v0 + da * x, a * v1 + da * y, a * v2 + da * z
    d = -2.0 * b * s - db * u
    t01 = b * (x * v1 + y * v0) + db * x * y
    t02 = b * (x * v2 + z * v0) + db * x * z
    t12 = b * (y * v2 + z * v1) + db * y * z
    q00, q01, q02 = d + (2.0 * b * v0 + db * x) * x, t01 - e2, t02 + e1
    q10, q11, q12 = t01 + e2, d + (2.0 * b * v1 + db * y) * y, t12 - e0
    q20, q21, q22 = t02 - e1, t12 + e0, d + (2.0 * b * v2 + db * z) * z
    for i in range(3):
        r0, r1, r2 = R[m, i, 0], R[m, i, 1], R[m, i, 2]
        X[0, i] = r0 * a00 + r1 * a10 + r2 * a20
        X[1, i] = r0 * a01 + r1 * a11 + r2 * a21
        X[2, i] = r0 * a02 + r1 * a12 + r2 * a22
        X[0, i + 3] = r0 * q00 + r1 * q10 + r2 * q20
        X[1, i + 3] = r0 * q01 + r1 * q11 + r2 * q21
        X[2, i + 3] = r0 * q02 + r1 * q12 + r2 * q22
        X[3, i] = 0.0
        X[4, i] = 0.0
        X[5, i] = 0.0
    p0, p1, p2 = p[m, 0], p[m, 1], p[m, 2]
    for c in range(3):
        w0, w1, w2 = X[c, 0], X[c, 1], X[c, 2]
        X[c + 3, 3] = w0
        X[c + 3, 4] = w1
        X[c + 3, 5] = w2
        X[c, 3] += p1 * w2 - p2 * w1
        X[c, 4] += p2 * w0 - p0 * w2
        X[c, 5] += p0 * w1 - p1 * w0


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def columns(X, h, curved, x1, x2, f1, f2, m, nb, comp, dof0, S):
    """S[m] (nbm, 6) <- spatial columns of step m: X dOmega/dq."""
    for j in range(nb):
        c = comp[dof0 + j]
        if curved != 1 and c >= 0:
            a = h * f1[m, j, c]
            for i in range(6):
                S[m, j, i] = a * X[c, i]
        else:
            b = magnus_column(h, x1, x2, row6(f1, m, j), row6(f2, m, j))
            for i in range(6):
                S[m, j, i] = b[0] * X[0, i] + b[1] * X[1, i] + b[2] * X[2, i]
            for i in range(3, 6):
                S[m, j, i] += b[3] * X[3, i] + b[4] * X[4, i] + b[5] * X[5, i]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def start_segment(parent, step0, attach_R, attach_p, start_R, start_p, R, p, k):
    """Pose of the first node of segment k from its parent's end."""
    par = parent[k]
    if par < 0:
        for i in range(3):
            start_p[k, i] = attach_p[k, i]
            for j in range(3):
                start_R[k, i, j] = attach_R[k, i, j]
        return
    m = step0[par + 1] - 1
    for i in range(3):
        a, b, c = R[m, i, 0], R[m, i, 1], R[m, i, 2]
        start_p[k, i] = p[m, i] + a * attach_p[k, 0] + b * attach_p[k, 1] + c * attach_p[k, 2]
        for j in range(3):
            start_R[k, i, j] = a * attach_R[k, 0, j] + b * attach_R[k, 1, j] + c * attach_R[k, 2, j]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def step_strains(steps, curved, rest1, rest2, phi1, phi2, comp, m, q, dof0, nb, x1):
    """Strains at the two Gauss points of step m and its increment Omega; x1: those of the step before."""
    h = steps[m]
    if curved[m] == 0:
        return x1, x1, (h * x1[0], h * x1[1], h * x1[2], h * x1[3], h * x1[4], h * x1[5])
    x1 = strain(rest1, phi1, m, q, dof0, nb, comp)
    if curved[m] == 2:
        return x1, x1, (h * x1[0], h * x1[1], h * x1[2], h * x1[3], h * x1[4], h * x1[5])
    x2 = strain(rest2, phi2, m, q, dof0, nb, comp)
    return x1, x2, magnus(h, x1, x2)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def advance_step(start_R, start_p, R, p, Om, k, m, first, om):
    """Pose of node m from the one before; returns coefficients7 of om."""
    for i in range(6):
        Om[m, i] = om[i]
    c = coefficients7(om[0] * om[0] + om[1] * om[1] + om[2] * om[2])
    if m == first:
        advance(om, c, start_R, start_p, k, R, p, m)
    else:
        advance(om, c, R, p, m - 1, R, p, m)
    return c


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def accumulate(J, S, m, first, nb):
    """J of node m from the columns S of its step."""
    if m == first:
        for j in range(nb):
            for i in range(6):
                J[m, j, i] = S[m, j, i]
    else:
        for j in range(nb):
            for i in range(6):
                J[m, j, i] = J[m - 1, j, i] + S[m, j, i]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def poses(t, w, q):
    """Poses of all nodes only: fills start_R, start_p, R, p, Om."""
    comp, curved, steps, parent = t.comp, t.curved, t.h, t.parent
    phi1, phi2, rest1, rest2, step0, Om = t.phi1, t.phi2, t.rest1, t.rest2, t.step0, w.Om
    rotm, pos, start_R, start_p = w.R, w.p, w.start_R, w.start_p
    attach_R, attach_p, dofs, nbs = t.attach_R, t.attach_p, t.dof0, t.nb
    for k in range(parent.shape[0]):
        start_segment(parent, step0, attach_R, attach_p, start_R, start_p, rotm, pos, k)
        dof0, nb, first = dofs[k], nbs[k], step0[k]
        x1 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for m in range(first, step0[k + 1]):
            x1, _, om = step_strains(steps, curved, rest1, rest2, phi1, phi2, comp, m, q, dof0, nb, x1)
            advance_step(start_R, start_p, rotm, pos, Om, k, m, first, om)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def kinematics(t, w, q):
    """Poses and spatial Jacobian columns of all nodes: fills start_*, R, p, Om, S, J."""
    comp, curved, steps, parent = t.comp, t.curved, t.h, t.parent
    phi1, phi2, rest1, rest2, step0, jac = t.phi1, t.phi2, t.rest1, t.rest2, t.step0, w.J
    Om, rotm, col, mat, pos, start_R = w.Om, w.R, w.S, w.X, w.p, w.start_R
    start_p = w.start_p
    attach_R, attach_p, dofs, nbs = t.attach_R, t.attach_p, t.dof0, t.nb
    for k in range(parent.shape[0]):
        start_segment(parent, step0, attach_R, attach_p, start_R, start_p, rotm, pos, k)
        dof0, nb, first = dofs[k], nbs[k], step0[k]
        x1 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for m in range(first, step0[k + 1]):
            x1, x2, om = step_strains(steps, curved, rest1, rest2, phi1, phi2, comp, m, q, dof0, nb, x1)
            c = advance_step(start_R, start_p, rotm, pos, Om, k, m, first, om)
            spatial_tangent(om, c, rotm, pos, m, mat)
            columns(mat, steps[m], curved[m], x1, x2, phi1, phi2, m, nb, comp, dof0, col)
            accumulate(jac, col, m, first, nb)
