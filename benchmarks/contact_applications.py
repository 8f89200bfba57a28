"""Robots that contact holds or guides: how well the scenes of the thesis do, and what a step costs.

Writes docs/benchmarks/contact_applications.md. Every part is kept in out/contact_applications.json, so that parts can
be measured one by one; a full run takes about ten minutes on an idle core.

    python benchmarks/contact_applications.py [--only ring] [--steps 40] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import pliant as pl

sys.path.insert(0, str(Path(__file__).parent))
import soft_balls
from inverse_contact_scenes import PHASES, SCENES, load_example, measure
from process_clock import use_process_time

from pliant.robots.cup_trunk import cup_trunk, grasped

Row = dict[str, Any]


def ring(slope: float = 0.0) -> Row:
    """The rolling ring (E2)."""
    model = pl.FemModel(pl.robots.rolling_ring(slope=slope))
    run = load_example("17_rolling_ring").roll(model, 100 if slope else 150)
    return {
        "dofs": model.nv, "did": f"rolled {1e3 * run.distance:.0f} mm ({len(run.errors)} steps of 20 ms)",
        "error": f"{1e3 * np.mean(run.errors):.3f} mm mean, {1e3 * max(run.errors):.2f} mm worst",
        "answered": f"{len(run.errors) - run.unsolved} of {len(run.errors)}, at most {max(run.pivots)} pivots",
        "friction": f"{max(run.friction):.2f}",
    }  # fmt: skip


def sphere() -> Row:
    """The rolling sphere (E3)."""
    module = load_example("18_rolling_sphere")
    model = pl.FemModel(pl.robots.rolling_sphere())
    run = module.roll(model, 50)
    angle = np.degrees(module.rolled_angle(run.before, run.after))
    return {
        "dofs": model.nv,
        "did": f"rolled {1e3 * run.distance:.1f} mm, turned by {angle:.1f} degrees ({len(run.errors)} steps), "
        f"{np.mean(run.contacts):.0f} contacts",
        "error": f"barycentre {1e3 * np.mean(run.errors):.3f} mm mean, {1e3 * max(run.errors):.2f} mm worst; surface "
        f"points {1e3 * max(run.off):.1f} mm worst",
        "answered": f"{len(run.errors) - run.unsolved} of {len(run.errors)}",
        "friction": f"{max(run.friction):.2f}",
    }  # fmt: skip


def fingers() -> Row:
    """Three fingertips shaping a beam."""
    model = pl.FemModel(pl.robots.three_fingertips())
    run = load_example("30_fingertips").shape(model, 40)
    up = 1e3 * (run.goal - run.home)[:, 2]
    return {
        "dofs": model.nv, "did": f"lifted a beam by {up.min():.1f} to {up.max():.1f} mm",
        "error": f"shape {1e3 * run.off:.2f} mm (root mean square)",
        "answered": f"{len(run.errors) - run.unsolved} of {len(run.errors)}",
        "friction": f"{np.median(run.ratios):.2f} (median of the worst contact)",
    }  # fmt: skip


def cup(iterations: int = 1) -> Row:
    """The trunk that moves a cup (E4)."""
    model = pl.FemModel(cup_trunk())
    _, rows = load_example("19_cup").manipulate(model, grasped(model, steps=30), 40, iterations=iterations)
    away, off = 1e3 * rows[:, 0], np.degrees(rows[:, 1])
    how = "one linearisation per step, as in the thesis"
    if iterations > 1:
        how = f"{int(rows[:, 4].sum())} of {len(rows)} within {iterations} iterations"
    return {
        "dofs": model.nv, "did": f"moved the cup by 10 mm and 5 degrees ({len(rows)} steps), {rows[:, 5].mean():.0f} "
        "contacts",
        "error": f"{away.mean():.2f} mm (st. dev. {away.std():.2f}), {off.mean():.2f} degrees ({off.std():.2f}) mean; "
        "the thesis 1.34 mm (0.37), 2.21 degrees (1.60)",
        "answered": how, "friction": f"grasp at least {rows[:, 3].min():.2f} N",
    }  # fmt: skip


def catheter() -> Row:
    """The catheter in both branches of a vessel."""
    module = load_example("15_catheter")
    model, wall = module.catheter(), module.vessel()
    solved, count, errors, contacts, again, deep = 0, 0, [], [], [], []
    for side in (1, -1):
        run = pl.follow(
            model, module.path(side), obstacles=[wall], spacing=0.002, alarm=module.ALARM,
            progress=lambda _, c: contacts.append(len(c.state.contacts)),
        )  # fmt: skip
        solved, count = solved + sum(s.ok for s in run.status), count + len(run)
        errors += list(1e3 * run.error("tip"))
        last = run[len(run) - 1]
        check = pl.equilibrium(model, run.displacement[-1], obstacles=[wall], start=last, alarm=module.ALARM)
        tip = model.locate(check, "tip").position
        again.append(1e3 * np.linalg.norm(tip - module.path(side)[-1]) if check.ok else np.inf)
        blind = pl.follow(model, module.path(side), spacing=0.002)
        deep.append(1e3 * (model.skin.radius[0] - wall.distance(model.skin_positions(blind[len(blind) - 1].q)).min()))
    return {
        "dofs": model.nv,
        "did": f"tip 65 mm into both 50-degree branches of a vessel, {np.mean(contacts):.0f} contacts; a blind "
        f"controller would put it {max(deep):.1f} mm deep into the wall",
        "error": f"{np.mean(errors):.0e} mm mean; {max(again):.0e} mm by an independent equilibrium",
        "answered": f"{solved} of {count} waypoints", "friction": "frictionless",
    }  # fmt: skip


ROBOTS: dict[str, Callable[[], Row]] = {
    "ring, flat": ring,
    "ring, 5 degrees uphill": lambda: ring(float(np.radians(5.0))),
    "sphere, 20 moduli + pressure": sphere,
    "three fingertips": fingers,
    "trunk with cup": cup,
    "cup, converged inverse": lambda: cup(15),
    "catheter": catheter,
}


def timed(name: str, steps: int) -> Row:
    """One linearisation per step of a scene."""
    scene = SCENES[name]()
    r = measure(scene, steps)
    return {**r, "size": scene.size, "whole": scene.whole, "small": scene.condensing + scene.qp}


def error_table(rows: dict[str, Row]) -> str:
    """How well they do."""
    head = "| robot | DoFs | what it did | error | answered | friction really needed |\n|---|---|---|---|---|---|\n"
    body = [
        f"| {n} | {r['dofs']} | {r['did']} | {r['error']} | {r['answered']} | {r['friction']} |"
        for n, r in rows.items()
    ]
    return head + "\n".join(body) + "\n"


def time_table(rows: dict[str, Row]) -> str:
    """What a step costs."""
    head = (
        "| scene | theirs | ours: DoFs / contacts / QPs per step | W and QPs: theirs [ms] | ours | ratio | "
        "whole step: theirs [ms] | ours | ratio | "
        + " | ".join(PHASES) + " |\n|" + 14 * "---|" + "\n"
    )  # fmt: skip
    body = []
    for name, r in rows.items():
        ours = r["phases"]["condensation"] + r["phases"]["qp"]
        whole = "not given" if r["whole"] is None else f"{1e3 * r['whole']:.2f}"
        ratio = "" if r["whole"] is None else f"{r['whole'] / r['step']:.1f}"
        shares = " | ".join(f"{1e3 * r['phases'][p]:.2f}" for p in PHASES)
        body.append(
            f"| {name} | {r['size']} | {r['dofs']} / {r['contacts']:.0f} / {r['pieces']:.1f} | {1e3 * r['small']:.2f} | "
            f"{1e3 * ours:.2f} | {r['small'] / ours:.1f} | {whole} | {1e3 * r['step']:.2f} | {ratio} | {shares} |"
        )
    return head + "\n".join(body) + "\n"


def write(kept: dict[str, Row]) -> None:
    """The page."""
    robots = {n: kept[n] for n in ROBOTS if n in kept}
    times = {n: kept[f"time of {n}"] for n in SCENES if f"time of {n}" in kept}
    parts = [
        "# Robots that contact holds or guides\n\n"
        "The applications of spec inverse-fem 11.1 and 13, at the sizes of the thesis. In all but the catheter the "
        "inverse\nwith sticking contact gives the command of a time step and the forward simulation with Coulomb "
        "friction (0.8)\ntakes it; errors are those of the forward simulation. `examples/15`, `17`, `18`, `19`, `30`; "
        "checks E2 to E5 in\n`tests/inverse/test_contact_applications.py`. Written by "
        "`python benchmarks/contact_applications.py`.\n\n",
        error_table(robots),
        "\n## Time of one linearisation\n\nProcess time on one thread, medians. W and QPs: condensation and QPCC, "
        "which is all that the thesis gives of the\ncatheter. Forward steps are not timed.\n\n",
        time_table(times),
    ]
    if "balls" in kept:
        parts.append("\n" + soft_balls.section(kept["balls"]))
    Path("docs/benchmarks/contact_applications.md").write_text("".join(parts))


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40, help="of the timed scenes")
    parser.add_argument("--only", default="", help="parts whose name contains this")
    parser.add_argument("--write", action="store_true", help="measure nothing, write the page from what is kept")
    options = parser.parse_args()
    use_process_time()
    path = Path("out/contact_applications.json")
    kept: dict[str, Row] = json.loads(path.read_text()) if path.exists() else {}
    work: dict[str, Callable[[], Row]] = {
        **{f"time of {n}": lambda n=n: timed(n, options.steps) for n in SCENES},  # type: ignore[misc]
        **ROBOTS,
        "balls": soft_balls.measured,
    }
    for name, run in work.items():
        if options.only in name and not options.write:
            begin = time.process_time()
            kept[name] = run()
            print(f"{name} ({time.process_time() - begin:.0f} s): {kept[name]}", flush=True)
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(kept, default=float))
    write(kept)


if __name__ == "__main__":
    main()
