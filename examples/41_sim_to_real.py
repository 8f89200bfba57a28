"""Correct a learned arm with a hundred measurements of the real one.

Two printed copies of the arm differ from the design and from each other: material, chambers, mount,
hysteresis. Commands learned in simulation miss by 5 mm and more; after `transfer` both follow the flower
and the box within 1.2 mm. The robots are virtual here; a real one needs only `send` and `read` (see
`pliant.learn.HardwareLink`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.learn import chamber_arm, fit, follow_path, make_plan, record, sample, specimen, transfer
from pliant.learn.comparison import execute
from pliant.learn.paths import arm_box, arm_flower

EXPECTED = (0.05, 1.2)


def main(quick: bool = False) -> float:
    """Both specimens, both paths; returns the largest error after the transfer [mm]."""
    per_axis = 5 if quick else 8
    data = sample(chamber_arm, path=Path("out") / f"arm_{per_axis}.h5", per_axis=per_axis, workers=0)
    learned = fit(data, hidden=(12, 12) if quick else (25, 25), iterations=25)
    start = learned.ranges.mean(axis=1)
    worst = 0.0
    for number in (1, 2):
        robot = specimen(number)
        measurements = record(robot, make_plan("sobol", learned.ranges, count=100))
        found = transfer(learned, measurements, curve=not quick)
        print(f"specimen {number}: {found.report}")
        for name, targets in (("flower", arm_flower(60 if quick else 120)), ("box", arm_box(60 if quick else 240))):
            errors = []
            for model in (learned, found.model):
                path = follow_path(model, targets, start=start)
                errors.append(1e3 * np.linalg.norm(execute(robot, path.u) - targets, axis=1))
            before, after = errors
            print(
                f"  {name}: {before.mean():.2f} mm (max {before.max():.2f}) without, "
                f"{after.mean():.2f} mm (max {after.max():.2f}) with the correction"
            )
            worst = max(worst, float(after.max()))
    return worst


if __name__ == "__main__":
    main()
