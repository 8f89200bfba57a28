"""The printed soft link with three bellows, and the joint law and input map that belong to it."""

from __future__ import annotations

import math
from typing import Any

from pliant.actuators import Chamber
from pliant.bodies import Point, RodBody
from pliant.checks import positive
from pliant.materials import Linear
from pliant.models.creep import Creep
from pliant.models.pcc import JointLaw, PccModel
from pliant.robot import Robot
from pliant.robots.parameters import checked

LENGTH = 0.0644
MASS = 0.0173
GAINS = (2.34e-7, 1.61e-8)
"""Input gains of stretch and curvature per pressure (spec 15.1, refit on experiments)."""
AXIAL = (2230.0, 1740.0, 45.5)
BENDING = (1.337, 1.305, 0.229)
"""FEM force curves: F(x) [N, m] and M(beta) [N m, rad], tangent form (spec 7.6, repaired)."""


@checked
def printed_link(*, payload: float = 0.0, upright: bool = True, radius: float = 0.02) -> Robot:
    """One printed soft link with three bellows, 64.4 mm long and 17.3 g.

    Numbers and where they come from (dossier design-model-control, 15.1): mass, length and the number of bellows
    are published. The rod's section is a solid cylinder of the given radius with the published mass; its Young's
    modulus gives the published bending stiffness (5.8e-4 N m^2), its axial stiffness is then too small: use
    `link_model`, whose joint law has both. Pressures -20 to 80 kPa, as in the FEM tests of 7.6.

    Args:
        payload: mass at the tip [kg].
        upright: standing on its base (published); hanging from it otherwise.
        radius: of the section [m]; chosen.

    Actuators: "b1", "b2", "b3". Points: "tip".
    """
    radius = positive("radius", radius)
    area, second = math.pi * radius**2, 0.25 * math.pi * radius**4
    material = Linear.from_young(5.8e-4 / second, 0.4, density=MASS / (LENGTH * area))
    s = math.sqrt(0.5)
    up = 1.0 if upright else -1.0
    body = RodBody("link", LENGTH, radius, material, rotation=(s, 0.0, -up * s, 0.0), tip_mass=payload, damping=6e-3)
    bellows = tuple(Chamber(name=f"b{i}", effort_limits=(-2e4, 8e4)) for i in (1, 2, 3))
    return Robot(
        "printed_link",
        (body,),
        actuators=bellows,
        points=(Point("tip", (0.0, 0.0, up * LENGTH)),),
        source="Caasenbrood, thesis, chapter 3 (one-link three-bellow manipulator).",
    )


def link_laws(*, hyperelastic: bool = False, damping: float = 2.3e-7) -> dict[str, Any]:
    """Joint law, damping and input gains of the printed link: keyword arguments of `PccModel`.

    Args:
        hyperelastic: stiffening joint law whose slope at rest is the Hookean one; Hookean otherwise.
        damping: of the curvature; 1.9e-7 to 2.8e-7 is what the published traces show.
    """
    k_e, k_b = 50.6, 5.8e-4 * LENGTH
    if hyperelastic:
        # the shapes of the FEM curves, with their published ratios, on the identified stiffness at rest
        a, b = AXIAL[0] / (AXIAL[0] - AXIAL[1]), BENDING[0] / (BENDING[0] - BENDING[1])
        joints = JointLaw(
            (k_e * a, k_e * (a - 1.0), AXIAL[2] * LENGTH), (k_b * b, k_b * (b - 1.0), BENDING[2] * LENGTH), "tangent"
        )
    else:
        joints = JointLaw.hookean(k_e, k_b)
    return {"joints": joints, "damping": (1e-2, damping), "gains": GAINS, "rotary": False}


def link_model(
    *, payload: float = 0.0, hyperelastic: bool = False, upright: bool = True, damping: float = 2.3e-7
) -> PccModel:
    """The printed link as a constant-curvature model, in the unit-consistent parameters of the dossier (7.6).

    Args:
        payload: mass at the tip [kg].
        hyperelastic: stiffening joint law whose slope at rest is the Hookean one; Hookean otherwise.
        upright: standing or hanging.
        damping: of the curvature; 1.9e-7 to 2.8e-7 is what the published traces show.
    """
    robot = printed_link(payload=payload, upright=upright)
    return PccModel(robot, **link_laws(hyperelastic=hyperelastic, damping=damping))


def link_creep() -> Creep:
    """Creep of the printed link (spec 7.6, table 3.1, and 15.1)."""
    return Creep((3.21e2, 2.64e2, 2.64e2), (5.22e-1, 1.82e-4, 1.82e-4), (502.3, 1.53e-2, 1.53e-2))
