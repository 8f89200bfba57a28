"""What a payload and speed do to a learned arm, and how to get the accuracy back.

A mass at the tip makes the old correction wrong: retraining it, or teaching it the load, or adapting
online brings the accuracy back. A drive that lags costs accuracy with speed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.learn import Adapter, chamber_arm, fit, follow_path, make_plan, record, sample, specimen, transfer
from pliant.learn.comparison import execute
from pliant.learn.paths import arm_flower

EXPECTED = (0.05, 0.7)


def main(quick: bool = False) -> float:
    """All studies; returns the mean error with the load as an input, at a load never measured [mm]."""
    per_axis, count = (5, 50) if quick else (8, 100)
    data = sample(chamber_arm, path=Path("out") / f"arm_{per_axis}.h5", per_axis=per_axis, workers=0)
    learned = fit(data, hidden=(12, 12), iterations=25)
    start, targets = learned.ranges.mean(axis=1), arm_flower(40 if quick else 120)

    def error(robot, model, seconds: float = np.inf) -> float:
        path = follow_path(model, targets, start=start)
        robot.send(path.u[0])
        return 1e3 * float(np.linalg.norm(execute(robot, path.u, seconds) - targets, axis=1).mean())

    robot = specimen(1)
    parts = []
    for load in (0.0, 0.04, 0.08):
        robot.load(load)
        plan = make_plan("sobol", learned.ranges, count=count, seed=int(1e3 * load))
        parts.append(record(robot, plan, load=(load,)))
    free = transfer(learned, parts[0], curve=False).model
    knowing = transfer(learned, parts[0].and_also(parts[1]).and_also(parts[2]), curve=False).model
    robot.load(0.06)
    print(f"60 g, correction without load: {error(robot, free):.3f} mm")
    adapter = Adapter(free)
    for u in make_plan("latin", learned.ranges, count=20, seed=1):
        robot.send(u)
        adapter.update(u, robot.read())
    print(f"60 g, adapted online by 20 measurements: {error(robot, adapter.model):.3f} mm")
    informed = error(robot, knowing.with_load(0.06))
    print(f"60 g, load as an input (measured at 0, 40 and 80 g): {informed:.3f} mm")

    slow = specimen(1, lag=0.35)
    step = float(np.linalg.norm(np.diff(targets, axis=0), axis=1).mean())
    for speed in (0.5e-3, 1.5e-3, 4e-3):
        print(f"{1e3 * speed:.1f} mm/s with a lag of 0.35 s: {error(slow, free, step / speed):.3f} mm")
    return informed


if __name__ == "__main__":
    main()
