"""Statics of every robot of the catalogue: random commands within the limits, alone and against a wall.

    OMP_NUM_THREADS=1 python benchmarks/statics.py [--commands N] [--seconds S] [--write] [--merge] [--robots NAME ...]

Each command is drawn uniformly within the limits of the actuators; where there is no limit, between zero and twice the
command that the catalogue shows (cables without one: between zero and the largest of those). Every command is solved from rest,
the hardest start. The wall stands half way of the motion: across the direction in which the skin moves farthest, between the
farthest points of the rest pose and of the free pose, without friction or with 0.5. Contacts that belong to the robot (its own
surface, its bodies) count in both. No new command of a robot is begun after `--seconds` of CPU time; `--merge` keeps the rows of the
robots that are not named, so that the sweep can be run in pieces. All of it takes about 10 CPU minutes.

Reported: how the solves ended, iterations (linear solves; median, most), and CPU milliseconds (median, most).
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from catalogue_sizes import sized

import pliant as pl
from pliant.algebra.threads import one_blas_thread

HERE = Path(__file__).resolve().parent
REPORT = HERE.parent / "docs" / "benchmarks" / "statics.md"
ROWS = HERE.parent / "out" / "statics.json"
FRICTION = (None, 0.0, 0.5)  # no wall; a wall with this friction
LONG = 60  # iterations that are a finding
# Efforts beyond which there is no equilibrium: the muscles pull the arm together to nothing (tests/solve/test_collapse.py).
STRONGEST = {"octopus_arm": 8.0}
HEAD = """# Statics over the catalogue

Written by `benchmarks/statics.py --write` (`--merge` runs some robots anew; {minutes:.1f} CPU minutes of solving in all). {robots}
robots; random commands within the limits (octopus arm: up to 8 N, beyond which its muscles pull it together to nothing), each from
rest; alone, and against a wall half way of the motion. Column "ended": how many solves ended how; iterations are linear solves, median
and most. What did not end in an equilibrium is listed below with its notes. Times are those of a machine with other work on it.

"""


def ranges(which: Any, robot: pl.Robot | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper command per actuator of a robot of the catalogue."""
    robot = which.make() if robot is None else robot
    shown = max((abs(v) for v in which.move.values()), default=1.0)
    low, high = [], []
    for a in robot.actuators:
        move = which.move.get(a.name, shown)
        ends = a.limits
        far = [e if np.isfinite(e) else d for e, d in zip(ends, (0.0, 2.0 * abs(move)))]
        if move < 0 and not np.isfinite(ends[0]):
            far = [-2.0 * abs(move), min(ends[1], 0.0)]
        low.append(far[0])
        high.append(min(far[1], STRONGEST.get(which.name, np.inf)))
    return np.array(low), np.array(high)


def wall(model: Any, free: pl.State, friction: float) -> pl.Plane:
    """A plane half way of the motion from rest."""
    rest, x = model.skin_positions(model.rest), model.skin_positions(free.q)
    moved = x - rest
    way = moved[np.argmax(np.linalg.norm(moved, axis=1))]
    way = way / max(float(np.linalg.norm(way)), 1e-300)
    radius = model.skin.radius
    first, last = (rest @ way + radius).max(), (x @ way + radius).max()
    middle = first + 0.5 * max(last - first, 0.0)
    return pl.Plane(point=tuple(middle * way), normal=tuple(-way), friction=friction)


