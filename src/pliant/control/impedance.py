"""Cartesian impedance control: the tip behaves like a spring and a damper, free or in contact.

    Lambda = (J M^-1 J^T)^-1,  J_M^+ = M^-1 J^T Lambda,  eta = Lambda (J M^-1 C - J')
    tau = J^T [ J_M^{+T} (f_e + f_g) + eta (I - J_M^+ J) v + K_c (x_d - x) - D_c J v ]

With forces on every coordinate the tip then moves as

    Lambda x'' + (eta J_M^+ + D_c) x' + (material damping) = K_c (x_d - x) + f_contact,

where Lambda' - 2 eta J_M^+ is skew: passive, and at rest against a wall f_contact = -K_c (x_d - x). On the first
contact the set-point may change (approach, then exploration).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.control.observation import reference_of
from pliant.control.projection import commands_for
from pliant.errors import ArgumentError
from pliant.models.contract import Model

Array = np.ndarray


class Impedance:
    """Impedance of a point of the arm.

    Args:
        model: a rod or constant-curvature model; or any model, without the velocity term where it has no `coriolis` and
            `load_stiffness`.
        target: position, PointTarget or a function of time: approach.
        stiffness: K_c [N/m].
        damping: D_c [N s/m].
        contact_target: set-point after the first contact; None keeps the first.
        blend: time over which the set-points are blended [s].
        compensate: "all" compensates elasticity and weight in every direction; "task" only what acts on the task,
            so that the rest of the arm keeps its own compliance (published).
        point: name of the point.
    """

    def __init__(
        self,
        model: Model,
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
        self.model = model
        self.point = str(point or getattr(target, "point", "tip"))
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
        J = place.slopes[3:]
        F = self.stiffness * (self.wanted(t) - place.position) - self.damping * (J @ v)
        still = -np.asarray(model.force(q, np.zeros(model.nu)))
        if self.compensate == "all":
            return commands_for(model, q, still + J.T @ F)
        M = np.asarray(model.inertia(q))
        MJ = np.linalg.solve(M, J.T)
        core = J @ MJ
        mobility = np.linalg.inv(core + 1e-6 * np.trace(core) / 3 * np.eye(3))
        held = mobility @ (MJ.T @ still)
        rate = jacobian_rate(model, q, v, self.point) if np.any(v) else None
        coriolis = getattr(model, "coriolis", None)
        if rate is not None and coriolis is not None:
            aside = v - MJ @ (mobility @ (J @ v))
            held = held + mobility @ (MJ.T @ (coriolis(q, v) @ aside) - rate @ aside)
        return commands_for(model, q, J.T @ (held + F))


def jacobian_rate(model: Model, q: Array, v: Array, point: str) -> Array | None:
    """J' of the position of a point (3, nv), exact: minus the geometric stiffness of unit forces there, times v.

    None if the model does not offer `load_stiffness`, or if the point is no vertex of its skin.
    """
    load_stiffness = getattr(model, "load_stiffness", None)
    if load_stiffness is None:
        return None
    x = model.skin_positions(model.rest)
    away = np.linalg.norm(x - model.locate(model.rest, point).position, axis=1)
    k = int(np.argmin(away))
    if away[k] > 1e-9 * float(np.ptp(x, axis=0).max()):
        return None
    rows = np.empty((3, model.nv))
    for c in range(3):
        force = np.zeros((model.skin.size, 3))
        force[k, c] = 1.0
        rows[c] = -(load_stiffness(q, force) @ v)
    return rows
