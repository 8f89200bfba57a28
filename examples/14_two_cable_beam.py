"""The piecewise cost of a two-cable beam between obstacles, drawn as a picture (spec 9.8).

For each set of closed contacts the mechanics is linear, so the cost over the two tensions is piecewise quadratic: a
patchwork of regions, one per contact set, continuous across their borders. It can have several local minima. The local
search finds the one downhill of its start; `search="global"` finds the best and proves it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.inverse.qpcc import QPCC, piecewise_cost, solve_qpcc

EXPECTED = (45, 65)  # number of regions in the picture of the quick run
TOP = 12.0  # largest tension [N]


def problem(target: tuple[float, float, float]) -> QPCC:
    """The inverse problem of the straight beam, condensed onto two tensions and the contacts."""
    robot = pl.robots.beam().but(gravity=(0.0, 0.0, 0.0))
    free = (-np.inf, np.inf)
    cables = tuple(
        replace(a, drive="effort", effort_limits=(0.0, TOP), displacement_limits=free) for a in robot.actuators
    )
    model = pl.FemModel(robot.but(actuators=cables))
    posts = [
        pl.Cylinder(a=(0.045, -0.03, -0.0182), b=(0.045, 0.03, -0.0182), radius=0.01, name="below"),
        pl.Cylinder(a=(0.085, -0.03, 0.0195), b=(0.085, 0.03, 0.0195), radius=0.01, name="above"),
    ]
    goal = pl.PointTarget("tip", target, axes="xz")
    return pl.invert(model, None, goal, obstacles=posts, iterations=1, alarm=0.02).problem


def main(quick: bool = False) -> float:
    """Draw the cost; returns the number of contact sets that appear."""
    qpcc = problem((0.099, 0.0, 0.006))
    n = 41 if quick else 161
    axis = np.linspace(0.0, TOP, n)
    picture = piecewise_cost(qpcc, [axis, axis])
    inner = picture.cost[1:-1, 1:-1]
    lower = [np.roll(np.roll(picture.cost, i, 0), j, 1)[1:-1, 1:-1] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    minima = int((inner < np.min(lower, axis=0)).sum())
    local = solve_qpcc(qpcc, search="local")
    best = solve_qpcc(qpcc, search="multistart")
    print(f"{qpcc.contacts} contacts, {len(picture.sets)} contact sets in the picture, {minima} inner local minima")
    print(f"local search: tensions {local.effort.round(3)} N, cost {local.objective:.3e}, {local.pivots} pivots")
    print(f"multistart:   tensions {best.effort.round(3)} N, cost {best.objective:.3e}")
    if not quick:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(11, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        shown = left.pcolormesh(axis, axis, np.log10(picture.cost.T), cmap="viridis", shading="auto")
        figure.colorbar(shown, ax=left, label="log10 of the cost [m^2]")
        right.pcolormesh(axis, axis, picture.region.T, cmap="tab20", shading="auto")
        for axes, title in ((left, "cost"), (right, "contact set")):
            axes.plot(*local.effort, "w^", ms=9, mec="k", label="local", clip_on=False, zorder=3)
            axes.plot(*best.effort, "w*", ms=13, mec="k", label="best", clip_on=False, zorder=3)
            axes.set(title=title, xlabel="tension of the top cable [N]", ylabel="tension of the bottom cable [N]")
        left.legend()
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/two_cable_beam.png", dpi=110)
        print("wrote out/two_cable_beam.png")
    return float(len(picture.sets))


if __name__ == "__main__":
    main()
