"""A mannequin takes three dress sizes: twelve chambers push an elastic skin towards a scanned shape.

What is wanted is a whole surface, not a point: every vertex of the skin should lie on the cloud of the scan, re-paired
at each iteration. `invert` does it with exact sensitivities, where the source takes central differences (24 solves per
iteration). The sizes cannot be met everywhere, since the ribs and the rim hold the skin: the answer is the closest
shape, and its status says so. The poses are checked with finite elements at the same pressures.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

import pliant as pl

EXPECTED = (0.5, 6.0)
SIZES = (10, 12, 14)


def main(quick: bool = False) -> float:
    """Take the sizes one after another; returns the largest root mean square distance to a scan [mm]."""
    robot = pl.robots.mannequin(size=0.045 if quick else 0.030)
    model, fem = pl.GeometricModel(robot), pl.FemModel(robot)
    skin = np.array(robot.soft_body().mesh.node_sets["skin"])
    state = pl.flex(model, np.full(model.nu, 1e3))  # a little pressure: ribs that are pushed do not care which way
    shown, worst = [], 0.0
    for size in SIZES[:1] if quick else SIZES:
        scan = pl.robots.torso_surface(size)
        tree = cKDTree(scan)
        before = tree.query(model.positions(model.rest)[skin])[0]
        command = pl.invert(model, state, pl.ShapeTarget(cloud=scan, vertices=skin))
        state = command.state
        after = tree.query(model.positions(state.q)[skin])[0]
        rms = [1e3 * float(np.sqrt((d**2).mean())) for d in (before, after)]
        worst = max(worst, rms[1])
        print(f"size {size}: {rms[0]:.1f} mm away before, {rms[1]:.1f} mm after (at most {1e3 * after.max():.1f} mm), "
              f"{command.u.min() / 1e3:.1f} to {command.u.max() / 1e3:.1f} kPa, {command.iterations} iterations, "
              f"{command.elapsed:.1f} s; {command.status}")  # fmt: skip
        if not quick:
            reference = pl.equilibrium(fem, command.u, start=state)
            apart = np.linalg.norm((fem.positions(reference.q) - model.positions(state.q))[skin], axis=1).max()
            print(f"   finite elements ({reference.status.name}) differ by {1e3 * apart:.2f} mm at most")
        shown.append((f"size {size}", state, after))
    _draw(model, robot.soft_body().mesh.nodes[skin], shown)
    return worst


def _draw(model: pl.GeometricModel, rest: np.ndarray, shown: list) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(shown), figsize=(4 * len(shown), 6.4), height_ratios=(3, 2), squeeze=False)
    turn = np.degrees(np.arctan2(-rest[:, 1] / 0.79, rest[:, 0]))
    high = 1e3 * max(away.max() for _, _, away in shown)
    for (name, state, away), above, below in zip(shown, *axes):
        above.imshow(pl.viewer.snapshot_image(model, state, size=(840, 840), span=(0.0, 30.0)))
        above.set(title=name)
        above.axis("off")
        dots = below.scatter(turn, 1e3 * rest[:, 2], c=1e3 * away, s=18, vmin=0.0, vmax=high)
        below.set(xlabel="around the front [degrees]", ylabel="height [mm]")
        figure.colorbar(dots, ax=below, label="distance to the scan [mm]")
    figure.tight_layout()
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/mannequin.png", dpi=110)


if __name__ == "__main__":
    main()
