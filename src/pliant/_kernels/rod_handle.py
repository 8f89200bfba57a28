"""One compiled object for the tables and work arrays of a model, so that a call from Python unpacks one argument.

Handing 36 arrays to a compiled function costs 6 us, more than the dynamics of a small rod; a handle costs 0.3 us.
"""

from __future__ import annotations

from typing import Any

from numba import njit, types
from numba.experimental import structref

from pliant._kernels.lie import FAST
from pliant._kernels.rod_mass import forward_dynamics
from pliant._kernels.rod_points import locate_points
from pliant._kernels.rod_statics import static_force, static_tangent


class _HandleType(types.StructRef):
    """Numba's type of a handle."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Fields without literal types."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class _PlaceType(_HandleType):
    """Numba's type of the handle of some points."""


class _StaticType(_HandleType):
    """Numba's type of the handle of a model with embedded threads."""


structref.register(_HandleType)
structref.register(_PlaceType)
structref.register(_StaticType)


class RodHandle(structref.StructRefProxy):
    """Tables t, work w, base twist `still` (6,), lift (6,) and zeros (n,) of a model."""


class PlaceHandle(structref.StructRefProxy):
    """Tables t, work w, points c and scratch twists (n, 6)."""


class StaticHandle(structref.StructRefProxy):
    """A RodHandle's fields, tangent work tw, threads c, stiffness K (n, n), scratch value (nth,) and grad (nth, n)."""


structref.define_proxy(RodHandle, _HandleType, ["t", "w", "still", "lift", "zero"])
structref.define_proxy(PlaceHandle, _PlaceType, ["t", "w", "c", "twists"])
structref.define_proxy(
    StaticHandle, _StaticType, ["t", "w", "tw", "c", "zero", "still", "lift", "K", "value", "grad"]
)


# Made inside compiled code: the constructors of proxies are not cached on disk, these are.
@njit(cache=True)
def rod_handle(t, w, still, lift, zero):
    """A RodHandle; it refers to the arrays, it does not copy them."""
    return RodHandle(t, w, still, lift, zero)


@njit(cache=True)
def place_handle(t, w, c, twists):
    """A PlaceHandle; it refers to the arrays, it does not copy them."""
    return PlaceHandle(t, w, c, twists)


@njit(cache=True)
def static_handle(t, w, tw, c, zero, still, lift, K, value, grad):
    """A StaticHandle; it refers to the arrays, it does not copy them."""
    return StaticHandle(t, w, tw, c, zero, still, lift, K, value, grad)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def tangent(s, q, effort, f, H):
    """f (n,) <- force and H (n, n) <- -df/dq under thread efforts (nth,)."""
    static_tangent(s.t, s.w, s.tw, s.c, q, s.zero, s.still, s.lift, effort, s.K, s.value, s.grad, f, H)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def force(s, q, effort, f):
    """f (n,) <- force under thread efforts (nth,)."""
    static_force(s.t, s.w, s.c, q, s.zero, s.still, s.lift, effort, s.K, s.value, s.grad, f)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def acceleration(s, q, v, tau, out):
    """out (n,) <- accelerations under the generalised force tau (n,)."""
    return forward_dynamics(s.t, s.w, q, v, tau, s.still, s.lift, s.zero, out)


@njit(cache=True, fastmath=FAST, error_model="numpy")
def locate(s, q, x, jac, with_jacobian):
    """Positions x (np, 3) and Jacobians jac (np, 6, n) of the points of a handle; frames in c.R."""
    locate_points(s.t, s.w, s.c, q, x, s.twists, jac, with_jacobian)
