"""Energy shaping: make the arm behave as if its only potential were a spring from its tip to the target.

    u = G^+ [ f_e + f_g + J^# F ],    F = k T(E)^T E,  E = log(g^-1 g_d)            (pose on SE(3))
                                      F = k (x_d - x)                               (position)

J^# is the damped pseudo-inverse in coordinates scaled to lengths: more damping penalises high modes and changes the
shape that is reached. With `relaxed=True` the target attracts the point of the arm that is nearest to it, and a
part of the elasticity is kept in the null space: bends then travel along the arm as in an octopus.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant import lie
from pliant.control.observation import reference_of
from pliant.control.projection import commands_for, damped_inverse, motion_scale
from pliant.errors import ArgumentError
from pliant.models.contract import Model

Array = np.ndarray


class EnergyShaping:
    """A controller u = controller(t, state) that shapes the arm's energy so that the target is its minimum.

    Args:
        model: a rod, constant-curvature, link or modal model.
        target: PointTarget, FrameTarget, position (3,), pose (4, 4), or a function of time giving one.
        point: name of the point that should get there; the target's own, or "tip".
        stiffness: of the virtual spring [N/m].
        rotation_stiffness: of the virtual rotational spring, for poses [N m/rad].
        damping: of the pseudo-inverse, in coordinates scaled to lengths [-].
        injection: additional damping of the tip [N s/m]; the material's is often enough.
        null_elasticity: part of the elasticity kept in the null space of the task, 0 to 1.
        relaxed: attract the nearest point of the arm instead of the named one.
    """

    def __init__(
        self,
        model: Model,
        *,
        target: Any,
        point: str | None = None,
        stiffness: float = 1.0,
        rotation_stiffness: float = 1e-3,
        damping: float = 0.1,
        injection: float = 0.0,
        null_elasticity: float = 0.0,
        relaxed: bool = False,
    ) -> None:
        for name, value in (("stiffness", stiffness), ("damping", damping)):
            if not (np.isfinite(value) and value > 0):
                raise ArgumentError(name, f"{value}", "a positive number")
        self.model = model
        self.point: str = point or str(getattr(target, "point", "tip"))
        self.reference = reference_of(target)
        self.pose = np.shape(self.reference(0.0)) == (4, 4)
        self.stiffness, self.rotation_stiffness = float(stiffness), float(rotation_stiffness)
        self.damping, self.injection = float(damping), float(injection)
        self.null_elasticity, self.relaxed = float(null_elasticity), bool(relaxed)
        if relaxed and self.pose:
            raise ArgumentError("relaxed", "the nearest point has no frame here", "a position as target")
        self.scale = motion_scale(model)
        self.targets = {self.point: self._wanted}
        self.nearest: list[tuple[float, float]] = []
        """(time, fraction of the skin's vertices passed) of the attracted point, if relaxed."""

    def _wanted(self, t: float) -> Array:
        g = np.asarray(self.reference(t), float)
        return g[:3, 3] if self.pose else g

    def __call__(self, t: float, state: Any) -> Array:
        """Efforts (nu,)."""
        return commands_for(self.model, state.q, self.generalised(t, state), weight=1.0 / self.scale)

    def generalised(self, t: float, state: Any) -> Array:
        """The wanted generalised force (nv,)."""
        model, q = self.model, state.q
        still = -np.asarray(model.force(q, np.zeros(model.nu)))
        J, F = self._spring(t, q, state.v)
        scaled = J / self.scale
        inverse = damped_inverse(scaled, self.damping)
        tau = still + self.scale * (inverse @ F)
        if self.null_elasticity:
            elastic = still + _weight(model, q)
            kept = (elastic / self.scale) - np.linalg.pinv(scaled, rcond=1e-6) @ (scaled @ (elastic / self.scale))
            tau = tau - self.null_elasticity * self.scale * kept
        return tau

    def _spring(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        wanted = np.asarray(self.reference(t), float)
        if self.relaxed:
            x = self.model.skin_positions(q)
            k = 1 + int(np.argmin(np.linalg.norm(x[1:] - wanted, axis=1)))
            self.nearest.append((t, k / (len(x) - 1)))
            rows = self.model.skin_rows(q, np.full((3, 1), k), np.ones((3, 1)), np.eye(3))
            J = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
            return J, self.stiffness * (wanted - x[k]) - self.injection * (J @ v)
        place = self.model.locate(q, self.point, jacobian=True)
        if not self.pose:
            J = place.slopes[3:]
            return J, self.stiffness * (wanted - place.position) - self.injection * (J @ v)
        g = lie.frame(place.rotation, place.position)
        # body axes: twist of the point as it sees it itself
        J = np.vstack([place.rotation.T @ place.slopes[:3], place.rotation.T @ place.slopes[3:]])
        E = lie.log(lie.inverse(g) @ wanted)
        springs = np.repeat([self.rotation_stiffness, self.stiffness], 3)
        # -d/dg of 1/2 E^T k E: the wrench is T(E)^-T k E; at small errors it is k E
        F = lie.left_tangent_inverse(E).T @ (springs * E)
        # A radian counts as the length at which both springs are equally strong.
        arm = np.repeat([np.sqrt(self.rotation_stiffness / self.stiffness), 1.0], 3)
        J = arm[:, None] * J
        return J, F / arm - self.injection * (J @ v)


def _weight(model: Model, q: Array) -> Array:
    """Generalised weight (nv,)."""
    mass = float(getattr(model, "mass_total", 0.0))
    return model.centre_of_mass(q)[1].T @ (mass * np.array(model.robot.gravity))


energy_shaping = EnergyShaping  # the name that the documentation uses: a controller is a callable
