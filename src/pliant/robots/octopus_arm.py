"""The octopus arm of the Cosserat chapter, driven by longitudinal muscles."""

from __future__ import annotations

import math

from pliant.actuators import Cable
from pliant.bodies import Point, RodBody
from pliant.errors import ArgumentError
from pliant.materials import Linear
from pliant.robot import Robot
from pliant.robots.parameters import checked


@checked
def octopus_arm(
    *,
    length: float = 0.120,
    radius: float = 0.00825,
    taper: float = 0.0,
    young: float = 0.25e6,
    density: float = 1250.0,
    damping: float = 0.05,
    muscles: int = 4,
    groups: int = 4,
    water: bool = False,
) -> Robot:
    """A soft arm 120 mm long, along +x from its base, with groups of longitudinal muscles.

    Numbers and where they come from (dossier design-model-control, 15.4): length, radius, density and Young's
    modulus are published (first clamped-free frequency 2.267 Hz). The published arm is driven through its modes
    (use `pliant.models.modal.Modal`); here it has muscles: `groups` pieces along the arm with `muscles` each, at 70
    % of the radius, which pull (a choice of ours). The published damping ratio 0.40 is about a damping time of 0.05
    s.

    Args:
        length: [m].
        radius: at the base [m].
        taper: part by which the radius falls to the tip, 0 to 0.95.
        young: Young's modulus [Pa].
        density: [kg/m^3].
        damping: viscosity relative to the stiffness [s].
        muscles: per group, around the arm.
        groups: along the arm.
        water: the weight is carried by buoyancy: gravity reduced by the density of water.

    Actuators: "m1a" to "m4d": group and place. Points: "tip", "middle".
    """
    if not 0.0 <= taper <= 0.95:
        raise ArgumentError("taper", f"{taper}", "a number from 0 to 0.95")
    radii: float | tuple[float, ...] = radius if not taper else (radius, radius * (1.0 - taper))
    body = RodBody("arm", length, radii, Linear.from_young(young, 0.45, density=density), damping=damping)
    actuators = []
    for i in range(groups):
        a, b = length * i / groups, length * (i + 1) / groups
        for j in range(muscles):
            angle = 2 * math.pi * j / muscles
            y, z = math.cos(angle), math.sin(angle)
            ends = [(x, 0.7 * r * y, 0.7 * r * z) for x in (a, b) for r in (radius * (1 - taper * x / length),)]
            actuators.append(
                Cable(name=f"m{i + 1}{chr(97 + j)}", points=tuple(ends), drive="effort", effort_limits=(0.0, 20.0))
            )
    g = -9.81 * (1.0 - 1000.0 / density) if water else -9.81
    return Robot(
        "octopus_arm",
        (body,),
        actuators=tuple(actuators),
        points=(Point("tip", (length, 0.0, 0.0)), Point("middle", (length / 2, 0.0, 0.0))),
        gravity=(0.0, 0.0, g),
        source="Caasenbrood, thesis, chapter 5 (octopus arm); muscles ours.",
    )
