"""Compiled SO(3) and SE(3) maps: scalars and tuples in, arrays filled in place, no allocation.

Everything is built on the entire functions c_k(u) = sum_n (-u)^n / (2n + k)! with u = |omega|^2:
c_0 = cos, c_1 = sin(t)/t, c_2 = (1 - cos t)/t^2, c_3 = (t - sin t)/t^3, ... They have no singularity at
zero, c_k = 1/k! - u c_{k+2}, and c_k' = (k c_{k+2} - c_{k+1}) / 2. A twist (omega; v) is the dual vector
omega + eps v, so SE(3) is SO(3) over dual numbers: ad_a b is the dual cross product.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels import notice  # noqa: F401  says that kernels are being compiled

# "contract" and "reassoc" keep NaN and infinity intact: only the order of sums may change.
FAST = {"contract", "reassoc", "nsz", "arcp"}

_TAYLOR_LIMIT = 12.0  # |omega|^2 below which the top pair comes from its series
# ratio of consecutive terms of the series of c_k, without the factor -u
_RATIO = np.array([[0.0] + [1.0 / ((2 * i + k) * (2 * i + k - 1)) for i in range(1, 16)] for k in range(10)])
_INVERSE_FACTORIAL = np.array([1.0 / math.factorial(k) for k in range(10)])


@njit(cache=True, fastmath=FAST)
def top_pair(u, k):
    """c_k(u) and c_{k+1}(u) for even k in {4, 6, 8}; the ones below follow by c_j = 1/j! - u c_{j+2}."""
    if u < _TAYLOR_LIMIT:
        a = 1.0
        b = 1.0
        # Horner from the last term; the counts reach rounding at u = 0.25, 3 and the limit.
        n = 6 if u < 0.25 else (10 if u < 3.0 else 15)
        for i in range(n, 0, -1):
            a = 1.0 - a * u * _RATIO[k, i]
            b = 1.0 - b * u * _RATIO[k + 1, i]
        return a * _INVERSE_FACTORIAL[k], b * _INVERSE_FACTORIAL[k + 1]
    t = math.sqrt(u)
    a = math.cos(t)
    b = math.sin(t) / t
    inv = 1.0 / u
    fa = 1.0
    for j in range(0, k, 2):
        a = (1.0 / fa - a) * inv
        b = (1.0 / (fa * (j + 1)) - b) * inv
        fa *= (j + 1) * (j + 2)
    return a, b


@njit(cache=True, fastmath=FAST)
def coefficients5(u):
    """(c_0, ..., c_5) at u = |omega|^2."""
    c4, c5 = top_pair(u, 4)
    c3 = 1.0 / 6.0 - u * c5
    c2 = 0.5 - u * c4
    return 1.0 - u * c2, 1.0 - u * c3, c2, c3, c4, c5


@njit(cache=True, fastmath=FAST)
def coefficients7(u):
    """(c_0, ..., c_7) at u = |omega|^2."""
    c6, c7 = top_pair(u, 6)
    c5 = 1.0 / 120.0 - u * c7
    c4 = 1.0 / 24.0 - u * c6
    c3 = 1.0 / 6.0 - u * c5
    c2 = 0.5 - u * c4
    return 1.0 - u * c2, 1.0 - u * c3, c2, c3, c4, c5, c6, c7


@njit(cache=True, fastmath=FAST)
def cross(a0, a1, a2, b0, b1, b2):
    """a x b."""
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@njit(cache=True, fastmath=FAST)
def bracket(a, b):
    """ad_a b of two twists given as 6-tuples (angular first)."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
        a[1] * b[5] - a[2] * b[4] + a[4] * b[2] - a[5] * b[1],
        a[2] * b[3] - a[0] * b[5] + a[5] * b[0] - a[3] * b[2],
        a[0] * b[4] - a[1] * b[3] + a[3] * b[1] - a[4] * b[0],
    )


@njit(cache=True, fastmath=FAST)
def so3_exp(w, R):
    """R <- exp of the rotation vector w (3,)."""
    x, y, z = w[0], w[1], w[2]
    u = x * x + y * y + z * z
    c0, a, b, _, _, _ = coefficients5(u)
    fill_rotation(x, y, z, a, b, c0, R)


@njit(cache=True, fastmath=FAST)
def fill_rotation(x, y, z, a, b, c, R):
    """R <- c I + a hat(w) + b w w^T: Rodrigues with c = cos."""
    R[0, 0] = c + b * x * x
    R[1, 1] = c + b * y * y
    R[2, 2] = c + b * z * z
    R[0, 1] = b * x * y - a * z
    R[1, 0] = b * x * y + a * z
    R[0, 2] = b * x * z + a * y
    R[2, 0] = b * x * z - a * y
    R[1, 2] = b * y * z - a * x
    R[2, 1] = b * y * z + a * x


