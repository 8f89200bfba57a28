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
from pliant._kernels.rod import MAGNUS, RodTables, combine, magnus_column
from pliant._kernels.rod_dynamics import (
    ZERO6,
    cobracket,
    increment_rates,
    momentum,
    project,
    sweep,
    to_world,
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
    dV: np.ndarray
    dA: np.ndarray


def make_tangent_work(t: RodTables) -> TangentWork:
    """Work arrays that fit the tables."""
    ns, nst, nbm, n = len(t.parent), len(t.h), t.phi1.shape[1], len(t.comp)
    z = np.zeros
    return TangentWork(
        z((nst, 6)), z((nst, nbm, 6)), z((nst, nbm, 6)), z((n, 6)), z((n, 6)), z((n, 6)), z((n, 6)), z((n, 6)),
        z((n, 6)), z((nbm, 6)), z((nbm, 6)), z((ns, 10)), z((ns, 6, 6)), z((nbm, 6)), z((2, nbm, 6)), z((2, nbm, 6)),
    )  # fmt: skip


@njit(cache=True, fastmath=FAST)
def gyroscopic(W, V, h, x):
    """N x = V x* I x - I (V x x) + x x* h, with h = I V."""
    a = cobracket(V, momentum(W, x))
    b = momentum(W, bracket(V, x))
    c = cobracket(x, h)
    return (
        a[0] - b[0] + c[0],
        a[1] - b[1] + c[1],
        a[2] - b[2] + c[2],
        a[3] - b[3] + c[3],
        a[4] - b[4] + c[4],
        a[5] - b[5] + c[5],
    )


@njit(cache=True, fastmath=FAST)
def mixed_column(h, p1, p2, f1, f2):
    """MAGNUS h^2 ([p1, f2] + [f1, p2]): change of a rate of Omega along a coordinate."""
    a = (f1[0], f1[1], f1[2], f1[3], f1[4], f1[5])
    b = (f2[0], f2[1], f2[2], f2[3], f2[4], f2[5])
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


@njit(cache=True, fastmath=FAST)
def _tuple6(x):
    return x[0], x[1], x[2], x[3], x[4], x[5]


@njit(cache=True, fastmath=FAST)
def increment_columns(t, m, q, dof0, nb, Bd):
    """Bd (nbm, 6) <- columns dOmega/dq of step m."""
    h = t.h[m]
    if t.curved[m] == 0:
        for j in range(nb):
            for i in range(6):
                Bd[j, i] = h * t.phi1[m, j, i]
        return
    x1 = combine(t.rest1[m], t.phi1[m], q, dof0, nb, t.comp)
    x2 = combine(t.rest2[m], t.phi2[m], q, dof0, nb, t.comp)
    for j in range(nb):
        b = magnus_column(h, x1, x2, t.phi1[m, j], t.phi2[m, j])
        for i in range(6):
            Bd[j, i] = b[i]


@njit(cache=True, fastmath=FAST)
def _forward(t, w, tw, q, v, a, V0, A0, moving):
    """Node variations: fills Zq, Zv and the constants behind each segment."""
    for k in range(t.parent.shape[0]):
        d0, nb, first = t.dof0[k], t.nb[k], t.step0[k]
        par = t.parent[k]
        tw.dV[:, :, :] = 0.0
        tw.dA[:, :, :] = 0.0
        for m in range(first, t.step0[k + 1]):
            if m > first:
                Vp, Ap = w.V[m - 1], w.A[m - 1]
            elif par >= 0:
                Vp, Ap = w.V[t.step0[par + 1] - 1], w.A[t.step0[par + 1] - 1]
            else:
                Vp, Ap = V0, A0
            W, V = w.W[m], w.V[m]
            if moving:
                _rates(t, w, tw, q, v, a, m, k, Vp, Ap)
            else:
                for j in range(nb):
                    b = bracket(w.S[m, j], Ap)
                    for i in range(6):
                        tw.dA[0, j, i] -= b[i]
            massive = t.mass[m] != 0.0
            h = momentum(W, V)
            for j in range(nb):
                if not massive:
                    for i in range(6):
                        tw.Zq[m, j, i] = 0.0
                        tw.Zv[m, j, i] = 0.0
                    continue
                x = cobracket(w.J[m, j], tw.f[m])
                y = momentum(W, tw.dA[0, j])
                for i in range(6):
                    tw.Zq[m, j, i] = x[i] + y[i]
                if moving:
                    x = gyroscopic_free(W, V, h, tw.dV[0, j])
                    for i in range(6):
                        tw.Zq[m, j, i] += x[i]
                    y = momentum(W, tw.dA[1, j])
                    x = gyroscopic_free(W, V, h, tw.dV[1, j])
                    for i in range(6):
                        tw.Zv[m, j, i] = x[i] + y[i]
        V = w.V[t.step0[k + 1] - 1]
        for j in range(nb):
            for i in range(6):
                tw.vq[d0 + j, i] = tw.dV[0, j, i]
                tw.vv[d0 + j, i] = tw.dV[1, j, i]
            x = bracket(tw.dV[0, j], V)
            y = bracket(tw.dV[1, j], V)
            for i in range(6):
                tw.aq[d0 + j, i] = tw.dA[0, j, i] - x[i]
                tw.av[d0 + j, i] = tw.dA[1, j, i] - y[i]


@njit(cache=True, fastmath=FAST)
def gyroscopic_free(W, V, h, x):
    """x x* h + V x* I x: the part of N that multiplies dV when dA is carried separately."""
    a = cobracket(V, momentum(W, x))
    c = cobracket(x, h)
    return a[0] + c[0], a[1] + c[1], a[2] + c[2], a[3] + c[3], a[4] + c[4], a[5] + c[5]


@njit(cache=True, fastmath=FAST)
def _rates(t, w, tw, q, v, a, m, k, Vp, Ap):
    """Advances dV, dA of the own coordinates of segment k over step m."""
    d0, nb, h = t.dof0[k], t.nb[k], t.h[m]
    om = _tuple6(w.Om[m])
    x1 = combine(t.rest1[m], t.phi1[m], q, d0, nb, t.comp)
    x2 = combine(t.rest2[m], t.phi2[m], q, d0, nb, t.comp)
    y, z = increment_rates(t, m, x1, x2, v, a, d0, nb)
    coeff = step_coefficients(om)
    V = w.V[m]
    s = (V[0] - Vp[0], V[1] - Vp[1], V[2] - Vp[2], V[3] - Vp[3], V[4] - Vp[4], V[5] - Vp[5])
    increment_columns(t, m, q, d0, nb, tw.Bd)
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    dy, dz = zero, zero
    curved = t.curved[m] != 0
    d1, d2, a1, a2 = zero, zero, zero, zero
    if curved:
        d1 = combine(ZERO6, t.phi1[m], v, d0, nb, t.comp)
        d2 = combine(ZERO6, t.phi2[m], v, d0, nb, t.comp)
        a1 = combine(ZERO6, t.phi1[m], a, d0, nb, t.comp)
        a2 = combine(ZERO6, t.phi2[m], a, d0, nb, t.comp)
    for j in range(nb):
        b = _tuple6(tw.Bd[j])
        if curved:
            dy = mixed_column(h, d1, d2, t.phi1[m, j], t.phi2[m, j])
            dz = mixed_column(h, a1, a2, t.phi1[m, j], t.phi2[m, j])
        ds, da = vary_rates(coeff, om, y, z, b, dy, dz)
        D = to_world(w.R[m], w.p[m], ds)
        E = to_world(w.R[m], w.p[m], da)
        S = w.S[m, j]
        c = bracket(S, Vp)
        for i in range(6):
            tw.dV[0, j, i] += D[i] - c[i]
        c = bracket(S, Ap)
        e = bracket(tw.dV[0, j], s)
        g = bracket(V, D)
        for i in range(6):
            tw.dA[0, j, i] += E[i] - c[i] + e[i] + g[i]
        # along the velocity: Omega stays, y changes by b, z by twice dy
        dz = (2.0 * dy[0], 2.0 * dy[1], 2.0 * dy[2], 2.0 * dy[3], 2.0 * dy[4], 2.0 * dy[5])
        ds, da = vary_rates(coeff, om, y, z, zero, b, dz)
        E = to_world(w.R[m], w.p[m], da)
        for i in range(6):
            tw.dV[1, j, i] += S[i]
        e = bracket(tw.dV[1, j], s)
        g = bracket(V, S)
        for i in range(6):
            tw.dA[1, j, i] += E[i] + e[i] + g[i]


@njit(cache=True, fastmath=FAST)
def local_terms(t, w, m, q, d0, nb, f, Bd, H, sign):
    """Adds sign * d(columns of step m)^T f at a fixed world wrench f, apart from the rigid part.

    That is B_i . d(T^T fb) B_j + B_ij . T^T fb with fb the wrench in the axes of the step's end.
    """
    R, p = w.R[m], w.p[m]
    m0, m1, m2 = f[0] - p[1] * f[5] + p[2] * f[4], f[1] - p[2] * f[3] + p[0] * f[5], f[2] - p[0] * f[4] + p[1] * f[3]
    fb = (
        R[0, 0] * m0 + R[1, 0] * m1 + R[2, 0] * m2,
        R[0, 1] * m0 + R[1, 1] * m1 + R[2, 1] * m2,
        R[0, 2] * m0 + R[1, 2] * m1 + R[2, 2] * m2,
        R[0, 0] * f[3] + R[1, 0] * f[4] + R[2, 0] * f[5],
        R[0, 1] * f[3] + R[1, 1] * f[4] + R[2, 1] * f[5],
        R[0, 2] * f[3] + R[1, 2] * f[4] + R[2, 2] * f[5],
    )
    om = _tuple6(w.Om[m])
    coeff = step_coefficients(om)
    increment_columns(t, m, q, d0, nb, Bd)
    for j in range(nb):
        b = _tuple6(Bd[j])
        y = vary_transpose(coeff, om, fb, b)
        for i in range(nb):
            H[d0 + i, d0 + j] += sign * dot6(Bd[i], y)
    if t.curved[m] != 0:
        g = apply_transpose(coeff, om, fb)
        for j in range(nb):
            x1, x2 = _tuple6(t.phi1[m, j]), _tuple6(t.phi2[m, j])
            for i in range(j + 1):
                s = sign * dot6(mixed_column(t.h[m], x1, x2, t.phi1[m, i], t.phi2[m, i]), g)
                H[d0 + i, d0 + j] += s
                if i < j:
                    H[d0 + j, d0 + i] += s


@njit(cache=True, fastmath=FAST)
def _apply(N, x):
    return (dot6(N[0], x), dot6(N[1], x), dot6(N[2], x), dot6(N[3], x), dot6(N[4], x), dot6(N[5], x))


@njit(cache=True, fastmath=FAST)
def inverse_dynamics_derivatives(t, w, tw, q, v, a, V0, A0, tau, Hq, Hv, moving):
    """tau (n,) and Hq, Hv (n, n) <- inverse dynamics and its derivatives in q and v (no elasticity).

    With moving = False, v and a are taken as zero, tau and Hq are those of gravity, Hv is not touched.
    """
    sweep(t, w, q, v, a, V0, A0)
    tw.f[:, :] = w.F
    project(t, w, tau)
    _forward(t, w, tw, q, v, a, V0, A0, moving)
    Hq[:, :] = 0.0
    if moving:
        Hv[:, :] = 0.0
    tw.Wc[:, :] = 0.0
    tw.Nc[:, :, :] = 0.0
    for k in range(t.parent.shape[0] - 1, -1, -1):
        d0, nb, first = t.dof0[k], t.nb[k], t.step0[k]
        last = t.step0[k + 1] - 1
        Wc, Nc = tw.Wc[k], tw.Nc[k]
        # change of everything behind, per own coordinate
        for j in range(nb):
            x = momentum(Wc, tw.aq[d0 + j])
            y = cobracket(w.J[last, j], w.pa[k])
            for i in range(6):
                tw.accq[d0 + j, i] = x[i] + y[i]
            if moving:
                x = _apply(Nc, tw.vq[d0 + j])
                for i in range(6):
                    tw.accq[d0 + j, i] += x[i]
                x = _apply(Nc, tw.vv[d0 + j])
                y = momentum(Wc, tw.av[d0 + j])
                for i in range(6):
                    tw.accv[d0 + j, i] = x[i] + y[i]
            for i in range(nb):
                Hq[d0 + i, d0 + j] = dot6(w.J[last, i], tw.accq[d0 + j])
                if moving:
                    Hv[d0 + i, d0 + j] = dot6(w.J[last, i], tw.accv[d0 + j])
        for i in range(nb):
            x = momentum(Wc, w.J[last, i])
            for c in range(6):
                tw.GI[i, c] = x[c]
                s = 0.0
                if moving:
                    for r in range(6):
                        s += Nc[r, c] * w.J[last, i, r]
                tw.GN[i, c] = s
        # own steps
        for m in range(first, last + 1):
            F = w.F[m]
            for j in range(nb):
                x = cobracket(w.J[m, j], F)
                for i in range(nb):
                    Hq[d0 + i, d0 + j] -= dot6(w.S[m, i], x)
            local_terms(t, w, m, q, d0, nb, F, tw.Bd, Hq, 1.0)
            if t.mass[m] == 0.0:
                continue
            W, V = w.W[m], w.V[m]
            for j in range(nb):
                for i in range(nb):
                    Hq[d0 + i, d0 + j] += dot6(w.J[m, i], tw.Zq[m, j])
                    if moving:
                        Hv[d0 + i, d0 + j] += dot6(w.J[m, i], tw.Zv[m, j])
                for i in range(6):
                    tw.accq[d0 + j, i] += tw.Zq[m, j, i]
                    tw.accv[d0 + j, i] += tw.Zv[m, j, i]
                x = momentum(W, w.J[m, j])
                for c in range(6):
                    tw.GI[j, c] += x[c]
            for c in range(10):
                Wc[c] += W[c]
            if moving:
                h = momentum(W, V)
                for c in range(6):
                    for i in range(6):
                        w.X[0, i] = 0.0
                    w.X[0, c] = 1.0
                    x = gyroscopic(W, V, h, w.X[0])
                    for i in range(6):
                        Nc[i, c] += x[i]
                    for i in range(nb):
                        tw.GN[i, c] += dot6(w.J[m, i], x)
        par = t.parent[k]
        if par >= 0:
            for c in range(10):
                tw.Wc[par, c] += Wc[c]
            if moving:
                for i in range(6):
                    for c in range(6):
                        tw.Nc[par, i, c] += Nc[i, c]
        while par >= 0:
            a0 = t.dof0[par]
            end = t.step0[par + 1] - 1
            for i in range(t.nb[par]):
                J = w.J[end, i]
                for j in range(nb):
                    Hq[a0 + i, d0 + j] = dot6(J, tw.accq[d0 + j])
                    s = dot6(tw.GI[j], tw.aq[a0 + i])
                    if moving:
                        Hv[a0 + i, d0 + j] = dot6(J, tw.accv[d0 + j])
                        s += dot6(tw.GN[j], tw.vq[a0 + i])
                        Hv[d0 + j, a0 + i] = dot6(tw.GI[j], tw.av[a0 + i]) + dot6(tw.GN[j], tw.vv[a0 + i])
                    Hq[d0 + j, a0 + i] = s
            par = t.parent[par]
