"""What is in the way, as the command line says it: `--obstacle sphere:60,0,100,15mm`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.cli.inputs import NUMBER, UNITS
from pliant.errors import ArgumentError

if TYPE_CHECKING:
    from pliant.models.contract import Model

#: Kind of an obstacle -> the numbers that it takes; names of three components end in a star.
KINDS = {
    "plane": ("point*", "normal*"),
    "sphere": ("centre*", "radius"),
    "box": ("centre*", "lengths*"),
    "capsule": ("a*", "b*", "radius"),
    "cylinder": ("a*", "b*", "radius"),
}
SURFACES = (".stl", ".obj", ".ply")
UNITLESS = ("normal",)  # a unit after the last number is that of the lengths only
BALL = 0.1  # radius of the ball that `beside` places, relative to the robot's size


def add_obstacles(parser: argparse.ArgumentParser) -> None:
    """The option --obstacle."""
    parser.add_argument(
        "--obstacle", dest="obstacles", action="append", default=[], metavar="KIND:NUMBERS",
        help="something in the way (repeatable): plane:POINT,NORMAL sphere:CENTRE,RADIUS box:CENTRE,LENGTHS "
        "capsule:A,B,RADIUS cylinder:A,B,RADIUS in m or with a unit at the end, e.g. sphere:60,0,100,15mm; "
        "or a closed surface FILE.stl in m",
    )  # fmt: skip


def parse_obstacle(text: str) -> Any:
    """An obstacle from KIND:NUMBERS, or from the name of a surface file."""
    from pliant import contact

    if Path(text).suffix.lower() in SURFACES:
        return contact.MeshObstacle(text, name=Path(text).stem)
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise ArgumentError("--obstacle", f"{text!r}", f"{', '.join(KINDS)}, or a file {', '.join(SURFACES)}")
    sizes = [3 if f.endswith("*") else 1 for f in KINDS[kind]]
    parts = rest.replace(" ", "").split(",")
    found = [NUMBER.match(p) for p in parts]
    unit = (found[-1][2] if found[-1] else "") or "m"
    plain = all(m is not None and not m[2] for m in found[:-1])
    if len(parts) != sum(sizes) or not plain or found[-1] is None or UNITS.get(unit, ("",))[0] != "m":
        wanted = ", ".join(f"{f[:-1]} (3 numbers)" if f.endswith("*") else f for f in KINDS[kind])
        raise ArgumentError("--obstacle", f"{text!r}", f"{kind}: {wanted}, in m or with a unit after the last one")
    numbers = [float(m[1]) for m in found if m]
    fields: dict[str, Any] = {}
    for label, size in zip(KINDS[kind], sizes):
        name = label.rstrip("*")
        values = [v * (1.0 if name in UNITLESS else UNITS[unit][1]) for v in numbers[:size]]
        fields[name] = tuple(values) if size == 3 else values[0]
        del numbers[:size]
    return getattr(contact, kind.title())(**fields, name=kind)


def beside(model: Model, q: Any) -> Any:
    """A ball next to a robot at coordinates q, at half its height, where it touches nothing and can be grabbed."""
    import numpy as np

    from pliant.contact import Sphere

    surface = model.skin_positions(q)
    low, high = surface.min(axis=0), surface.max(axis=0)
    radius = BALL * float(np.linalg.norm(high - low))
    centre = 0.5 * (low + high)
    if high[0] - low[0] <= high[1] - low[1]:  # the slender side that the camera looks at
        centre[0] = high[0] + 2.0 * radius
    else:
        centre[1] = low[1] - 2.0 * radius
    return Sphere(tuple(centre), radius, name="ball")