@njit(cache=True)
def quat_from_matrix(R, q):
    """q <- unit quaternion wxyz of the rotation matrix R, scalar part >= 0; stable at every angle."""
    tr = R[0, 0] + R[1, 1] + R[2, 2]
    d0, d1, d2 = R[0, 0], R[1, 1], R[2, 2]
    # The largest of the four squared components is found first, so the square root never cancels.
    if tr >= d0 and tr >= d1 and tr >= d2:
        q[0] = 1.0 + tr
        q[1] = R[2, 1] - R[1, 2]
        q[2] = R[0, 2] - R[2, 0]
        q[3] = R[1, 0] - R[0, 1]
    elif d0 >= d1 and d0 >= d2:
        q[0] = R[2, 1] - R[1, 2]
        q[1] = 1.0 + d0 - d1 - d2
        q[2] = R[0, 1] + R[1, 0]
        q[3] = R[0, 2] + R[2, 0]
    elif d1 >= d2:
        q[0] = R[0, 2] - R[2, 0]
        q[1] = R[0, 1] + R[1, 0]
        q[2] = 1.0 + d1 - d0 - d2
        q[3] = R[1, 2] + R[2, 1]
    else:
        q[0] = R[1, 0] - R[0, 1]
        q[1] = R[0, 2] + R[2, 0]
        q[2] = R[1, 2] + R[2, 1]
        q[3] = 1.0 + d2 - d0 - d1
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if q[0] < 0.0:
        s = -s
    for i in range(4):
        q[i] *= s


@njit(cache=True)
def matrix_from_quat(q, R):
    """R <- rotation matrix of the quaternion q wxyz (normalised here)."""
    s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    w, x, y, z = q[0], q[1], q[2], q[3]
    R[0, 0] = 1.0 - s * (y * y + z * z)
    R[1, 1] = 1.0 - s * (x * x + z * z)
    R[2, 2] = 1.0 - s * (x * x + y * y)
    R[0, 1] = s * (x * y - w * z)
    R[1, 0] = s * (x * y + w * z)
    R[0, 2] = s * (x * z + w * y)
    R[2, 0] = s * (x * z - w * y)
    R[1, 2] = s * (y * z - w * x)
    R[2, 1] = s * (y * z + w * x)


@njit(cache=True)
def so3_log(R, w):
    """w <- rotation vector of R, |w| <= pi, through the quaternion (accurate near 0 and near pi)."""
    q = np.empty(4)  # does not escape: LLVM keeps it on the stack
    quat_from_matrix(R, q)
    n = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if n < 1e-8:
        f = 2.0 / q[0]  # atan(n / q0) / n -> 1 / q0, error n^2
    else:
        f = 2.0 * math.atan2(n, q[0]) / n
    for i in range(3):
        w[i] = f * q[i + 1]


@njit(cache=True, fastmath=FAST)
def se3_exp(xi, R, p):
    """(R, p) <- exp of the twist xi = (omega; v)."""
    x, y, z = xi[0], xi[1], xi[2]
    u = x * x + y * y + z * z
    c0, c1, c2, c3, _, _ = coefficients5(u)
    fill_rotation(x, y, z, c1, c2, c0, R)
    a0, a1, a2 = cross(x, y, z, xi[3], xi[4], xi[5])
    b0, b1, b2 = cross(x, y, z, a0, a1, a2)
    p[0] = xi[3] + c2 * a0 + c3 * b0
    p[1] = xi[4] + c2 * a1 + c3 * b1
    p[2] = xi[5] + c2 * a2 + c3 * b2


@njit(cache=True)
def inverse_gap(u):
    """(1 - (t/2) cot(t/2)) / t^2 at u = t^2, and its derivative in u: the SO(3) inverse tangent."""
    if u < 0.5:
        # Bernoulli series: sum B_{2k} (-1)^{k+1} u^{k-1} / (2k)!
        g = 0.0
        d = 0.0
        for i in range(8, -1, -1):
            d = d * u + g
            g = g * u + _GAP[i]
        return g, d
    t = math.sqrt(u)
    h = 0.5 * t
    cot = math.cos(h) / math.sin(h)
    g = (1.0 - h * cot) / u
    # d/du of 1 - h cot h is (1/2t) (-cot + h (1 + cot^2)) / 2
    d = ((h * (1.0 + cot * cot) - cot) / (4.0 * t) - g) / u
    return g, d


