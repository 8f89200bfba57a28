"""Inverse kinematics of learned models: real time, bounded, honest about what cannot be reached."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from pliant.errors import ArgumentError
from pliant.models.learned import LearnedModel
from pliant.state import Command, State, Status

Array = np.ndarray
Method = Literal["gauss-newton", "gradient", "gradient-kinematics"]
METHODS = ("gauss-newton", "gradient", "gradient-kinematics")
_STATUS = (Status.CONVERGED, Status.UNREACHABLE, Status.MAX_ITERATIONS, Status.DIVERGED, Status.STALLED)


@dataclass(frozen=True, eq=False)
class Waypoints:
    """Commands for a list of targets.

    Attributes:
        u: commands (n, nu).
        position: where the model says that the point gets to [m] (n, 3).
        target: where it should be [m] (n, 3).
        error: distance along the axes that count [m] (n,).
        status: how each solve ended (n,).
        iterations: of each solve (n,).
        elapsed: wall-clock time of the whole list [s].
        notes: sentences about anything unusual.
    """

    u: Array
    position: Array
    target: Array
    error: Array
    status: tuple[Status, ...]
    iterations: Array
    elapsed: float
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.u)

    @property
    def ok(self) -> bool:
        """True if every target was met."""
        return all(s is Status.CONVERGED for s in self.status)

    @property
    def time_per_target(self) -> float:
        """Wall-clock time per target [s]."""
        return self.elapsed / max(len(self.u), 1)

    @property
    def largest_step(self) -> Array:
        """Largest change of each command between neighbouring targets (nu,)."""
        return np.abs(np.diff(self.u, axis=0)).max(axis=0) if len(self.u) > 1 else np.zeros(self.u.shape[1])


def follow_path(
    model: LearnedModel,
    targets: Array,
    *,
    point: str | None = None,
    start: Array | None = None,
    method: Method = "gauss-newton",
    axes: str = "xyz",
    tolerance: float | None = None,
    iterations: int | None = None,
    ranges: Array | None = None,
    restart: bool = False,
    prefer: Array | None = None,
    flag: bool = True,
) -> Waypoints:
    """Commands that bring a point to each of the targets, each solved from the solution before it.

    Args:
        model: learned model, corrected to reality or not.
        targets: positions [m] (n, 3).
        point: which point; the first of the model if None.
        start: command to start from (nu,); zero (or the nearest allowed) if None. On redundant robots it chooses
            the branch.
        method: "gauss-newton" (bounded, active set, exact derivative), "gradient" (the paper: steepest
            descent with soft line search and, if the model has one, the Jacobian network) or
            "gradient-kinematics" (the same with the derivative of the kinematics network).
        axes: world directions that count, some of "xyz".
        tolerance: distance that counts as met [m]; 0.1 % of the workspace width for the gradient methods
            (the paper's), a thousandth of that for Gauss-Newton.
        iterations: per target; 100 (200 for the gradient methods) if None.
        ranges: allowed commands (nu, 2); the learned range if None.
        restart: start every target from `start` (interactive positioning) instead of from the last solution.
        prefer: command (nu,) towards which redundancy is resolved without leaving the target; closest to the
            last solution if None.
        flag: look whether the answers lie outside of what was learned (EXTRAPOLATED); costs some time.
    """
    kernels: Any = import_module("pliant._kernels.network_inverse")

    if method not in METHODS:
        raise ArgumentError("method", f"{method!r}", ", ".join(METHODS))
    name = point or model.point_names[0]
    chain = model.chain(name)
    goal = np.ascontiguousarray(np.atleast_2d(np.asarray(targets, float)))
    if goal.ndim != 2 or goal.shape[1] != 3 or len(goal) == 0 or not np.isfinite(goal).all():
        raise ArgumentError("targets", f"shape {goal.shape} or not finite", "finite positions (n, 3)")
    if not axes or set(axes) - set("xyz"):
        raise ArgumentError("axes", f"{axes!r}", "some of 'xyz'")
    weight = np.array([float(a in axes) for a in "xyz"])
    limits = model.ranges if ranges is None else np.asarray(ranges, float)
    if limits.shape != (model.nu, 2) or not np.isfinite(limits).all() or (limits[:, 0] > limits[:, 1]).any():
        raise ArgumentError("ranges", f"shape {limits.shape} or empty", f"({model.nu}, 2)")
    begin_u = np.clip(np.zeros(model.nu) if start is None else np.asarray(start, float), *limits.T)
    if begin_u.shape != (model.nu,) or not np.isfinite(begin_u).all():
        raise ArgumentError("start", f"shape {begin_u.shape} or not finite", f"({model.nu},)")
    gradient = method != "gauss-newton"
    if tolerance is None:
        tolerance = 1e-3 * model.width if gradient else 1e-6 * model.width
    limit = iterations if iterations is not None else (200 if gradient else 100)
    own = method == "gradient" and model.knowledge.jacobian is not None
    pull, wish = 0.0, np.zeros(model.nu)
    if prefer is not None:
        pull = 1.0
        wish = (np.asarray(prefer, float) - limits.mean(axis=1)) / np.maximum(0.5 * np.ptp(limits, axis=1), 1e-300)
    clock = time.perf_counter()
    common = (chain, begin_u, goal, weight, *(np.ascontiguousarray(b) for b in limits.T))
    ends = (float(tolerance), int(limit), own, bool(restart))
    if gradient:
        u, p, error, codes, count = kernels.follow_gradient(*common, *ends)
    else:
        u, p, error, codes, count = kernels.follow_gauss_newton(*common, *ends, wish, pull)
    elapsed = time.perf_counter() - clock
    status = [_STATUS[c] for c in codes]
    notes: list[str] = []
    if flag:
        _flag(model, u, status, notes)
    return Waypoints(u, p, goal, error, tuple(status), count, elapsed, tuple(notes))


def _flag(model: LearnedModel, u: Array, status: list[Status], notes: list[str]) -> None:
    """Mark answers that lie outside of what was learned."""
    suspicious = model.trust(u) > 1.5
    if model.knowledge.corrections:
        suspicious = np.ones(len(u), bool)
    for i in np.flatnonzero(suspicious):
        why = model.extrapolates(u[i])
        if why:
            if status[i] is Status.CONVERGED:
                status[i] = Status.EXTRAPOLATED
            notes.append(f"target {i}: {'; '.join(why)}")


def reach(model: LearnedModel, target: Sequence[float], *, start: Array | None = None, **options: Any) -> Command:
    """The command that brings a point to one target; UNREACHABLE ends at the nearest point found.

    Args:
        model: learned model, corrected to reality or not.
        target: position [m] (3,).
        start: command to start from (nu,); zero (or the nearest allowed) if None.
        options: as in `follow_path`.
    """
    found = follow_path(model, np.asarray(target, float)[None], start=start, **options)
    u, q = found.u[0], found.u[0] * model.scale
    driven = np.array([a.drive == "displacement" for a in model.robot.actuators], bool)
    lever = model.displacement_rows(q).diagonal()
    effort, displacement = np.where(driven, q / lever, u), np.where(driven, u, lever * q)
    state = State(
        q=q,
        v=np.zeros(model.nv),
        u=u,
        effort=effort,
        displacement=displacement,
        status=found.status[0],
        iterations=int(found.iterations[0]),
        elapsed=found.elapsed,
        notes=found.notes,
    )
    return Command(
        u=u,
        effort=effort,
        displacement=displacement,
        state=state,
        error=found.position[0] - found.target[0],
        status=found.status[0],
        iterations=int(found.iterations[0]),
        elapsed=found.elapsed,
        notes=found.notes,
    )
