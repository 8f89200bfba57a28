"""Moving an organ through another: a force on the outer body moves a point inside the inner one (spec 11.2).

A skin, held at its ends, and a ball below it, held at its bottom, do not touch at first. An instrument presses on the
skin in two places; it meets the ball, and through that contact a point inside the ball is brought to its
target. The controller only works because the contact is part of the inverse problem.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.geometry import Sphere, mesh_shape
from pliant.materials import Corotational

EXPECTED = (0.0, 0.02)  # distance of the inner point from its target [mm]


def robot(cells: int) -> pl.Robot:
    """A skin of 80 x 40 x 6 mm, 1 mm above an organ of 36 mm diameter."""
    skin = pl.TetMesh.box((0.08, 0.04, 0.006), (2 * cells, cells, 1), (-0.04, -0.02, 0.001))
    skin = skin.with_node_set("ends", lambda x: np.abs(x[:, 0]) > 0.0399)
    organ = mesh_shape(Sphere((0.001, 0.002, -0.018), 0.018), 0.03 / cells)
    organ = organ.with_node_set("floor", lambda x: x[:, 2] < -0.024)
    soft = Corotational.from_young(20e3, 0.45, density=1000.0)
    patch = {"centre": (0.0, 0.0, 0.007), "radius": 0.014, "body": "skin"}
    return pl.Robot(
        "organs",
        (pl.SoftBody("skin", skin, soft), pl.SoftBody("organ", organ, soft)),
        (pl.Fixation("ends", "skin"), pl.Fixation("floor", "organ")),
        actuators=(
            pl.PatchForce(name="press", direction=(0, 0, -1), effort_limits=(0.0, 40.0), **patch),
            pl.PatchForce(name="lift", direction=(0, 0, -1), effort_limits=(0.0, 40.0),
                          centre=(0.018, 0.0, 0.007), radius=0.012, body="skin"),
        ),
        points=(pl.Point("inside", (0.0, 0.0, -0.008), "organ"), pl.Point("skin", (0.0, 0.0, 0.007), "skin")),
        source="examples/16_two_bodies.py; spec inverse-fem 11.2, dimensions chosen",
    )  # fmt: skip


def main(quick: bool = False) -> float:
    """Press the inner point 0.4 mm down; returns how far it is from there [mm]."""
    model = pl.FemModel(robot(5 if quick else 6))
    meeting = [pl.BodyContact(body_a=0, body_b=1)]
    start = pl.equilibrium(model, {"press": 0.4}, obstacles=meeting)  # a contact must exist to be used (spec 9.6)
    here = model.locate(start, "inside").position
    target = pl.PointTarget("inside", here + [0.0, 0.0, -0.0004], axes="z")
    command = pl.invert(model, start, target, obstacles=meeting)
    contacts = command.state.contacts
    off = 1e3 * float(np.abs(command.error).max())
    print(f"{model!r}: {command.status}; {off:.1e} mm from the target, {command.iterations} iterations")
    closed = int((contacts.forces > 0).sum())
    print(f"forces {command.effort.round(3)} N; {closed} contacts carry {contacts.forces.sum():.3f} N")
    again = pl.equilibrium(model, command.effort, obstacles=meeting, start=command.state)
    moved = np.linalg.norm(model.locate(again, "inside").position - model.locate(command.state, "inside").position)
    print(f"forward check: {again.status}, {1e3 * moved:.1e} mm")
    if not quick:
        print("wrote", pl.snapshot(model, command.state, "out/two_bodies.png", camera=(-75, 8)))
    return off


if __name__ == "__main__":
    main()
