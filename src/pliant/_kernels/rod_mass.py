"""Compiled inertia matrix and forward dynamics of trees of rods (see rod.py, rod_dynamics.py)."""

from __future__ import annotations

import math

from numba import njit

from pliant._kernels.lie import FAST
from pliant._kernels.rod import kinematics, row6
from pliant._kernels.rod_dynamics import add_elastic, momentum, node_inertias, project, sweep, vector6


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def dot6(a, b):
    """a . b of two 6-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def mass_matrix(t, w, M):
    """M (n, n) <- inertia matrix; needs the poses, columns and node inertias of a sweep.

    Composite bodies: what hangs behind a segment is one inertia, because all of it moves with the segment's
    end; the coupling to an ancestor is the ancestor's end Jacobian times the segment's momentum columns.
    """
    dofs, mass, nbs, parent, step0, mom = t.dof0, t.mass, t.nb, t.parent, t.step0, w.B
    jac, inert, comps = w.J, w.W, w.Wc
    ns = parent.shape[0]
    M[:, :] = 0.0
    comps[:, :] = 0.0
    for k in range(ns - 1, -1, -1):
        d0, nb = dofs[k], nbs[k]
        last = step0[k + 1] - 1
        for j in range(nb):
            for i in range(6):
                mom[k, j, i] = 0.0
        for m in range(step0[k], last + 2):
            behind = m > last  # the extra turn adds everything behind the segment
            if not behind and mass[m] == 0.0:
                continue
            W = comps if behind else inert
            r = k if behind else m
            e = last if behind else m
            for j in range(nb):
                y = momentum(W, r, row6(jac, e, j))
                for i in range(6):
                    mom[k, j, i] += y[i]
                for i in range(j + 1):
                    M[d0 + i, d0 + j] += dot6(row6(jac, e, i), y)
        for j in range(nb):
            for i in range(j):
                M[d0 + j, d0 + i] = M[d0 + i, d0 + j]
        par = parent[k]
        if par >= 0:
            for i in range(10):
                comps[par, i] += comps[k, i]
            for m in range(step0[k], last + 1):
                for i in range(10):
                    comps[par, i] += inert[m, i]
        while par >= 0:
            a0 = dofs[par]
            end = step0[par + 1] - 1
            for i in range(nbs[par]):
                J = row6(jac, end, i)
                for j in range(nb):
                    s = dot6(J, row6(mom, k, j))
                    M[a0 + i, d0 + j] = s
                    M[d0 + j, a0 + i] = s
            par = parent[par]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def inertia_matrix(t, w, q, M):
    """M (n, n) <- inertia matrix at q."""
    kinematics(t, w, q)
    node_inertias(t, w)
    mass_matrix(t, w, M)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def factor_inertia(t, w, extra, use_extra):
    """Articulated factorisation of M + blockdiag(extra) from a sweep; extra rows (n, nbm).

    Fills B (columns coupling a segment to its start), L (Cholesky factors), IA (articulated inertias).
    Returns False if a block is not positive definite.
    """
    dofs, mass, nbs, parent, step0, mom = t.dof0, t.mass, t.nb, t.parent, t.step0, w.B
    half, art, jac, low, inert = w.C, w.IA, w.J, w.L, w.W
    ns = parent.shape[0]
    art[:, :, :] = 0.0
    good = True
    for k in range(ns - 1, -1, -1):
        d0, nb = dofs[k], nbs[k]
        last = step0[k + 1] - 1
        L, B, IA = low[k], mom[k], art[k]
        for i in range(6):  # the children wrote the lower triangle
            for c in range(i):
                IA[c, i] = IA[i, c]
        for j in range(nb):  # everything behind: IA holds the sum of the children
            y = row6(jac, last, j)
            for i in range(6):
                B[j, i] = dot6(row6(art, k, i), y)
            y = row6(mom, k, j)
            for i in range(j + 1):
                L[j, i] = dot6(row6(jac, last, i), y)
            if use_extra:
                for i in range(j + 1):
                    L[j, i] += extra[d0 + j, i]
        for m in range(step0[k], last + 1):
            if mass[m] == 0.0:
                continue
            W = inert[m]
            for j in range(nb):
                y0, y1, y2, y3, y4, y5 = momentum(inert, m, row6(jac, m, j))
                B[j, 0] += y0
                B[j, 1] += y1
                B[j, 2] += y2
                B[j, 3] += y3
                B[j, 4] += y4
                B[j, 5] += y5
                for i in range(j + 1):
                    c = row6(jac, m, i)
                    L[j, i] += c[0] * y0 + c[1] * y1 + c[2] * y2 + c[3] * y3 + c[4] * y4 + c[5] * y5
            IA[0, 0] += W[4]
            IA[1, 1] += W[5]
            IA[2, 2] += W[6]
            IA[1, 0] += W[7]
            IA[2, 0] += W[8]
            IA[2, 1] += W[9]
            IA[3, 3] += W[0]
            IA[4, 4] += W[0]
            IA[5, 5] += W[0]
            IA[4, 2] += W[1]
            IA[5, 1] -= W[1]
            IA[3, 2] -= W[2]
            IA[5, 0] += W[2]
            IA[3, 1] += W[3]
            IA[4, 0] -= W[3]
        good = cholesky(L, nb) and good
        par = parent[k]
        if par >= 0:
            # G = L^-1 B; the parent feels A - G^T G
            for j in range(nb):
                for c in range(6):
                    s = B[j, c]
                    for i in range(j):
                        s -= L[j, i] * half[k, i, c]
                    half[k, j, c] = s / L[j, j]
            P = art[par]
            for i in range(6):
                for c in range(i + 1):
                    s = IA[i, c]
                    for j in range(nb):
                        s -= half[k, j, i] * half[k, j, c]
                    P[i, c] += s
    return good


@njit(cache=True, fastmath=FAST, error_model="numpy")
def cholesky(L, n):
    """In-place lower Cholesky factor of the lower triangle of L[:n, :n]; False if not positive."""
    for j in range(n):
        s = L[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        if not s > 0.0:
            return False
        d = math.sqrt(s)
        L[j, j] = d
        r = 1.0 / d
        for i in range(j + 1, n):
            s = L[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s * r
    return True


@njit(cache=True, fastmath=FAST, error_model="numpy")
def solve_inertia(t, w, x):
    """x (n,) <- (M + blockdiag(extra))^-1 x with the articulated factorisation in w."""
    dofs, nbs, parent, step0, half, jac = t.dof0, t.nb, t.parent, t.step0, w.C, w.J
    low, push = w.L, w.pa
    ns = parent.shape[0]
    push[:, :] = 0.0
    for k in range(ns - 1, -1, -1):
        d0, nb = dofs[k], nbs[k]
        last, L = step0[k + 1] - 1, low[k]
        pa = vector6(push, k)
        for j in range(nb):
            s = x[d0 + j] - dot6(row6(jac, last, j), pa)
            for i in range(j):
                s -= L[j, i] * x[d0 + i]
            x[d0 + j] = s / L[j, j]
        par = parent[k]
        if par >= 0:  # pa + B D^-1 r with D^-1/2 r in x and L^-1 B in C
            for i in range(6):
                s = pa[i]
                for j in range(nb):
                    s += half[k, j, i] * x[d0 + j]
                push[par, i] += s
    for k in range(ns):
        d0, nb = dofs[k], nbs[k]
        last, L = step0[k + 1] - 1, low[k]
        par = parent[k]
        if par >= 0:
            a = vector6(push, par)
            for j in range(nb):
                x[d0 + j] -= dot6(row6(half, k, j), a)
        for j in range(nb - 1, -1, -1):
            s = x[d0 + j]
            for i in range(j + 1, nb):
                s -= L[i, j] * x[d0 + i]
            x[d0 + j] = s / L[j, j]
        # from here on pa holds the acceleration of the segment's end
        for i in range(6):
            s = push[par, i] if par >= 0 else 0.0
            for j in range(nb):
                s += jac[last, j, i] * x[d0 + j]
            push[k, i] = s


@njit(cache=True, fastmath=FAST, error_model="numpy")
def forward_dynamics(t, w, q, v, tau, V0, A0, zero, out):
    """out (n,) <- accelerations under the generalised force tau (n,); zero (n,) is a vector of zeros.

    M out = tau - (C v + gravity) - K q - D v. Returns False if the inertia is singular.
    """
    sweep(t, w, q, v, zero, V0, A0)
    project(t, w, out)
    add_elastic(t, q, v, out)
    for i in range(out.shape[0]):
        out[i] = tau[i] - out[i]
    good = factor_inertia(t, w, t.K, False)
    solve_inertia(t, w, out)
    return good
