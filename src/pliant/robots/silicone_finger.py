"""A silicone finger whose teeth touch when it is filled."""

from __future__ import annotations

from pliant.actuators.actuator import Drive
from pliant.materials import Material, MooneyRivlin
from pliant.robot import Robot
from pliant.robots.parameters import checked
from pliant.robots.pneumatic_finger import pneumatic_finger

#: First-order Mooney-Rivlin constants (c10, c01) [Pa] of G. Fang's thesis, ch. 3.4.
ECOFLEX_00_30 = (0.0418e6, 0.0106e6)
DRAGON_SKIN_20 = (0.119e6, 0.023e6)


def thesis_silicone(name: str = "ecoflex", *, poisson: float = 0.45) -> Material:
    """Ecoflex 00-30 or Dragon Skin 20 with the constants of the source.

    Args:
        name: "ecoflex" or "dragonskin".
        poisson: of the small-strain response; linear tets of a coarse mesh lock above 0.45.
    """
    c10, c01 = {"ecoflex": ECOFLEX_00_30, "dragonskin": DRAGON_SKIN_20}[name]
    law = MooneyRivlin(c10=c10, c01=c01, bulk=1e6, density=1070.0, source="G. Fang, PhD thesis 2022, ch. 3.4")
    return law.with_poisson(poisson)


@checked
def silicone_finger(
    *,
    silicone: str = "ecoflex",
    teeth: int = 8,
    size: float = 4e-3,
    layers: int = 1,
    drive: Drive = "displacement",
) -> Robot:
    """A finger of eight teeth, 0.8 mm apart, so that they press against each other when it is filled.

    Args:
        silicone: "ecoflex" or "dragonskin".
        teeth: number of teeth.
        size: edge length of the cells away from the walls [m].
        layers: cells through the thickness of a wall.
        drive: "displacement" commands the volume, "effort" the pressure.

    Use it with `SelfContact()`. Actuator: "air". Points: "tip", "middle".
    """
    material = thesis_silicone(silicone)
    robot = pneumatic_finger(
        teeth=teeth, size=size, layers=layers, drive=drive, wall=1.3e-3, hollow=6.0e-3, notch=0.8e-3,
        material=material, strip=material.scaled(30.0),
    )  # fmt: skip
    return robot.but(name="silicone_finger", source="G. Fang, PhD thesis 2022, ch. 3.4.2; the geometry is a stand-in")
