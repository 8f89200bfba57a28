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
from pliant.robots.entries import Entry, arm_chambers, own_surface, quadratic, sheet_on_boxes, trunk_chambers
from pliant.robots.finger import finger
from pliant.robots.four_segment_arm import arm_channels, four_segment_arm
from pliant.robots.mannequin import mannequin, torso_surface
from pliant.robots.membrane import membrane
from pliant.robots.notched_finger import notched_finger
from pliant.robots.octopus_arm import octopus_arm
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.pneunet import pneunet
from pliant.robots.rolling_ring import rolling_ring
from pliant.robots.rolling_sphere import rolling_sphere
from pliant.robots.silicone_finger import silicone_finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.robots.three_fingertips import three_fingertips
from pliant.robots.tower import slot_pairs, tower
from pliant.robots.trunk import trunk
from pliant.robots.twister import twister

__all__ = [
    "Entry",
    "accordion",
    "arm_channels",
    "beam",
    "catalogue",
    "catheter",
    "diamond",
    "dielectric_crawler",
    "elephant_trunk",
    "entry",
    "finger",
    "four_segment_arm",
    "get",
    "golden_beam",
    "mannequin",
    "membrane",
    "notched_finger",
    "octopus_arm",
    "pneumatic_finger",
    "pneunet",
    "rolling_ring",
    "rolling_sphere",
    "silicone_finger",
    "slot_pairs",
    "three_chamber_arm",
    "three_fingertips",
    "torso_surface",
    "tower",
    "trunk",
    "trunk_channels",
    "twister",
]

_CATALOGUE: tuple[Entry, ...] = (
    Entry(finger),
    Entry(notched_finger),
    Entry(pneunet),
    Entry(pneumatic_finger, "geometric"),
    Entry(silicone_finger, "geometric", obstacles=own_surface),
    Entry(accordion),
    Entry(tower),
    Entry(trunk),
    Entry(diamond),
    Entry(three_chamber_arm),
    Entry(beam),
    Entry(golden_beam),
    Entry(twister, "geometric"),
    Entry(dielectric_crawler, "geometric", options=quadratic),
    Entry(membrane, "geometric", obstacles=sheet_on_boxes),
    Entry(mannequin, "geometric"),
    Entry(catheter, "beam"),
    Entry(octopus_arm, "rod"),
    Entry(elephant_trunk, "rod", options=trunk_chambers),
    Entry(four_segment_arm, "rod", options=arm_chambers),
)


def catalogue() -> dict[str, Callable[..., Robot]]:
    """Name -> function of every robot in the catalogue."""
    return {e.name: e.make for e in _CATALOGUE}


def entry(name: str) -> Entry:
    """The entry of that name, with the model that suits it; `UnknownNameError` lists the valid ones."""
    found = {e.name: e for e in _CATALOGUE}
    if name not in found:
        raise UnknownNameError("robot in the catalogue", name, found)
    return found[name]


def get(name: str) -> Callable[..., Robot]:
    """The function of that name; `UnknownNameError` lists the valid ones."""
    return entry(name).make
