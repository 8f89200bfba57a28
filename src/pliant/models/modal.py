"""Modal: a model driven directly by generalised forces on its coordinates, as control theory assumes.

The thesis' controllers act on modes ("G = I", or on the first few of them). `Modal(model)` replaces the
actuators of a
model by one generalised force per chosen coordinate; everything else is the model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.actuators import Actuator
from pliant.errors import ArgumentError
from pliant.robot import Robot

Array = np.ndarray


@dataclass(frozen=True, kw_only=True)
class GeneralisedForce(Actuator):
    """A force on one coordinate of a model; its displacement is the coordinate."""

    kind: ClassVar[str] = "generalised_force"
    effort_unit: ClassVar[str] = "unit of energy per unit of the coordinate"
    displacement_unit: ClassVar[str] = "unit of the coordinate"

    coordinate: int = 0


class Modal:
    """A model (flat configuration space) with one generalised force per chosen coordinate.

    Args:
        model: a rod, constant-curvature or link model; its own actuators are left out.
        coordinates: indices of the driven coordinates; all if None.
    """

    def __init__(self, model: Any, coordinates: Sequence[int] | None = None) -> None:
        chosen = range(model.nv) if coordinates is None else coordinates
        self.coordinates = np.array(list(chosen), dtype=int)
        if len(set(self.coordinates)) != len(self.coordinates) or np.any(self.coordinates >= model.nv):
            raise ArgumentError("coordinates", f"{list(chosen)}", f"distinct indices below {model.nv}")
        self.inner = model
        actuators = tuple(GeneralisedForce(name=f"tau{i}", coordinate=int(i)) for i in self.coordinates)
        self.robot: Robot = model.robot.but(actuators=actuators)
        self._none = np.zeros(model.nu)
        self._rows = np.zeros((len(actuators), model.nv))
        self._rows[np.arange(len(actuators)), self.coordinates] = 1.0

    def __getattr__(self, name: str) -> Any:
        # what is not about actuation is the model's
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def nq(self) -> int:
        """Length of a configuration vector."""
        return self.inner.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return self.inner.nv

    @property
    def nu(self) -> int:
        """Number of driven coordinates."""
        return len(self.coordinates)

    def energy(self, q: Array, effort: Array) -> float:
        """Potential energy [J], with -effort * coordinate."""
        return self.inner.energy(q, self._none) - float(np.asarray(effort) @ np.asarray(q)[self.coordinates])

    def force(self, q: Array, effort: Array) -> Array:
        """-d energy / d q (nv,)."""
        f = np.array(self.inner.force(q, self._none))
        f[self.coordinates] += effort
        return f

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Any]:
        """Force (nv,) and stiffness (nv, nv)."""
        both = getattr(self.inner, "linearise", None)
        f, K = both(q, self._none) if both else (self.inner.force(q, self._none), self.inner.stiffness(q, self._none))
        f = np.array(f)
        f[self.coordinates] += effort
        return f, K

    def stiffness(self, q: Array, effort: Array) -> Any:
        """-d force / d q (nv, nv)."""
        return self.inner.stiffness(q, self._none)

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu)."""
        return self._rows.T.copy()

    def displacement(self, q: Array) -> Array:
        """The driven coordinates (nu,)."""
        return np.array(np.asarray(q, float)[self.coordinates])

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""
        return self._rows.copy()

    def during(self, state: Any, dt: float) -> Any:
        """Mechanics of the time step that starts at a state, see `pliant.models.contract`."""
        begin = getattr(self.inner, "during", None)
        inner = self.inner if begin is None else begin(state, dt)
        return self if inner is self.inner else Modal(inner, self.coordinates.tolist())

    def damping(self, q: Array, effort: Array) -> Any:
        """Viscous matrix (nv, nv)."""
        return self.inner.damping(q, self._none)
