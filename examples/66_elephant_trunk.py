"""An elephant trunk: two soft links with three bellows each bring their gripper to a place.

Energy shaping on a rod with three functions for each of bending and stretch, carried out by six pressures: the
controller asks for a generalised force, the bellows give the nearest one that they can.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.control import energy_shaping

EXPECTED = (0.0, 6.0)  # mm
TARGET = (0.28, 0.10, 0.12)


def main(quick: bool = False) -> float:
    """Reach; returns the final distance to the target [mm]."""
    arm = pl.RodModel(
        pl.robots.elephant_trunk(),
        basis=pl.basis.legendre(2, strains=("bend_y", "bend_z", "stretch")),
        chambers=pl.robots.trunk_channels(),
    )
    control = energy_shaping(arm, target=pl.PointTarget("tip", TARGET), stiffness=500.0, injection=5.0)
    run = pl.simulate(arm, control, duration=2.0 if quick else 3.0, dt=0.005)
    error = 1e3 * run.error("tip")
    print(f"{run.status[-1]}: {error[0]:.0f} mm -> {error[-1]:.2f} mm, {run.speed:.0f} times real time")
    print("pressures", (1e-3 * run.effort[-1]).round(1), "kPa")
    if not quick:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
        for i in np.linspace(0, len(run) - 1, 12).astype(int):
            x = 1e3 * arm.skin_positions(run.q[i])
            axes[0].plot(x[:, 0], x[:, 2], color=plt.cm.viridis(i / len(run)))
        axes[0].plot(1e3 * TARGET[0], 1e3 * TARGET[2], "r*", ms=12)
        axes[0].set(title="seen from the side, dark to bright", xlabel="x [mm]", ylabel="z [mm]", aspect="equal")
        axes[1].plot(run.time, 1e-3 * run.effort)
        axes[1].set(title="pressures of the bellows", xlabel="time [s]", ylabel="[kPa]")
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/elephant_trunk.png", dpi=130)
        print("wrote out/elephant_trunk.png")
    return float(error[-1])


if __name__ == "__main__":
    main()
