"""Workspace, L and flame paths of the cable finger (X10).

125 forward solves give a cloud of reachable points. The path starts at the nearest of them, then every waypoint starts
from the last: one or two Gauss-Newton steps with exact sensitivities suffice. The source's gradient descent reaches the
same points with many times the forward solves. Part of the last path is out of reach; the finger goes to the boundary.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.inverse.descent import follow_path, sample_workspace
from pliant.models.geometric import GeometricModel
from pliant.robots.notched_finger import notched_finger
from pliant.solve.flex import flex
from pliant.solve.sensitivity import sensitivity

EXPECTED = (0.0, 4.0e-4)
MIX = np.tril(np.ones((3, 3)))  # a shortening per knuckle keeps all cables taut
BOUNDS = (np.full(3, 1e-4), np.full(3, 7e-3))


def main(quick: bool = False) -> float:
    """Follow the paths; returns the largest error on the reachable ones [m]."""
    model = GeometricModel(notched_finger(size=0.02 if quick else 0.0085).but(gravity=(0, 0, 0)))
    space = sample_workspace(model, "corner", BOUNDS, 3 if quick else 5, mix=MIX)
    print(f"{len(space.u)} samples in {space.elapsed:.1f} s, {1e3 * space.width:.0f} mm wide")
    middle = flex(model, MIX @ np.full(3, 3.5e-3))
    centre = model.locate(middle, "corner").position
    # The finger moves easily along one direction and little across it: the paths are drawn in these axes.
    J = sensitivity(model, middle).of("corner")[3:][[0, 2]] @ MIX * 7e-3
    frame, reach, _ = np.linalg.svd(J)
    easy, hard = (0.12 * r * np.array([d[0], 0.0, d[1]]) for r, d in zip(reach, frame.T))
    s, t = np.linspace(0, 1, 5 if quick else 28)[:, None], np.linspace(0, 2 * np.pi, 12 if quick else 85)[:, None]
    paths = {
        "L": np.vstack([centre + s * hard, centre + hard + s[1:] * easy]),
        "flame": centre + np.sin(t) * (0.6 + 0.4 * np.cos(t)) * hard + np.cos(t) * easy,
        "out of reach": centre + np.linspace(0, 1, 8)[:, None] * 8.0 * hard,
    }
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots()
    axis.plot(*(1e3 * space.points[:, [0, 2]].T), ".", color="0.8")
    worst = 0.0
    for name, path in paths.items():
        found = follow_path(model, "corner", path, BOUNDS, workspace=space, threshold=1e-4, axes=(0, 2), mix=MIX)
        reached = np.array([model.locate(f.state, "corner").position for f in found])
        error = np.linalg.norm((reached - path)[:, [0, 2]], axis=1)
        print(f"{name}: {len(path)} points, {sum(f.evaluations for f in found)} forward solves, "
              f"{sum(f.elapsed for f in found):.2f} s, "
              f"error mean {1e3 * error.mean():.3f}, max {1e3 * error.max():.3f} mm")  # fmt: skip
        axis.plot(*(1e3 * path[:, [0, 2]].T), "--", linewidth=1)
        axis.plot(*(1e3 * reached[:, [0, 2]].T), label=name)
        if name != "out of reach":
            worst = max(worst, float(error.max()))
    axis.set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal")
    axis.legend()
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/paths.png", dpi=120)
    return worst


if __name__ == "__main__":
    main()
