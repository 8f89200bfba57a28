"""A moving obstacle: the tip holds its place while a cylinder is pushed into the trunk.

In the thesis the cylinder was moved by hand and tracked. Here its motion is a function of time; a control loop solves
one linearisation per cycle at a fixed rate and streams the strokes to a sink, with statistics of its deadlines.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.inverse.loop import run_loop

EXPECTED = (1e-11, 0.001)  # largest drift of the tip [mm]; without contact it would be rounding


def main(quick: bool = False) -> float:
    """Push a cylinder 12 mm into the trunk within a second; returns the largest drift of the tip [mm]."""
    model = pl.FemModel(pl.robots.trunk())
    rest = pl.equilibrium(model)
    hold = model.locate(rest, "tip").position - [0.0, 0.0, 0.002]
    start = pl.invert(model, rest, pl.PointTarget("tip", hold)).state

    def motion(t: float) -> pl.contact.Pose:
        return pl.contact.Pose((-0.012 * min(t, 1.0), 0.0, 0.0))

    post = pl.Cylinder(a=(0.034, -0.06, 0.10), b=(0.034, 0.06, 0.10), radius=0.012, motion=motion)
    sent: list[dict] = []
    drift: list[float] = []

    def source(t: float, state: pl.State) -> pl.PointTarget:
        drift.append(float(np.linalg.norm(model.locate(state, "tip").position - hold)))
        return pl.PointTarget("tip", hold)

    rate = 20.0 if quick else 50.0
    report = run_loop(
        model, source, lambda t, u, status: sent.append(dict(u)), rate=rate, state=start, obstacles=[post],
        duration=1.2, sleep=lambda seconds: None, clock=_virtual_clock(rate),
    )  # fmt: skip
    force = report.state.contacts.forces.sum()
    print(f"{len(sent)} commands sent at {rate:g} Hz; contact force {force:.2f} N at the end")
    print(f"largest drift of the tip {1e3 * max(drift):.2e} mm, at the end {1e3 * drift[-1]:.1e} mm")
    print(f"statuses {dict(report.status)}, answers held back: {report.held}")
    if not quick:
        where = [post.at(1.2)]
        print("wrote", pl.snapshot(model, report.state, "out/moving_obstacle.png", obstacles=where, camera=(-70, 12)))
    return 1e3 * max(drift)


def _virtual_clock(rate: float):
    """A clock that advances by a period per cycle, so that the example does not depend on the machine."""
    calls = iter(range(10**9))
    return lambda: next(calls) / (3.0 * rate)


if __name__ == "__main__":
    main()
