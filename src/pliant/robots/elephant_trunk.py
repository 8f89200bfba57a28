"""The two-link elephant trunk of the Cosserat chapter."""

from __future__ import annotations

import math

from pliant.actuators import Chamber
from pliant.bodies import Point, RodBody
from pliant.materials import Linear
from pliant.models.rod_drives import ChamberPath
from pliant.robot import Robot
from pliant.robots.parameters import checked


@checked
def elephant_trunk(*, gripper: float = 0.05, damping: float = 0.02) -> Robot:
    """A trunk of two soft links with three bellows each, along +x from its base.

    Numbers and where they come from (dossier design-model-control, 15.5): length 360 mm, radius 25 mm, 250
    kg/m^3, 3.5 MPa, six
    bellows, three per link, a gripper at the tip: published. The mass of the gripper, the damping (published
        as a ratio of
    0.45), and the channels (see `trunk_channels`) are chosen.

    Args:
        gripper: mass at the tip [kg].
        damping: viscosity relative to the stiffness [s].

    Actuators: "l1a" to "l2c". Points: "tip", "middle".
    """
    material = Linear.from_young(3.5e6, 0.4, density=250.0)
    bodies = (
        RodBody("lower", 0.18, 0.025, material, damping=damping),
        RodBody("upper", 0.18, 0.025, material, parent="lower", damping=damping, tip_mass=gripper),
    )
    chambers = tuple(
        Chamber(name=f"l{i}{c}", effort_limits=(-8e5, 8e5), body=body)
        for i, body in ((1, "lower"), (2, "upper"))
        for c in "abc"
    )
    return Robot(
        "elephant_trunk",
        bodies,
        actuators=chambers,
        points=(Point("tip", (0.36, 0.0, 0.0)), Point("middle", (0.18, 0.0, 0.0), "lower")),
        source="Caasenbrood, thesis, chapter 5 (elephant trunk); gripper and channels ours.",
    )


def trunk_channels(*, radius: float = 0.015, area: float = 3e-4) -> dict[str, ChamberPath]:
    """Channels of the bellows of an `elephant_trunk`: at 120 degrees, parallel to the axis of each link.

    Args:
        radius: distance of the channels from the axis [m].
        area: of a channel's section [m^2].
    """
    out = {}
    for i, x in ((1, 0.0), (2, 0.18)):
        for k, c in enumerate("abc"):
            y, z = (radius * f(2 * math.pi * k / 3) for f in (math.cos, math.sin))
            out[f"l{i}{c}"] = ChamberPath(((x, y, z), (x + 0.18, y, z)), area)
    return out
