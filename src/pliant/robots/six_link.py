"""The six-link manipulator of the thesis' benchmark."""

from __future__ import annotations

import math
from typing import Any

from pliant.actuators import Chamber
from pliant.bodies import Point, RodBody
from pliant.materials import Linear
from pliant.models.pcc import JointLaw, PccModel
from pliant.robot import Robot
from pliant.robots.parameters import checked

LINKS = 6
LENGTH = 0.025
GAINS = (2.34e-7, 2.3e-8)
"""Input gains. Those of the single link are 2.34e-7 and 1.61e-8; that of the curvature is not published for
this arm and
chosen so that the first link bends by 35 1/m, as in the published reference run."""


@checked
def six_link() -> Robot:
    """Six links of 25 mm and 50 g in series, hanging; the first one is driven.

    Numbers and where they come from (dossier design-model-control, 15.2): lengths and masses are published. The
    section (radius 15 mm) is chosen; its Young's modulus gives the bending stiffness at rest of `six_link_model`.

    Actuators: "b1", "b2", "b3" of the first link. Points: "tip".
    """
    radius, length = 0.015, LINKS * LENGTH
    area, second = math.pi * radius**2, 0.25 * math.pi * radius**4
    material = Linear.from_young(0.025 / second, 0.4, density=0.05 / (LENGTH * area))
    s = math.sqrt(0.5)
    body = RodBody("arm", length, radius, material, rotation=(s, 0.0, s, 0.0), damping=0.0168)
    return Robot(
        "six_link",
        (body,),
        actuators=tuple(Chamber(name=f"b{i}", effort_limits=(-2e5, 2e5)) for i in (1, 2, 3)),
        points=(Point("tip", (0.0, 0.0, -length)),),
        source="Caasenbrood, thesis, chapter 3 (six-link benchmark).",
    )


def six_link_laws() -> dict[str, Any]:
    """Number of links, joint law, damping and input gains of the benchmark: keyword arguments of `PccModel`."""
    s = LENGTH**2
    joints = JointLaw((2230.0, 1740.0, 45.5 * LENGTH), (0.425 * s, 0.4 * s, 0.229 * LENGTH), "secant")
    return {"links": LINKS, "joints": joints, "damping": (1e-2, 1.05e-5), "gains": GAINS, "rotary": False}


def six_link_model() -> PccModel:
    """The benchmark's model: bending law 0.425, 0.4 N m/rad (secant), printed damping.

    The moment acts on the angle length * curvature, so that the law of the curvature has a factor length^2; with it
    the passive links swing as published (amplitudes falling from 35 over 19 to 0.4 1/m), without it they do not.
    """
    return PccModel(six_link(), **six_link_laws())


def six_link_start() -> list[float]:
    """Start of the benchmark: hanging, the first link bent by 25 1/m."""
    q = [0.0] * (3 * LINKS)
    q[1] = 25.0
    return q


def six_link_input(t: float) -> tuple[float, float, float]:
    """Pressures of the benchmark [Pa]: 125 kPa cos(pi t) in the first bellow."""
    return (125e3 * math.cos(math.pi * t), 0.0, 0.0)
