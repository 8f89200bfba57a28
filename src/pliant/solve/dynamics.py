"""step: one implicit time step of any model, with actuation, contact and friction, Newton-converged.

The generalised-alpha family (Chung and Hulbert) covers all schemes here:

    q1 = q0 (+) h v0 + h^2 [(1/2 - beta) a0 + beta a1],   v1 = v0 + h [(1 - gamma) a0 + gamma a1]
    M a_m + bias + D v_f = (1 - alpha_f) F(q1) + alpha_f F(q0)      a_m, v_f blended in the same way

"euler" is the backward Euler scheme (first order, damps), "trapezoidal" conserves energy best, "alpha" is
second order
and damps only what the time step cannot resolve.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra.factorisation import NotPositiveDefinite, factorise
from pliant.errors import ArgumentError
from pliant.solve.commands import CommandLike, command_vector, linearise, travel
from pliant.solve.newton import LinearSystem, regularised
from pliant.solve.problem import Problem
from pliant.state import State, Status

Array = np.ndarray


@dataclass(frozen=True)
class Scheme:
    """Coefficients of a generalised-alpha scheme (alpha_m, alpha_f weigh the old time level)."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    euler: bool = False


def scheme_named(name: str, damping: float = 0.8) -> Scheme:
    """A scheme by name; `damping` is the spectral radius at infinity of "alpha" (1: none, 0: most)."""
    if name == "euler":
        return Scheme(0.0, 0.0, 1.0, 1.0, euler=True)
    if name == "trapezoidal":
        return Scheme(0.0, 0.0, 0.25, 0.5)
    if name == "alpha":
        rho = float(damping)
        if not 0.0 <= rho <= 1.0:
            raise ArgumentError("damping", f"{damping}", "a spectral radius in [0, 1]")
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        return Scheme(alpha_m, alpha_f, 0.25 * (1 - alpha_m + alpha_f) ** 2, 0.5 - alpha_m + alpha_f)
    raise ArgumentError("scheme", f"{name!r}", "'euler', 'trapezoidal' or 'alpha'")


