"""Cost of one step of the inverse against degrees of freedom, contacts and actuators.

One family of scenes for each: a finger with finer and finer meshes; a trunk beside two posts, of which more and more
vertices are watched (the alarm distance grows); a beam with more and more cables. Everything else stays as it is.

    python benchmarks/inverse_cost.py [--steps 30]

Writes docs/images/inverse_cost.png and out/inverse_cost.json; `benchmarks/inverse.py` puts both on its page.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from process_clock import use_process_time

import pliant as pl
from pliant.solve.problem import Problem

PHASES = ("detection", "assembly", "factorisation", "condensation", "qp")
COLOURS = ("#4477aa", "#88bbdd", "#cc6677", "#ddaa55", "#55aa77", "#999999")
MESHES = (0.0075, 0.005, 0.0033, 0.0025, 0.002, 0.0016)
ALARMS = (0.0, 0.004, 0.009, 0.014, 0.02, 0.03, 0.045)
CABLES = (1, 2, 4, 8, 16, 32)


def steps_of(model: Any, obstacles: tuple, alarm: float | None, steps: int, axes: str = "xyz") -> dict[str, float]:
    """Single linearisations with a moving goal: process time and phases [s], number of contacts.

    Of the times the lowest fifth, since other programs may share the machine.
    """
    start = pl.equilibrium(model, None, obstacles=obstacles, alarm=alarm)
    problem = Problem(model, obstacles, alarm=alarm)
    here = model.locate(start, "tip").position
    state, spent, contacts = start, [], []
    phases: dict[str, list[float]] = {p: [] for p in PHASES}
    for k in range(steps + 3):
        goal = here + 2e-3 * np.array([np.sin(0.1 * k), np.sin(0.07 * k), 0.3 * np.sin(0.05 * k) - 0.5])
        target = pl.PointTarget("tip", tuple(goal), axes=axes)
        begin = time.process_time()
        command = pl.invert(model, state, target, iterations=1, problem=problem)
        elapsed = time.process_time() - begin
        state = command.state
        if k >= 3:
            spent.append(elapsed)
            contacts.append(0 if state.contacts is None else len(state.contacts))
            for p in PHASES:
                phases[p].append(command.timing[p])
    row = {p: float(np.quantile(v, 0.2)) for p, v in phases.items()}
    return {"step": float(np.quantile(spent, 0.2)), "contacts": float(np.median(contacts)), "dofs": model.nv,
            "actuators": model.nu, **row}  # fmt: skip


def cabled_beam(count: int) -> pl.Robot:
    """The golden beam with `count` straight cables around its axis."""
    base = pl.robots.golden_beam()
    cables = []
    for i in range(count):
        angle = 2.0 * np.pi * i / count
        y, z = 0.006 * np.cos(angle), 0.006 * np.sin(angle)
        cables.append(pl.Cable(name=f"c{i}", points=[(x, y, z) for x in np.linspace(0.005, 0.1, 8)]))
    return base.but(actuators=tuple(cables))


def measure(steps: int) -> dict[str, list[dict[str, float]]]:
    """All three families."""
    use_process_time()
    out: dict[str, list[dict[str, float]]] = {"dofs": [], "contacts": [], "actuators": []}
    for size in MESHES:
        out["dofs"].append(steps_of(pl.FemModel(pl.robots.finger(size=size)), (), None, steps, axes="z"))
    trunk = pl.FemModel(pl.robots.trunk())
    posts = (
        pl.Cylinder(a=(0.033, -0.06, 0.08), b=(0.033, 0.06, 0.08), radius=0.012),
        pl.Cylinder(a=(-0.032, -0.06, 0.13), b=(-0.032, 0.06, 0.13), radius=0.012),
    )
    for alarm in ALARMS:
        obstacles = posts if alarm else ()
        out["contacts"].append(steps_of(trunk, obstacles, alarm or None, steps))
    for count in CABLES:
        out["actuators"].append(steps_of(pl.FemModel(cabled_beam(count)), (), None, steps))
    return out


def draw(results: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Stacked phases over each quantity."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    titles = {"dofs": "finger, finer meshes", "contacts": "trunk between posts", "actuators": "beam with cables"}
    labels = {"dofs": "degrees of freedom", "contacts": "possible contacts", "actuators": "actuators"}
    for ax, (name, rows) in zip(axes, results.items()):
        x = [r[name] for r in rows]
        parts = [[1e3 * r[p] for r in rows] for p in PHASES]
        rest = [max(0.0, 1e3 * r["step"] - sum(1e3 * r[p] for p in PHASES)) for r in rows]
        ax.stackplot(x, *parts, rest, labels=[*PHASES, "rest"], colors=COLOURS)
        ax.plot(x, [1e3 * r["step"] for r in rows], "k.-", lw=1, label="whole step (process time)")
        ax.set(title=titles[name], xlabel=labels[name], ylabel="one step [ms]", ylim=(0, None), xlim=(min(x), max(x)))
    axes[0].legend(loc="upper left", fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def table(results: dict[str, list[dict[str, float]]]) -> str:
    """The same as a table."""
    lines = ["| scene | DoFs | contacts | actuators | step [ms] | " + " | ".join(PHASES) + " |", "|" + "---|" * 10]
    names = {"dofs": "finger", "contacts": "trunk between posts", "actuators": "beam"}
    for family, rows in results.items():
        for r in rows:
            phases = " | ".join(f"{1e3 * r[p]:.2f}" for p in PHASES)
            size = f"{r['dofs']:.0f} | {r['contacts']:.0f} | {r['actuators']:.0f}"
            lines.append(f"| {names[family]} | {size} | {1e3 * r['step']:.2f} | {phases} |")
    return "\n".join(lines)


def run(steps: int = 30) -> None:
    """Measure, draw, keep."""
    results = measure(steps)
    draw(results, Path("docs/images/inverse_cost.png"))
    Path("out").mkdir(exist_ok=True)
    Path("out/inverse_cost.json").write_text(json.dumps(results))
    print(table(results))


def main() -> None:
    """The same from the shell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    run(parser.parse_args().steps)


if __name__ == "__main__":
    main()
