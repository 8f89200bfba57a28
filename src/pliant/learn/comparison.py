"""The paper's comparison: four ways to invert a robot, on the same robot and the same path, judged in reality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.learn.baselines import fit_direct, simulator_in_loop
from pliant.learn.inverse import Waypoints, follow_path
from pliant.learn.play import find_play
from pliant.learn.recorder import Measurements
from pliant.learn.transfer import transfer
from pliant.models.learned import LearnedModel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Compared:
    """One way to invert, judged on one path.

    Attributes:
        name: what it is.
        seconds: wall-clock time per waypoint [s].
        mean, largest: error of the real robot along the path [m].
        u: commands (n, nu).
        reached: where the real robot got to [m] (n, 3).
    """

    name: str
    seconds: float
    mean: float
    largest: float
    u: Array
    reached: Array


def compare_methods(
    learned: LearnedModel,
    robot: Any,
    targets: Array,
    measurements: Measurements,
    *,
    analytical: Any,
    numerical: Any,
    start: Array | None = None,
    numerical_targets: int | None = None,
    best: bool = True,
) -> list[Compared]:
    """All methods of the paper's table, and ours.

    Args:
        learned: learned in simulation, without correction; with a Jacobian network for the paper's iteration.
        robot: the (virtual) robot on which the commands are tried.
        targets: the path [m] (n, 3).
        measurements: of the robot, for direct learning and for the transfer.
        analytical: constant-curvature model.
        numerical: simulator.
        start: command to start from; the middle of the range if None.
        numerical_targets: first waypoints that the simulator in the loop is timed on; all if None.
        best: add our methods: bounded Gauss-Newton with the best correction, and the same with the play of the drives
            found in the measurements (in the order of recording, from rest) and taken out of the commands.
    """
    begin = learned.ranges.mean(axis=1) if start is None else np.asarray(start, float)
    some = len(targets) if numerical_targets is None else numerical_targets
    options: dict[str, Any] = {"ranges": learned.ranges, "start": begin, "width": learned.width}
    runs: list[tuple[str, Waypoints]] = [
        ("analytical model", simulator_in_loop(analytical, targets, jacobian="exact", **options)),
        ("numerical model", simulator_in_loop(numerical, targets[:some], **options)),
    ]
    direct = fit_direct(measurements.u, measurements.position, ranges=learned.ranges, hidden=(12, 12))
    direct(targets[:2])
    runs.append(("direct inverse learning", direct(targets)))
    layer = transfer(learned, measurements, kind="single-layer", curve=False).model
    follow_path(layer, targets[:2], method="gradient", start=begin)
    runs.append(
        (
            "learned Jacobian and transfer (the paper)",
            follow_path(layer, targets, method="gradient", start=begin),
        )
    )
    if best:
        ours = transfer(learned, measurements, curve=False).model
        follow_path(ours, targets[:2], start=begin)
        last = follow_path(ours, targets, start=begin, flag=False)
        runs.append(("bounded Gauss-Newton, best transfer (ours)", last))
        play = find_play(learned, measurements)
        freed = transfer(learned, play.measured(measurements), curve=False).model
        follow_path(freed, targets[:2], start=begin)
        found = follow_path(freed, targets, start=begin, flag=False)
        sent = replace(found, u=play.commands(found.u, last.u[-1]))
        runs.append(("the same, hysteresis compensated (ours)", sent))
    return [judge(name, w, robot) for name, w in runs]


def judge(name: str, waypoints: Waypoints, robot: Any) -> Compared:
    """Try the commands on the robot, open loop, from the first to the last."""
    reached = execute(robot, waypoints.u)
    e = np.linalg.norm(reached - waypoints.target, axis=1)
    return Compared(name, waypoints.time_per_target, float(e.mean()), float(e.max()), waypoints.u, reached)


def execute(robot: Any, u: Array, seconds: float = np.inf) -> Array:
    """Where the robot really gets to with commands sent one after the other [m] (n, 3)."""
    out = []
    for command in u:
        robot.send(command, seconds)
        out.append(robot.true_position())
    return np.array(out)


def table(rows: Sequence[Compared]) -> str:
    """The comparison as text."""
    head = f"{'method':<44}{'time per waypoint':>20}{'mean error':>14}{'max error':>14}"
    lines = [head, "-" * len(head)]
    for r in rows:
        lines.append(f"{r.name:<44}{1e3 * r.seconds:>17.4g} ms{1e3 * r.mean:>11.3f} mm{1e3 * r.largest:>11.3f} mm")
    return "\n".join(lines)
