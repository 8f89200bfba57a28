"""Time per step of the inverse on the scenes of the thesis and of SOFA, theirs beside ours.

One step is what they do per step: assemble, factorise, detect, condense, solve the QP or QPCC, correct; one
linearisation, moving goal. Beside it stands what full convergence costs, and the error at a held goal. Everything is
process time (several programs may share the machine), one thread: the median over the steps and, in brackets, the
lowest fifth, which other programs disturb less; phases are lowest fifths. "machine" is the time of a fixed compiled loop
around a row, relative to its best: a row is repeated up to three times until that is below 1.1. Theirs were measured on other machines
(thesis: i7 3.6 GHz, 2018) or on an ordinary two-core server (SOFA v25.06).

    python benchmarks/inverse.py --all                       the whole page from scratch (about 8 minutes alone, more where rows repeat)
    python benchmarks/inverse.py [--steps 60] [--only NAME] [--write]

Keeps its rows in out/inverse.json and writes docs/benchmarks/inverse.md and docs/images/inverse_phases.png from all rows
that are there; --write only does the latter. --all also runs benchmarks/inverse_cost.py and benchmarks/qpcc.py.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import pliant as pl
from pliant.solve.problem import Problem

sys.path.insert(0, str(Path(__file__).parent))
import inverse_cost
import qpcc
from inverse_contact_scenes import SCENES, ContactScene
from inverse_scenes import Scene, scenes
from machine import Machine
from process_clock import use_process_time

PHASES = inverse_cost.PHASES
DYNAMIC = {"trunk": 0.01, "finger": 0.01, "diamond": 0.01}  # scenes also run as inverse dynamics, time step [s]


class Watch:
    """Times of the single steps of a run."""

    def __init__(self) -> None:
        self.spent: list[float] = []
        self.phases: dict[str, list[float]] = {p: [] for p in PHASES}
        self.contacts: list[int] = []
        self.closed: list[int] = []
        self.relaxed = 0

    def step(self, model: Any, state: pl.State, goals: list, *, count: bool, **options: Any) -> pl.Command:
        """One linearisation, timed."""
        begin = time.process_time()
        command = pl.invert(model, state, goals, iterations=1, **options)
        elapsed = time.process_time() - begin
        if count:
            self.spent.append(elapsed)
            for p in PHASES:
                self.phases[p].append(command.timing.get(p, 0.0))
            found = command.state.contacts
            self.contacts.append(0 if found is None else len(found))
            self.closed.append(0 if found is None else int((found.forces > 0).sum()))
            self.relaxed += command.status is not pl.Status.SINGLE
        return command

    def row(self, model: Any) -> dict[str, Any]:
        """What the page needs."""
        return {
            "nodes": getattr(model, "nodes", 0), "dofs": model.nv, "contacts": float(np.mean(self.contacts)),
            "closed": float(np.mean(self.closed)), "step": float(np.median(self.spent)),
            "quiet": float(np.quantile(self.spent, 0.2)), "relaxed": self.relaxed,
            "phases": {p: float(np.quantile(v, 0.2)) for p, v in self.phases.items()},
        }  # fmt: skip


def measure(scene: Scene, steps: int) -> dict[str, Any]:
    """Single steps with a moving goal, a held goal, and full convergence from goal to goal."""
    model = pl.FemModel(scene.robot())
    start = pl.equilibrium(model, scene.command, obstacles=scene.obstacles, alarm=scene.alarm)
    problem = Problem(model, scene.obstacles, alarm=scene.alarm)
    watch, state = Watch(), start
    for k in range(steps + 5):
        goals = scene.targets(model, start, 0.1 * k)
        state = watch.step(model, state, goals, count=k >= 5, problem=problem).state
    goals = scene.targets(model, start, 2.4)
    for _ in range(20):
        held = pl.invert(model, state, goals, iterations=1, problem=problem)
        state = held.state
    full, iterations = [], []
    state = start
    for k in range(6):
        goals = scene.targets(model, start, 0.4 * k)
        begin = time.process_time()
        command = pl.invert(model, state, goals, problem=problem)
        full.append(time.process_time() - begin)
        iterations.append(command.iterations)
        state = command.state
    return {
        **watch.row(model), "held": float(np.abs(held.error).max()), "full": float(np.median(full)),
        "iterations": float(np.median(iterations)), "status": command.status.name, "kind": "static",
        "source": scene.source, "size": scene.size, "reference": scene.reference, "qp": scene.qp,
    }  # fmt: skip


def measure_dynamic(scene: Scene, dt: float, steps: int) -> dict[str, Any]:
    """Inverse dynamics: each step solves for the efforts over one implicit time step."""
    model = pl.FemModel(scene.robot())
    start = pl.equilibrium(model, scene.command, obstacles=scene.obstacles, alarm=scene.alarm)
    problem = Problem(model, scene.obstacles, alarm=scene.alarm)
    watch, state, errors = Watch(), start, []
    for k in range(steps + 5):
        goals = scene.targets(model, start, 0.05 * k)
        command = watch.step(model, state, goals, count=k >= 5, problem=problem, dynamic=True, dt=dt)
        state = command.state
        errors.append(float(np.abs(command.error).max()))
    return {
        **watch.row(model), "held": float(np.median(errors)), "kind": "dynamic", "source": "none", "size": "",
        "reference": None, "qp": None, "status": f"dt {1e3 * dt:.0f} ms",
    }  # fmt: skip


def measure_contact(scene: ContactScene, steps: int) -> dict[str, Any]:
    """The scenes that contact holds or guides; the body is moved on by the forward simulation, which is not timed."""
    problem = Problem(scene.model, scene.obstacles, alarm=scene.alarm)
    watch, state = Watch(), scene.state
    dt = scene.dt if np.isfinite(scene.dt) else 0.02
    for k in range(steps + 3):
        goals = scene.targets(dt * (k + 1))
        command = watch.step(scene.model, state, goals, count=k >= 3, problem=problem, **scene.options())
        state = scene.motion(state, command)
    return {
        **watch.row(scene.model), "held": float(np.abs(command.error).max()), "kind": "contact", "source": "thesis",
        "size": scene.size, "reference": scene.reference, "qp": scene.qp, "status": "",
    }  # fmt: skip


HEAD = {
    "static": (
        "| scene | theirs | ours: nodes / DoFs / contacts (closed) | theirs [ms] | ours [ms] | ratio | detection | "
        "assembly | factorisation | condensation | QP (theirs) | held error [mm] | converged [ms] (its.) | machine |"
    ),
    "contact": (
        "| scene | theirs | ours: nodes / DoFs / contacts (closed) | theirs [ms] | ours [ms] | ratio | detection | "
        "assembly | factorisation | condensation | QP (theirs) | steps with limits relaxed | machine |"
    ),
    "dynamic": (
        "| scene | time step | ours: nodes / DoFs / contacts (closed) | ours [ms] | detection | assembly | "
        "factorisation | condensation | QP | error of the moving goal [mm] | machine |"
    ),
}


def line(name: str, r: dict[str, Any]) -> str:
    """One row of the page."""
    p = {k: f"{1e3 * v:.2f}" for k, v in r["phases"].items()}
    end = f" {r['machine']:.2f} |" if "machine" in r else " |"
    size = f"{r['nodes']} / {r['dofs']} / {r['contacts']:.0f} ({r['closed']:.0f})"
    time_of = f"{1e3 * r['step']:.2f} ({1e3 * r['quiet']:.2f})"
    phases = f"{p['detection']} | {p['assembly']} | {p['factorisation']} | {p['condensation']} | {p['qp']}"
    if r["kind"] == "dynamic":
        return f"| {name} | {r['status']} | {size} | {time_of} | {phases} | {1e3 * r['held']:.1e} |" + end
    theirs = "" if r["qp"] is None else f" ({1e3 * r['qp']:.2f})"
    start = (
        f"| {name} ({r['source']}) | {r['size']} | {size} | {1e3 * r['reference']:.2f} | {time_of} | "
        f"{r['reference'] / r['step']:.1f} | {phases}{theirs} | "
    )
    if r["kind"] == "contact":
        return start + f"{r['relaxed']} |" + end
    converged = f"{1e3 * r['full']:.0f} ({r['iterations']:.0f}, {r['status'].lower()})"
    return start + f"{1e3 * r['held']:.1e} | {converged} |" + end


def draw(rows: dict[str, dict[str, Any]], path: Path) -> None:
    """Where the time of a step goes: stacked bars, in shares, the whole beside them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    chosen = {k: r for k, r in rows.items() if r["kind"] != "dynamic"}
    figure, ax = plt.subplots(figsize=(9, 0.42 * len(chosen) + 1.4), layout="constrained")
    for i, r in enumerate(chosen.values()):
        parts = [*(r["phases"][p] for p in PHASES), max(0.0, r["quiet"] - sum(r["phases"].values()))]
        left, total = 0.0, sum(parts)
        for part, colour in zip(parts, inverse_cost.COLOURS):
            ax.barh(i, part / total, left=left, color=colour)
            left += part / total
        bar = "" if r["reference"] is None else f" (theirs / ours {r['reference'] / r['step']:.1f})"
        ax.text(1.01, i, f"{1e3 * r['step']:.1f} ms{bar}", va="center", fontsize=8)
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in inverse_cost.COLOURS]
    ax.legend(handles, [*PHASES, "rest"], ncol=6, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=8)
    ax.set(yticks=range(len(chosen)), yticklabels=list(chosen), xlim=(0, 1.3), xlabel="share of a step")
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
    ax.invert_yaxis()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def bars(rows: dict[str, dict[str, Any]]) -> str:
    """Every row with a reference against its bar: half of the time of SOFA, a quarter of that of the thesis."""
    lines = ["| scene | bar [ms] | ours [ms] | met | machine |", "|---|---|---|---|---|"]
    for name, r in rows.items():
        if r["reference"] is not None:
            bar = r["reference"] / (2.0 if r["source"] == "SOFA" else 4.0)
            met = "yes" if r["step"] <= bar else "no"
            slow = f"{r['machine']:.2f}" if "machine" in r else ""
            lines.append(f"| {name} | {1e3 * bar:.2f} | {1e3 * r['step']:.2f} | {met} | {slow} |")
    return "\n".join(lines)


