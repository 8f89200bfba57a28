"""Your own robot: from a shape to a simulated actuator, saved to a folder and loaded again.

The body is a signed-distance shape: a block with rounded edges, and an air chamber inside. `mesh_shape` makes
conforming tetrahedra of it; the wall of the chamber consists of faces of the body, so pressure acts where the material
is. A region on one side gets a stiffer material, which stretches less: pressure bends the body towards that side.

`Robot.save` writes a readable `robot.toml` with the mesh beside it; `Robot.load` checks everything and reports all
mistakes at once. The same folder works from the shell: `pliant simulate out/bender --set chamber=12kPa`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.geometry import Box, HalfSpace, mesh_shape
from pliant.materials import preset

EXPECTED = (1.0, 40.0)  # mm that the tip moves towards the stiff side


def bender(size: float) -> pl.Robot:
    """A silicone block of 20 x 20 x 80 mm hanging from z = 0, with one chamber and a stiff side at -x."""
    body = Box((-0.008, -0.008, -0.078), (0.008, 0.008, -0.002)).offset(0.002)  # edges rounded by 2 mm
    chamber = Box((-0.004, -0.005, -0.073), (0.005, 0.005, -0.008))
    stiff_side = HalfSpace((-0.007, 0.0, 0.0), (1.0, 0.0, 0.0))  # everything below x = -7 mm
    mesh = mesh_shape(body, size, cavities={"chamber": chamber}, regions={"stiff": stiff_side})
    mesh = mesh.with_node_set("base", lambda x: x[:, 2] > -0.0025)
    print(f"{len(mesh.nodes)} nodes, {len(mesh.tets)} tets, chamber {1e6 * mesh.cavity_volume('chamber'):.2f} ml")
    soft, stiff = preset("ecoflex-00-50"), preset("dragon-skin-30")
    return pl.Robot(
        "bender",
        (pl.SoftBody("body", mesh, soft, {"stiff": stiff}),),
        fixations=(pl.Fixation("base"),),
        actuators=(pl.Chamber(name="chamber", effort_limits=(0.0, 20e3)),),
        points=(pl.Point("tip", (0.0, 0.0, -0.080)),),
        source="examples/02_own_robot.py; dimensions chosen",
    )


def main(quick: bool = False) -> float:
    """Describe, save, load, inflate; returns how far the tip moves to the side [mm]."""
    file = bender(0.003).save("out/bender")
    robot = pl.Robot.load(file)  # what is simulated is what is in the file
    model = pl.FemModel(robot)
    run = pl.sweep(model, [{"chamber": p} for p in np.linspace(0.0, 12e3, 2 if quick else 7)])
    tip = run.points["tip"]
    for pressure, volume, x, status in zip(run.effort[:, 0], run.displacement[:, 0], tip, run.status):
        place = " ".join(f"{1e3 * c:6.2f}" for c in x)
        print(f"{pressure / 1e3:5.1f} kPa  {1e6 * volume:6.3f} ml gained  tip {place} mm  {status}")
    print("robot in", file, "and the motion in", run.save(Path("out/bender.npz")))
    if not quick:
        print("wrote", pl.export_html(model, run, "out/bender.html"))
    return 1e3 * float(tip[0, 0] - tip[-1, 0])


if __name__ == "__main__":
    main()
