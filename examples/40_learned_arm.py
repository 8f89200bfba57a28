"""Learn a soft arm and follow a flower in microseconds per waypoint.

A three-chamber arm is sampled in simulation (every sample with its exact Jacobian), learned, and asked to
follow a flower of 120 waypoints. The last column is what the simulator itself says about the learned
commands. Full size uses the 16^3 samples and the 2 x 35 neurons of the paper.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.learn import chamber_arm, fit, follow_path, sample
from pliant.learn.paths import arm_flower

EXPECTED = (0.0, 0.19)


def main(quick: bool = False) -> float:
    """Sample, learn, follow; returns the mean error of the path in the simulator [% of the workspace]."""
    per_axis, hidden, iterations = (5, (12, 12), 20) if quick else (16, (35, 35), 40)
    begin = time.perf_counter()
    data = sample(
        chamber_arm,
        path=Path("out") / f"arm_{per_axis}.h5",
        per_axis=per_axis,
        workers=0 if quick else None,
        progress=not quick,
    )
    print(f"{len(data)} samples in {time.perf_counter() - begin:.1f} s, workspace {1e3 * data.width:.1f} mm wide")
    model = fit(data, hidden=hidden, iterations=iterations)
    test = model.facts["test"]["tip"]
    print(f"held-out error: mean {1e6 * test['mean']:.2f} um, max {100 * test['max_share']:.4f} % of the workspace")
    model.save(Path("out") / "arm.pliant")

    targets = arm_flower()
    start = model.ranges.mean(axis=1)
    follow_path(model, targets[:2], start=start)  # compiles
    path = follow_path(model, targets, start=start)
    truth = chamber_arm()
    reached = [truth.locate(pl.equilibrium(truth, u).q, "tip").position for u in path.u]
    error = np.linalg.norm(reached - targets, axis=1) / model.width * 100
    print(f"flower: {1e6 * path.time_per_target:.1f} us per waypoint, all met: {path.ok}")
    print(f"in the simulator: mean error {error.mean():.4f} %, largest {error.max():.4f} % of the workspace")
    return float(error.mean())


if __name__ == "__main__":
    main()
