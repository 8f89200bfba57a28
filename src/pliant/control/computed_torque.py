"""Computed torque: cancel the mechanics, leave a linear error dynamics e'' + 2 zeta w e' + w^2 e = 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.control.projection import commands_for
from pliant.errors import ArgumentError
from pliant.models.contract import Model

Array = np.ndarray
Path = Callable[[float], tuple[Array, Array, Array]]


class ComputedTorque:
    """Tracking of a path of configurations.

    Args:
        model: any model with a flat configuration space and as many actuators as coordinates (or nearly).
        path: t -> (q, v, a) wanted; or a fixed configuration (nq,).
        bandwidth: natural frequency of the error [rad/s].
        damping: damping ratio of the error [-].
    """

    def __init__(self, model: Model, path: Path | Array, *, bandwidth: float = 20.0, damping: float = 1.0) -> None:
        if not (np.isfinite(bandwidth) and bandwidth > 0):
            raise ArgumentError("bandwidth", f"{bandwidth}", "a positive number [rad/s]")
        self.model, self.path = model, as_path(path, model.nv)
        self.bandwidth, self.ratio = float(bandwidth), float(damping)

    def __call__(self, t: float, state: Any) -> Array:
        """Efforts (nu,)."""
        model, q, v = self.model, state.q, state.v
        qd, vd, ad = self.path(t)
        w = self.bandwidth
        a = ad + 2 * self.ratio * w * (vd - v) + w * w * (qd - q)
        none = np.zeros(model.nu)
        tau = model.inertia(q) @ a + model.bias(q, v) + model.damping(q, none) @ v - model.force(q, none)
        return commands_for(model, q, tau)


def as_path(path: Any, n: int) -> Path:
    """A path t -> (q, v, a) from a function or a fixed configuration."""
    if callable(path):
        return path
    fixed = np.asarray(path, float)
    if fixed.shape != (n,) or not np.isfinite(fixed).all():
        raise ArgumentError("path", f"shape {fixed.shape} or not finite", f"({n},) or a function of time")
    zero = np.zeros(n)
    return lambda t: (fixed, zero, zero)
