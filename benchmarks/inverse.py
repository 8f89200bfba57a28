"""Time per step of the inverse on the scenes of the thesis and of SOFA, theirs beside ours.

One step is what they do per step: assemble, factorise, detect, condense, solve the QP or QPCC, correct; one
linearisation,
moving goal. Beside it stands what full convergence costs, and the error at a held goal. Times are medians of process
time (several programs may share the machine), one thread. Theirs were measured on other machines (thesis: i7 3.6 GHz,
2018) or on an ordinary two-core server (SOFA v25.06).

    python benchmarks/inverse.py [--steps 60] [--only NAME]

Writes docs/benchmarks/inverse.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import pliant as pl
from pliant.solve.problem import Problem

sys.path.insert(0, str(Path(__file__).parent))
from inverse_scenes import Scene, scenes

PHASES = ("detection", "assembly", "factorisation", "condensation", "qp")


def measure(scene: Scene, steps: int) -> dict:
    """Run one scene."""
    model = pl.FemModel(scene.robot())
    start = pl.equilibrium(model, scene.command, obstacles=scene.obstacles, alarm=scene.alarm)
    problem = Problem(model, scene.obstacles, alarm=scene.alarm)
    state, spent, phases, contacts, closed = start, [], {p: [] for p in PHASES}, [], []
    for k in range(steps + 5):
        goals = scene.targets(model, start, 0.1 * k)
        begin = time.process_time()
        command = pl.invert(model, state, goals, iterations=1, problem=problem)
        elapsed = time.process_time() - begin
        state = command.state
        if k < 5:
            continue
        spent.append(elapsed)
        for p in PHASES:
            phases[p].append(command.timing[p])
        found = state.contacts
        contacts.append(0 if found is None else len(found))
        closed.append(0 if found is None else int((found.forces > 0).sum()))
    goals = scene.targets(model, start, 2.4)  # held; beam and tower end in a local optimum away from it
    for _ in range(20):
        held = pl.invert(model, state, goals, iterations=1, problem=problem)
        state = held.state
    free = held.status is pl.Status.SINGLE and len(held.solution.dual_effort)
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
        "nodes": model.nodes, "dofs": model.nv, "contacts": float(np.mean(contacts)), "closed": float(np.mean(closed)),
        "step": float(np.median(spent)), "phases": {p: float(np.median(v)) for p, v in phases.items()},
        "held": float(np.abs(held.error).max()), "free": bool(free),
        "full": float(np.median(full)), "iterations": float(np.median(iterations)), "status": command.status.name,
        "start": start.status.name,
    }  # fmt: skip


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    head = (
        "| scene | theirs | ours: nodes / DoFs / contacts (closed) | theirs [ms] | ours [ms] | ratio | "
        "detection | assembly | factorisation | condensation | QP (theirs) | held error [mm] | converged [ms] (its.) |"
    )
    lines = [head, "|" + "---|" * 13]
    print(head)
    for scene in scenes():
        if options.only not in scene.name:
            continue
        r = measure(scene, options.steps)
        p = {k: f"{1e3 * v:.2f}" for k, v in r["phases"].items()}
        theirs_qp = "" if scene.qp is None else f" ({1e3 * scene.qp:.2f})"
        line = (
            f"| {scene.name} ({scene.source}) | {scene.size} | {r['nodes']} / {r['dofs']} / {r['contacts']:.0f} "
            f"({r['closed']:.0f}) | {1e3 * scene.reference:.2f} | {1e3 * r['step']:.2f} | "
            f"{scene.reference / r['step']:.1f} | {p['detection']} | {p['assembly']} | {p['factorisation']} | "
            f"{p['condensation']} | {p['qp']}{theirs_qp} | {1e3 * r['held']:.1e} | {1e3 * r['full']:.0f} "
            f"({r['iterations']:.0f}, {r['status'].lower()}) |"
        )
        print(line, flush=True)
        lines.append(line)
    if not options.only:
        page = Path("docs/benchmarks/inverse.md")
        page.parent.mkdir(parents=True, exist_ok=True)
        text = (__doc__ or "").strip().split("\n\n    python")[0]
        page.write_text(
            f"# Inverse: time per step\n\n{text}\n\nPhases are wall-clock medians [ms].\n\n" + "\n".join(lines) + "\n"
        )
        print(f"wrote {page}")


if __name__ == "__main__":
    main()
