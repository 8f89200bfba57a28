"""Composer: systems, models, fluidic sources and controllers wired together and stepped as one.

Every part is a state-space system x' = f(t, x, u). A `Composer` stacks the states; a wiring function gets all of them
by name and returns the input of each part. Controllers tick: each gets the `State` of its part at the beginning of a
period, and its command is held over it, as `"<part>.command"` among the states that the wiring sees. The whole is
stepped by the implicit midpoint rule with numerical Jacobians (the coupling through the wiring included), or by a
high-order explicit method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from pliant.errors import ArgumentError, SolveError, UnknownNameError
from pliant.models.contract import Model
from pliant.state import State

Array = np.ndarray
Wiring = Callable[[float, Mapping[str, Array]], Mapping[str, Any]]
Controller = Callable[[float, State], Any]


class System(Protocol):
    """A part: a start state and a flow."""

    @property
    def start(self) -> Array:
        """Initial state (n,)."""

    def flow(self, t: float, x: Array, u: Array) -> Array:
        """x' (n,) under the input u."""


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A system given by a function.

    Attributes:
        function: (t, x, u) -> x'.
        initial: start state.
    """

    function: Callable[[float, Array, Array], Any]
    initial: Any

    @property
    def start(self) -> Array:
        """Initial state (n,)."""
        return np.atleast_1d(np.array(self.initial, float))

    def flow(self, t: float, x: Array, u: Array) -> Array:
        """x' (n,)."""
        return np.asarray(self.function(t, x, u), float)


class ModelSystem:
    """A mechanical model as a system: state (q, v), input the efforts.

    Args:
        model: any small model with a flat configuration space (rod, links).
        q, v: start; at rest if None.
    """

    def __init__(self, model: Model, q: Array | None = None, v: Array | None = None) -> None:
        none = np.zeros(model.nu)
        start = State(model.rest, np.zeros(model.nv), none, none, none)
        if hasattr(model, "during") and model.during(start, 0.0) is not model:
            raise ArgumentError("model", "has a memory (creep), which a flow of (q, v) does not carry", "one without")
        self.model = model
        q = model.rest if q is None else q
        self._start = np.concatenate([np.asarray(q, float), np.zeros(model.nv) if v is None else np.asarray(v, float)])

    @property
    def start(self) -> Array:
        """Initial (q, v)."""
        return self._start.copy()

    def state(self, t: float, x: Array, effort: Array) -> State:
        """What a controller sees of the part."""
        q, v = x[: self.model.nv], x[self.model.nv :]
        return State(q, v, effort, effort, self.model.displacement(q), time=t)

    def flow(self, t: float, x: Array, u: Array) -> Array:
        """(v, a)."""
        m, n = self.model, self.model.nv
        q, v = x[:n], x[n:]
        e = np.zeros(m.nu) if u is None or not len(u) else u
        f = m.force(q, e) - m.bias(q, v) - m.damping(q, e) @ v
        return np.concatenate([v, np.linalg.solve(np.asarray(m.inertia(q)), f)])


@dataclass(frozen=True, eq=False)
class FreeBody:
    """A rigid body in space: quaternion Newton-Euler, 13 states (position, quaternion wxyz, velocity, body
    rate).

    The input is a wrench (moment; force), both in body axes (6,), or nothing.

    Attributes:
        mass: [kg].
        inertia: principal moments [kg m^2] (3,).
        gravity: [m/s^2] (3,).
        position, quaternion, velocity, rate: start.
    """

    mass: float
    inertia: tuple[float, float, float]
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rate: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def start(self) -> Array:
        """Initial state (13,)."""
        return np.concatenate([self.position, self.quaternion, self.velocity, self.rate]).astype(float)

    def flow(self, t: float, x: Array, u: Array) -> Array:
        """x' (13,)."""
        from pliant.lie import matrix_from_quaternion

        quat, v, w = x[3:7], x[7:10], x[10:13]
        moment, force = (np.zeros(3), np.zeros(3)) if u is None or not len(u) else (u[:3], u[3:])
        I = np.array(self.inertia)  # noqa: E741
        s, r = quat[0], quat[1:]
        spin = 0.5 * np.concatenate([[-r @ w], s * w + np.cross(r, w)])
        spin += 0.5 * (1.0 - quat @ quat) * quat  # keeps the quaternion of unit length
        a = matrix_from_quaternion(quat) @ force / self.mass + np.array(self.gravity)
        return np.concatenate([v, spin, a, (moment - np.cross(w, I * w)) / I])


@dataclass(frozen=True, eq=False)
class Composition:
    """What a composed run found: times (k,), the states of every part and the commands of every controller, name ->
    (k, n)."""

    time: Array
    states: Mapping[str, Array]
    inputs: Mapping[str, Array] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        """States of a part over time (k, n)."""
        if name not in self.states:
            raise UnknownNameError("part", name, self.states)
        return self.states[name]


