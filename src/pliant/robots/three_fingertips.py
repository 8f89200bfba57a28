"""Three fingertips that hold and shape a soft beam."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.actuators import Slide
from pliant.bodies import Point, RigidBody, SoftBody
from pliant.errors import ArgumentError
from pliant.geometry import TetMesh
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import check_cells
from pliant.robots.parameters import checked

POINTS = ("p1", "p2", "p3", "p4")


@checked
def three_fingertips(
    *,
    length: float = 0.080,
    width: float = 0.012,
    pad: float = 0.006,
    span: float = 0.050,
    cells: tuple[int, int] = (27, 3),
    clearance: float = 1e-4,
    material: Material | None = None,
) -> Robot:
    """A soft beam that rests on two fingertips, "left" and "right", with a third, "top", above its middle.

    Nothing else holds the beam, which lies along x. Every fingertip is a flat rigid pad as wide as the beam (on balls
    it would turn about its axis) that three slides move: "left_x", "left_y", "left_z", and so on. The corners of pads
    are the contacts, four each: `fingertip_pairs`. Moving all fingertips carries the beam; moving the top one against
    the others bends it.

    Numbers and where they come from:
        three fingertips with three translations each, four controlled points, a beam with no fixed part, gravity,
            1335 + 9 DoFs, 12 contacts: spec inverse-fem 13.3, 13.4 and 18 (a Schunk hand there; only its
            fingertips are optimised).
        dimensions, stiffness (60 kPa, 0.45, 1100 kg/m^3) and damping: not published; chosen.
        mesh: 28 x 4 x 4 nodes, 1344 + 9 DoFs.

    Args:
        length: of the beam [m].
        width: of its square section [m].
        pad: length and height of a fingertip [m]; its length is fitted to the beam's mesh.
        span: between the two lower fingertips [m].
        cells: of the beam's mesh, along it and across it.
        clearance: gap between the fingertips and the beam at rest [m], positive.
        material: of the beam.

    Points: "p1" to "p4" from -x to +x, at 7/16 and 3/16 of the length from the middle, on alternating sides of the
    axis, so that they show how the beam turns about it; "middle".
    """
    if not (0 < span < length and pad > 0 and clearance > 0):
        raise ArgumentError("span", f"{span}", "less than the length [m], with positive pad and clearance")
    nx, n = cells
    check_cells(nx * n * n)
    corner = (-0.5 * length, -0.5 * width, -0.5 * width)
    mesh = TetMesh.box((length, width, width), (nx, n, n), corner)
    soft = Corotational.from_young(60e3, 0.45, density=1100.0, rayleigh_mass=4.0, rayleigh_stiffness=0.02)
    height = 0.5 * width + clearance
    lines = np.linspace(-0.5 * length, 0.5 * length, nx + 1)
    places = {"left": (-0.5 * span, -height), "right": (0.5 * span, -height), "top": (0.0, height)}
    tips, slides = [], []
    for name, (x, z) in places.items():
        # the corners of a pad lie opposite to nodes of the beam
        first, last = (lines[np.argmin(np.abs(lines - x - side * pad / 2))] for side in (-1, 1))
        size = (last - first, width, pad)
        block = TetMesh.box(size, (1, 1, 1), (first, -0.5 * width, z if z > 0 else z - pad))
        tips.append(RigidBody(name, block.nodes, block.boundary(), mass=0.01, rotates=False))
        for axis, direction in zip("xyz", np.eye(3)):
            slides.append(
                Slide(name=f"{name}_{axis}", part=name, axis=tuple(direction), displacement_limits=(-0.04, 0.04))
            )
    stations = [length * i / 16 for i in (-7, -3, 3, 7)]
    sides = [width * i / 3 for i in (1, -1, 1, -1)]
    return Robot(
        "three_fingertips",
        (SoftBody("beam", mesh, material or soft), *tips),
        actuators=tuple(slides),
        points=(
            *(Point(name, (x, y, 0.0), "beam") for name, x, y in zip(POINTS, stations, sides)),
            Point("middle", (0.0, 0.0, 0.0), "beam"),
        ),
        source="spec inverse-fem 13.3 and 18; dimensions and stiffness chosen",
    )


def fingertip_pairs(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Where the fingertips meet the beam: places on the beam and the pads' corners facing them [m], (12, 3) each.

    With `ContactPairs.nearest(model, *fingertip_pairs(robot), within=1e-6, friction=...)` they become the contacts.
    """
    nodes = robot.soft_body("beam").mesh.nodes
    corners = np.concatenate([_facing(robot.body(name)) for name in ("left", "right", "top")])
    nearest = np.argmin(np.linalg.norm(corners[:, None] - nodes[None], axis=2), axis=1)
    return nodes[nearest], corners


def _facing(pad: Any) -> np.ndarray:
    """The four corners of a pad nearest to the beam's axis."""
    return pad.vertices[np.argsort(np.abs(pad.vertices[:, 2]))[:4]]
