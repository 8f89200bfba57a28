"""The flagship job: two robots through their range by finite elements, and a trunk told where to go, past an obstacle.

Writes pictures, a plot and a replay that opens in any browser under `out/`, and prints what it computed.
Run it with `make demo`, or `python examples/00_demo.py`.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import pliant as pl

OUT = Path("out")


def bend(robot: pl.Robot, actuator: str, top: float, steps: int, progress: Progress) -> tuple:
    """Sweep one actuator from zero to its top value; returns the model and the trajectory."""
    model = pl.FemModel(robot)
    task = progress.add_task(f"{robot.name}: {actuator} to {top:g} {robot.actuator(actuator).unit}", total=1.0)
    values = np.linspace(0.0, top, steps)
    run = pl.sweep(model, [{actuator: v} for v in values], progress=lambda f: progress.update(task, completed=f))
    return model, run


def reach(steps: int, progress: Progress) -> tuple:
    """Take the tip of a trunk along an arc, a cylinder in the way; every pose is solved to convergence."""
    model = pl.FemModel(pl.robots.trunk())
    rest = pl.equilibrium(model)
    tip = model.locate(rest, "tip").position
    size = float(np.linalg.norm(np.ptp(model.skin_positions(model.rest), axis=0)))
    post = pl.Cylinder(a=(0.14 * size, -0.06, 0.5 * tip[2]), b=(0.14 * size, 0.06, 0.5 * tip[2]), radius=0.05 * size)
    task = progress.add_task("trunk: follow an arc past a post", total=steps)
    states, wanted, state = [rest], [tip], rest
    for s in np.linspace(0.0, 1.0, steps):
        goal = tip + size * np.array([0.26 * s, 0.08 * np.sin(np.pi * s), -0.04 * s - 0.09 * s * s])
        command = pl.invert(model, state, [pl.PointTarget("tip", goal)], obstacles=[post])
        state = command.state
        states.append(state)
        wanted.append(goal)
        progress.advance(task)
    times = np.arange(len(states), dtype=float)
    return (
        model,
        pl.Trajectory.from_states(model, states, targets={"tip": np.array(wanted)}, time=times),
        post,
        states[-1],
    )


def main(quick: bool = False) -> float:
    """Run everything; returns the largest distance of the trunk's tip from its target [mm]."""
    OUT.mkdir(exist_ok=True)
    console = Console()
    begin = time.perf_counter()
    steps = 4 if quick else 16
    if not quick:
        console.print("The first run compiles the kernels, which takes a few minutes; later runs start at once.")
    with Progress(console=console) as progress:
        finger, bent = bend(pl.robots.finger(), "cable", 0.03, steps, progress)
        pneunet, blown = bend(pl.robots.pneunet(), "chamber", 40e3, steps, progress)
        trunk, path, post, last = reach(steps, progress)
    files = [
        pl.snapshot(finger, bent[-1], OUT / "finger.png", title="finger, cable pulled 30 mm"),
        pl.snapshot(pneunet, blown[-1], OUT / "pneunet.png", title="pneunet at 40 kPa", field="strain"),
        pl.snapshot(trunk, last, OUT / "trunk.png", obstacles=[post], title="trunk reaching past a post"),
        pl.export_html(trunk, path, OUT / "trunk.html", obstacles=[post]),
        pl.export_html(finger, bent, OUT / "finger.html"),
        pl.viewer.plot_sweep(bent.displacement[:, 0] * 1e3, {"tension": bent.effort[:, 0]}, OUT / "finger_force.png",
                             x_label="cable pulled [mm]", y_label="tension [N]"),
        bent.save(OUT / "finger.npz"),
    ]  # fmt: skip
    error = path.error("tip") * 1e3
    table = Table(title="What was computed")
    for column in ("job", "model", "result", "status"):
        table.add_column(column)
    moved = {run.robot: 1e3 * np.linalg.norm(run.points["tip"][-1] - run.points["tip"][0]) for run in (bent, blown)}
    results = (
        (finger, bent, f"tip moved {moved['finger']:.1f} mm at {bent.effort[-1, 0]:.2f} N"),
        (pneunet, blown, f"tip moved {moved['pneunet']:.1f} mm at {blown.effort[-1, 0] / 1e3:.0f} kPa"),
        (trunk, path, f"tip within {error.max():.1e} mm of its targets, "
                      f"post pushed with up to {path.contact_force.max():.2f} N"),
    )  # fmt: skip
    for model, run, result in results:
        table.add_row(run.robot, repr(model), result, str(run.status[-1]))
    console.print(table)
    console.print(f"{time.perf_counter() - begin:.0f} s. Files: " + ", ".join(str(f) for f in files))
    return float(error.max())


if __name__ == "__main__":
    main()
