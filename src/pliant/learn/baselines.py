"""What the learned inverse is compared with: the simulator in the loop, and direct inverse learning."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import ArgumentError
from pliant.learn.inverse import Waypoints
from pliant.learn.levenberg import levenberg
from pliant.learn.train import Scaling
from pliant.models.contract import Kinematics, Model
from pliant.models.network import Network
from pliant.state import State, Status

Array = np.ndarray


def simulator_in_loop(
    model: Model,
    targets: Array,
    *,
    ranges: Array,
    point: str = "tip",
    start: Array | None = None,
    jacobian: str = "differences",
    samples_per_axis: int = 16,
    tolerance: float | None = None,
    width: float = 0.07,
    iterations: int = 200,
    shrink: float = 0.1,
) -> Waypoints:
    """The paper's gradient iteration with the simulator itself as kinematics (baseline A10; any model).

    Args:
        model: mechanical or kinematic model.
        targets: positions [m] (n, 3).
        ranges: allowed commands (nu, 2).
        point: which point.
        start: command to start from (nu,); the middle of the range if None.
        jacobian: "differences" (central, range / (10 N), as published) or "exact".
        samples_per_axis: N of the differences.
        tolerance: distance that counts as met [m]; 0.1 % of `width` if None.
        width: of the workspace [m].
        iterations: per target.
        shrink: of the soft line search.
    """
    if jacobian not in ("differences", "exact"):
        raise ArgumentError("jacobian", f"{jacobian!r}", "'differences' or 'exact'")
    goal = np.atleast_2d(np.asarray(targets, float))
    low, high = np.asarray(ranges, float).T
    close = 1e-3 * width if tolerance is None else float(tolerance)
    simulator = _Simulator(model, point, (high - low) / (10.0 * samples_per_axis), jacobian)
    u = 0.5 * (low + high) if start is None else np.asarray(start, float)
    begin = time.perf_counter()
    rows, reached, errors, status, count = [], [], [], [], []
    for target in goal:
        u, p, how, k = descend(simulator, target, u, low, high, close, iterations, shrink)
        rows.append(u)
        reached.append(p)
        errors.append(float(np.linalg.norm(p - target)))
        status.append(how)
        count.append(k)
    spent = time.perf_counter() - begin
    notes = (f"{simulator.solves} simulations",)
    return Waypoints(
        np.array(rows),
        np.array(reached),
        goal,
        np.array(errors),
        tuple(status),
        np.array(count),
        spent,
        notes,
    )


class _Simulator:
    """Position and Jacobian of a point, each simulation started from the last one."""

    def __init__(self, model: Model, point: str, step: Array, jacobian: str) -> None:
        self.model, self.point, self.step, self.jacobian = model, point, step, jacobian
        self.solves = 0
        self._state: State | None = None

    def position(self, u: Array) -> Array:
        self.solves += 1
        if isinstance(self.model, Kinematics):
            return self.model.place(u, self.point).position
        return self.model.locate(self.state(u).q, self.point).position

    def state(self, u: Array) -> State:
        from pliant.solve.equilibrium import equilibrium

        state = equilibrium(self.model, u, start=self._state)
        if not state.ok:
            state = equilibrium(self.model, u)
        self._state = state.require()
        return state

    def slopes(self, u: Array) -> Array:
        if self.jacobian == "exact":
            if isinstance(self.model, Kinematics):
                return self.model.place(u, self.point, jacobian=True).slopes[3:]
            from pliant.solve.sensitivity import sensitivity

            return sensitivity(self.model, self.state(u)).of(self.point)[3:]
        e = np.diag(self.step)
        return np.stack([(self.position(u + h) - self.position(u - h)) / (2.0 * h.sum()) for h in e], axis=1)


def descend(
    simulator: Any,
    target: Array,
    u: Array,
    low: Array,
    high: Array,
    tolerance: float,
    limit: int,
    shrink: float,
) -> tuple[Array, Array, Status, int]:
    """Steepest descent with the soft line search (A4, A5), in commands scaled to their range."""
    half = 0.5 * (high - low)

    def place(v: Array) -> tuple[Array, float]:
        p = simulator.position(v)
        return p, float(np.sum((p - target) ** 2))

    p, cost = place(u)
    for k in range(limit):
        if cost < tolerance**2:
            return u, p, Status.CONVERGED, k
        J = simulator.slopes(u) * half
        step = 2.0 * half * (J.T @ (target - p))
        h, best = 1.0 / float(np.sum(J * J)), None
        for _ in range(12):
            trial = np.clip(u + h * step, low, high)
            p1, new = place(trial)
            if new < cost:
                best = (trial, p1, new)
                break
            h *= shrink
        if best is None:
            return u, p, Status.UNREACHABLE, k
        t = 2.0 * h
        for _ in range(30):
            trial = np.clip(u + t * step, low, high)
            p1, new = place(trial)
            if new >= best[2]:
                break
            best = (trial, p1, new)
            t += h
        fall = 1.0 - best[2] / cost
        u, p, cost = best
        if fall < 1e-4 and cost >= tolerance**2:
            return u, p, Status.UNREACHABLE, k + 1
    return u, p, Status.MAX_ITERATIONS, limit


@dataclass(frozen=True, eq=False)
class DirectInverse:
    """A network from position straight to command (baseline A8).

    Quick, and wrong where several commands reach a point.

    Attributes:
        network: from position [m] to command.
        ranges: allowed commands (nu, 2).
    """

    network: Network
    ranges: Array

    def __call__(self, targets: Array) -> Waypoints:
        """Commands for targets (n, 3); nothing is checked, so the status is SINGLE."""
        goal = np.atleast_2d(np.asarray(targets, float))
        begin = time.perf_counter()
        u = np.clip(self.network(goal), *self.ranges.T)
        spent = time.perf_counter() - begin
        nan = np.full(len(goal), np.nan)
        return Waypoints(
            u,
            np.full_like(goal, np.nan),
            goal,
            nan,
            (Status.SINGLE,) * len(goal),
            np.zeros(len(goal), int),
            spent,
        )


def fit_direct(
    u: Array,
    position: Array,
    *,
    ranges: Array,
    hidden: Sequence[int] = (40, 40),
    seed: int = 0,
    iterations: int = 60,
    report: Callable[[int, float, float], None] | None = None,
) -> DirectInverse:
    """Learn the inverse map directly from samples, simulated or measured.

    Args:
        u: commands (n, nu).
        position: where they lead to [m] (n, 3).
        ranges: allowed commands (nu, 2).
        hidden: width of each hidden layer.
        seed: of the first weights.
        iterations: of the training at most.
        report: called with the iteration, the training error and the validation error.
    """
    u, position = np.asarray(u, float), np.asarray(position, float)
    inputs, outputs = Scaling.of(position, inputs=True), Scaling.of(u)
    order = np.random.default_rng(seed).permutation(len(u))
    cut = round(0.7 * len(u))
    x, y = inputs.scale(position), outputs.scale(u)
    sizes = (3, *(int(h) for h in hidden), u.shape[1])
    found = levenberg(
        sizes,
        x[order[:cut]],
        y[order[:cut]],
        hold_out=(x[order[cut:]], y[order[cut:]]),
        seed=seed,
        iterations=iterations,
        report=report,
    )
    net = Network(sizes, found.theta[None], inputs.mid, inputs.half, outputs.mid, outputs.half)
    return DirectInverse(net, np.asarray(ranges, float))