class Stepper:
    """Time steps of one model among fixed obstacles; keeps what does not change from step to step.

    Args:
        model: any model with inertia.
        obstacles: what is in the way; obstacles with a motion are moved with the time.
        scheme: "alpha", "trapezoidal" or "euler".
        damping: numerical damping of "alpha" (spectral radius at infinity).
        alarm: distance below which a pair is treated as a possible contact [m].
        iterations: Newton iterations allowed per step.
    """

    def __init__(
        self,
        model: Any,
        *,
        obstacles: Sequence[Any] = (),
        scheme: str = "alpha",
        damping: float = 0.8,
        alarm: float | None = None,
        contact_distance: float = 0.0,
        iterations: int = 30,
    ) -> None:
        self.model = model
        self.scheme = scheme_named(scheme, damping)
        self.iterations = iterations
        self._moving = any(getattr(o, "motion", None) is not None for o in obstacles)
        self._obstacles = tuple(obstacles)
        self._options = {"alarm": alarm, "contact_distance": contact_distance}
        self.problem = Problem(model, obstacles, **self._options)

    def start(self, state: State | None = None, u: CommandLike = None) -> State:
        """A state with the acceleration that belongs to it, ready to be stepped."""
        model = self.model
        if state is None:
            zero = np.zeros(model.nu)
            state = State(model.rest.copy(), np.zeros(model.nv), zero, zero, model.displacement(model.rest))
        if "a" in state.memory:
            return state
        problem = self.problem
        command = command_vector(model.robot, u, state.u)
        effort = np.where(problem.driven, state.effort, command)
        force = model.force(state.q, effort) - model.bias(state.q, state.v)
        force = force - model.damping(state.q, effort) @ state.v
        contacts = problem.detect(state.q, state.contacts)
        rows = problem.rows(state.q, effort, command, contacts)
        force = force + rows.columns[:, rows.drives :] @ rows.force[rows.drives :]
        acceleration = factorise(model.inertia(state.q)).solve(force)
        return state.but(memory={"a": acceleration}, contacts=contacts)

    def step(self, state: State, u: CommandLike, dt: float) -> State:
        """The state one time step later."""
        if not (math.isfinite(dt) and dt > 0):
            raise ArgumentError("dt", f"{dt}", "a positive number [s]")
        begin = clock.perf_counter()
        model, s, h = self.model, self.scheme, float(dt)
        if self._moving:
            placed = [
                o.at(state.time + h) if getattr(o, "motion", None) is not None else o for o in self._obstacles
            ]
            self.problem = Problem(model, placed, **self._options)
        problem = self.problem
        state = self.start(state, u)
        command = command_vector(model.robot, u, state.u)
        q0, v0, a0 = state.q, state.v, state.memory["a"]
        problem.begin(q0, state.contacts)
        effort = state.effort.copy()
        effort[~problem.driven] = command[~problem.driven]
        contacts = state.contacts
        old_force = model.force(q0, effort) if s.alpha_f else None
        D = model.damping(q0, effort)
        if s.euler:
            # q1 = q0 (+) h v1: the increment is h v1 itself.
            increment = h * v0
        else:
            increment = h * v0 + 0.5 * h * h * a0 if np.isfinite(a0).all() else h * v0
        q = model.retract(q0, increment)
        status, residual, iterations = Status.MAX_ITERATIONS, math.inf, 0
        previous = math.inf
        factor = None
        for iterations in range(1, self.iterations + 1):
            v1, a1 = self._rates(increment, v0, a0, h)
            contacts = problem.detect(q, contacts)
            force, K = linearise(model, q, effort)
            M = model.inertia(q)
            a_m = (1 - s.alpha_m) * a1 + s.alpha_m * a0
            v_f = (1 - s.alpha_f) * v1 + s.alpha_f * v0
            blended = force if old_force is None else (1 - s.alpha_f) * force + s.alpha_f * old_force
            unbalanced = blended - M @ a_m - model.bias(q, v_f) - D @ v_f
            if not np.isfinite(unbalanced).all():
                # An inadmissible predictor: go back to the old pose and let Newton find the way.
                if iterations == 1:
                    increment, q = np.zeros_like(increment), q0.copy()
                    continue
                status = Status.INVERTED
                break
            dv, da = (1.0 / h, 1.0 / h**2) if s.euler else (s.gamma / (s.beta * h), 1.0 / (s.beta * h * h))
            weight = 1 - s.alpha_f
            rows = problem.rows(q, effort, command, contacts)
            # The multipliers act at the new time level; scale so that the contact force is the true one.
            matrix = _sum(K, weight, M, (1 - s.alpha_m) * da, D, weight * dv)
            system = _system(matrix, rows)
            if system is None:
                status = Status.SINGULAR
                break
            drives = rows.columns[:, : rows.drives] @ rows.force[: rows.drives]
            step = system.solve(unbalanced - weight * drives)
            force_new = step.force / weight
            size = travel(model, step.dq)
            if not np.isfinite(size):
                status = Status.DIVERGED
                break
            alpha = 1.0
            trial = model.retract(q, step.dq)
            while alpha > 1e-4 and not np.isfinite(model.force(trial, effort)).all():
                alpha *= 0.5
                trial = model.retract(q, alpha * step.dq)
            if size > 2.0 * previous and iterations > 4:
                alpha *= 0.5
                trial = model.retract(q, alpha * step.dq)
            previous = size
            q, increment = trial, increment + alpha * step.dq
            multipliers = rows.force + alpha * (force_new - rows.force)
            effort, contacts = problem.split(effort, multipliers, contacts, step.states)
            factor = system.factor
            scale = max(
                float(np.abs(x).max(initial=0.0)) for x in (M @ a_m, blended, drives, np.full(1, 1e-12))
            )
            residual = (
                float(np.abs(system.rows.columns @ step.force + unbalanced - weight * drives).max()) / scale
            )
            if alpha == 1.0 and size <= 1e-9 * problem.length:
                status = Status.CONVERGED
                break
        v1, a1 = self._rates(increment, v0, a0, h)
        if status.ok and contacts is not None and contacts.max_penetration > 1e-3 * problem.length:
            status = Status.PENETRATING
        return State(
            q=q,
            v=v1,
            u=command,
            effort=effort,
            displacement=model.displacement(q),
            time=state.time + h,
            contacts=contacts,
            status=status,
            residual=residual,
            iterations=iterations,
            elapsed=clock.perf_counter() - begin,
            factor=factor,
            memory={"a": a1},
        )

    def _rates(self, increment: Array, v0: Array, a0: Array, h: float) -> tuple[Array, Array]:
        """Velocity and acceleration at the end of a step that moved by an increment."""
        s = self.scheme
        if s.euler:
            v1 = increment / h
            return v1, (v1 - v0) / h
        a1 = (increment - h * v0) / (s.beta * h * h) - (0.5 - s.beta) / s.beta * a0
        return v0 + h * ((1 - s.gamma) * a0 + s.gamma * a1), a1


def step(
    model: Any,
    state: State | None,
    u: CommandLike,
    dt: float,
    *,
    obstacles: Sequence[Any] = (),
    scheme: str = "alpha",
    damping: float = 0.8,
    strict: bool = False,
) -> State:
    """One implicit time step.

    Args:
        model: any model with inertia.
        state: where it is; the rest pose if None.
        u: command during the step, in the unit of each actuator's drive.
        dt: time step [s].
        obstacles: what is in the way.
        scheme: "alpha" (second order, default), "trapezoidal" (energy) or "euler" (first order, robust).
        damping: spectral radius at infinity of "alpha".
        strict: raise `SolveError` if the step does not converge.

    Returns:
        The state one step later. For many steps use `simulate`, or a `Stepper`, which keeps its tables.
    """
    stepper = Stepper(model, obstacles=obstacles, scheme=scheme, damping=damping)
    after = stepper.step(stepper.start(state, u), u, dt)
    return after.require() if strict else after


def _sum(K: Any, k: float, M: Any, m: float, D: Any, d: float) -> Any:
    if isinstance(K, np.ndarray):
        return k * K + m * np.asarray(M) + d * np.asarray(D)
    return K.scaled(k) + M.scaled(m) + D.scaled(d)


def _system(matrix: Any, rows: Any) -> LinearSystem | None:
    try:
        return LinearSystem(matrix, rows)
    except NotPositiveDefinite:
        return regularised(matrix, rows)
