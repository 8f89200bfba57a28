"""A redundant finger manipulator draws an eight in two ways, both smooth; direct inverse learning cannot.

Three finger sections reach a plane: three commands, two coordinates. Starting from two different commands
gives two families of motions. A network trained from position straight to command averages incompatible
solutions instead. Full size uses the 29^3 grid and the 3 x 30 neurons of the paper.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.learn import FingerManipulator, eight, fit, fit_direct, follow_path, sample

EXPECTED = (0.1, 3.0)
STARTS = (np.array([-2.0e5, 1.5e5, 1.0e5]), np.array([-2.2e5, -0.6e5, -0.4e5]))


def main(quick: bool = False) -> float:
    """Learn and draw; returns the largest step between neighbouring commands, as a share of the range [%]."""
    robot = FingerManipulator()
    per_axis, hidden, iterations = (8, (20, 20), 30) if quick else (15, (30, 30, 30), 60)
    data = sample(robot, path=Path("out") / f"finger_{per_axis}.h5", per_axis=per_axis, workers=0)
    model = fit(data, hidden=hidden, iterations=iterations)
    print(f"held-out error: max {100 * model.facts['test']['tip']['max_share']:.3f} % of the workspace")
    targets = eight((-0.014, 0.028, 0.0), width=0.012, height=0.016)

    def true_error(u: np.ndarray) -> np.ndarray:
        reached = np.array([robot.place(x, "tip").position for x in u])
        return 100 * np.linalg.norm(reached - targets, axis=1) / model.width

    steps = []
    for start in STARTS:
        path = follow_path(model, targets, start=start, axes="xy")
        steps.append(float(path.largest_step.max() / 6e5 * 100))
        e = true_error(path.u)
        print(
            f"from {start / 1e5} bar: first command {np.round(path.u[0] / 1e5, 2)} bar, all met: {path.ok}, "
            f"largest step {steps[-1]:.2f} % of the range, true error mean {e.mean():.3f} % max {e.max():.3f} %"
        )
    direct = fit_direct(data.u, data.position[:, 0], ranges=data.ranges, hidden=(20, 20), iterations=40)(targets)
    e = true_error(direct.u)
    print(f"direct inverse learning: true error mean {e.mean():.1f} % max {e.max():.1f} % of the workspace")
    return max(steps)


if __name__ == "__main__":
    main()