def run(
    name: str, commands: int, verbose: bool = False, seed: int = 0, seconds: float = np.inf
) -> list[dict[str, Any]]:
    """One record per solve; no new command after so many seconds of CPU time."""
    which, robot, changed = sized(name)
    model = which.model(robot)
    own = tuple(which.obstacles(robot))
    low, high = ranges(which, robot)
    random = np.random.default_rng(seed)
    out: list[dict[str, Any]] = []
    first = time.process_time()
    for k in range(commands):
        if time.process_time() - first > seconds:
            print(f"  {name}: {k} of {commands} commands in {seconds:g} CPU seconds", flush=True)
            for record in out:
                record["of"] = commands
            break
        u = random.uniform(low, high)
        free: pl.State | None = None
        for friction in FRICTION:
            obstacles = own
            if friction is not None:
                if free is None or not free.ok:
                    continue
                obstacles = (*own, wall(model, free, friction))
            begin = time.process_time()
            state = pl.equilibrium(model, u, obstacles=obstacles)
            spent = time.process_time() - begin
            if friction is None:
                free = state
            touching = 0 if state.contacts is None else int((state.contacts.forces > 0).sum())
            out.append({
                "robot": name, "nodes": model.nv, "wall": friction, "command": k, "status": state.status.name,
                "ok": state.ok, "iterations": state.iterations, "ms": 1e3 * spent, "contacts": touching,
                "residual": state.residual, "notes": list(state.notes), "changed": changed,
            })  # fmt: skip
            if verbose or not state.ok or state.iterations > LONG:
                print(f"  {name} {k} wall {friction}: {state.status.name} {state.iterations} iterations, {1e3 * spent:.0f} ms, "
                      f"{touching} contacts, {'; '.join(state.notes)}", flush=True)  # fmt: skip
    return out


def table(records: list[dict[str, Any]]) -> str:
    """Markdown."""
    lines = [
        "| robot | unknowns | wall | ended | iterations | above 60 | CPU [ms] | contacts |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = {None: "none", 0.0: "smooth", 0.5: "friction 0.5"}
    for name in dict.fromkeys(r["robot"] for r in records):
        for friction in FRICTION:
            mine = [r for r in records if r["robot"] == name and r["wall"] == friction]
            if not mine:
                continue
            ended = ", ".join(f"{n} {s}" for s, n in Counter(r["status"] for r in mine).most_common())
            its, ms = [r["iterations"] for r in mine], [r["ms"] for r in mine]
            lines.append(
                f"| {name} | {mine[0]['nodes']} | {names[friction]} | {ended} | {int(np.median(its))} ({max(its)}) | "
                f"{sum(i > LONG for i in its)} | {np.median(ms):.0f} ({max(ms):.0f}) | {max(r['contacts'] for r in mine)} |"
            )
    changed = {r["robot"]: r["changed"] for r in records if r.get("changed")}
    if changed:
        lines += ["", "Made coarser or driven otherwise: " + "; ".join(f"{n} ({c})" for n, c in changed.items()) + "."]
    cut = {r["robot"]: (1 + max(x["command"] for x in records if x["robot"] == r["robot"]), r["of"]) for r in records if "of" in r}
    if cut:
        lines += ["", "Time was up: " + "; ".join(f"{n} after {k} of {m} commands" for n, (k, m) in cut.items()) + "."]
    bad = [r for r in records if not r["ok"]]
    long = [r for r in records if r["ok"] and r["iterations"] > LONG]
    lines += ["", f"{len(records)} solves: {len(bad)} did not end in an equilibrium, {len(long)} more took over {LONG} iterations."]
    for r in bad:
        lines.append(f"- {r['robot']}, command {r['command']}, wall {names[r['wall']]}: {r['status']}; {'; '.join(r['notes'])}")
    return "\n".join(lines) + "\n"


def main() -> list[dict[str, Any]]:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=45.0, help="CPU time per robot after which no command is begun")
    parser.add_argument("--robots", nargs="*")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--merge", action="store_true", help="keep the rows of other robots from the last run")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    chosen = options.robots or list(pl.robots.catalogue())
    records: list[dict[str, Any]] = []
    if options.merge and ROWS.exists():
        records = [r for r in json.loads(ROWS.read_text()) if r["robot"] not in chosen]
    order = list(pl.robots.catalogue())
    with one_blas_thread():
        for name in chosen:
            new = run(name, options.commands, options.verbose, seconds=options.seconds)
            print(table(new), flush=True)
            records = sorted(records + new, key=lambda r: order.index(r["robot"]))
            if options.write:
                ROWS.parent.mkdir(exist_ok=True)
                ROWS.write_text(json.dumps(records))
    if options.write:
        minutes = sum(r["ms"] for r in records) / 6e4
        robots = f"{len({r['robot'] for r in records})} of {len(order)}"
        REPORT.write_text(HEAD.format(minutes=minutes, robots=robots) + table(records))
    return records


if __name__ == "__main__":
    main()
