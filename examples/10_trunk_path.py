"""A trunk follows a path: eight cables, one point, every waypoint solved to convergence.

`follow` starts each waypoint from the one before; with eight cables for three coordinates there are many solutions, and
the one that changes least is taken, so the cables move smoothly. No cable pushes and every stroke stays in its limits.
The result is a `Trajectory`: it can be saved, plotted, replayed, and sent to a robot.
"""

from __future__ import annotations

import numpy as np

import pliant as pl

EXPECTED = (0.0, 1e-3)  # largest distance of the tip from its path [mm]


def eight(n: int, tip: np.ndarray) -> np.ndarray:
    """A figure of eight of 60 x 40 mm around a point below the tip (n, 3)."""
    t = np.linspace(0.0, 2.0 * np.pi, n)
    return tip + np.stack([0.03 * np.sin(t), 0.02 * np.sin(2 * t), -0.012 + 0.004 * np.cos(t)], axis=1)


def main(quick: bool = False) -> float:
    """Follow a figure of eight; returns the largest distance of the tip from it [mm]."""
    model = pl.FemModel(pl.robots.trunk())
    rest = pl.equilibrium(model)
    path = eight(9 if quick else 61, model.locate(rest, "tip").position)
    run = pl.follow(model, path, start=rest)
    error = 1e3 * run.error("tip")
    print(f"{model!r}: {len(run)} waypoints, {sum(s.ok for s in run.status)} solved")
    print(f"error: largest {error.max():.1e} mm; {1e3 * np.median(run.elapsed):.1f} ms per waypoint")
    print(f"tensions {run.effort.min():.3f} to {run.effort.max():.3f} N, strokes up to {1e3 * run.u.max():.1f} mm")
    # An independent forward solve: the strokes alone bring the tip back to the path.
    again = pl.equilibrium(model, run.u[len(run) // 3], start=rest)
    print(f"forward check: {1e3 * np.linalg.norm(model.locate(again, 'tip').position - path[len(run) // 3]):.1e} mm")
    if not quick:
        print("wrote", run.save("out/trunk_path.npz"))
        pose, picture = run[len(run) // 4], "out/trunk_path.png"
        print("wrote", pl.snapshot(model, pose, picture, marks=path, title="trunk on its path", camera=(-55, 32)))
        ranges = {f"long{i}": (0.0, 0.03) for i in range(1, 5)}
        space = pl.workspace(model, ranges=ranges, samples=120)
        print("wrote", space.plot("out/trunk_workspace.png"), f"({len(space.reached)} points reached)")
    return float(error.max())


if __name__ == "__main__":
    main()
