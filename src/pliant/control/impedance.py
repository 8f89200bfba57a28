"""Cartesian impedance control: the tip behaves like a spring and a damper, free or in contact.

    Lambda = (J M^-1 J^T)^-1,  J_M^+ = M^-1 J^T Lambda
    tau = J^T [ J_M^{+T} (f_e + f_g) + eta (I - J_M^+ J) v + K_c (x_d - x) - D_c J v ],  eta = Lambda (J M^-1
    C - J')

On the first contact the set-point may change (approach, then exploration).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.control.observation import reference_of
from pliant.control.projection import commands_for
from pliant.errors import ArgumentError

Array = np.ndarray


class Impedance:
    """Impedance of a point of the arm.

    Args:
        model: a rod or constant-curvature model (with `coriolis`), or any model; the velocity term is left
            out if it
            has no `coriolis`.
        target: position, PointTarget or a function of time: approach.
        stiffness: K_c [N/m].
        damping: D_c [N s/m].
        contact_target: set-point after the first contact; None keeps the first.
        blend: time over which the set-points are blended [s].
        compensate: "all" compensates elasticity and weight in every direction; "task" only what acts on the
            task, so
            that the rest of the arm keeps its own compliance (published).
        point: name of the point.
    """

    def __init__(
        self,
        model: Any,
        target: Any,
        *,
        stiffness: float = 20.0,
        damping: float = 1.0,
        contact_target: Any = None,
        blend: float = 0.5,
        compensate: str = "task",
        point: str | None = None,
    ) -> None:
        if compensate not in ("task", "all"):
            raise ArgumentError("compensate", f"{compensate!r}", "'task' or 'all'")
        self.model, self.point = model, point or getattr(target, "point", "tip")
        self.first = reference_of(target)
        self.second = None if contact_target is None else reference_of(contact_target)
        self.stiffness, self.damping, self.blend = float(stiffness), float(damping), float(blend)
        self.compensate = compensate
        self.touched: float | None = None
        self.targets = {self.point: self.wanted}

    def wanted(self, t: float) -> Array:
        """The set-point at a time [m] (3,)."""
        x = np.asarray(self.first(t), float)
        if self.touched is None or self.second is None or t < self.touched:
            return x
        s = min(1.0, (t - self.touched) / max(self.blend, 1e-9))
        return (1 - s) * x + s * np.asarray(self.second(t), float)

    def __call__(self, t: float, state: Any) -> Array:
        """Efforts (nu,)."""
        model, q, v = self.model, state.q, state.v
        if self.touched is None and state.contacts is not None and np.any(state.contacts.forces > 0):
            self.touched = t
        place = model.locate(q, self.point, jacobian=True)
        J = place.jacobian[3:]
        F = self.stiffness * (self.wanted(t) - place.position) - self.damping * (J @ v)
        still = -np.asarray(model.force(q, np.zeros(model.nu)))
        if self.compensate == "all":
            return commands_for(model, q, still + J.T @ F)
        M = np.asarray(model.inertia(q))
        MJ = np.linalg.solve(M, J.T)
        core = J @ MJ
        mobility = np.linalg.inv(core + 1e-6 * np.trace(core) / 3 * np.eye(3))
        held = mobility @ (MJ.T @ still)
        coriolis = getattr(model, "coriolis", None)
        if coriolis is not None and np.any(v):
            aside = v - MJ @ (mobility @ (J @ v))
            held = held + mobility @ (MJ.T @ (coriolis(q, v) @ aside))
        return commands_for(model, q, J.T @ (held + F))
