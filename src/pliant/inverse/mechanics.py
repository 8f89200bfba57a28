"""The mechanics that an inverse step linearises: the static equilibrium, or one implicit time step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from pliant.solve.commands import linearise
from pliant.state import State

Array = np.ndarray


@lru_cache(maxsize=64)
def _damps_along(kind: type) -> bool:
    """Whether a kind of model linearises with its damping in one pass (`linearise_damped`).

    Wrappers that hand unknown names on, and classes that change the damping alone, do not.
    """
    for cls in kind.__mro__:
        if "linearise_damped" in vars(cls):
            return True
        if vars(cls).keys() & {"force", "linearise", "stiffness", "damping"}:
            return False
    return False


class Static:
    """Quasi-static mechanics: the force must vanish.

    A loop that is closed by joints is a robot only while they hold: without them its stiffness may be indefinite. So
    each joint's effort is its multiplier minus a spring on its opening (an augmented Lagrangian). At a closed loop the
    springs do no work, and the efforts are the reactions; near it they add their stiffness.

    Args:
        model: any mechanical model.
        closed: actuators that are joints -> the displacement at which they are closed.
    """

    time = 0.0
    inertial = False

    def __init__(self, model: Any, closed: Mapping[int, float] | None = None) -> None:
        self.model = model
        joints = {} if closed is None else closed
        self._joints = np.array(list(joints), dtype=np.int64)
        self._closed = np.array(list(joints.values()))
        self._springs: Array | None = None

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Any]:
        """Unbalanced force and its stiffness."""
        if not self._joints.size:
            return linearise(self.model, q, effort)
        rows = self.model.displacement_rows(q)[self._joints]
        if self._springs is None:
            K = self.model.stiffness(q, effort)
            # a thousand times stiffer than the body alone is along the joint
            soft = (rows**2 / np.maximum(np.abs(K.diagonal()), 1e-300)).sum(axis=1)
            self._springs = 1e3 / soft if isinstance(K, np.ndarray) else np.zeros(len(rows))
        force, K = linearise(self.model, q, self._sprung(q, effort))
        return force, K + (rows.T * self._springs) @ rows if self._springs.any() else K

    def _sprung(self, q: Array, effort: Array) -> Array:
        """Efforts with those of the springs."""
        if self._springs is None:
            return effort
        out = effort.copy()
        out[self._joints] -= self._springs * (self.model.displacement(q)[self._joints] - self._closed)
        return out

    def residual(self, q: Array, effort: Array, dq: Array | None) -> Array:
        """Unbalanced force."""
        return self.model.force(q, self._sprung(q, effort))

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
    """One backward Euler step of length dt from a state: M (v1 - v0)/h + bias + D v1 = f(q1), q1 = q0 (+) h v1.

    D is that of the pose half way if the motion goes on, as in `Stepper`: that of the old pose would brake a body that
    turns. For the first matrix, that of the old pose is near enough.
    """

    inertial = True  # it moves even if nothing is done

    def __init__(self, model: Any, state: State | None, dt: float) -> None:
        self.model = model
        self.dt = dt
        q0 = model.rest if state is None else state.q
        self.v0 = np.zeros(model.nv) if state is None else np.asarray(state.v, float)
        effort = np.zeros(model.nu) if state is None else state.effort
        self._begun = q0, effort
        self.time = (0.0 if state is None else state.time) + dt
        self.increment = np.zeros(model.nv)

    @cached_property
    def damping(self) -> Any:
        """Damping half way; a first linearisation does without it."""
        q0, effort = self._begun
        return self.model.damping(self.model.retract(q0, 0.5 * self.dt * self.v0), effort)

    def _unbalanced(self, q: Array, effort: Array, increment: Array, force: Array) -> Array:
        v1 = increment / self.dt
        out = force - self.model.inertia(q) @ ((v1 - self.v0) / self.dt)
        if increment.any():  # at the start of a step it is zero
            out -= self.model.bias(q, v1) + self.damping @ v1
        return out

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Any]:
        """Unbalanced force and the matrix of the implicit step."""
        M = self.model.inertia(q)
        h = self.dt
        if _damps_along(self.model.__class__) and self._begins(q, effort):
            force, K = self.model.linearise_damped(q, effort, 1.0 / h)
            return self._unbalanced(q, effort, self.increment, force), K.combined((M, 1.0 / h**2))
        force, K = linearise(self.model, q, effort)
        if isinstance(K, np.ndarray):
            matrix: Any = K + np.asarray(M) / h**2 + np.asarray(self.damping) / h
        else:
            matrix = K.combined((M, 1.0 / h**2), (self.damping, 1.0 / h))
        return self._unbalanced(q, effort, self.increment, force), matrix

    def _begins(self, q: Array, effort: Array) -> bool:
        """Is this where the step begins?"""
        return np.array_equal(q, self._begun[0]) and np.array_equal(effort, self._begun[1])

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
