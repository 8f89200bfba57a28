"""Driven: a model with a constant input map instead of its own actuators.

    force(q, e) = force_inner(q) + G e,     displacement(q) = G^T q

What control theory assumes ("G = I", see `Modal`), and what an identified model has: G found by virtual work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.actuators import Actuator
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.robot import Robot

Array = np.ndarray
# They take efforts, or read the inner model's own actuators: passed on they would mean other mechanics.
_NOT_PASSED_ON = frozenset(
    {"acceleration", "linearise_damped", "projected", "proxy", "read", "rest_factor", "rollout", "stride", "turner"}
)


class Driven:
    """A model (flat configuration space) whose actuators push along constant directions of its coordinates.

    Args:
        model: a rod, constant-curvature or link model; its own actuators are left out.
        inputs: G (nv, nu): generalised force per effort.
        actuators: what the columns of G belong to: names and limits.
    """

    def __init__(self, model: Model, inputs: ArrayLike, actuators: Sequence[Actuator]) -> None:
        G = np.array(inputs, float)
        if G.shape != (model.nv, len(actuators)) or not np.isfinite(G).all():
            raise ArgumentError("inputs", f"shape {G.shape} or not finite", f"({model.nv}, {len(actuators)})")
        self.inner = model
        self.robot: Robot = model.robot.but(actuators=tuple(actuators))
        self._none = np.zeros(model.nu)
        self._rows = np.ascontiguousarray(G.T)

    def __getattr__(self, name: str) -> Any:
        # what is not about actuation is the model's
        if name == "inner" or name in _NOT_PASSED_ON:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
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
        """Number of actuators."""
        return len(self._rows)

    def energy(self, q: Array, effort: Array) -> float:
        """Potential energy [J], with -effort * displacement."""
        return self.inner.energy(q, self._none) - float(np.asarray(effort) @ self.displacement(q))

    def force(self, q: Array, effort: Array) -> Array:
        """-d energy / d q (nv,)."""
        return self.inner.force(q, self._none) + np.asarray(effort) @ self._rows

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Any]:
        """Force (nv,) and stiffness (nv, nv)."""
        both = getattr(self.inner, "linearise", None)
        f, K = both(q, self._none) if both else (self.inner.force(q, self._none), self.inner.stiffness(q, self._none))
        return f + np.asarray(effort) @ self._rows, K

    def stiffness(self, q: Array, effort: Array) -> Any:
        """-d force / d q (nv, nv)."""
        return self.inner.stiffness(q, self._none)

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu)."""
        return self._rows.T.copy()

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates (nu,)."""
        return self._rows @ np.asarray(q, float)

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""
        return self._rows.copy()

    def during(self, state: Any, dt: float) -> Any:
        """Mechanics of the time step that starts at a state, see `pliant.models.contract`."""
        begin = getattr(self.inner, "during", None)
        inner = self.inner if begin is None else begin(state, dt)
        return self if inner is self.inner else Driven(inner, self._rows.T, self.robot.actuators)

    def damping(self, q: Array, effort: Array) -> Any:
        """Viscous matrix (nv, nv)."""
        return self.inner.damping(q, self._none)
