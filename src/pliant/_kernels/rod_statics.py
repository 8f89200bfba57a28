"""Compiled statics of rods with embedded threads: force and exact tangent in one call."""

from __future__ import annotations

from numba import njit

from pliant._kernels.lie import FAST
from pliant._kernels.rod_dynamics import inverse_dynamics
from pliant._kernels.rod_tangent import inverse_dynamics_derivatives
from pliant._kernels.rod_threads import add_pulls, thread_hessian


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _balance(t, c, q, effort, K, value, grad, f):
    """f (n,), which holds what gravity asks for, <- the force of gravity, elasticity and threads."""
    n = q.shape[0]
    for i in range(n):
        s = -f[i]
        for j in range(n):
            s -= K[i, j] * q[j]
        f[i] = s
    add_pulls(t, c, q, effort, 1.0, value, grad, f)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def static_tangent(t, w, tw, c, q, zero, still, lift, effort, K, value, grad, f, H):
    """f (n,) <- force and H (n, n) <- -df/dq: gravity, elasticity K (n, n), and threads with their efforts (nth,)."""
    n = q.shape[0]
    inverse_dynamics_derivatives(t, w, tw, q, zero, zero, still, lift, f, H, H, False)
    for i in range(n):  # the threads' part is d force / dq, so the rest is turned to it
        for j in range(n):
            H[i, j] = -H[i, j]
    thread_hessian(t, c, q, effort, H)
    _balance(t, c, q, effort, K, value, grad, f)
    for i in range(n):
        H[i, i] = K[i, i] - H[i, i]
        for j in range(i):
            s = K[i, j] - 0.5 * (H[i, j] + H[j, i])
            H[i, j] = s
            H[j, i] = s


@njit(cache=True, fastmath=FAST, error_model="numpy")
def static_force(t, w, c, q, zero, still, lift, effort, K, value, grad, f):
    """f (n,) <- force of gravity, elasticity K (n, n), and threads with their efforts (nth,)."""
    inverse_dynamics(t, w, q, zero, zero, still, lift, f)
    _balance(t, c, q, effort, K, value, grad, f)
