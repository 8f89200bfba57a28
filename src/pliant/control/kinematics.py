"""Inverse kinematics and shape control on the configuration alone, with tasks in the null space.

    min_q  sum_i |w_i e_i(q)|^2           q <- q + J^# (-e) - (I - J^+ J) grad Psi

Targets are those of the inverse module; a sub-task is a gradient: the elastic energy, a distance to obstacles, the
quasi-static residual (shape sensing). No mechanics is involved: `invert` finds commands, this finds shapes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.control.projection import motion_scale
from pliant.errors import ArgumentError
from pliant.inverse.targets import Target, stacked
from pliant.models.contract import Model
from pliant.state import Status

Array = np.ndarray
Gradient = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Shape:
    """A configuration found by inverse kinematics.

    Attributes:
        q: configuration (nq,).
        error: unweighted residual of all target rows, stacked (rows,).
        status: CONVERGED, UNREACHABLE (stationary short of the target) or MAX_ITERATIONS.
        iterations: spent.
        elapsed: wall-clock time [s].
    """

    q: Array
    error: Array
    status: Status
    iterations: int
    elapsed: float

    @property
    def ok(self) -> bool:
        """True if the targets are met."""
        return self.status is Status.CONVERGED


def inverse_kinematics(
    model: Model,
    targets: Sequence[Target],
    *,
    start: Any = None,
    subtask: Gradient | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> Shape:
    """A configuration that meets targets.

    Args:
        model: any model.
        targets: what is wanted.
        start: State or configuration to start from; rest if None.
        subtask: gradient of what is to be made small in the null space of the targets, q -> (nv,).
        tolerance: residual at which the targets count as met [unit of the targets].
        max_iterations: allowed.
    """
    if not targets:
        raise ArgumentError("targets", "empty", "at least one target")
    begin = time.perf_counter()
    q = np.array(model.rest if start is None else getattr(start, "q", start), float)
    none, scale = np.zeros(model.nu), motion_scale(model)
    value, J = _rows(model, targets, q, none)
    size_of = float(np.ptp(model.skin_positions(q), axis=0).max())
    last_slope: Array | None = None
    last_aside = np.zeros(model.nv)
    damping, spent, status = 1e-3, 0, Status.MAX_ITERATIONS
    cost = float(value @ value)
    for spent in range(1, max_iterations + 1):  # noqa: B007
        A = J / scale
        core = A @ A.T
        size = max(float(np.trace(core)) / len(core), 1e-30)
        # Newton far from singular poses, damped near them (Levenberg-Marquardt)
        step = -(A.T @ np.linalg.solve(core + damping * size * np.eye(len(core)), value)) / scale
        moved = 0.0
        if subtask is not None:
            slope = null_space(A, subtask(q) / scale)
            # Barzilai-Borwein: the step length comes from how the slope changed over the last step
            change = slope - last_slope if last_slope is not None else slope
            length = float(last_aside @ change) / max(float(change @ change), 1e-300) if last_slope is not None else 0.0
            cap = 0.02 * size_of / max(float(np.abs(slope).max()), 1e-300)
            length = min(length, cap) if length > 0 else 0.05 * cap
            last_slope, last_aside = slope, -length * slope
            moved = float(np.abs(last_aside).max()) / size_of
            step = step + last_aside / scale
        trial = model.retract(q, step)
        new_value, new_J = _rows(model, targets, trial, none)
        new_cost = float(new_value @ new_value)
        if subtask is not None or new_cost < cost or cost <= tolerance**2:
            shrink = (cost - new_cost) / max(cost, 1e-300)
            q, value, J, cost = trial, new_value, new_J, new_cost
            damping = max(0.2 * damping, 1e-10)
            if np.abs(value).max() < tolerance and (subtask is None or moved < 1e-5):
                status = Status.CONVERGED
                break
            if subtask is None and 0 <= shrink < 1e-7:
                status = Status.UNREACHABLE
                break
        else:
            damping *= 8.0
            if damping > 1e8:
                status = Status.UNREACHABLE
                break
    if np.abs(value).max() < tolerance:
        status = Status.CONVERGED
    error = np.concatenate([r.value for r in stacked(targets, model, q, none, None)])
    return Shape(q, error, status, spent, time.perf_counter() - begin)


def null_space(J: Array, x: Array) -> Array:
    """The part of x that does not change the task, (I - J^+ J) x."""
    return x - np.linalg.lstsq(J, J @ x, rcond=1e-10)[0]


def elastic_gradient(model: Model) -> Gradient:
    """Gradient of the potential energy without actuation: the sub-task that relaxes the arm."""
    none = np.zeros(model.nu)
    return lambda q: -np.asarray(model.force(q, none))


def _rows(model: Model, targets: Sequence[Target], q: Array, none: Array) -> tuple[Array, Array]:
    rows = stacked(targets, model, q, none, None)
    value = np.concatenate([r.weight * r.value for r in rows])
    return value, np.vstack([r.weight[:, None] * r.jacobian for r in rows])
