"""A soft ring that rolls by changing its shape."""

from __future__ import annotations

import math

import numpy as np

from pliant.actuators import Cable
from pliant.bodies import Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import solid_cells, structured
from pliant.robots.parameters import checked


@checked
def rolling_ring(
    *,
    radius: float = 0.050,
    thickness: float = 0.008,
    width: float = 0.020,
    around: int = 82,
    through: int = 2,
    across: int = 2,
    tension: float = 5.0,
    rate: float = math.inf,
    slope: float = 0.0,
    material: Material | None = None,
) -> Robot:
    """A soft ring with four cables across it, which nothing holds; it rolls along x by making itself oval.

    It stands on the ground z = 0 (with a slope, gravity is tilted instead, so that +x leads uphill). The cables
    "across1" to "across4" join opposite points of the ring, at 0, 45, 90 and 135 degrees from +x. A pulled cable makes
    the ring oval, with the short axis along the cable; the ring comes to rest with the short axis upright.

    Numbers and where they come from:
        four cables, barycentre as effector, 2238 DoFs, 9 contacts: spec inverse-fem 13.1 and 18 (after Sugiyama and
            Hirai 2006, who used eight coils).
        dimensions, stiffness (1 MPa) and damping: not published; chosen so that the ring sags little under its own
            weight and 2 N make it visibly oval.
        mesh: 82 x 3 x 3 nodes, 2214 DoFs.

    Args:
        radius: outer radius [m].
        thickness: of the ring, radially [m].
        width: along y [m].
        around: cells around the ring (even).
        through: cells through the thickness.
        across: cells across the width.
        tension: largest tension of a cable [N].
        rate: how fast a tension can change [N/s].
        slope: angle of the ground, uphill along +x [rad].
        material: of the whole body.

    Points: "top", "front" (on the outside), "left", "right" (the two ends of the axle of the lowest point).
    """
    if around < 8 or around % 2 or through < 1 or across < 1:
        raise ArgumentError("around", f"{around} x {through} x {across} cells", "an even number >= 8, 1 x 1")
    if not 0 < thickness < radius:
        raise ArgumentError("thickness", f"{thickness}", "between 0 and the radius [m]")

    def place(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        # the first node lies at the bottom: the ring stands on a row of nodes
        angle = 2 * math.pi * (i % around) / around - 0.5 * math.pi
        r = radius - thickness * (1.0 - j / through)
        y = width * (k / across - 0.5)
        return np.stack([r * np.cos(angle), y, radius + r * np.sin(angle)], axis=1)

    mesh = structured(solid_cells(around, through, across), place)
    soft = Corotational.from_young(1e6, 0.45, density=1100.0, rayleigh_mass=1.0, rayleigh_stiffness=0.02)
    inner = radius - thickness
    cables = []
    for c in range(4):
        x, z = inner * math.cos(0.25 * math.pi * c), inner * math.sin(0.25 * math.pi * c)
        cables.append(
            Cable(
                name=f"across{c + 1}",
                points=((x, 0.0, radius + z), (-x, 0.0, radius - z)),
                drive="effort",
                effort_limits=(0.0, tension),
                rate_limit=rate,
            )
        )
    return Robot(
        "rolling_ring",
        (SoftBody("ring", mesh, material or soft),),
        actuators=tuple(cables),
        points=(
            Point("top", (0.0, 0.0, 2 * radius)),
            Point("front", (radius, 0.0, radius)),
            Point("left", (0.0, 0.5 * width, 0.0)),
            Point("right", (0.0, -0.5 * width, 0.0)),
        ),
        gravity=(-9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope)),
        source="spec inverse-fem 13.1 and 18 (after Sugiyama and Hirai 2006); dimensions and stiffness chosen",
    )
