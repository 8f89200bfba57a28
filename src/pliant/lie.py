"""SO(3) and SE(3): hat and vee, exp and log, adjoints, tangents, quaternions.

Conventions: twists are angular first, xi = (omega; v); a pose is a homogeneous (4, 4) matrix; body frames
(g' = g hat(xi)); quaternions are wxyz. Every map is smooth through zero; `log` is accurate up to rotations
by pi and returns |omega| <= pi.

The tangents obey, for a curve xi(t):
  d/dt exp(xi) = exp(xi) hat(right_tangent(xi) xi')  (body)
  d/dt exp(xi) = hat(left_tangent(xi) xi') exp(xi)   (spatial)
On SO(3) and SE(3) alike the argument's length (3 or 6) selects the group.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant._kernels import lie as _k
from pliant.errors import ArgumentError

Array = NDArray[np.float64]

__all__ = [
    "Ad",
    "Ad_inverse",
    "ad",
    "exp",
    "frame",
    "hat",
    "inverse",
    "left_tangent",
    "left_tangent_inverse",
    "log",
    "matrix_from_quaternion",
    "quaternion_from_matrix",
    "right_tangent",
    "right_tangent_inverse",
    "vee",
]


def _finite(name: str, value: ArrayLike, shapes: tuple[tuple[int, ...], ...]) -> Array:
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.shape not in shapes:
        raise ArgumentError(name, f"shape is {array.shape}", " or ".join(str(s) for s in shapes))
    if not np.all(np.isfinite(array)):
        raise ArgumentError(name, "contains NaN or infinity", "finite numbers")
    return array


def _rotation(name: str, R: Array) -> Array:
    defect = float(np.abs(R.T @ R - np.eye(3)).max())
    if defect > 1e-6 or np.linalg.det(R) < 0.0:
        raise ArgumentError(name, f"is not a rotation (orthogonality defect {defect:.1e})", "a rotation")
    return R


def frame(R: ArrayLike = ((1, 0, 0), (0, 1, 0), (0, 0, 1)), p: ArrayLike = (0, 0, 0)) -> Array:
    """Homogeneous pose (4, 4) of a rotation matrix R (3, 3) and a position p (3,) [m]."""
    g = np.eye(4)
    g[:3, :3] = _finite("R", R, ((3, 3),))
    g[:3, 3] = _finite("p", p, ((3,),))
    return g


def hat(x: ArrayLike) -> Array:
    """(3,) -> skew (3, 3); (6,) -> (4, 4) element of se(3)."""
    x = _finite("x", x, ((3,), (6,)))
    w = np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
    if x.size == 3:
        return w
    m = np.zeros((4, 4))
    m[:3, :3] = w
    m[:3, 3] = x[3:]
    return m


def vee(m: ArrayLike) -> Array:
    """Inverse of `hat`: (3, 3) -> (3,), (4, 4) -> (6,)."""
    m = _finite("m", m, ((3, 3), (4, 4)))
    w = np.array([m[2, 1], m[0, 2], m[1, 0]])
    return w if m.shape == (3, 3) else np.concatenate([w, m[:3, 3]])


def exp(x: ArrayLike) -> Array:
    """(3,) rotation vector -> R (3, 3); (6,) twist -> pose (4, 4)."""
    x = _finite("x", x, ((3,), (6,)))
    if x.size == 3:
        R = np.empty((3, 3))
        _k.so3_exp(x, R)
        return R
    g = np.eye(4)
    _k.se3_exp(x, g[:3, :3], g[:3, 3])
    return g


def log(g: ArrayLike) -> Array:
    """R (3, 3) -> rotation vector (3,); pose (4, 4) -> twist (6,), with |omega| <= pi."""
    g = _finite("g", g, ((3, 3), (4, 4)))
    _rotation("g", g[:3, :3])
    if g.shape == (3, 3):
        w = np.empty(3)
        _k.so3_log(g, w)
        return w
    xi = np.empty(6)
    _k.se3_log(g[:3, :3], g[:3, 3], xi)
    return xi


def inverse(g: ArrayLike) -> Array:
    """Inverse pose (4, 4), by transposition."""
    g = _finite("g", g, ((4, 4),))
    out = np.eye(4)
    out[:3, :3] = g[:3, :3].T
    out[:3, 3] = -g[:3, :3].T @ g[:3, 3]
    return out


def Ad(g: ArrayLike) -> Array:  # noqa: N802 (the mathematical name)
    """Adjoint (6, 6) of a pose (4, 4): Ad_g xi is the twist seen from the outer frame."""
    g = _finite("g", g, ((4, 4),))
    X = np.empty((6, 6))
    _k.adjoint(g[:3, :3], g[:3, 3], X)
    return X


def Ad_inverse(g: ArrayLike) -> Array:  # noqa: N802
    """Adjoint (6, 6) of the inverse of a pose (4, 4)."""
    return Ad(inverse(g))


def ad(x: ArrayLike) -> Array:
    """Lie bracket matrix: ad(x) y = [x, y]; (3,) -> (3, 3), (6,) -> (6, 6)."""
    x = _finite("x", x, ((3,), (6,)))
    w = hat(x[:3])
    if x.size == 3:
        return w
    m = np.zeros((6, 6))
    m[:3, :3] = m[3:, 3:] = w
    m[3:, :3] = hat(x[3:])
    return m


def _tangent(x: ArrayLike, right: bool, invert: bool) -> Array:
    x = _finite("x", x, ((3,), (6,)))
    full = np.zeros(6)
    full[: x.size] = x
    T = np.empty((6, 6))
    _k.se3_tangent(full, right, invert, T)
    return T[: x.size, : x.size].copy()


def right_tangent(x: ArrayLike) -> Array:
    """Body tangent of exp: exp(x)^-1 d exp(x) = hat(T dx); (3, 3) or (6, 6)."""
    return _tangent(x, True, False)


def left_tangent(x: ArrayLike) -> Array:
    """Spatial tangent of exp: d exp(x) exp(x)^-1 = hat(T dx); (3, 3) or (6, 6)."""
    return _tangent(x, False, False)


def right_tangent_inverse(x: ArrayLike) -> Array:
    """Inverse of `right_tangent` at (3,) or (6,), closed form; valid for |omega| < 2 pi."""
    return _tangent(x, True, True)


def left_tangent_inverse(x: ArrayLike) -> Array:
    """Inverse of `left_tangent` at (3,) or (6,), closed form; valid for |omega| < 2 pi."""
    return _tangent(x, False, True)


def quaternion_from_matrix(R: ArrayLike) -> Array:
    """Unit quaternion wxyz (4,) of a rotation matrix, scalar part >= 0."""
    R = _rotation("R", _finite("R", R, ((3, 3),)))
    q = np.empty(4)
    _k.quat_from_matrix(R, q)
    return q


def matrix_from_quaternion(q: ArrayLike) -> Array:
    """Rotation matrix (3, 3) of a quaternion wxyz (4,), normalised here."""
    q = _finite("q", q, ((4,),))
    if float(q @ q) < 1e-24:
        raise ArgumentError("q", "has zero length", "a non-zero quaternion wxyz")
    R = np.empty((3, 3))
    _k.matrix_from_quat(q, R)
    return R
