"""The catalogue: functions that return a ready `Robot`, every number with its source in the docstring.

Robots stand on their base at z = 0 and run along +z, or hang from it along -z (the fingers, which curl
towards +x); the beams lie along +x. Actuators have limits, so that a viewer or an inverse knows their range.
"""

from __future__ import annotations

from collections.abc import Callable

from pliant.errors import UnknownNameError
from pliant.robot import Robot
from pliant.robots.accordion import accordion
from pliant.robots.beam import beam, golden_beam
from pliant.robots.catheter import catheter
from pliant.robots.diamond import diamond
from pliant.robots.dielectric_crawler import dielectric_crawler
from pliant.robots.elephant_trunk import elephant_trunk, trunk_channels
from pliant.robots.finger import finger
from pliant.robots.notched_finger import notched_finger
from pliant.robots.octopus_arm import octopus_arm
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.pneunet import pneunet
from pliant.robots.rolling_ring import rolling_ring
from pliant.robots.rolling_sphere import rolling_sphere
from pliant.robots.silicone_finger import silicone_finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.robots.tower import slot_pairs, tower
from pliant.robots.trunk import trunk
from pliant.robots.twister import twister

__all__ = [
    "accordion",
    "beam",
    "catalogue",
    "catheter",
    "diamond",
    "dielectric_crawler",
    "elephant_trunk",
    "finger",
    "get",
    "golden_beam",
    "notched_finger",
    "octopus_arm",
    "pneumatic_finger",
    "pneunet",
    "rolling_ring",
    "rolling_sphere",
    "silicone_finger",
    "slot_pairs",
    "three_chamber_arm",
    "tower",
    "trunk",
    "trunk_channels",
    "twister",
]

_CATALOGUE: tuple[Callable[..., Robot], ...] = (
    finger,
    notched_finger,
    pneunet,
    pneumatic_finger,
    accordion,
    tower,
    trunk,
    diamond,
    three_chamber_arm,
    beam,
    golden_beam,
    silicone_finger,
    twister,
    dielectric_crawler,
)


def catalogue() -> dict[str, Callable[..., Robot]]:
    """Name -> function of every robot in the catalogue."""
    return {make.__name__: make for make in _CATALOGUE}


def get(name: str) -> Callable[..., Robot]:
    """The function of that name; `UnknownNameError` lists the valid ones."""
    found = catalogue()
    if name not in found:
        raise UnknownNameError("robot in the catalogue", name, found)
    return found[name]
