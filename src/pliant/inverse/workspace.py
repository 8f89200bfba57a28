"""workspace: where can a point of the robot be?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.actuators.actuator import check_interval
from pliant.checks import count
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.solve.commands import check_state
from pliant.solve.equilibrium import equilibrium
from pliant.solve.forked import forked
from pliant.solve.problem import surroundings
from pliant.solve.tracing import Tracer, nearest_order
from pliant.state import State, Status

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Workspace:
    """Positions that a point took at sampled commands.

    Attributes:
        point: name of the point.
        actuators: names of the actuators (nu,).
        u: sampled commands (n, nu).
        positions: where the point was [m] (n, 3); not finite where the solve failed.
        status: how each solve ended (n,).
    """

    point: str
    actuators: tuple[str, ...]
    u: Array
    positions: Array
    status: tuple[Status, ...]

    @property
    def reached(self) -> Array:
        """Positions of the solves that succeeded [m] (m, 3)."""
        return self.positions[[s.ok for s in self.status]]

    @property
    def bounds(self) -> Array:
        """Smallest and largest coordinates reached [m] (2, 3)."""
        return np.array([self.reached.min(axis=0), self.reached.max(axis=0)])

    @property
    def volume(self) -> float:
        """Volume of the convex hull of what was reached [m^3]; 0 if it is flat."""
        from scipy.spatial import ConvexHull, QhullError

        try:
            return float(ConvexHull(self.reached).volume)
        except (QhullError, ValueError):
            return 0.0

    def nearest(self, position: Any) -> tuple[float, Array]:
        """Distance to the nearest sample [m] and its command (nu,): a start for `invert`."""
        good = np.flatnonzero([s.ok for s in self.status])
        if len(good) == 0:
            raise ArgumentError("position", "no sample succeeded", "a workspace with samples")
        distance = np.linalg.norm(self.positions[good] - np.asarray(position, float), axis=1)
        i = int(np.argmin(distance))
        return float(distance[i]), self.u[good[i]]

    def plot(self, path: str | Path) -> Path:
        """Draw the three projections of the reached points into a picture; returns its path."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(12, 4.2), layout="constrained")
        points = 1e3 * self.reached
        for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
            axes = figure.add_subplot(1, 3, k + 1)
            drawn = axes.scatter(points[:, i], points[:, j], s=6, c=points[:, 3 - i - j], cmap="viridis")
            figure.colorbar(drawn, ax=axes, location="top", label=f"{'xyz'[3 - i - j]} [mm]", shrink=0.7)
            axes.set_xlabel(f"{'xyz'[i]} [mm]")
            axes.set_ylabel(f"{'xyz'[j]} [mm]")
            axes.set_aspect("equal", "datalim")
        figure.suptitle(f"{self.point}: {len(points)} of {len(self.status)} samples reached")
        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=110)
        return out


def workspace(
    model: Model,
    *,
    point: str = "tip",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    samples: int = 300,
    obstacles: Sequence[Any] = (),
    start: State | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
    tolerance: float = 1e-7,
    workers: int = 1,
) -> Workspace:
    """Sample what a point can reach.

    Commands are spread evenly (a scrambled Halton sequence, with the corners of the ranges first) and visited in an
    order in which neighbours follow each other. Without obstacles a `Tracer` goes from one to the next (exact
    sensitivities predict, few factorisations correct); with them each equilibrium starts from the one before.

    Args:
        model: any mechanical model.
        point: name of the point.
        ranges: lowest and highest command per actuator in the unit of its drive; by default the actuator's own limits.
            Actuators without a range keep the command of `start`.
        samples: how many.
        obstacles: what is in the way.
        start: where to begin; the rest pose if None.
        seed: of the sequence.
        progress: called with the fraction done (with one worker).
        tolerance: last step of each solve relative to the robot's size [-]; with obstacles that of `equilibrium`.
        workers: processes that share the samples (more than one needs an operating system that can fork).
    """
    samples, workers, seed = count("samples", samples), count("workers", workers), count("seed", seed, 0)
    obstacles = surroundings(obstacles)
    check_state(model, start, "start")
    robot = model.robot
    model.locate(model.rest, point)
    box = _ranges(robot, ranges)
    if not box:
        raise ArgumentError("ranges", "no actuator has finite limits", "a range for at least one actuator")
    u = _commands(model.nu, box, samples, seed, np.zeros(model.nu) if start is None else np.asarray(start.u))
    positions = np.full((samples, 3), np.nan)
    status: list[Status] = [Status.STALLED] * samples

    def visit(part: Array) -> list[tuple[Status, Array]]:
        solve = _solver(model, obstacles, start, tolerance)
        out = []
        for done, i in enumerate(part, 1):
            found = solve(u[i])
            where = model.locate(found, point).position if found.ok else np.full(3, np.nan)
            out.append((found.status, where))
            if progress is not None and workers == 1:
                progress(done / samples)
        return out

    order = np.array(nearest_order(u))
    found = [row for part in forked(visit, np.array_split(order, min(workers, samples))) for row in part]
    for i, (how, where) in zip(order, found):
        status[i], positions[i] = how, where
    return Workspace(point, robot.actuator_names, u, positions, tuple(status))


def _solver(model: Model, obstacles: Sequence[Any], start: State | None, tolerance: float) -> Callable[[Array], State]:
    """From command to state, each from the one before."""
    if not obstacles:
        return Tracer(model, start=start, tolerance=tolerance).solve
    last = start

    def solve(u: Array) -> State:
        nonlocal last
        found = equilibrium(model, u, obstacles=obstacles, start=last)
        if not found.ok and last is not start:
            found = equilibrium(model, u, obstacles=obstacles, start=start)
        last = found if found.ok else last
        return found

    return solve


def _ranges(robot: Any, given: Mapping[str, tuple[float, float]] | None) -> dict[int, tuple[float, float]]:
    out = {}
    if given is None:
        for i, a in enumerate(robot.actuators):
            if all(np.isfinite(a.limits)):
                out[i] = a.limits
        return out
    if not isinstance(given, Mapping):
        raise ArgumentError("ranges", f"a {type(given).__name__}", "a mapping from names to (low, high)")
    for name, interval in given.items():
        i = robot.actuator_index(name)
        out[i] = check_interval(f"ranges[{name!r}]", interval)
        if not np.isfinite(out[i]).all():
            raise ArgumentError(f"ranges[{name!r}]", f"{out[i]}", "finite (low, high)")
    return out


def _commands(nu: int, box: dict[int, tuple[float, float]], samples: int, seed: int, default: Array) -> Array:
    from scipy.stats import qmc

    axes = sorted(box)
    n = len(axes)
    corners = np.array(list(np.ndindex(*(2,) * n)), dtype=float) if n <= 6 else np.zeros((0, n))
    corners = corners[: samples // 2]
    rest = qmc.Halton(n, seed=seed).random(samples - len(corners))
    unit = np.vstack([corners, rest])
    low, high = np.array([box[i][0] for i in axes]), np.array([box[i][1] for i in axes])
    u = np.tile(default, (samples, 1))
    u[:, axes] = low + unit * (high - low)
    return u
