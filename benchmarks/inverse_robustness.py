"""Does the converged inverse end where it should? Every robot of the catalogue, random goals within and out of reach.

Goals within reach are where forward equilibria bring the tip, under random commands; goals out of reach lie more than the
robot's size away from it. Every answer is checked by a forward equilibrium under its command. Writes
docs/benchmarks/inverse_robustness.md.

    python benchmarks/inverse_robustness.py [--count 20] [--robots trunk,finger] [--seconds 60] [--dry]

All robots take about a quarter of an hour, the geometric ones most of it.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.solve.commands import length_scale

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "inverse_robustness.md"
FAR = 1.5  # goals out of reach are this many sizes of the robot away from its tip


@dataclass
class Row:
    """What was found for one robot."""

    name: str
    kind: str
    size: tuple[int, int]
    reached: list[pl.Command] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    far: list[pl.Command] = field(default_factory=list)
    far_seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    skipped: int = 0


def random_command(robot: pl.Robot, rng: np.random.Generator, part: float) -> dict[str, float]:
    """A command within a part of the range of some of the actuators, the others at rest."""
    chosen = rng.random(len(robot.actuators)) < 0.6
    chosen[rng.integers(len(chosen))] = True
    out = {}
    for a, use in zip(robot.actuators, chosen):
        low, high = a.limits
        if use and np.isfinite(high):
            pull = getattr(a, "slackable", False)
            out[a.name] = float(part * rng.uniform(0.0 if pull else low, high))
    return out


def recheck(model: Any, command: pl.Command, size: float) -> str:
    """What a forward equilibrium under the command says against it; empty if nothing."""
    forward = pl.equilibrium(model, command.u, start=command.state)
    if not forward.ok:
        return f"forward: {forward.status.name}"
    here, there = (model.locate(s, "tip").position for s in (command.state, forward))
    off = float(np.abs(here - there).max()) / size
    return "" if off < 1e-6 else f"forward differs by {off:.1e} of the size"


def measure(name: str, count: int, far: int, *, seconds: float, seed: int = 0, part: float = 0.5) -> Row:
    """Goals of one robot, until the time is up."""
    entry = pl.robots.entry(name)
    robot = entry.make()
    model = entry.model(robot)
    size = length_scale(model)
    row = Row(name, entry.kind, (model.nv, model.nu))
    rest = pl.equilibrium(model).require()
    tip = model.locate(rest, "tip").position
    rng = np.random.default_rng(seed)
    begin = time.process_time()
    for _ in range(3 * count):
        if len(row.reached) == count or time.process_time() - begin > seconds:
            break
        there = pl.equilibrium(model, random_command(robot, rng, part), start=rest)
        if not there.ok:
            row.skipped += 1
            continue
        goal = model.locate(there, "tip").position
        clock = time.process_time()
        command = pl.invert(model, rest, pl.PointTarget("tip", tuple(goal)))
        row.seconds.append(time.process_time() - clock)
        row.reached.append(command)
        if command.status is not pl.Status.CONVERGED:
            off = np.linalg.norm(command.error) / size
            row.wrong.append(f"goal {len(row.reached) - 1}: {command.status.name}, {off:.1e} of the size away")
        elif said := recheck(model, command, size):
            row.wrong.append(f"goal {len(row.reached) - 1}: {said}")
    begin = time.process_time()
    for i in range(far):
        if time.process_time() - begin > seconds:
            break
        way = rng.standard_normal(3)
        goal = tip + FAR * size * way / np.linalg.norm(way)
        clock = time.process_time()
        command = pl.invert(model, rest, pl.PointTarget("tip", tuple(goal)))
        row.far_seconds.append(time.process_time() - clock)
        row.far.append(command)
        if command.status not in (pl.Status.UNREACHABLE, pl.Status.LOCAL):
            row.wrong.append(f"far goal {i}: {command.status.name}")
        elif said := recheck(model, command, size):
            row.wrong.append(f"far goal {i}: {said}")
    return row


def table(rows: list[Row]) -> list[str]:
    """Lines of the page's table."""
    head = [
        "| robot | model, dofs, actuators | reached | iterations, median (most) | time, median (most) [ms] "
        "| out of reach, ended | iterations | time [ms] |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines = []
    for r in rows:
        good = sum(c.status is pl.Status.CONVERGED for c in r.reached)
        ended = sum(c.status in (pl.Status.UNREACHABLE, pl.Status.LOCAL) for c in r.far)
        cells = [r.name, f"{r.kind}, {r.size[0]}, {r.size[1]}", f"{good}/{len(r.reached)}"]
        for commands, seconds in ((r.reached, r.seconds), (r.far, r.far_seconds)):
            if commands is r.far:
                cells.append(f"{ended}/{len(r.far)}")
            counts = [c.iterations for c in commands] or [0]
            ms = [1e3 * s for s in seconds] or [0.0]
            cells += [f"{np.median(counts):.0f} ({max(counts)})", f"{np.median(ms):.0f} ({max(ms):.0f})"]
        lines.append("| " + " | ".join(cells) + " |")
    return [*head, *lines]


def page(rows: list[Row], count: int) -> str:
    """The whole page."""
    goals = sum(len(r.reached) for r in rows)
    good = sum(c.status is pl.Status.CONVERGED for r in rows for c in r.reached)
    far = sum(len(r.far) for r in rows)
    ended = Counter(c.status.name for r in rows for c in r.far)
    wrong = [f"- {r.name}: {w}" for r in rows for w in r.wrong]
    text = [
        "# Robustness of the converged inverse",
        "",
        f"Written by `benchmarks/inverse_robustness.py`; one thread, process time. {len(rows)} of the "
        f"{len(pl.robots.catalogue())} robots of the catalogue with the models that suit them, from their rest poses, up to "
        f"{count} goals of each kind.",
        "",
        "*Within reach*: where a forward equilibrium brings the tip under a random command (up to half the range of about "
        "60 % of the actuators). The inverse must end `CONVERGED`. *Out of reach*: "
        f"{FAR} times the robot's size away. The inverse must end `UNREACHABLE` (or `LOCAL`). A forward "
        "`equilibrium` under the command found must end at the same pose, to 1e-6 of the size.",
        "",
        *table(rows),
        "",
        f"Within reach: {good} of {goals} reached. Out of reach: {far} goals, "
        + ", ".join(f"{n} {s}" for s, n in ended.most_common())
        + ".",
        "",
        "## What did not end as it should",
        "",
        *(wrong or ["Nothing."]),
        "",
    ]
    return "\n".join(text)


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20, help="goals of each kind")
    parser.add_argument("--robots", default="", help="names, separated by commas; all if empty")
    parser.add_argument("--seconds", type=float, default=60.0, help="time per robot and kind of goal")
    parser.add_argument("--dry", action="store_true", help="print, do not write the page")
    args = parser.parse_args()
    rows = []
    for name in args.robots.split(",") if args.robots else pl.robots.catalogue():
        rows.append(measure(name, args.count, args.count, seconds=args.seconds))
        print(table(rows)[-1], *(f"    {w}" for w in rows[-1].wrong), sep="\n", flush=True)
    if not args.dry:
        PAGE.write_text(page(rows, args.count))


if __name__ == "__main__":
    main()
