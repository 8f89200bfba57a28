"""The catheter: a thin rod bent by four cables and pushed in along its axis."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Cable, Slide
from pliant.bodies import Point, RodBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.parameters import checked

SIDES = {"up": (0.0, 1.0), "left": (1.0, 0.0), "down": (0.0, -1.0), "right": (-1.0, 0.0)}


@checked
def catheter(
    *,
    length: float = 0.100,
    radius: float = 0.0015,
    offset: float = 0.0012,
    stations: int = 11,
    insertion: float = 0.150,
    material: Material | None = None,
) -> Robot:
    """A catheter with four cables and an insertion axis, for `BeamModel` (and, without insertion, `RodModel`).

    It lies along +x. "up" (+z), "left" (+y), "down" and "right" bend it towards their side; "insert" pushes its base
    along +x. The cables start at the base and move with it, so that insertion alone does not pull them.

    Numbers and where they come from:
        11 nodes with 6 degrees of freedom, 4 cables and 1 insertion, tip as effector: spec inverse-fem 11.1 and 18,
        which took its catheter from Ataollahi et al. 2016.
        radius 1.5 mm: a 9 French tube, usual for steerable catheters.
        length, offset of the cables, insertion, stiffness (20 MPa, 0.45, 1100 kg/m^3: a polyether block amide
        tube made soft): not published with the scene; chosen so that 3 mm of cable bends the tip by more than a
        right angle.

    Args:
        length: of the rod [m].
        radius: outer radius [m].
        offset: distance of the cables from the axis [m].
        stations: points along the rod that guide the cables; 11 nodes with BeamModel's default of 10 elements.
        insertion: how far the base can be pushed in [m].
        material: of the rod.

    Points: "tip", "middle".
    """
    if not 0.0 < offset <= radius:
        raise ArgumentError("offset", f"{offset}", "a distance in (0, radius] [m]")
    if stations < 2:
        raise ArgumentError("stations", f"{stations}", "at least 2")
    body = RodBody(
        "catheter", length, radius, material or Corotational.from_young(20e6, 0.45, density=1100.0), damping=0.02
    )
    x = np.linspace(0.0, length, stations)
    cables = tuple(
        Cable(
            name=name,
            points=tuple((float(s), offset * y, offset * z) for s in x),
            displacement_limits=(-3.0 * offset, 3.0 * offset),
            effort_limits=(0.0, 50.0),
        )
        for name, (y, z) in SIDES.items()
    )
    insert = Slide(name="insert", part="catheter", axis=(1, 0, 0), displacement_limits=(0.0, insertion))
    return Robot(
        "catheter",
        (body,),
        actuators=(*cables, insert),
        points=(Point("tip", (length, 0.0, 0.0)), Point("middle", (0.5 * length, 0.0, 0.0))),
        source="spec inverse-fem 11.1 and 18 (after Ataollahi et al. 2016); stiffness and length chosen",
    )
