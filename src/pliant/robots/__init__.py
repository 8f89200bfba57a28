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
from pliant.robots.cup_trunk import cup_trunk
from pliant.robots.diamond import diamond
from pliant.robots.dielectric_crawler import dielectric_crawler
from pliant.robots.elephant_trunk import elephant_trunk, trunk_channels
from pliant.robots.entries import (
    Entry,
    arm_chambers,
    own_surface,
    printed_laws,
    quadratic,
    sheet_on_boxes,
    six_laws,
    trunk_chambers,
)
from pliant.robots.finger import finger
from pliant.robots.four_segment_arm import arm_channels, four_segment_arm
from pliant.robots.mannequin import mannequin, torso_surface
from pliant.robots.membrane import membrane
from pliant.robots.notched_finger import notched_finger
from pliant.robots.octopus_arm import octopus_arm
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.pneunet import pneunet
from pliant.robots.printed_link import printed_link
from pliant.robots.rolling_ring import rolling_ring
from pliant.robots.rolling_sphere import rolling_sphere
from pliant.robots.silicone_finger import silicone_finger
from pliant.robots.six_link import six_link
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
    "cup_trunk",
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
    "printed_link",
    "rolling_ring",
    "rolling_sphere",
    "silicone_finger",
    "six_link",
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
    Entry(finger, move={"cable": 0.010}),
    Entry(notched_finger, move={"cable3": 0.015}, obstacles=own_surface),
    Entry(pneunet, move={"chamber": 20e3}),
    Entry(pneumatic_finger, "geometric", {"air": 1e-5}),
    Entry(silicone_finger, "geometric", {"air": 4e-7}, obstacles=own_surface),
    Entry(accordion, move={"chamber": 20e3}),
    Entry(tower, move={"chamber1": 20e3}),
    Entry(trunk, move={"long1": 0.02, "long3": -0.02}),
    Entry(diamond, move={"cable1": 0.02}),
    Entry(three_chamber_arm, move={"chamber1": 240e3}),
    Entry(beam, move={"top": 0.02, "bottom": -0.03}),
    Entry(golden_beam, move={"cable1": 0.01}),
    Entry(twister, "geometric", {"air": 3.4e-6}),
    Entry(dielectric_crawler, "geometric", {"film": -8e-13}, options=quadratic),
    Entry(membrane, "geometric", {"chamber1": 3e3}, obstacles=sheet_on_boxes),
    Entry(mannequin, "geometric", {"chamber32": 4e3, "chamber33": 4e3}),
    Entry(catheter, "beam", {"up": 1.8e-3}),
    Entry(octopus_arm, "rod", {"m1a": 3.0}),
    Entry(elephant_trunk, "rod", {"l1a": 4e5}, options=trunk_chambers),
    Entry(four_segment_arm, "rod", {"s1p1": 125e3}, options=arm_chambers),
    Entry(printed_link, "pcc", {"b1": 20e3}, options=printed_laws),
    Entry(six_link, "pcc", {"b1": 50e3}, options=six_laws),
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