_GAP = np.array(
    [
        1.0 / 12.0,
        1.0 / 720.0,
        1.0 / 30240.0,
        1.0 / 1209600.0,
        1.0 / 47900160.0,
        691.0 / 1307674368000.0,
        1.0 / 74724249600.0,
        3617.0 / 10670622842880000.0,
        43867.0 / 5109094217170944000.0,
    ]
)


@njit(cache=True)
def se3_log(R, p, xi):
    """xi <- twist with exp(xi) = (R, p), |omega| <= pi."""
    so3_log(R, xi)
    x, y, z = xi[0], xi[1], xi[2]
    g, _ = inverse_gap(x * x + y * y + z * z)
    a0, a1, a2 = cross(x, y, z, p[0], p[1], p[2])
    b0, b1, b2 = cross(x, y, z, a0, a1, a2)
    xi[3] = p[0] - 0.5 * a0 + g * b0
    xi[4] = p[1] - 0.5 * a1 + g * b1
    xi[5] = p[2] - 0.5 * a2 + g * b2


@njit(cache=True, fastmath=FAST)
def adjoint(R, p, X):
    """X (6, 6) <- Ad of (R, p) = [[R, 0], [hat(p) R, R]]."""
    for j in range(3):
        X[0, j] = R[0, j]
        X[1, j] = R[1, j]
        X[2, j] = R[2, j]
        X[0, j + 3] = 0.0
        X[1, j + 3] = 0.0
        X[2, j + 3] = 0.0
        X[3, j] = p[1] * R[2, j] - p[2] * R[1, j]
        X[4, j] = p[2] * R[0, j] - p[0] * R[2, j]
        X[5, j] = p[0] * R[1, j] - p[1] * R[0, j]
        X[3, j + 3] = R[0, j]
        X[4, j + 3] = R[1, j]
        X[5, j + 3] = R[2, j]


@njit(cache=True, fastmath=FAST)
def quadratic_map(x, y, z, a, b, A):
    """A (3, 3) <- I + a hat(w) + b hat(w)^2."""
    A[0, 0] = 1.0 - b * (y * y + z * z)
    A[1, 1] = 1.0 - b * (x * x + z * z)
    A[2, 2] = 1.0 - b * (x * x + y * y)
    A[0, 1] = b * x * y - a * z
    A[1, 0] = b * x * y + a * z
    A[0, 2] = b * x * z + a * y
    A[2, 0] = b * x * z - a * y
    A[1, 2] = b * y * z - a * x
    A[2, 1] = b * y * z + a * x


@njit(cache=True, fastmath=FAST)
def quadratic_dual(xi, a, b, da, db, Q):
    """Q (3, 3) <- derivative of I + a(u) hat(w) + b(u) hat(w)^2 along v: the lower left block on SE(3)."""
    x, y, z, v0, v1, v2 = xi[0], xi[1], xi[2], xi[3], xi[4], xi[5]
    s = x * v0 + y * v1 + z * v2
    da = 2.0 * s * da
    db = 2.0 * s * db
    e0 = a * v0 + da * x
    e1 = a * v1 + da * y
    e2 = a * v2 + da * z
    # hat(w) hat(v) + hat(v) hat(w) = w v^T + v w^T - 2 (w.v) I
    d = -2.0 * b * s - db * (x * x + y * y + z * z)
    Q[0, 0] = d + 2.0 * b * x * v0 + db * x * x
    Q[1, 1] = d + 2.0 * b * y * v1 + db * y * y
    Q[2, 2] = d + 2.0 * b * z * v2 + db * z * z
    t = b * (x * v1 + y * v0) + db * x * y
    Q[0, 1] = t - e2
    Q[1, 0] = t + e2
    t = b * (x * v2 + z * v0) + db * x * z
    Q[0, 2] = t + e1
    Q[2, 0] = t - e1
    t = b * (y * v2 + z * v1) + db * y * z
    Q[1, 2] = t - e0
    Q[2, 1] = t + e0


@njit(cache=True)
def se3_tangent(xi, right, inverse, T):
    """T (6, 6) <- tangent of exp at xi: body (right) or spatial (left) form, or its inverse."""
    x, y, z = xi[0], xi[1], xi[2]
    u = x * x + y * y + z * z
    sign = -1.0 if right else 1.0
    if inverse:
        a = -0.5 * sign
        da = 0.0
        b, db = inverse_gap(u)
    else:
        _, _, c2, c3, c4, c5 = coefficients5(u)
        a = sign * c2
        b = c3
        da = sign * 0.5 * (2.0 * c4 - c3)
        db = 0.5 * (3.0 * c5 - c4)
    quadratic_map(x, y, z, a, b, T[:3, :3])
    quadratic_dual(xi, a, b, da, db, T[3:, :3])
    T[3:, 3:] = T[:3, :3]
    T[:3, 3:] = 0.0
