"""Compiled dynamics of trees of rods: inverse and forward dynamics, inertia and Coriolis matrices.

In world axes the twist and the acceleration of a node are sums along the tree, and the wrench and inertia
behind a segment are sums over everything behind it (see rod.py). With V, A the spatial twist and
acceleration (gravity is an upward acceleration of the base) and I the node's inertia,

    f = I A + V x* I V,    tau = sum J^T f,    C = sum J^T (I Jdot + V x* I J),

and Mdot - 2C is skew because Jdot is the full derivative of J (erratum 3 of the specification).
Forward dynamics is the articulated-body recursion over segments: linear cost in their number.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.lie import FAST, bracket, top_pair
from pliant._kernels.rod import (
    MAGNUS,
    advance,
    columns,
    combine,
    kinematics,
    spatial_tangent,
    start_segment,
    step_strains,
)

ZERO6 = np.zeros(6)


@njit(cache=True, fastmath=FAST)
def world_inertia(R, p, mass, mc, rot, W):
    """W (10,) <- mass, first moment (3), rotational inertia (xx yy zz xy xz yz) about the world origin."""
    a0, a1, a2 = R[0, 0], R[1, 0], R[2, 0]
    b0, b1, b2 = R[0, 1], R[1, 1], R[2, 1]
    c0, c1, c2 = R[0, 2], R[1, 2], R[2, 2]
    # rows of R times the body inertia
    g00, g01, g02 = rot[0], rot[3], rot[4]
    g11, g12, g22 = rot[1], rot[5], rot[2]
    x0, x1, x2 = a0 * g00 + b0 * g01 + c0 * g02, a1 * g00 + b1 * g01 + c1 * g02, a2 * g00 + b2 * g01 + c2 * g02
    y0, y1, y2 = a0 * g01 + b0 * g11 + c0 * g12, a1 * g01 + b1 * g11 + c1 * g12, a2 * g01 + b2 * g11 + c2 * g12
    z0, z1, z2 = a0 * g02 + b0 * g12 + c0 * g22, a1 * g02 + b1 * g12 + c1 * g22, a2 * g02 + b2 * g12 + c2 * g22
    p0, p1, p2 = p[0], p[1], p[2]
    r0 = a0 * mc[0] + b0 * mc[1] + c0 * mc[2]
    r1 = a1 * mc[0] + b1 * mc[1] + c1 * mc[2]
    r2 = a2 * mc[0] + b2 * mc[1] + c2 * mc[2]
    # e = 2 R mc + m p gathers the first moment's and the offset's parts of the parallel-axis terms
    e0, e1, e2 = 2.0 * r0 + mass * p0, 2.0 * r1 + mass * p1, 2.0 * r2 + mass * p2
    d = p0 * e0 + p1 * e1 + p2 * e2
    W[0] = mass
    W[1] = r0 + mass * p0
    W[2] = r1 + mass * p1
    W[3] = r2 + mass * p2
    W[4] = x0 * a0 + y0 * b0 + z0 * c0 + d - p0 * e0
    W[5] = x1 * a1 + y1 * b1 + z1 * c1 + d - p1 * e1
    W[6] = x2 * a2 + y2 * b2 + z2 * c2 + d - p2 * e2
    W[7] = x0 * a1 + y0 * b1 + z0 * c1 - 0.5 * (p0 * e1 + p1 * e0)
    W[8] = x0 * a2 + y0 * b2 + z0 * c2 - 0.5 * (p0 * e2 + p2 * e0)
    W[9] = x1 * a2 + y1 * b2 + z1 * c2 - 0.5 * (p1 * e2 + p2 * e1)


@njit(cache=True, fastmath=FAST)
def momentum(W, a):
    """I a as a 6-tuple: inertia W (10,) applied to a twist (any indexable of 6)."""
    m, h0, h1, h2 = W[0], W[1], W[2], W[3]
    w0, w1, w2, v0, v1, v2 = a[0], a[1], a[2], a[3], a[4], a[5]
    return (
        W[4] * w0 + W[7] * w1 + W[8] * w2 + h1 * v2 - h2 * v1,
        W[7] * w0 + W[5] * w1 + W[9] * w2 + h2 * v0 - h0 * v2,
        W[8] * w0 + W[9] * w1 + W[6] * w2 + h0 * v1 - h1 * v0,
        m * v0 - h1 * w2 + h2 * w1,
        m * v1 - h2 * w0 + h0 * w2,
        m * v2 - h0 * w1 + h1 * w0,
    )


@njit(cache=True, fastmath=FAST)
def cobracket(a, f):
    """a x* f = -ad_a^T f of a twist and a wrench (moment; force)."""
    return (
        a[1] * f[2] - a[2] * f[1] + a[4] * f[5] - a[5] * f[4],
        a[2] * f[0] - a[0] * f[2] + a[5] * f[3] - a[3] * f[5],
        a[0] * f[1] - a[1] * f[0] + a[3] * f[4] - a[4] * f[3],
        a[1] * f[5] - a[2] * f[4],
        a[2] * f[3] - a[0] * f[5],
        a[0] * f[4] - a[1] * f[3],
    )


@njit(cache=True, fastmath=FAST)
def to_world(R, p, a):
    """Ad_(R,p) a as a 6-tuple."""
    w0 = R[0, 0] * a[0] + R[0, 1] * a[1] + R[0, 2] * a[2]
    w1 = R[1, 0] * a[0] + R[1, 1] * a[1] + R[1, 2] * a[2]
    w2 = R[2, 0] * a[0] + R[2, 1] * a[1] + R[2, 2] * a[2]
    return (
        w0,
        w1,
        w2,
        R[0, 0] * a[3] + R[0, 1] * a[4] + R[0, 2] * a[5] + p[1] * w2 - p[2] * w1,
        R[1, 0] * a[3] + R[1, 1] * a[4] + R[1, 2] * a[5] + p[2] * w0 - p[0] * w2,
        R[2, 0] * a[3] + R[2, 1] * a[4] + R[2, 2] * a[5] + p[0] * w1 - p[1] * w0,
    )


@njit(cache=True, fastmath=FAST)
def increment_rates(t, m, x1, x2, v, a, dof0, nb):
    """First and second time derivative of Omega on step m."""
    d1 = combine(ZERO6, t.phi1[m], v, dof0, nb, t.comp)
    a1 = combine(ZERO6, t.phi1[m], a, dof0, nb, t.comp)
    h = t.h[m]
    if t.curved[m] == 0:
        y = (h * d1[0], h * d1[1], h * d1[2], h * d1[3], h * d1[4], h * d1[5])
        z = (h * a1[0], h * a1[1], h * a1[2], h * a1[3], h * a1[4], h * a1[5])
        return y, z
    d2 = combine(ZERO6, t.phi2[m], v, dof0, nb, t.comp)
    a2 = combine(ZERO6, t.phi2[m], a, dof0, nb, t.comp)
    e, c = 0.5 * h, MAGNUS * h * h
    b1, b2 = bracket(d1, x2), bracket(x1, d2)
    c1, c2, c3 = bracket(a1, x2), bracket(d1, d2), bracket(x1, a2)
    y = (
        e * (d1[0] + d2[0]) + c * (b1[0] + b2[0]),
        e * (d1[1] + d2[1]) + c * (b1[1] + b2[1]),
        e * (d1[2] + d2[2]) + c * (b1[2] + b2[2]),
        e * (d1[3] + d2[3]) + c * (b1[3] + b2[3]),
        e * (d1[4] + d2[4]) + c * (b1[4] + b2[4]),
        e * (d1[5] + d2[5]) + c * (b1[5] + b2[5]),
    )
    z = (
        e * (a1[0] + a2[0]) + c * (c1[0] + 2.0 * c2[0] + c3[0]),
        e * (a1[1] + a2[1]) + c * (c1[1] + 2.0 * c2[1] + c3[1]),
        e * (a1[2] + a2[2]) + c * (c1[2] + 2.0 * c2[2] + c3[2]),
        e * (a1[3] + a2[3]) + c * (c1[3] + 2.0 * c2[3] + c3[3]),
        e * (a1[4] + a2[4]) + c * (c1[4] + 2.0 * c2[4] + c3[4]),
        e * (a1[5] + a2[5]) + c * (c1[5] + 2.0 * c2[5] + c3[5]),
    )
    return y, z


@njit(cache=True, fastmath=FAST)
def step_rates(om, y, z):
    """sigma = T(om) y and alpha = d sigma / dt for y = om', z = om'' (body axes of the step's end).

    With twists as dual vectors (cross product = bracket) and u = om.om:
    alpha = T z + u' (b1' P + b2' Q) + b2 y x P, P = om x y, Q = om x P, b1 = -c2, b2 = c3.
    """
    u = om[0] * om[0] + om[1] * om[1] + om[2] * om[2]
    c6, c7 = top_pair(u, 6)
    c5 = 1.0 / 120.0 - u * c7
    c4 = 1.0 / 24.0 - u * c6
    c3 = 1.0 / 6.0 - u * c5
    c2 = 0.5 - u * c4
    # real parts and u-derivatives of b1, b2, b1', b2'
    b1, b2 = -c2, c3
    b1d, b2d = 0.5 * c3 - c4, 0.5 * (3.0 * c5 - c4)
    b1dd, b2dd = 1.25 * c5 - 0.25 * c4 - 2.0 * c6, 0.25 * (15.0 * c7 - 7.0 * c6 + c5)
    ue = 2.0 * (om[0] * om[3] + om[1] * om[4] + om[2] * om[5])
    ut = 2.0 * (om[0] * y[0] + om[1] * y[1] + om[2] * y[2])
    ute = 2.0 * (
        om[0] * y[3] + om[1] * y[4] + om[2] * y[5] + om[3] * y[0] + om[4] * y[1] + om[5] * y[2]
    )
    P = bracket(om, y)
    Q = bracket(om, P)
    Pz = bracket(om, z)
    Qz = bracket(om, Pz)
    N = bracket(y, P)
    e1, e2 = b1d * ue, b2d * ue  # dual parts of b1, b2
    k1, k2 = ut * b1d, ut * b2d
    g1, g2 = ute * b1d + ut * b1dd * ue, ute * b2d + ut * b2dd * ue
    sigma = (
        y[0] + b1 * P[0] + b2 * Q[0],
        y[1] + b1 * P[1] + b2 * Q[1],
        y[2] + b1 * P[2] + b2 * Q[2],
        y[3] + b1 * P[3] + b2 * Q[3] + e1 * P[0] + e2 * Q[0],
        y[4] + b1 * P[4] + b2 * Q[4] + e1 * P[1] + e2 * Q[1],
        y[5] + b1 * P[5] + b2 * Q[5] + e1 * P[2] + e2 * Q[2],
    )
    alpha = (
        z[0] + b1 * Pz[0] + b2 * (Qz[0] + N[0]) + k1 * P[0] + k2 * Q[0],
        z[1] + b1 * Pz[1] + b2 * (Qz[1] + N[1]) + k1 * P[1] + k2 * Q[1],
        z[2] + b1 * Pz[2] + b2 * (Qz[2] + N[2]) + k1 * P[2] + k2 * Q[2],
        z[3] + b1 * Pz[3] + b2 * (Qz[3] + N[3]) + e1 * Pz[0] + e2 * (Qz[0] + N[0])
        + k1 * P[3] + k2 * Q[3] + g1 * P[0] + g2 * Q[0],
        z[4] + b1 * Pz[4] + b2 * (Qz[4] + N[4]) + e1 * Pz[1] + e2 * (Qz[1] + N[1])
        + k1 * P[4] + k2 * Q[4] + g1 * P[1] + g2 * Q[1],
        z[5] + b1 * Pz[5] + b2 * (Qz[5] + N[5]) + e1 * Pz[2] + e2 * (Qz[2] + N[2])
        + k1 * P[5] + k2 * Q[5] + g1 * P[2] + g2 * Q[2],
    )  # fmt: skip
    return sigma, alpha


@njit(cache=True, fastmath=FAST)
def sweep(t, w, q, v, a, V0, A0):
    """Kinematics, twists, accelerations, inertias and wrenches of all nodes.

    V0, A0 (6,): spatial twist and acceleration of the base, gravity included as A0[3:] = -g.
    Fills everything that `kinematics` fills, and V, A, W, F (F = I A + V x* I V per node).
    """
    for k in range(t.parent.shape[0]):
        start_segment(t, w, k)
        dof0, nb, first = t.dof0[k], t.nb[k], t.step0[k]
        par = t.parent[k]
        for m in range(first, t.step0[k + 1]):
            x1, x2, om = step_strains(t, m, q, dof0, nb)
            for i in range(6):
                w.Om[m, i] = om[i]
            if m == first:
                advance(om, w.start_R[k], w.start_p[k], w.R[m], w.p[m])
            else:
                advance(om, w.R[m - 1], w.p[m - 1], w.R[m], w.p[m])
            spatial_tangent(om, w.R[m], w.p[m], w.X)
            columns(w.X, t.h[m], t.curved[m], x1, x2, t.phi1[m], t.phi2[m], nb, t.comp, dof0, w.S[m])
            y, z = increment_rates(t, m, x1, x2, v, a, dof0, nb)
            sigma, alpha = step_rates(om, y, z)
            s = to_world(w.R[m], w.p[m], sigma)
            c = to_world(w.R[m], w.p[m], alpha)
            if m == first:
                for j in range(nb):
                    for i in range(6):
                        w.J[m, j, i] = w.S[m, j, i]
                if par < 0:
                    V, A = V0, A0
                else:
                    V, A = w.V[t.step0[par + 1] - 1], w.A[t.step0[par + 1] - 1]
            else:
                for j in range(nb):
                    for i in range(6):
                        w.J[m, j, i] = w.J[m - 1, j, i] + w.S[m, j, i]
                V, A = w.V[m - 1], w.A[m - 1]
            for i in range(6):
                w.V[m, i] = V[i] + s[i]
            b = bracket(w.V[m], s)
            for i in range(6):
                w.A[m, i] = A[i] + b[i] + c[i]
            if t.mass[m] == 0.0:
                for i in range(6):
                    w.F[m, i] = 0.0
                for i in range(10):
                    w.W[m, i] = 0.0
            else:
                world_inertia(w.R[m], w.p[m], t.mass[m], t.moment[m], t.rot[m], w.W[m])
                f = momentum(w.W[m], w.A[m])
                g = cobracket(w.V[m], momentum(w.W[m], w.V[m]))
                for i in range(6):
                    w.F[m, i] = f[i] + g[i]


@njit(cache=True, fastmath=FAST)
def project(t, w, tau):
    """tau (n,) <- sum over nodes of J^T F, and F[m] <- wrench of everything at and behind node m."""
    for k in range(t.parent.shape[0]):
        for i in range(6):
            w.pa[k, i] = 0.0
    for k in range(t.parent.shape[0] - 1, -1, -1):
        last = t.step0[k + 1] - 1
        for i in range(6):
            w.F[last, i] += w.pa[k, i]
        for j in range(t.nb[k]):
            tau[t.dof0[k] + j] = 0.0
        for m in range(last, t.step0[k] - 1, -1):
            if m < last:
                for i in range(6):
                    w.F[m, i] += w.F[m + 1, i]
            f0, f1, f2, f3, f4, f5 = w.F[m, 0], w.F[m, 1], w.F[m, 2], w.F[m, 3], w.F[m, 4], w.F[m, 5]
            for j in range(t.nb[k]):
                S = w.S[m, j]
                tau[t.dof0[k] + j] += S[0] * f0 + S[1] * f1 + S[2] * f2 + S[3] * f3 + S[4] * f4 + S[5] * f5
        par = t.parent[k]
        if par >= 0:
            for i in range(6):
                w.pa[par, i] += w.F[t.step0[k], i]


@njit(cache=True, fastmath=FAST)
def inverse_dynamics(t, w, q, v, a, V0, A0, tau):
    """tau (n,) <- M a + C v + gravity (no elasticity, no viscosity)."""
    sweep(t, w, q, v, a, V0, A0)
    project(t, w, tau)


@njit(cache=True, fastmath=FAST)
def add_elastic(t, q, v, tau):
    """Adds K q + D v to tau."""
    for k in range(t.parent.shape[0]):
        d0 = t.dof0[k]
        for i in range(t.nb[k]):
            s = 0.0
            for j in range(t.nb[k]):
                s += t.K[d0 + i, j] * q[d0 + j] + t.D[d0 + i, j] * v[d0 + j]
            tau[d0 + i] += s


@njit(cache=True, fastmath=FAST)
def node_inertias(t, w):
    """Inertia of every node in world axes: fills W from the poses."""
    for m in range(t.h.shape[0]):
        world_inertia(w.R[m], w.p[m], t.mass[m], t.moment[m], t.rot[m], w.W[m])
