"""Point at where the finger should go: six targets, ten times each, in random order, every time from zero.

With `--show` a browser opens on the learned model of the arm, with its whole shape, one slider per chamber
and a target to drag.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from pliant.learn import FingerManipulator, finger_specimen, fit, follow_path, make_plan, record, sample, transfer

EXPECTED = (0.05, 0.9)
TARGETS = 1e5 * np.array(
    [[1.2, 0.8, 1.0], [-1.0, -1.4, -0.6], [2.0, 0.5, 0.4], [0.6, 1.5, 1.0], [-1.8, -0.5, -1.0], [1.0, 1.0, -1.0]]
)


def main(quick: bool = False) -> float:
    """Position the finger; returns the largest error on the robot [% of the workspace]."""
    per_axis = 8 if quick else 12
    data = sample(FingerManipulator(), path=Path("out") / f"finger_{per_axis}.h5", per_axis=per_axis, workers=0)
    learned = fit(data, hidden=(20, 20) if quick else (30, 30), iterations=30 if quick else 60)
    robot = finger_specimen()
    real = transfer(learned, record(robot, make_plan("sobol", learned.ranges, count=150)), curve=False).model
    goals = real.position(TARGETS, "tip")[0]
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(6), 2 if quick else 10))
    errors: dict[int, list[float]] = {}
    spent = 0.0
    for k in order:
        found = follow_path(real, goals[k : k + 1], start=np.full(3, 2e4), axes="xy", flag=False)
        spent += found.elapsed
        robot.send(found.u[0])
        errors.setdefault(int(k), []).append(100 * np.linalg.norm(robot.true_position() - goals[k]) / real.width)
    for k in sorted(errors):
        print(f"target {k + 1}: error {min(errors[k]):.3f} to {max(errors[k]):.3f} % of the workspace")
    print(f"{1e3 * spent / len(order):.3f} ms per target")
    return float(max(max(e) for e in errors.values()))


def show() -> None:
    """Open the viewer on a learned arm with its whole shape."""
    import pliant as pl
    from pliant.learn import chamber_arm

    data = sample(chamber_arm, path=Path("out") / "arm_shape.h5", per_axis=6, workers=0, shape=True)
    model = fit(data, hidden=(16, 16), iterations=25, shape_modes=8)
    pl.view(model, pl.equilibrium(model, model.ranges.mean(axis=1)))


if __name__ == "__main__":
    show() if "--show" in sys.argv else main()
