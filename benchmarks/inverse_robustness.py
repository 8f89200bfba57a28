"""Does the converged inverse end where it should? Every robot of the catalogue, random goals within and out of reach.

Goals within reach are where forward equilibria bring the tip, under random commands that keep all limits of the robot;
goals out of reach lie more than the robot's size away from it. Every answer is checked by a forward equilibrium under its
command. Each robot with every model that can be made of it. Writes docs/benchmarks/inverse_robustness.md.

    python benchmarks/inverse_robustness.py [--count 6] [--robots trunk,finger] [--seconds 20] [--merge] [--dry]

No new goal of a robot is begun after `--seconds` of CPU time per kind of goal. `--merge` keeps the rows of the robots that are not
named, so that the sweep can be run in pieces; all of it takes about half an hour, the geometric robots most of it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from catalogue_sizes import sized

import pliant as pl
from pliant.solve.commands import length_scale

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "inverse_robustness.md"
ROWS = Path(__file__).parents[1] / "out" / "inverse_robustness.json"
FAR = 1.5  # goals out of reach are this many sizes of the robot away from its tip


@dataclass(frozen=True)
class Ending:
    """How one inverse solve ended."""

    status: str
    iterations: int
    seconds: float


@dataclass
class Row:
    """What was found for one robot."""

    name: str
    kind: str
    size: tuple[int, int]
    changed: str = ""
    reached: list[Ending] = field(default_factory=list)
    far: list[Ending] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    skipped: int = 0
    beyond: int = 0
    wanted: int = 0


def models(entry: Any, robot: pl.Robot) -> Iterator[tuple[str, Any]]:
    """The models that can be made of a robot, by kind; the one that suits it first."""
    yield entry.kind, entry.model(robot)
    for kind in ("fem", "geometric", "rod", "beam", "pcc", "link"):
        if kind == entry.kind:
            continue
        rods = kind in ("rod", "pcc", "link") and entry.kind in ("rod", "pcc")
        try:
            make = getattr(import_module(f"pliant.models.{kind}"), f"{kind.title()}Model")
            model = make(robot, **(entry.options(robot) if rods else {}))
        except (pl.PliantError, TypeError):
            continue  # not a robot of that kind
        yield kind, model


def within(robot: pl.Robot, state: pl.State) -> bool:
    """Whether a forward equilibrium keeps the limits of the actuators, which its command alone does not promise."""
    pairs = [(a.effort_limits, v) for a, v in zip(robot.actuators, state.effort)]
    pairs += [(a.displacement_limits, v) for a, v in zip(robot.actuators, state.displacement) if a.drive != "effort"]
    size = [max(abs(v), *(abs(x) for x in bounds if np.isfinite(x)), 1e-300) for bounds, v in pairs]
    return all(low - 1e-9 * s <= v <= high + 1e-9 * s for ((low, high), v), s in zip(pairs, size))


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


def recheck(model: Any, command: pl.Command, size: float, tip: str, around: tuple[Any, ...]) -> str:
    """What a forward equilibrium under the command says against it; empty if nothing."""
    forward = pl.equilibrium(model, command.u, obstacles=around, start=command.state)
    if not forward.ok:
        return f"forward: {forward.status.name}"
    here, there = (model.locate(s, tip).position for s in (command.state, forward))
    off = float(np.abs(here - there).max()) / size
    return "" if off < 1e-6 else f"forward differs by {off:.1e} of the size"


def measure(
    name: str, count: int, far: int, *, seconds: float, seed: int = 0, part: float = 0.5, kind: str = ""
) -> Row:
    """Goals of one robot, until the time is up; with the model that suits it, or one of another kind."""
    entry, robot, changed = sized(name)
    model = entry.model(robot) if kind in ("", entry.kind) else dict(models(entry, robot))[kind]
    size = length_scale(model)
    row = Row(name, kind or entry.kind, (model.nv, model.nu), changed, wanted=count)
    around = tuple(entry.obstacles(robot))  # contacts that belong to the robot: its own surface, its bodies
    rest = pl.equilibrium(model, obstacles=around).require()
    names = [p.name for p in robot.points]
    end = "tip" if "tip" in names else names[-1]
    tip = model.locate(rest, end).position
    rng = np.random.default_rng(seed)
    begin = time.process_time()
    for _ in range(3 * count):
        if len(row.reached) == count or time.process_time() - begin > seconds:
            break
        there = pl.equilibrium(model, random_command(robot, rng, part), obstacles=around, start=rest)
        if not there.ok:
            row.skipped += 1
            continue
        if not within(robot, there):
            row.beyond += 1
            continue
        goal = model.locate(there, end).position
        clock = time.process_time()
        command = pl.invert(model, rest, pl.PointTarget(end, tuple(goal)), obstacles=around)
        row.reached.append(Ending(command.status.name, command.iterations, time.process_time() - clock))
        if command.status is not pl.Status.CONVERGED:
            off = np.linalg.norm(command.error) / size
            row.wrong.append(f"goal {len(row.reached) - 1}: {command.status.name}, {off:.1e} of the size away")
        elif said := recheck(model, command, size, end, around):
            row.wrong.append(f"goal {len(row.reached) - 1}: {said}")
    begin = time.process_time()
    for i in range(far):
        if time.process_time() - begin > seconds:
            break
        way = rng.standard_normal(3)
        goal = tip + FAR * size * way / np.linalg.norm(way)
        clock = time.process_time()
        command = pl.invert(model, rest, pl.PointTarget(end, tuple(goal)), obstacles=around)
        row.far.append(Ending(command.status.name, command.iterations, time.process_time() - clock))
        if command.status not in (pl.Status.UNREACHABLE, pl.Status.LOCAL):
            row.wrong.append(f"far goal {i}: {command.status.name}")
        elif said := recheck(model, command, size, end, around):
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
        good = sum(c.status == "CONVERGED" for c in r.reached)
        ended = sum(c.status in ("UNREACHABLE", "LOCAL") for c in r.far)
        cells = [r.name, f"{r.kind}, {r.size[0]}, {r.size[1]}", f"{good}/{len(r.reached)}"]
        for ends in (r.reached, r.far):
            if ends is r.far:
                cells.append(f"{ended}/{len(r.far)}")
            counts = [c.iterations for c in ends] or [0]
            ms = [1e3 * c.seconds for c in ends] or [0.0]
            cells += [f"{np.median(counts):.0f} ({max(counts)})", f"{np.median(ms):.0f} ({max(ms):.0f})"]
        lines.append("| " + " | ".join(cells) + " |")
    return [*head, *lines]


def page(rows: list[Row], count: int) -> str:
    """The whole page."""
    goals = sum(len(r.reached) for r in rows)
    good = sum(c.status == "CONVERGED" for r in rows for c in r.reached)
    far = sum(len(r.far) for r in rows)
    ended = Counter(c.status for r in rows for c in r.far)
    wrong = [f"- {r.name} ({r.kind}): {w}" for r in rows for w in r.wrong]
    changed = "; ".join(dict.fromkeys(f"{r.name} ({r.changed})" for r in rows if r.changed))
    cut = "; ".join(
        f"{r.name} ({r.kind}) after {len(r.reached)} and {len(r.far)}" for r in rows if min(len(r.reached), len(r.far)) < r.wanted
    )
    skipped = "; ".join(f"{r.name} ({r.kind}) {r.skipped}" for r in rows if r.skipped)
    beyond = "; ".join(f"{r.name} ({r.kind}) {r.beyond}" for r in rows if r.beyond)
    text = [
        "# Robustness of the converged inverse",
        "",
        f"Written by `benchmarks/inverse_robustness.py`; one thread, process time. "
        f"{len({r.name for r in rows})} of the {len(pl.robots.catalogue())} robots of the catalogue with every model that "
        f"can be made of them ({len(rows)} together), from their rest poses, up to {count} goals of each kind.",
        "",
        "*Within reach*: where a forward equilibrium brings the tip under a random command (up to half the range of about "
        "60 % of the actuators), all limits of the actuators held. The inverse must end `CONVERGED`. *Out of reach*: "
        f"{FAR} times the robot's size away. The inverse must end `UNREACHABLE` (or `LOCAL`). A forward "
        "`equilibrium` under the command found must end at the same pose, to 1e-6 of the size.",
        "",
        *table(rows),
        "",
        f"Made coarser or driven otherwise: {changed or 'none'}. Time was up: {cut or 'never'}. Random commands that had no forward "
        f"equilibrium, and gave no goal: {skipped or 'none'}. Forward equilibria beyond a limit that the command alone does "
        f"not show (a volume within its limits at a pressure beyond), which gave none either: {beyond or 'none'}. Times are those of a machine with other work on it.",
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


def kept() -> list[Row]:
    """The rows of the last run."""
    if not ROWS.exists():
        return []
    rows = json.loads(ROWS.read_text())
    for r in rows:
        r["size"] = tuple(r["size"])
        r["reached"], r["far"] = ([Ending(**e) for e in r[kind]] for kind in ("reached", "far"))
    return [Row(**r) for r in rows]


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=6, help="goals of each kind")
    parser.add_argument("--robots", default="", help="names, separated by commas; all if empty")
    parser.add_argument("--seconds", type=float, default=20.0, help="time per robot and kind of goal")
    parser.add_argument("--merge", action="store_true", help="keep the rows of other robots from the last run")
    parser.add_argument("--dry", action="store_true", help="print, do not write the page")
    args = parser.parse_args()
    order = list(pl.robots.catalogue())
    chosen = args.robots.split(",") if args.robots else order
    rows = [r for r in kept() if r.name not in chosen] if args.merge else []
    for name in chosen:
        entry, robot, _ = sized(name)
        for kind, _ in models(entry, robot):
            new = measure(name, args.count, args.count, seconds=args.seconds, kind=kind)
            print(table([new])[-1], *(f"    {w}" for w in new.wrong), sep="\n", flush=True)
            rows.append(new)
        rows.sort(key=lambda r: order.index(r.name))
        if not args.dry:
            ROWS.parent.mkdir(exist_ok=True)
            ROWS.write_text(json.dumps([asdict(r) for r in rows]))
            PAGE.write_text(page(rows, args.count))


if __name__ == "__main__":
    main()
