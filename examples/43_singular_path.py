"""Through a singularity and out of reach: the finger stretches, stops at the nearest point, and comes back.

The path is an L whose second leg ends beyond the stretched finger. Where the target cannot be met the
answer is the nearest point, and its status says so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.learn import FingerManipulator, ell, fit, follow_path, sample

EXPECTED = (0.0, 2.0)


def main(quick: bool = False) -> float:
    """Follow the L; returns how far the answers are from the nearest points, at worst [% of the workspace]."""
    robot = FingerManipulator()
    per_axis = 8 if quick else 12
    data = sample(robot, path=Path("out") / f"finger_{per_axis}.h5", per_axis=per_axis, workers=0)
    model = fit(data, hidden=(20, 20) if quick else (30, 30), iterations=30 if quick else 60)
    corner, beyond = (0.0, 0.8 * robot.length, 0.0), (0.0, 0.35 * robot.length, 0.0)
    targets = ell(corner, first=(-0.02, 0.0, 0.0), second=beyond, count=80)
    path = follow_path(model, targets, start=np.array([1e5, 1e5, 0.5e5]), axes="xy")
    outside = np.linalg.norm(targets, axis=1) > robot.length
    print(f"{sum(s is pl.Status.CONVERGED for s in path.status)} of {len(path)} targets met; last: {path.status[-1]}")
    print(f"largest step between commands: {path.largest_step.max() / 6e5 * 100:.1f} % of the range")
    nearest = np.linalg.norm(targets[outside], axis=1) - robot.length
    return float(np.abs(path.error[outside] - nearest).max() / model.width * 100)


if __name__ == "__main__":
    main()
