"""Four ways to invert a soft robot, and ours, on the same robot and the same path, in one table and one page.

Analytical model, simulator in the loop, direct inverse learning, the learned Jacobian with transfer (the
paper), and bounded Gauss-Newton with the best transfer (ours). All are judged on a virtual specimen.
Writes out/report.html.
"""

from __future__ import annotations

from pathlib import Path

from pliant.learn import (
    ConstantCurvatureArm,
    chamber_arm,
    fit,
    make_plan,
    record,
    sample,
    specimen,
    transfer,
    write_report,
)
from pliant.learn.comparison import compare_methods, table
from pliant.learn.paths import arm_flower

EXPECTED = (0.005, 0.2)


def main(quick: bool = False) -> float:
    """The table; returns the mean error of our method on the robot, hysteresis compensated [mm]."""
    per_axis = 5 if quick else 8
    data = sample(chamber_arm, path=Path("out") / f"arm_{per_axis}.h5", per_axis=per_axis, workers=0)
    hidden = (12, 12) if quick else (35, 35)
    learned = fit(data, hidden=hidden, iterations=25, jacobian_network=hidden)
    robot, targets = specimen(1), arm_flower(24 if quick else 120)
    measurements = record(robot, make_plan("sobol", learned.ranges, count=100 if quick else 343))
    rows = compare_methods(
        learned,
        robot,
        targets,
        measurements,
        analytical=ConstantCurvatureArm(),
        numerical=chamber_arm(),
        numerical_targets=4 if quick else None,
    )
    print(table(rows))
    real = transfer(learned, measurements, curve=not quick).model
    paths = {r.name: (targets[: len(r.reached)], r.reached) for r in rows[2:]}
    page = write_report(Path("out") / "report.html", real, data=data, comparison=rows, paths=paths)
    print(f"wrote {page}")
    return 1e3 * rows[-1].mean


if __name__ == "__main__":
    main()
