"""Workspace, L and flame paths of the cable finger (X10).

125 forward solves give a cloud of reachable points (3375 the dense one). The path starts at the nearest of them, then
every waypoint starts from the last: one or two Gauss-Newton steps with exact sensitivities suffice. Looking up the
nearest sample instead is off by up to 4 mm, and by 0.9 mm among 3375. Part of the last path is out of reach; the finger
goes to the boundary of its workspace, and the status of those waypoints says so.

Every knuckle has its own tendon, in a sheath up to it; all bend to the same side, so the workspace of the corner is a
crescent, 15 mm wide where each knuckle bends by half a right angle. The paths lie there, 16 and 24 mm long. (The
notches are those of `22_cable_fingers`, wide and with thin hinges; the source publishes neither its finger's geometry
nor the size of its paths.)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.inverse.descent import Workspace, follow_path, sample_workspace

EXPECTED = (0.0, 2.0e-4)
BOUNDS = (np.full(3, 1e-4), np.full(3, 20e-3))
NOTCHES = {"pitch": 0.0115, "opening": 0.0100, "root": 0.0055, "depth": 0.0222, "cable_depth": 0.0235}


def main(quick: bool = False) -> float:
    """Follow the paths; returns the largest error on the reachable ones [m]."""
    robot = pl.robots.notched_finger(size=0.02 if quick else 0.0085, sheathed=True, **NOTCHES)
    model = pl.GeometricModel(robot.but(gravity=(0, 0, 0)))
    clouds = [sample_workspace(model, "corner", BOUNDS, n, workers=w) for n, w in ((5, 1), (15, 2))[: 2 - quick]]
    for space in clouds:
        print(f"{len(space.u)} samples in {space.elapsed:.1f} s, {1e3 * space.width:.0f} mm wide")
    answers = {}
    for name, path in waypoints(5 if quick else 1).items():
        found = follow_path(model, "corner", path, BOUNDS, workspace=clouds[0], threshold=2e-4, axes=(0, 2))
        reached = np.array([model.locate(f.state, "corner").position for f in found])
        error = np.linalg.norm((reached - path)[:, [0, 2]], axis=1)
        lookup = [1e3 * max(np.linalg.norm((c.points[c.nearest(p)] - p)[[0, 2]]) for p in path) for c in clouds]
        print(f"{name}: {len(path)} points, {sum(f.status is pl.Status.CONVERGED for f in found)} reached, "
              f"{sum(f.evaluations for f in found)} forward solves, {sum(f.elapsed for f in found):.2f} s, error mean "
              f"{1e3 * error.mean():.3f}, max {1e3 * error.max():.3f} mm; nearest samples: max "
              + ", ".join(f"{e:.1f} mm" for e in lookup))  # fmt: skip
        answers[name] = path, reached, error
    _draw(clouds, answers)
    return float(max(error.max() for name, (*_, error) in answers.items() if name != "out of reach"))


def waypoints(stride: int) -> dict[str, np.ndarray]:
    """Paths in the plane of the finger [m] (n, 3): 55 points, 85 points, and a line that leaves the workspace."""
    leg, t = np.linspace(0.0, 1.0, 28)[::stride], np.linspace(0.0, 2 * np.pi, 85)[::stride]
    down = np.stack([68.0 + 0 * leg, -58.0 - 16.0 * leg], axis=1)
    aside = np.stack([68.0 + 6.0 * leg[1:], -74.0 + 0 * leg[1:]], axis=1)
    upright = np.stack([12.0 * np.cos(t), 4.5 * np.sin(t) * (1.0 - 0.5 * np.cos(t))], axis=1)
    flame = [69.0, -66.0] + upright @ np.array([[0.45, 0.89], [0.89, -0.45]])  # it leans as the crescent does
    line = np.stack([np.linspace(69.0, 99.0, 15), np.full(15, -66.0)], axis=1)
    paths = {"L": np.vstack([down, aside]), "flame": flame, "out of reach": line}
    return {name: 1e-3 * np.insert(p, 1, -12.5, axis=1) for name, p in paths.items()}


def _draw(clouds: list[Workspace], answers: dict[str, tuple[np.ndarray, ...]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (whole, near) = plt.subplots(1, 2, figsize=(10, 5.4))
    for axis in (whole, near):
        for space, colour, size in list(zip(clouds, ("0.5", "0.85"), (4, 1)))[::-1]:
            axis.plot(*(1e3 * space.points[:, [0, 2]].T), ".", color=colour, ms=size, label=f"{len(space.u)} samples")
        for name, (path, reached, _) in answers.items():
            axis.plot(*(1e3 * path[:, [0, 2]].T), "k--", linewidth=0.8)
            axis.plot(*(1e3 * reached[:, [0, 2]].T), ".-", ms=3, linewidth=1.2, label=name)
        axis.set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal")
    whole.set_title("workspace of the corner")
    near.set(title="paths wanted (dashed) and reached", xlim=(55, 102), ylim=(-82, -50))
    near.legend(fontsize=8)
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/paths.png", dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
