"""Compiled dynamics of trees of rods: inverse and forward dynamics, inertia and Coriolis matrices.

In world axes the twist and the acceleration of a node are sums along the tree, and the wrench and inertia
behind a segment are sums over everything behind it (see rod.py). With V, A the spatial twist and
acceleration (gravity is an upward acceleration of the base) and I the node's inertia,

    f = I A + V x* I V,    tau = sum J^T f,    C = sum J^T (I Jdot + V x* I J),

and Mdot - 2C is skew because Jdot is the full derivative of J (erratum 3 of the specification).
Forward dynamics is the articulated-body recursion over segments: linear cost in their number.
"""

from __future__ import annotations

from numba import njit

from pliant._kernels.lie import FAST, bracket
from pliant._kernels.rod import (
    MAGNUS,
    accumulate,
    advance_step,
    columns,
    combine,
    row6,
    spatial_tangent,
    start_segment,
    step_strains,
)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def vector6(x, m):
    """x[m, :] as a 6-tuple."""
    return x[m, 0], x[m, 1], x[m, 2], x[m, 3], x[m, 4], x[m, 5]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def world_inertia(R, p, mass, moment, rot, m, W):
    """W[m] (10,) <- mass, first moment (3), rotational inertia (xx yy zz xy xz yz) about the world origin."""
    a0, a1, a2 = R[m, 0, 0], R[m, 1, 0], R[m, 2, 0]
    b0, b1, b2 = R[m, 0, 1], R[m, 1, 1], R[m, 2, 1]
    c0, c1, c2 = R[m, 0, 2], R[m, 1, 2], R[m, 2, 2]
    # rows of R times the body inertia
    g00, g01, g02 = rot[m, 0], rot[m, 3], rot[m, 4]
    g11, g12, g22 = rot[m, 1], rot[m, 5], rot[m, 2]
    x0, y0, z0 = (
        a0 * g00 + b0 * g01 + c0 * g02,
        a0 * g01 + b0 * g11 + c0 * g12,
        a0 * g02 + b0 * g12 + c0 * g22,
    )
    x1, y1, z1 = (
        a1 * g00 + b1 * g01 + c1 * g02,
        a1 * g01 + b1 * g11 + c1 * g12,
        a1 * g02 + b1 * g12 + c1 * g22,
    )
    x2, y2, z2 = (
        a2 * g00 + b2 * g01 + c2 * g02,
        a2 * g01 + b2 * g11 + c2 * g12,
        a2 * g02 + b2 * g12 + c2 * g22,
    )
    ma = mass[m]
    mc = (moment[m, 0], moment[m, 1], moment[m, 2])
    p0, p1, p2 = p[m, 0], p[m, 1], p[m, 2]
    r0 = a0 * mc[0] + b0 * mc[1] + c0 * mc[2]
    r1 = a1 * mc[0] + b1 * mc[1] + c1 * mc[2]
    r2 = a2 * mc[0] + b2 * mc[1] + c2 * mc[2]
    # e = 2 R mc + m p gathers the first moment's and the offset's parts of the parallel-axis terms
    e0, e1, e2 = 2.0 * r0 + ma * p0, 2.0 * r1 + ma * p1, 2.0 * r2 + ma * p2
    d = p0 * e0 + p1 * e1 + p2 * e2
    W[m, 0] = ma
    W[m, 1] = r0 + ma * p0
    W[m, 2] = r1 + ma * p1
    W[m, 3] = r2 + ma * p2
    W[m, 4] = x0 * a0 + y0 * b0 + z0 * c0 + d - p0 * e0
    W[m, 5] = x1 * a1 + y1 * b1 + z1 * c1 + d - p1 * e1
    W[m, 6] = x2 * a2 + y2 * b2 + z2 * c2 + d - p2 * e2
    W[m, 7] = x0 * a1 + y0 * b1 + z0 * c1 - 0.5 * (p0 * e1 + p1 * e0)
    W[m, 8] = x0 * a2 + y0 * b2 + z0 * c2 - 0.5 * (p0 * e2 + p2 * e0)
    W[m, 9] = x1 * a2 + y1 * b2 + z1 * c2 - 0.5 * (p1 * e2 + p2 * e1)


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def momentum(W, k, a):
    """I a as a 6-tuple: inertia W[k] (10,) applied to a twist (any indexable of 6)."""
    m, h0, h1, h2 = W[k, 0], W[k, 1], W[k, 2], W[k, 3]
    w0, w1, w2, v0, v1, v2 = a[0], a[1], a[2], a[3], a[4], a[5]
    return (
        W[k, 4] * w0 + W[k, 7] * w1 + W[k, 8] * w2 + h1 * v2 - h2 * v1,
        W[k, 7] * w0 + W[k, 5] * w1 + W[k, 9] * w2 + h2 * v0 - h0 * v2,
        W[k, 8] * w0 + W[k, 9] * w1 + W[k, 6] * w2 + h0 * v1 - h1 * v0,
        m * v0 - h1 * w2 + h2 * w1,
        m * v1 - h2 * w0 + h0 * w2,
        m * v2 - h0 * w1 + h1 * w0,
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
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


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def to_world(R, p, m, a):
    """Ad_(R,p)[m] a as a 6-tuple."""
    w0 = R[m, 0, 0] * a[0] + R[m, 0, 1] * a[1] + R[m, 0, 2] * a[2]
    w1 = R[m, 1, 0] * a[0] + R[m, 1, 1] * a[1] + R[m, 1, 2] * a[2]
    w2 = R[m, 2, 0] * a[0] + R[m, 2, 1] * a[1] + R[m, 2, 2] * a[2]
    return (
        w0,
        w1,
        w2,
        R[m, 0, 0] * a[3] + R[m, 0, 1] * a[4] + R[m, 0, 2] * a[5] + p[m, 1] * w2 - p[m, 2] * w1,
        R[m, 1, 0] * a[3] + R[m, 1, 1] * a[4] + R[m, 1, 2] * a[5] + p[m, 2] * w0 - p[m, 0] * w2,
        R[m, 2, 0] * a[3] + R[m, 2, 1] * a[4] + R[m, 2, 2] * a[5] + p[m, 0] * w1 - p[m, 1] * w0,
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def increment_rates(steps, curved, phi1, phi2, comp, m, x1, x2, v, a, dof0, nb, d1, a1):
    """Strain rates d1, a1 at the first Gauss point and the two time derivatives of Omega on step m.

    d1, a1 on input: those of the step before (they are kept where the strain is constant).
    """
    h = steps[m]
    if curved[m] != 0:
        d1 = combine(phi1, m, v, dof0, nb, comp)
        a1 = combine(phi1, m, a, dof0, nb, comp)
    if curved[m] != 1:
        y = (h * d1[0], h * d1[1], h * d1[2], h * d1[3], h * d1[4], h * d1[5])
        z = (h * a1[0], h * a1[1], h * a1[2], h * a1[3], h * a1[4], h * a1[5])
        return d1, a1, y, z
    d2 = combine(phi2, m, v, dof0, nb, comp)
    a2 = combine(phi2, m, a, dof0, nb, comp)
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
    return d1, a1, y, z


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def step_rates(om, c, y, z):
    """sigma = T(om) y and alpha = d sigma / dt for y = om', z = om'' (body axes of the step's end).

    With twists as dual vectors (cross product = bracket) and u = om.om:
    alpha = T z + u' (b1' P + b2' Q) + b2 y x P, P = om x y, Q = om x P, b1 = -c2, b2 = c3.
    """
    c2, c3, c4, c5, c6, c7 = c[2], c[3], c[4], c[5], c[6], c[7]
    # real parts and u-derivatives of b1, b2, b1', b2'
    b1, b2 = -c2, c3
    b1d, b2d = 0.5 * c3 - c4, 0.5 * (3.0 * c5 - c4)
    b1dd, b2dd = 1.25 * c5 - 0.25 * c4 - 2.0 * c6, 0.25 * (15.0 * c7 - 7.0 * c6 + c5)
    ue = 2.0 * (om[0] * om[3] + om[1] * om[4] + om[2] * om[5])
    ut = 2.0 * (om[0] * y[0] + om[1] * y[1] + om[2] * y[2])
    ute = 2.0 * (om[0] * y[3] + om[1] * y[4] + om[2] * y[5] + om[3] * y[0] + om[4] * y[1] + om[5] * y[2])
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


@njit(cache=True, fastmath=FAST, error_model="numpy")
def sweep(t, w, q, v, a, V0, A0):
    """Kinematics, twists, accelerations, inertias and wrenches of all nodes.

    V0, A0 (6,): spatial twist and acceleration of the base, gravity included as A0[3:] = -g.
    Fills everything that `kinematics` fills, and V, A, W, F (F = I A + V x* I V per node).
    """
    comp, curved, steps, mass, moment = t.comp, t.curved, t.h, t.mass, t.moment
    parent, phi1, phi2, rest1, rest2 = t.parent, t.phi1, t.phi2, t.rest1, t.rest2
    rot, step0, acc, wrench, jac, Om = t.rot, t.step0, w.A, w.F, w.J, w.Om
    rotm, col, vel, inert, mat, pos = w.R, w.S, w.V, w.W, w.X, w.p
    start_R, start_p = w.start_R, w.start_p
    attach_R, attach_p, dofs, nbs = t.attach_R, t.attach_p, t.dof0, t.nb
    for k in range(parent.shape[0]):
        start_segment(parent, step0, attach_R, attach_p, start_R, start_p, rotm, pos, k)
        dof0, nb, first = dofs[k], nbs[k], step0[k]
        par = parent[k]
        x1 = d1 = a1 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for m in range(first, step0[k + 1]):
            x1, x2, om = step_strains(steps, curved, rest1, rest2, phi1, phi2, comp, m, q, dof0, nb, x1)
            coeff = advance_step(start_R, start_p, rotm, pos, Om, k, m, first, om)
            spatial_tangent(om, coeff, rotm, pos, m, mat)
            columns(mat, steps[m], curved[m], x1, x2, phi1, phi2, m, nb, comp, dof0, col)
            accumulate(jac, col, m, first, nb)
            d1, a1, y, z = increment_rates(steps, curved, phi1, phi2, comp, m, x1, x2, v, a, dof0, nb, d1, a1)
            sigma, alpha = step_rates(om, coeff, y, z)
            s = to_world(rotm, pos, m, sigma)
            c = to_world(rotm, pos, m, alpha)
            if m > first:
                V, A = vector6(vel, m - 1), vector6(acc, m - 1)
            elif par < 0:
                V = (V0[0], V0[1], V0[2], V0[3], V0[4], V0[5])
                A = (A0[0], A0[1], A0[2], A0[3], A0[4], A0[5])
            else:
                V, A = vector6(vel, step0[par + 1] - 1), vector6(acc, step0[par + 1] - 1)
            b = bracket(V, s)  # (V + s) x s = V x s
            for i in range(6):
                vel[m, i] = V[i] + s[i]
                acc[m, i] = A[i] + b[i] + c[i]
            if mass[m] == 0.0:
                for i in range(6):
                    wrench[m, i] = 0.0
                for i in range(10):
                    inert[m, i] = 0.0
            else:
                world_inertia(rotm, pos, mass, moment, rot, m, inert)
                V = vector6(vel, m)
                f = momentum(inert, m, vector6(acc, m))
                g = cobracket(V, momentum(inert, m, V))
                for i in range(6):
                    wrench[m, i] = f[i] + g[i]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def project(t, w, tau):
    """tau (n,) <- sum over nodes of J^T F, and F[m] <- wrench of everything at and behind node m."""
    dof0, nb, parent, step0, wrench, col = t.dof0, t.nb, t.parent, t.step0, w.F, w.S
    pa = w.pa
    for k in range(parent.shape[0]):
        for i in range(6):
            pa[k, i] = 0.0
    for k in range(parent.shape[0] - 1, -1, -1):
        last = step0[k + 1] - 1
        for i in range(6):
            wrench[last, i] += pa[k, i]
        for j in range(nb[k]):
            tau[dof0[k] + j] = 0.0
        for m in range(last, step0[k] - 1, -1):
            if m < last:
                for i in range(6):
                    wrench[m, i] += wrench[m + 1, i]
            f0, f1, f2, f3, f4, f5 = vector6(wrench, m)
            for j in range(nb[k]):
                S = row6(col, m, j)
                tau[dof0[k] + j] += S[0] * f0 + S[1] * f1 + S[2] * f2 + S[3] * f3 + S[4] * f4 + S[5] * f5
        par = parent[k]
        if par >= 0:
            for i in range(6):
                pa[par, i] += wrench[step0[k], i]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def inverse_dynamics(t, w, q, v, a, V0, A0, tau):
    """tau (n,) <- M a + C v + gravity (no elasticity, no viscosity)."""
    sweep(t, w, q, v, a, V0, A0)
    project(t, w, tau)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def add_elastic(t, q, v, tau):
    """Adds K q + D v to tau."""
    visc, stiff, dofs, nbs, parent = t.D, t.K, t.dof0, t.nb, t.parent
    for k in range(parent.shape[0]):
        d0 = dofs[k]
        for i in range(nbs[k]):
            s = 0.0
            for j in range(nbs[k]):
                s += stiff[d0 + i, j] * q[d0 + j] + visc[d0 + i, j] * v[d0 + j]
            tau[d0 + i] += s


@njit(cache=True, fastmath=FAST, error_model="numpy")
def node_inertias(t, w):
    """Inertia of every node in world axes: fills W from the poses."""
    for m in range(t.h.shape[0]):
        world_inertia(w.R, w.p, t.mass, t.moment, t.rot, m, w.W)