class Composer:
    """Parts and how they are wired.

    Args:
        parts: name -> system.
        wiring: (t, states by name) -> inputs by name; parts not named get the command of their controller, or an empty
            input.
        controllers: name of a part that is a `ModelSystem` -> controller u = controller(t, state).
        period: of the controllers [s]; that of the time steps if None.
    """

    def __init__(
        self,
        parts: Mapping[str, System],
        wiring: Wiring | None = None,
        *,
        controllers: Mapping[str, Controller] | None = None,
        period: float | None = None,
    ) -> None:
        if not parts:
            raise ArgumentError("parts", "empty", "at least one system")
        self.parts, self.wiring = dict(parts), wiring
        self.controllers, self.period = dict(controllers or {}), period
        if period is not None and not (np.isfinite(period) and period > 0):
            raise ArgumentError("period", f"{period}", "a positive number [s]")
        for name in self.controllers:
            if name not in self.parts:
                raise UnknownNameError("part", name, self.parts)
            if not hasattr(self.parts[name], "state"):
                raise ArgumentError("controllers", f"part {name!r} has no state to show", "a ModelSystem")
        self._commands: dict[str, Array] = {}
        sizes = [len(p.start) for p in self.parts.values()]
        ends = np.cumsum(sizes)
        self.slices = {name: slice(e - s, e) for name, s, e in zip(self.parts, sizes, ends)}

    @property
    def start(self) -> Array:
        """Stacked initial state."""
        return np.concatenate([p.start for p in self.parts.values()])

    def inputs(self, t: float, x: Array) -> dict[str, Array]:
        """Inputs of the parts at a stacked state."""
        states = {name: x[s] for name, s in self.slices.items()}
        states |= {f"{name}.command": u for name, u in self._commands.items()}
        given = self._commands | (dict(self.wiring(t, states)) if self.wiring else {})
        for name in given:
            if name not in self.parts:
                raise UnknownNameError("part", name, self.parts)
        return {name: np.atleast_1d(np.asarray(given.get(name, ()), float)) for name in self.parts}

    def flow(self, t: float, x: Array) -> Array:
        """Stacked x'."""
        u = self.inputs(t, x)
        return np.concatenate([p.flow(t, x[self.slices[n]], u[n]) for n, p in self.parts.items()])

    def simulate(
        self, *, duration: float, dt: float, method: str = "midpoint", tolerance: float = 1e-10
    ) -> Composition:
        """Run all parts together.

        Args:
            duration: [s].
            dt: time step, and the interval at which states are stored [s].
            method: "midpoint" (implicit, for stiff parts) or "DOP853", "LSODA", "RK45" (scipy).
            tolerance: of the implicit steps, or relative tolerance of scipy's methods.
        """
        if not (np.isfinite(duration) and duration > 0 and np.isfinite(dt) and dt > 0):
            raise ArgumentError("dt", f"{dt}, duration {duration}", "positive numbers [s]")
        steps = max(1, round(duration / dt))
        times = np.linspace(0.0, duration, steps + 1)
        every = steps if not self.controllers else max(1, round((self.period or dt) / dt))
        self._commands = {}
        x, out = self.start, [self.start[None]]
        held: list[dict[str, Array]] = []
        for first in range(0, steps, every):
            self._tick(times[first], x)
            held += [dict(self._commands)] * len(times[first : first + every])
            part = times[first : first + every + 1]
            if method == "midpoint":
                xs = self._implicit(x, part, tolerance)
            else:
                xs = self._explicit(x, part, method, tolerance)
            out.append(xs[1:])
            x = xs[-1]
        xs = np.concatenate(out)
        held = held[:steps] + [held[min(len(held), steps) - 1]]
        inputs = {name: np.array([h[name] for h in held]) for name in self.controllers}
        return Composition(times, {name: xs[:, s] for name, s in self.slices.items()}, inputs)

    def _tick(self, t: float, x: Array) -> None:
        """Ask every controller for the command that is held until the next tick."""
        for name, controller in self.controllers.items():
            part: Any = self.parts[name]
            now = self.inputs(t, x)[name] if self._commands else np.zeros(0)
            effort = now if len(now) == part.model.nu else np.zeros(part.model.nu)
            self._commands[name] = np.atleast_1d(
                np.asarray(controller(t, part.state(t, x[self.slices[name]], effort)), float)
            )

    def _explicit(self, x: Array, times: Array, method: str, tolerance: float) -> Array:
        from scipy.integrate import solve_ivp

        found = solve_ivp(
            self.flow, (times[0], times[-1]), x, method=method, t_eval=times, rtol=tolerance, atol=1e-12
        )
        if not found.success:
            raise SolveError(found.message, found)
        return found.y.T

    def _implicit(self, x: Array, times: Array, tolerance: float) -> Array:
        out = [x]
        for t0, t1 in pairwise(times):
            h, t = t1 - t0, 0.5 * (t0 + t1)
            slope = self.flow(t0, x)
            J = None
            for iteration in range(40):
                mid = x + 0.5 * h * slope
                residual = slope - self.flow(t, mid)
                size = float(np.abs(residual).max()) * h / max(float(np.abs(x).max()), 1.0)
                if size < tolerance:
                    break
                if J is None or iteration % 8 == 7:
                    J = np.eye(len(x)) - 0.5 * h * self._jacobian(t, mid)
                slope = slope - np.linalg.solve(J, residual)
            else:
                raise SolveError(f"the step at t = {t0:.4g} s did not converge", x)
            x = x + h * slope
            out.append(x)
        return np.array(out)

    def _jacobian(self, t: float, x: Array) -> Array:
        f = self.flow(t, x)
        J = np.empty((len(x), len(x)))
        for i in range(len(x)):
            h = 1e-7 * max(abs(x[i]), 1.0)
            y = x.copy()
            y[i] += h
            J[:, i] = (self.flow(t, y) - f) / h
        return J
