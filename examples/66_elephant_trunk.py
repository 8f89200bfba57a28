"""An elephant trunk: two soft links with three bellows each bring their gripper to a place.

Energy shaping on a rod with sixteen bending modes, carried out by six pressures: the controller asks for a
generalised
force, the bellows give the nearest one that they can.
"""

from __future__ import annotations

import pliant as pl
from pliant.control import energy_shaping
from pliant.models.basis import legendre
from pliant.models.rod import RodModel
from pliant.robots.elephant_trunk import elephant_trunk, trunk_channels

EXPECTED = (0.0, 6.0)  # mm


def main(quick: bool = False) -> float:
    """Reach; returns the final distance to the target [mm]."""
    arm = RodModel(
        elephant_trunk(), basis=legendre(2, strains=("bend_y", "bend_z", "stretch")), chambers=trunk_channels()
    )
    control = energy_shaping(arm, target=pl.PointTarget("tip", (0.28, 0.10, 0.12)), stiffness=500.0, injection=5.0)
    run = pl.simulate(arm, control, duration=2.0 if quick else 3.0, dt=0.005)
    error = 1e3 * run.error("tip")
    print(f"{run.status[-1]}: {error[0]:.0f} mm -> {error[-1]:.2f} mm, {run.speed:.0f} times real time")
    print("pressures", (1e-3 * run.effort[-1]).round(1), "kPa")
    return float(error[-1])


if __name__ == "__main__":
    main()