def write(rows: dict[str, dict[str, Any]], order: list[str]) -> None:
    """The page and its picture."""
    rows = {k: rows[k] for k in order if k in rows}
    draw(rows, Path("docs/images/inverse_phases.png"))
    text = (__doc__ or "").strip().split("\n\n    python")[0]
    parts = [f"# Inverse: time per step\n\n{text}\n"]
    titles = {
        "static": "",
        "contact": "\n## Held or guided by contact\n\nScenes of the thesis whose bodies only contact holds or guides "
        "(sticking contact, inverse dynamics, except the catheter). The forward simulation moves the body on and is "
        "not timed.\n",
        "dynamic": "\n## Inverse dynamics\n\nEfforts over one implicit time step, one linearisation.\n",
    }
    for kind, title in titles.items():
        lines = [line(k, r) for k, r in rows.items() if r["kind"] == kind]
        if lines:
            head = HEAD[kind]
            parts.append("\n".join([title, head, "|" + "---|" * (head.count("|") - 1), *lines]) + "\n")
    parts.append("\n![Shares of the phases of a step](../images/inverse_phases.png)\n")
    kept = Path("out/inverse_cost.json")
    if kept.exists():
        parts.append(
            "\n## Cost against size\n\nOne quantity grows, the rest stays (`benchmarks/inverse_cost.py`, lowest "
            "fifths).\n\n![Cost against DoFs, contacts and actuators](../images/inverse_cost.png)\n\n"
            + inverse_cost.table(json.loads(kept.read_text())) + "\n"
        )  # fmt: skip
    dense = Path("out/qpcc.json")
    if dense.exists():
        parts.append(
            "\n## The QPCC alone\n\nWhole `solve_qpcc` on random problems of the sizes of the thesis "
            "(`benchmarks/qpcc.py`, medians of ten): cold from zero efforts, its contact set found by an LCP; warm from "
            "the solution.\n\n" + qpcc.table(json.loads(dense.read_text())) + "\n"
        )  # fmt: skip
    parts.append("\n## The bars\n\n" + bars(rows) + "\n")
    notes = Path("benchmarks/inverse_notes.md")
    if notes.exists():
        parts.append("\n" + notes.read_text())
    Path("docs/benchmarks/inverse.md").write_text("".join(parts))


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    use_process_time()
    machine = Machine()
    kept = Path("out/inverse.json")
    if options.all:
        kept.unlink(missing_ok=True)
        inverse_cost.run()
        qpcc.main()
    rows = json.loads(kept.read_text()) if kept.exists() else {}
    static = {s.name: s for s in scenes()}
    work: dict[str, Any] = {name: lambda s=s: measure(s, options.steps) for name, s in static.items()}
    work |= {name: lambda f=f: measure_contact(f(), min(options.steps, 40)) for name, f in SCENES.items()}
    work |= {
        f"{name}, dynamic": lambda n=name, dt=dt: measure_dynamic(static[n], dt, options.steps)
        for name, dt in DYNAMIC.items()
    }
    for name, run in work.items():
        if options.only in name and not options.write:
            row, slow = machine.watched(run)
            rows[name] = {**row, "machine": slow}
            print(line(name, rows[name]), flush=True)
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(json.dumps(rows))
    write(rows, list(work))


if __name__ == "__main__":
    main()
