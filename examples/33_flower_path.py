"""The three-chamber arm: where each chamber takes the tip, and a flower drawn by the inverse (X6, X11).

First the tip path as one, two and three chambers are filled, on three meshes: linear elements are too stiff for thin
folded walls, and quadratic ones say by how much (48 mm aside instead of 17). With those the flower of the source is
drawn at its size: three petals, their tips 40 mm from the axis and 12 mm below the apex. `follow` needs about seven
linearisations per waypoint with exact sensitivities; the source took 138 s per waypoint, about 32 forward solves.
Waypoints of the answer are solved again forwards, from the unloaded arm.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (0.0, 0.01)


def main(quick: bool = False) -> float:
    """Sweep the chambers, follow the flower; returns the largest tracking error of the forward check [mm]."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 4.6))
    reach, above = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    meshes = [("linear", 0.0065, "o-"), ("linear", 0.0045, ".--"), ("quadratic", 0.011, "s-")]
    for element, size, style in meshes[:1] if quick else meshes:
        model = pl.GeometricModel(pl.robots.three_chamber_arm(size=size).but(gravity=(0, 0, 0)), element=element)
        for count in (1,) if quick else (1, 2, 3):
            state, tips = None, []
            for pressure in np.linspace(0.0, 240e3, 3 if quick else 7):
                state = pl.flex(model, pressure * (np.arange(3) < count), start=state)
                tips.append(1e3 * model.locate(state, "tip").position)
            path = np.array(tips)
            side = np.hypot(path[:, 0], path[:, 1])
            print(f"{element}, {model.nodes} nodes, {count} chambers at 240 kPa: {side[-1]:.1f} mm aside, "
                  f"{path[-1, 2] - path[0, 2]:+.1f} mm up, {state.status.name}")  # fmt: skip
            reach.plot(side, path[:, 2], style, label=f"{count} chambers, {element}, {model.nodes} nodes")
    reach.set(xlabel="distance from the axis [mm]", ylabel="height [mm]", title="tip, chambers filled to 240 kPa")
    reach.legend(fontsize=7)

    middle = pl.flex(model, np.full(3, 190e3))
    apex = model.locate(middle, "tip").position
    scale = 0.25 if quick else 1.0  # linear elements are too stiff for the whole flower
    path = pl.learn.flower(
        apex, radius=scale * 0.040, half_width=scale * 0.012, drop=scale * 0.012, count=4 if quick else 36
    )
    run = pl.follow(model, path, start=middle)
    checked = np.array([model.locate(pl.flex(model, u), "tip").position for u in run.u[::5]])
    error = 1e3 * np.linalg.norm(checked - path[::5], axis=1).max()
    print(f"flower: {len(path)} waypoints, each {run.elapsed.mean():.2f} s, {run.iterations.mean():.1f} iterations; "
          f"{sum(s.ok for s in run.status)} converged, {run.u.min() / 1e3:.0f} to {run.u.max() / 1e3:.0f} kPa, "
          f"largest error {1e3 * run.error('tip').max():.1e} mm, solved forwards from rest {error:.1e} mm")  # fmt: skip
    above.plot(*(1e3 * path.T), "k--", linewidth=1, label="wanted")
    above.plot(*(1e3 * run.points["tip"].T), ".", label="reached")
    above.set(xlabel="x [mm]", ylabel="y [mm]", zlabel="z [mm]", title="flower")
    above.legend(fontsize=7)
    figure.tight_layout()
    out = Path("out")
    out.mkdir(exist_ok=True)
    figure.savefig(out / "flower_path.png", dpi=110)
    pl.snapshot(model, run[len(run) // 6], out / "flower_arm.png", title="at the tip of a petal")
    return float(error)


if __name__ == "__main__":
    main()
