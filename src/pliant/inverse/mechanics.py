"""The mechanics that an inverse step linearises: the static equilibrium, or one implicit time step."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.solve.commands import linearise
from pliant.state import State

Array = np.ndarray


class Static:
    """Quasi-static mechanics: the force must vanish."""

    time = 0.0
    inertial = False

    def __init__(self, model: Any) -> None:
        self.model = model

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Any]:
        """Unbalanced force and its stiffness."""
        return linearise(self.model, q, effort)

    def residual(self, q: Array, effort: Array, dq: Array | None) -> Array:
        """Unbalanced force."""
        return self.model.force(q, effort)

    def move(self, q: Array, dq: Array, keep: bool = True) -> Array:
        """The configuration after a step."""
        return self.model.retract(q, dq)

    def velocity(self) -> Array:
        """Zero: nothing moves."""
        return np.zeros(self.model.nv)

    def memory(self) -> dict[str, Any]:
        """Nothing to remember."""
        return {}


class Implicit:
    """One backward Euler step of length dt from a state: M (v1 - v0)/h + bias + D v1 = f(q1), q1 = q0 (+) h v1."""

    inertial = True  # it moves even if nothing is done

    def __init__(self, model: Any, state: State | None, dt: float) -> None:
        self.model = model
        self.dt = dt
        q0 = model.rest if state is None else state.q
        self.v0 = np.zeros(model.nv) if state is None else np.asarray(state.v, float)
        effort = np.zeros(model.nu) if state is None else state.effort
        self.time = (0.0 if state is None else state.time) + dt
        self.increment = np.zeros(model.nv)
        self.D = model.damping(q0, effort)

    def _unbalanced(self, q: Array, effort: Array, increment: Array, force: Array) -> Array:
        v1 = increment / self.dt
        inertial = self.model.inertia(q) @ ((v1 - self.v0) / self.dt)
        return force - inertial - self.model.bias(q, v1) - self.D @ v1

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Any]:
        """Unbalanced force and the matrix of the implicit step."""
        force, K = linearise(self.model, q, effort)
        M = self.model.inertia(q)
        h = self.dt
        if isinstance(K, np.ndarray):
            matrix: Any = K + np.asarray(M) / h**2 + np.asarray(self.D) / h
        else:
            matrix = K + M.scaled(1.0 / h**2) + self.D.scaled(1.0 / h)
        return self._unbalanced(q, effort, self.increment, force), matrix

    def residual(self, q: Array, effort: Array, dq: Array | None) -> Array:
        """Unbalanced force after a further step dq (which `move` did not keep)."""
        increment = self.increment if dq is None else self.increment + dq
        return self._unbalanced(q, effort, increment, self.model.force(q, effort))

    def move(self, q: Array, dq: Array, keep: bool = True) -> Array:
        """The configuration after a step."""
        if keep:
            self.increment = self.increment + dq
        return self.model.retract(q, dq)

    def velocity(self) -> Array:
        """Velocity at the end of the step."""
        return self.increment / self.dt

    def memory(self) -> dict[str, Any]:
        """Acceleration over the step, for an integrator that goes on from here."""
        return {"a": (self.increment / self.dt - self.v0) / self.dt}
