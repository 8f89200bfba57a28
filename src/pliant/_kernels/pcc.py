"""Compiled constant-curvature links: joint laws, creep, implicit rollouts.

Coordinates of a link: (stretch, bend_y, bend_z) = (eps, k_y, k_z); the section's frame has x along the arm.
Joint law per scalar y (stretch, or curvature k = |(k_y, k_z)|) with parameters (a1, a2, a3):
    secant  f = (a1 + a2 (tanh^2(a3 y) - 1)) y            tangent  f = int_0^y a1 + a2 (tanh^2(a3 s) - 1) ds
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.rod_dynamics import project, sweep
from pliant._kernels.rod_mass import factor_inertia, mass_matrix, solve_inertia
from pliant._kernels.rod_step import descend
from pliant._kernels.rod_tangent import inverse_dynamics_derivatives


@njit(cache=True)
def law(y, a1, a2, a3, secant):
    """Energy, f / y and df/dy of a joint law at y >= 0 or any sign."""
    x = a3 * y
    ax = abs(x)
    # ln cosh without overflow
    lncosh = ax + math.log1p(math.exp(-2.0 * ax)) - math.log(2.0)
    th = math.tanh(x)
    sech2 = 1.0 - th * th
    ratio = th / x if ax > 1e-4 else 1.0 - x * x / 3.0
    if a3 == 0.0:
        energy_shape, lncosh = 0.5 * y * y, 0.0
    else:
        energy_shape = (x * th - lncosh) / (a3 * a3) if secant else lncosh / (a3 * a3)
    energy = 0.5 * a1 * y * y - a2 * energy_shape
    if secant:
        return energy, a1 - a2 * sech2, a1 - a2 * sech2 + 2.0 * a2 * x * sech2 * th
    return energy, a1 - a2 * ratio, a1 - a2 * sech2


@njit(cache=True)
def joint_law(axial, bending, secant, q, f, K):
    """Adds the elastic force to f (n,) (as resisting force, +) and the tangent to K (n, n).

    Returns the energy.
    """
    energy = 0.0
    for i in range(axial.shape[0]):
        j = 3 * i
        e, s, d = law(q[j], axial[i, 0], axial[i, 1], axial[i, 2], secant)
        energy += e
        f[j] += s * q[j]
        K[j, j] += d
        ky, kz = q[j + 1], q[j + 2]
        k2 = ky * ky + kz * kz
        e, s, d = law(math.sqrt(k2), bending[i, 0], bending[i, 1], bending[i, 2], secant)
        energy += e
        f[j + 1] += s * ky
        f[j + 2] += s * kz
        c = (d - s) / k2 if k2 > 1e-18 else 0.0
        K[j + 1, j + 1] += s + c * ky * ky
        K[j + 2, j + 2] += s + c * kz * kz
        K[j + 1, j + 2] += c * ky * kz
        K[j + 2, j + 1] += c * ky * kz
    return energy


@njit(cache=True, error_model="numpy")
def rollout(
    t, w, tw, axial, bending, secant, R, taus, lift, creep, q, v, lam, h, steps, every, iterations, tolerance, scale,
    qs, vs, ls,
):  # fmt: skip
    """Implicit midpoint steps; creep (3, n) rows: decay, gain, stiffness. Returns (steps done, sweeps).

    Creep: lam' = -decay lam - gain v, force +stiffness lam; eliminated exactly from the midpoint equations.
    The iteration matrix keeps inertia, joints and viscosity (articulated factor, linear cost); where that
    converges slowly the exact tangent takes over. Both end at the same tolerance.
    """
    n = q.shape[0]
    a, r = np.zeros(n), np.zeros(n)
    old, guess = np.zeros(n), np.zeros(n)
    still = np.zeros(6)
    Hq, Hv, M, K, f = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    lm, qm, vm = np.zeros(n), np.zeros(n), np.zeros(n)
    drag, extra = np.zeros(n), np.zeros((n, 3))
    for i in range(n):
        drag[i] = R[i] + creep[2, i] * 0.5 * h * creep[1, i] / (1.0 + 0.5 * h * creep[0, i])
    qs[0], vs[0], ls[0] = q, v, lam
    spent = 0
    for s in range(steps):
        tau = taus[min(s, taus.shape[0] - 1)]
        good, exact = False, False
        before = 0.0
        for i in range(n):
            guess[i] = 2.0 * a[i] - old[i] if s > 2 else a[i]
            old[i] = a[i]
        for it in range(iterations):
            spent += 1
            for i in range(n):
                vm[i] = v[i] + 0.5 * h * guess[i]
                qm[i] = q[i] + 0.5 * h * v[i] + 0.25 * h * h * guess[i]
                # lam1 = lam + h (-decay lm - gain vm), lm = (lam + lam1) / 2
                lm[i] = (lam[i] - 0.5 * h * creep[1, i] * vm[i]) / (1.0 + 0.5 * h * creep[0, i])
            f[:] = 0.0
            K[:, :] = 0.0
            joint_law(axial, bending, secant, qm, f, K)
            if exact:
                inverse_dynamics_derivatives(t, w, tw, qm, vm, guess, still, lift, r, Hq, Hv, True)
                mass_matrix(t, w, M)
            else:
                sweep(t, w, qm, vm, guess, still, lift)
                project(t, w, r)
            for i in range(n):
                r[i] += f[i] + R[i] * vm[i] - tau[i] - creep[2, i] * lm[i]
            if exact:
                for i in range(n):
                    Hv[i, i] += drag[i]
                M += 0.5 * h * Hv + 0.25 * h * h * (Hq + K)
                if not (np.isfinite(r).all() and np.isfinite(M).all()):
                    return s, spent
                r[:] = np.linalg.solve(M, r)
            else:
                for i in range(n):
                    o = 3 * (i // 3)
                    for j in range(3):
                        extra[i, j] = 0.25 * h * h * K[i, o + j]
                    extra[i, i - o] += 0.5 * h * drag[i]
                if not factor_inertia(t, w, extra, True):
                    return s, spent
                solve_inertia(t, w, r)
            size = descend(guess, r, scale)
            if not math.isfinite(size):
                return s, spent
            size *= 0.25 * h * h
            rate = size / before if it > 0 and before > 0.0 else 0.5
            before = size
            bound = min(max(rate, 1e-3), 0.9)
            if size * bound / (1.0 - bound) < tolerance:
                good = True
                break
            if it > 1 and rate > 0.4:
                exact = True
        if not good:
            return s, spent
        for i in range(n):
            a[i] = guess[i]
            vmid = v[i] + 0.5 * h * a[i]
            mid = (lam[i] - 0.5 * h * creep[1, i] * vmid) / (1.0 + 0.5 * h * creep[0, i])
            lam[i] = 2.0 * mid - lam[i]
            q[i] += h * vmid
            v[i] += h * a[i]
        if (s + 1) % every == 0:
            k = (s + 1) // every
            qs[k], vs[k], ls[k] = q, v, lam
    return steps, spent
