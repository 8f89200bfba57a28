"""The four-segment honeycomb arm of the rigid-link paper."""

from __future__ import annotations

import math

import numpy as np

from pliant.actuators import Chamber
from pliant.bodies import Point, RodBody
from pliant.checks import positive
from pliant.materials import Linear
from pliant.models.rod_drives import ChamberPath
from pliant.robot import Robot
from pliant.robots.parameters import checked

LEVER = 0.03
AREA = 2.0e-3
_CORNERS = ((-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))
"""Where the airbag groups 1 to 4 of a segment are, in the (x, y) axes of its link frame."""


@checked
def four_segment_arm(
    *,
    payload: float = 0.0,
    segments: int = 4,
    length: float = 0.15,
    width: float = 0.10,
    young: float = 1e6,
    density: float = 1000.0,
    damping: float = 0.15,
    pressure: float = 2.5e5,
    gravity: bool = True,
) -> Robot:
    """A pneumatic arm of four segments with four airbag groups each, hanging straight down.

    Numbers and where they come from (dossier rigid-link-arm, 4.1, 4.2):
        four segments of 150 mm, square section 100 mm, 1000 kg/m^3, 1 MPa, Poisson ratio 0.5, 0 to 2.5 bar,
        payloads of 0 to 500 g: published.
        A rod has a round section: a tube with the area and the second moment of the square stands for it, so
            that EA
        = 10 kN, EI = 8.333 N m^2, GJ = 5.556 N m^2 as derived there.
        airbag area 20 cm^2, lever arm 30 mm, damping time 0.15 s: not published; chosen.

    Args:
        payload: mass at the tip [kg].
        segments: number of segments.
        length: of a segment [m].
        width: of the square section [m].
        young: Young's modulus [Pa].
        density: of the body [kg/m^3].
        damping: viscosity relative to the stiffness [s].
        pressure: largest pressure [Pa].
        gravity: whether there is gravity.

    Actuators: "s1p1" to "s4p4", airbag groups of each segment. Points: "frame1" to "frame4" at the ends of
        the
    segments and "tip", with z along the arm (y is the world's y, x is minus the world's x at rest).
    """
    width = positive("width", width)
    area, second = width**2, width**4 / 12
    outer, inner = (math.sqrt(2 * second / area + s * area / (2 * math.pi)) for s in (1, -1))
    # Poisson's ratio 0.5: the shear modulus E/3; the rod uses no bulk modulus, but the law asks for less
    # than 0.5
    material = Linear.from_young(young, 0.4999, density=density)
    down = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
    bodies = tuple(
        RodBody(
            f"segment{i + 1}",
            length,
            outer,
            material,
            inner_radius=inner,
            rotation=down if i == 0 else (1.0, 0.0, 0.0, 0.0),
            parent=f"segment{i}" if i else "",
            damping=damping,
            tip_mass=payload if i == segments - 1 else 0.0,
        )
        for i in range(segments)
    )
    actuators = tuple(
        Chamber(name=f"s{i + 1}p{j + 1}", effort_limits=(0.0, pressure), body=f"segment{i + 1}")
        for i in range(segments)
        for j in range(4)
    )
    # The frame of a link has its z axis along the arm: at rest Ry(pi).
    turned = (0.0, 0.0, 1.0, 0.0)
    points = [
        Point(f"frame{i + 1}", (0.0, 0.0, -(i + 1) * length), f"segment{i + 1}", turned)
        for i in range(segments)
    ]
    points.append(Point("tip", (0.0, 0.0, -segments * length), f"segment{segments}", turned))
    return Robot(
        "four_segment_arm",
        bodies,
        actuators=actuators,
        points=tuple(points),
        gravity=(0.0, 0.0, -9.81 if gravity else 0.0),
        source="Wang, Wang, Chen, Freris: kinematic modeling and control of a soft robotic arm (rigid-link paper).",
    )


def arm_channels(robot: Robot, *, lever: float = LEVER, area: float = AREA) -> dict[str, ChamberPath]:
    """Channels of the airbag groups of a `four_segment_arm`, for `RodModel` and `LinkModel`.

    Args:
        robot: the arm.
        lever: distance of the groups from both axes of the section [m].
        area: mean contact area of a group [m^2].
    """
    out: dict[str, ChamberPath] = {}
    z = 0.0
    for i, rod in enumerate(b for b in robot.bodies if isinstance(b, RodBody)):
        for j, (x, y) in enumerate(_CORNERS):
            # link x is minus the world's x
            a, b = (np.array([-x * lever, y * lever, -h]) for h in (z, z + rod.length))
            out[f"s{i + 1}p{j + 1}"] = ChamberPath((tuple(a), tuple(b)), area)
        z += rod.length
    return out
