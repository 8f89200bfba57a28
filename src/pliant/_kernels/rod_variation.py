"""Variations of one rod step in dual-vector form: the derivatives of T(Omega) that tangents need.

Twists are dual vectors w + eps v; their cross product is the Lie bracket and their dot product a dual number.
With u = Omega.Omega, T(Omega) y = y + b1(u) P + b2(u) Q, P = Omega x y, Q = Omega x P, b1 = -c2, b2 = c3.
A wrench is the dual vector force + eps moment; T^T is then T(-Omega). (See lie.py for the c_k.)
"""

from __future__ import annotations

from numba import njit

from pliant._kernels.lie import FAST, bracket, top_pair


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def dual_dot(a, b):
    """Twice the dual dot product, as (real, dual)."""
    return (
        2.0 * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]),
        2.0 * (a[0] * b[3] + a[1] * b[4] + a[2] * b[5] + a[3] * b[0] + a[4] * b[1] + a[5] * b[2]),
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def scale_add(acc, r, e, x):
    """acc + (r + eps e) x."""
    return (
        acc[0] + r * x[0],
        acc[1] + r * x[1],
        acc[2] + r * x[2],
        acc[3] + r * x[3] + e * x[0],
        acc[4] + r * x[4] + e * x[1],
        acc[5] + r * x[5] + e * x[2],
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def add6(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def step_coefficients(om):
    """b1, b2 and their first three derivatives in u, and the dual part of u = om.om: 9 numbers."""
    u = om[0] * om[0] + om[1] * om[1] + om[2] * om[2]
    c8, c9 = top_pair(u, 8)
    c7 = 1.0 / 5040.0 - u * c9
    c6 = 1.0 / 720.0 - u * c8
    c5 = 1.0 / 120.0 - u * c7
    c4 = 1.0 / 24.0 - u * c6
    c3 = 1.0 / 6.0 - u * c5
    c2 = 0.5 - u * c4
    # c_k' = (k c_{k+2} - c_{k+1}) / 2, applied three times
    d4, d5, d6, d7 = 2.0 * c6 - 0.5 * c5, 2.5 * c7 - 0.5 * c6, 3.0 * c8 - 0.5 * c7, 3.5 * c9 - 0.5 * c8
    ue = 2.0 * (om[0] * om[3] + om[1] * om[4] + om[2] * om[5])
    return (
        -c2,
        c3,
        0.5 * c3 - c4,
        1.5 * c5 - 0.5 * c4,
        1.25 * c5 - 0.25 * c4 - 2.0 * c6,
        3.75 * c7 - 1.75 * c6 + 0.25 * c5,
        1.25 * d5 - 0.25 * d4 - 2.0 * d6,
        3.75 * d7 - 1.75 * d6 + 0.25 * d5,
        ue,
    )


@njit(cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def apply_transpose(k, om, f):
    """T(om)^T of a wrench f = (moment; force)."""
    b1, b2, b1d, b2d, _, _, _, _, ue = k
    x = (f[3], f[4], f[5], f[0], f[1], f[2])
    P = bracket(om, x)
    Q = bracket(om, P)
    out = scale_add(x, -b1, -b1d * ue, P)
    out = scale_add(out, b2, b2d * ue, Q)
    return out[3], out[4], out[5], out[0], out[1], out[2]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def vary_transpose(k, om, f, d):
    """Change of T(om)^T f when om changes by d, for a fixed wrench f = (moment; force)."""
    b1, b2, b1d, b2d, b1dd, b2dd, _, _, ue = k
    x = (f[3], f[4], f[5], f[0], f[1], f[2])
    du, due = dual_dot(om, d)
    P = bracket(om, x)
    Q = bracket(om, P)
    dP = bracket(d, x)
    dQ = add6(bracket(d, P), bracket(om, dP))
    out = scale_add((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), -b1, -b1d * ue, dP)
    out = scale_add(out, b2, b2d * ue, dQ)
    out = scale_add(out, -b1d * du, -b1d * due - b1dd * ue * du, P)
    out = scale_add(out, b2d * du, b2d * due + b2dd * ue * du, Q)
    return out[3], out[4], out[5], out[0], out[1], out[2]


@njit(cache=True, fastmath=FAST, error_model="numpy")
def vary_rates(k, om, y, z, d, dy, dz):
    """Changes of sigma and alpha (rod_dynamics.step_rates) when om, y, z change by d, dy, dz."""
    b1, b2, b1d, b2d, b1dd, b2dd, b1ddd, b2ddd, ue = k
    du, due = dual_dot(om, d)
    ut, ute = dual_dot(om, y)
    e1, e1e = dual_dot(d, y)
    e2, e2e = dual_dot(om, dy)
    dut, dute = e1 + e2, e1e + e2e
    P = bracket(om, y)
    Q = bracket(om, P)
    dP = add6(bracket(d, y), bracket(om, dy))
    dQ = add6(bracket(d, P), bracket(om, dP))
    Pz = bracket(om, z)
    dPz = add6(bracket(d, z), bracket(om, dz))
    # N = Qz + y x P shares the coefficient b2 with Qz
    N = add6(bracket(om, Pz), bracket(y, P))
    dN = add6(add6(bracket(d, Pz), bracket(om, dPz)), add6(bracket(dy, P), bracket(y, dP)))
    f1, f2 = b1d * ue, b2d * ue
    g1, g2 = b1dd * ue, b2dd * ue
    r1, r1e = b1d * du, b1d * due + g1 * du
    r2, r2e = b2d * du, b2d * due + g2 * du
    ds = scale_add(dy, b1, f1, dP)
    ds = scale_add(ds, b2, f2, dQ)
    ds = scale_add(ds, r1, r1e, P)
    ds = scale_add(ds, r2, r2e, Q)
    da = scale_add(dz, b1, f1, dPz)
    da = scale_add(da, b2, f2, dN)
    da = scale_add(da, r1, r1e, Pz)
    da = scale_add(da, r2, r2e, N)
    # u' (b1' P + b2' Q)
    da = scale_add(da, ut * b1d, ute * b1d + ut * g1, dP)
    da = scale_add(da, ut * b2d, ute * b2d + ut * g2, dQ)
    h1 = dut * b1d + ut * b1dd * du
    h2 = dut * b2d + ut * b2dd * du
    h1e = dute * b1d + dut * g1 + ute * b1dd * du + ut * b1dd * due + ut * b1ddd * ue * du
    h2e = dute * b2d + dut * g2 + ute * b2dd * du + ut * b2dd * due + ut * b2ddd * ue * du
    da = scale_add(da, h1, h1e, P)
    da = scale_add(da, h2, h2e, Q)
    return ds, da
