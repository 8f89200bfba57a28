"""Compiled exact derivatives of inverse dynamics: d tau / d q and d tau / d v for trees of rods.

Seen from a frame that moves with the variation X = J_j (a change of coordinate j), twist and acceleration of
a node change by dV and dA; everything behind the segment of j then has the same dV and dA = a + dV x V with
a constant. The wrench of a node changes by X x* f + I dA + N dV, N = V x* I - I V x + (. x* I V), so what
hangs behind a segment enters through two composites, sum I and sum N: cost O(steps nb^2 + n^2).
With v = a = 0 this is the exact geometric stiffness of gravity (`moving = False` skips the rest).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant._kernels.lie import FAST, bracket
from pliant._kernels.rod import MAGNUS, RodTables, combine, magnus_column, row6, strain
from pliant._kernels.rod_dynamics import (
    cobracket,
    increment_rates,
    momentum,
    project,
    sweep,
    to_world,
    vector6,
)
from pliant._kernels.rod_mass import dot6
from pliant._kernels.rod_variation import apply_transpose, step_coefficients, vary_rates, vary_transpose


class TangentWork(NamedTuple):
    """Work arrays of the derivative kernels.

    f (nst,6): node wrenches. Zq, Zv (nst,nbm,6): change of a node's wrench per own coordinate.
    vq, aq, vv, av (n,6): constants of a coordinate behind its segment. acc (n,6), GI, GN (nbm,6).
    Wc (ns,10), Nc (ns,6,6): composites behind a segment. Bd (nbm,6): columns dOmega/dq. dV, dA (2,nbm,6).
    """

    f: np.ndarray
    Zq: np.ndarray
    Zv: np.ndarray
    vq: np.ndarray
    aq: np.ndarray
    vv: np.ndarray
    av: np.ndarray
    accq: np.ndarray
    accv: np.ndarray
    GI: np.ndarray
    GN: np.ndarray
    Wc: np.ndarray
    Nc: np.ndarray
    Bd: np.ndarray
    dV: np.ndarray  # noqa: N815
    dA: np.ndarray  # noqa: N815


def make_tangent_work(t: RodTables) -> TangentWork:
    """Work arrays that fit the tables."""
    ns, nst, nbm, n = len(t.parent), len(t.h), t.phi1.shape[1], len(t.comp)
    z = np.zeros
    return TangentWork(
        z((nst, 6)),
        z((nst, nbm, 6)),
        z((nst, nbm, 6)),
        z((n, 6)),
        z((n, 6)),
        z((n, 6)),
        z((n, 6)),
        z((n, 6)),
        z((n, 6)),
        z((nbm, 6)),
        z((nbm, 6)),
        z((ns, 10)),
        z((ns, 6, 6)),
        z((nbm, 6)),
        z((2, nbm, 6)),
        z((2, nbm, 6)),
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def gyroscopic(W, k, V, h, x):
    """N x = V x* I x - I (V x x) + x x* h, with h = I V."""
    a = cobracket(V, momentum(W, k, x))
    b = momentum(W, k, bracket(V, x))
    c = cobracket(x, h)
    return (
        a[0] - b[0] + c[0],
        a[1] - b[1] + c[1],
        a[2] - b[2] + c[2],
        a[3] - b[3] + c[3],
        a[4] - b[4] + c[4],
        a[5] - b[5] + c[5],
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def mixed_column(h, p1, p2, a, b):
    """MAGNUS h^2 ([p1, b] + [a, p2]): change of a rate of Omega along a coordinate."""
    c = bracket(p1, b)
    d = bracket(a, p2)
    m = MAGNUS * h * h
    return (
        m * (c[0] + d[0]),
        m * (c[1] + d[1]),
        m * (c[2] + d[2]),
        m * (c[3] + d[3]),
        m * (c[4] + d[4]),
        m * (c[5] + d[5]),
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def _tuple6(x):
    return x[0], x[1], x[2], x[3], x[4], x[5]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def increment_columns(steps, curved, rest1, rest2, phi1, phi2, comp, m, q, dof0, nb, Bd):
    """Bd (nbm, 6) <- columns dOmega/dq of step m."""
    h = steps[m]
    if curved[m] != 1:
        for j in range(nb):
            for i in range(6):
                Bd[j, i] = h * phi1[m, j, i]
        return
    x1 = strain(rest1, phi1, m, q, dof0, nb, comp)
    x2 = strain(rest2, phi2, m, q, dof0, nb, comp)
    for j in range(nb):
        b = magnus_column(h, x1, x2, row6(phi1, m, j), row6(phi2, m, j))
        for i in range(6):
            Bd[j, i] = b[i]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _forward(t, w, tw, q, v, a, V0, A0, moving):
    """Node variations: fills Zq, Zv and the constants behind each segment."""
    dofs, mass, nbs, parent, step0, acc = t.dof0, t.mass, t.nb, t.parent, t.step0, w.A
    jac, col, vel, inert, Zq, Zv = w.J, w.S, w.V, w.W, tw.Zq, tw.Zv
    aq, av, var_a, var_v, node_f, vq = tw.aq, tw.av, tw.dA, tw.dV, tw.f, tw.vq
    vv = tw.vv
    for k in range(parent.shape[0]):
        d0, nb, first = dofs[k], nbs[k], step0[k]
        par = parent[k]
        var_v[:, :, :] = 0.0
        var_a[:, :, :] = 0.0
        for m in range(first, step0[k + 1]):
            if m > first:
                Vp, Ap = vector6(vel, m - 1), vector6(acc, m - 1)
            elif par >= 0:
                Vp, Ap = vector6(vel, step0[par + 1] - 1), vector6(acc, step0[par + 1] - 1)
            else:
                Vp, Ap = _tuple6(V0), _tuple6(A0)
            V = vector6(vel, m)
            if moving:
                _rates(t, w, tw, q, v, a, m, k, Vp, Ap)
            else:
                for j in range(nb):
                    b = bracket(row6(col, m, j), Ap)
                    for i in range(6):
                        var_a[0, j, i] -= b[i]
            massive = mass[m] != 0.0
            h = momentum(inert, m, V)
            for j in range(nb):
                if not massive:
                    for i in range(6):
                        Zq[m, j, i] = 0.0
                        Zv[m, j, i] = 0.0
                    continue
                x = cobracket(row6(jac, m, j), vector6(node_f, m))
                y = momentum(inert, m, row6(var_a, 0, j))
                for i in range(6):
                    Zq[m, j, i] = x[i] + y[i]
                if moving:
                    x = gyroscopic_free(inert, m, V, h, row6(var_v, 0, j))
                    for i in range(6):
                        Zq[m, j, i] += x[i]
                    y = momentum(inert, m, row6(var_a, 1, j))
                    x = gyroscopic_free(inert, m, V, h, row6(var_v, 1, j))
                    for i in range(6):
                        Zv[m, j, i] = x[i] + y[i]
        V = vector6(vel, step0[k + 1] - 1)
        for j in range(nb):
            for i in range(6):
                vq[d0 + j, i] = var_v[0, j, i]
                vv[d0 + j, i] = var_v[1, j, i]
            x = bracket(row6(var_v, 0, j), V)
            y = bracket(row6(var_v, 1, j), V)
            for i in range(6):
                aq[d0 + j, i] = var_a[0, j, i] - x[i]
                av[d0 + j, i] = var_a[1, j, i] - y[i]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def gyroscopic_free(W, k, V, h, x):
    """x x* h + V x* I x: the part of N that multiplies dV when dA is carried separately."""
    a = cobracket(V, momentum(W, k, x))
    c = cobracket(x, h)
    return a[0] + c[0], a[1] + c[1], a[2] + c[2], a[3] + c[3], a[4] + c[4], a[5] + c[5]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _rates(t, w, tw, q, v, a, m, k, Vp, Ap):
    """Advances dV, dA of the own coordinates of segment k over step m."""
    comp, curved, dofs, steps, nbs, phi1 = t.comp, t.curved, t.dof0, t.h, t.nb, t.phi1
    phi2, rest1, rest2, Om, rotm, col = t.phi2, t.rest1, t.rest2, w.Om, w.R, w.S
    vel, pos, bd, var_a, var_v = w.V, w.p, tw.Bd, tw.dA, tw.dV
    d0, nb, h = dofs[k], nbs[k], steps[m]
    om = vector6(Om, m)
    x1 = strain(rest1, phi1, m, q, d0, nb, comp)
    x2 = strain(rest2, phi2, m, q, d0, nb, comp)
    d1 = combine(phi1, m, v, d0, nb, comp)
    a1 = combine(phi1, m, a, d0, nb, comp)
    _, _, y, z = increment_rates(steps, curved, phi1, phi2, comp, m, x1, x2, v, a, d0, nb, d1, a1)
    coeff = step_coefficients(om)
    V = vector6(vel, m)
    s = (V[0] - Vp[0], V[1] - Vp[1], V[2] - Vp[2], V[3] - Vp[3], V[4] - Vp[4], V[5] - Vp[5])
    increment_columns(steps, curved, rest1, rest2, phi1, phi2, comp, m, q, d0, nb, bd)
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    dy, dz = zero, zero
    bent = curved[m] == 1
    d2, a2 = zero, zero
    if bent:
        d2 = combine(phi2, m, v, d0, nb, comp)
        a2 = combine(phi2, m, a, d0, nb, comp)
    for j in range(nb):
        b = vector6(bd, j)
        if bent:
            dy = mixed_column(h, d1, d2, row6(phi1, m, j), row6(phi2, m, j))
            dz = mixed_column(h, a1, a2, row6(phi1, m, j), row6(phi2, m, j))
        ds, da = vary_rates(coeff, om, y, z, b, dy, dz)
        D = to_world(rotm, pos, m, ds)
        E = to_world(rotm, pos, m, da)
        S = row6(col, m, j)
        c = bracket(S, Vp)
        for i in range(6):
            var_v[0, j, i] += D[i] - c[i]
        c = bracket(S, Ap)
        e = bracket(row6(var_v, 0, j), s)
        g = bracket(V, D)
        for i in range(6):
            var_a[0, j, i] += E[i] - c[i] + e[i] + g[i]
        # along the velocity: Omega stays, y changes by b, z by twice dy
        dz = (2.0 * dy[0], 2.0 * dy[1], 2.0 * dy[2], 2.0 * dy[3], 2.0 * dy[4], 2.0 * dy[5])
        ds, da = vary_rates(coeff, om, y, z, zero, b, dz)
        E = to_world(rotm, pos, m, da)
        for i in range(6):
            var_v[1, j, i] += S[i]
        e = bracket(row6(var_v, 1, j), s)
        g = bracket(V, S)
        for i in range(6):
            var_a[1, j, i] += E[i] + e[i] + g[i]


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def to_body(R, p, m, f):
    """World wrench f (moment; force) in the axes and about the origin of frame m."""
    p0, p1, p2 = p[m, 0], p[m, 1], p[m, 2]
    a0, a1, a2 = f[0] - p1 * f[5] + p2 * f[4], f[1] - p2 * f[3] + p0 * f[5], f[2] - p0 * f[4] + p1 * f[3]
    return (
        R[m, 0, 0] * a0 + R[m, 1, 0] * a1 + R[m, 2, 0] * a2,
        R[m, 0, 1] * a0 + R[m, 1, 1] * a1 + R[m, 2, 1] * a2,
        R[m, 0, 2] * a0 + R[m, 1, 2] * a1 + R[m, 2, 2] * a2,
        R[m, 0, 0] * f[3] + R[m, 1, 0] * f[4] + R[m, 2, 0] * f[5],
        R[m, 0, 1] * f[3] + R[m, 1, 1] * f[4] + R[m, 2, 1] * f[5],
        R[m, 0, 2] * f[3] + R[m, 1, 2] * f[4] + R[m, 2, 2] * f[5],
    )


@njit(cache=True, fastmath=FAST, error_model="numpy")
def local_terms(R, p, Om, steps, curved, rest1, rest2, phi1, phi2, comp, m, q, d0, nb, f, Bd, H, sign):
    """Adds sign * d(columns of step m)^T f at a fixed world wrench f, apart from the rigid part.

    That is B_i . d(T^T fb) B_j + B_ij . T^T fb with fb the wrench in the axes of the step's end.
    """
    fb = to_body(R, p, m, f)
    om = vector6(Om, m)
    coeff = step_coefficients(om)
    increment_columns(steps, curved, rest1, rest2, phi1, phi2, comp, m, q, d0, nb, Bd)
    for j in range(nb):
        y = vary_transpose(coeff, om, fb, vector6(Bd, j))
        for i in range(nb):
            H[d0 + i, d0 + j] += sign * dot6(vector6(Bd, i), y)
    if curved[m] == 1:
        g = apply_transpose(coeff, om, fb)
        for j in range(nb):
            x1, x2 = row6(phi1, m, j), row6(phi2, m, j)
            for i in range(j + 1):
                s = sign * dot6(mixed_column(steps[m], x1, x2, row6(phi1, m, i), row6(phi2, m, i)), g)
                H[d0 + i, d0 + j] += s
                if i < j:
                    H[d0 + j, d0 + i] += s


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def _apply(N, k, x):
    return (
        dot6(row6(N, k, 0), x),
        dot6(row6(N, k, 1), x),
        dot6(row6(N, k, 2), x),
        dot6(row6(N, k, 3), x),
        dot6(row6(N, k, 4), x),
        dot6(row6(N, k, 5), x),
    )


@njit(cache=True, fastmath=FAST, error_model="numpy")
def inverse_dynamics_derivatives(t, w, tw, q, v, a, V0, A0, tau, Hq, Hv, moving):
    """tau (n,) and Hq, Hv (n, n) <- inverse dynamics and its derivatives in q and v (no elasticity).

    With moving = False, v and a are taken as zero, tau and Hq are those of gravity, Hv is not touched.
    """
    dofs, mass, nbs, parent, step0, wrench = t.dof0, t.mass, t.nb, t.parent, t.step0, w.F
    jac, col, vel, inert, mat, push = w.J, w.S, w.V, w.W, w.X, w.pa
    bd, GI, GN, behind_n, behind_w, Zq = tw.Bd, tw.GI, tw.GN, tw.Nc, tw.Wc, tw.Zq
    Zv, accq, accv, aq, av, node_f = tw.Zv, tw.accq, tw.accv, tw.aq, tw.av, tw.f
    vq, vv, rotm, pos, Om, steps = tw.vq, tw.vv, w.R, w.p, w.Om, t.h
    curved, rest1, rest2, phi1, phi2, comp = t.curved, t.rest1, t.rest2, t.phi1, t.phi2, t.comp
    sweep(t, w, q, v, a, V0, A0)
    node_f[:, :] = wrench
    project(t, w, tau)
    _forward(t, w, tw, q, v, a, V0, A0, moving)
    Hq[:, :] = 0.0
    if moving:
        Hv[:, :] = 0.0
    behind_w[:, :] = 0.0
    behind_n[:, :, :] = 0.0
    for k in range(parent.shape[0] - 1, -1, -1):
        d0, nb, first = dofs[k], nbs[k], step0[k]
        last = step0[k + 1] - 1
        Wc, Nc = behind_w[k], behind_n[k]
        # change of everything behind, per own coordinate
        for j in range(nb):
            x = momentum(behind_w, k, vector6(aq, d0 + j))
            y = cobracket(row6(jac, last, j), vector6(push, k))
            for i in range(6):
                accq[d0 + j, i] = x[i] + y[i]
            if moving:
                x = _apply(behind_n, k, vector6(vq, d0 + j))
                for i in range(6):
                    accq[d0 + j, i] += x[i]
                x = _apply(behind_n, k, vector6(vv, d0 + j))
                y = momentum(behind_w, k, vector6(av, d0 + j))
                for i in range(6):
                    accv[d0 + j, i] = x[i] + y[i]
            for i in range(nb):
                Hq[d0 + i, d0 + j] = dot6(row6(jac, last, i), vector6(accq, d0 + j))
                if moving:
                    Hv[d0 + i, d0 + j] = dot6(row6(jac, last, i), vector6(accv, d0 + j))
        for i in range(nb):
            x = momentum(behind_w, k, row6(jac, last, i))
            for c in range(6):
                GI[i, c] = x[c]
                s = 0.0
                if moving:
                    for r in range(6):
                        s += Nc[r, c] * jac[last, i, r]
                GN[i, c] = s
        # own steps
        for m in range(first, last + 1):
            F = vector6(wrench, m)
            for j in range(nb):
                x = cobracket(row6(jac, m, j), F)
                for i in range(nb):
                    Hq[d0 + i, d0 + j] -= dot6(row6(col, m, i), x)
            local_terms(
                rotm, pos, Om, steps, curved, rest1, rest2, phi1, phi2, comp, m, q, d0, nb, F, bd, Hq, 1.0
            )
            if mass[m] == 0.0:
                continue
            V = vector6(vel, m)
            for j in range(nb):
                for i in range(nb):
                    Hq[d0 + i, d0 + j] += dot6(row6(jac, m, i), row6(Zq, m, j))
                    if moving:
                        Hv[d0 + i, d0 + j] += dot6(row6(jac, m, i), row6(Zv, m, j))
                for i in range(6):
                    accq[d0 + j, i] += Zq[m, j, i]
                    accv[d0 + j, i] += Zv[m, j, i]
                x = momentum(inert, m, row6(jac, m, j))
                for c in range(6):
                    GI[j, c] += x[c]
            for c in range(10):
                Wc[c] += inert[m, c]
            if moving:
                h = momentum(inert, m, V)
                for c in range(6):
                    for i in range(6):
                        mat[0, i] = 0.0
                    mat[0, c] = 1.0
                    x = gyroscopic(inert, m, V, h, vector6(mat, 0))
                    for i in range(6):
                        Nc[i, c] += x[i]
                    for i in range(nb):
                        GN[i, c] += dot6(row6(jac, m, i), x)
        par = parent[k]
        if par >= 0:
            for c in range(10):
                behind_w[par, c] += Wc[c]
            if moving:
                for i in range(6):
                    for c in range(6):
                        behind_n[par, i, c] += Nc[i, c]
        while par >= 0:
            a0 = dofs[par]
            end = step0[par + 1] - 1
            for i in range(nbs[par]):
                J = row6(jac, end, i)
                for j in range(nb):
                    Hq[a0 + i, d0 + j] = dot6(J, vector6(accq, d0 + j))
                    s = dot6(vector6(GI, j), vector6(aq, a0 + i))
                    if moving:
                        Hv[a0 + i, d0 + j] = dot6(J, vector6(accv, d0 + j))
                        s += dot6(vector6(GN, j), vector6(vq, a0 + i))
                        Hv[d0 + j, a0 + i] = dot6(vector6(GI, j), vector6(av, a0 + i)) + dot6(
                            vector6(GN, j), vector6(vv, a0 + i)
                        )
                    Hq[d0 + j, a0 + i] = s
            par = parent[par]
