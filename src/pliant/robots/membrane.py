"""A membrane over four chambers: a sheet that takes the shape of what swells below it."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Chamber
from pliant.actuators.actuator import Drive
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Material
from pliant.robot import Robot
from pliant.robots.grids import graded, rectilinear, structured, with_cavities
from pliant.robots.parameters import checked
from pliant.robots.silicone_finger import thesis_silicone


@checked
def membrane(
    *,
    side: float = 0.250,
    thickness: float = 3e-3,
    box: float = 0.080,
    height: float = 0.020,
    wall: float = 4e-3,
    gap: float = 1e-3,
    size: float = 0.016,
    material: Material | None = None,
    drive: Drive = "effort",
) -> Robot:
    """A sheet of 250 x 250 x 3 mm, held at its rim, above four flat boxes whose roofs swell when they are filled.

    The five bodies are apart: the sheet moves only by contact, so give the solver
    `BodyContact(body_a=0, body_b=i)` for i = 1 to 4. Size and number of chambers: spec geometric-computing 2.9 and 7.3
    (domes there, boxes here; their dimensions are chosen). Dragon Skin 20 with the source's constants.

    Args:
        side: of the sheet [m].
        thickness: of the sheet [m].
        box: side of a box [m].
        height: of a box [m].
        wall: thickness of its walls and its roof [m].
        gap: between the roofs and the sheet [m].
        size: edge length of the mesh [m].
        material: of all bodies.
        drive: "effort" commands pressures, "displacement" volumes.

    Actuators: "chamber1" (-x, -y), "chamber2" (+x, -y), "chamber3" (-x, +y), "chamber4" (+x, +y). Points on the sheet's
    upper side: "tip" (its centre), "peak1" to "peak4" above the chambers.
    """
    quarter = side / 4
    if not (0 < 2 * wall < min(box, height) and box < 2 * quarter and gap > 0 and thickness > 0):
        raise ArgumentError("box", f"boxes of {box} m do not fit below a sheet of {side} m", "2 wall < box < side / 2")
    law = material or thesis_silicone("dragonskin")
    lines = graded([-side / 2, -quarter, 0.0, quarter, side / 2], size)[0]
    cells = (len(lines) - 1, len(lines) - 1, 1)
    top = height + gap + thickness
    sheet = structured(np.ones(cells, bool), rectilinear(lines, lines, np.array([height + gap, top])))
    edge = side / 2 - 1e-9
    sheet = sheet.with_node_set("rim", lambda x: np.abs(x[:, :2]).max(axis=1) > edge)
    bodies, chambers, fixations = [SoftBody("sheet", sheet, law)], [], [Fixation("rim", "sheet")]
    points = [Point("tip", (0.0, 0.0, top), "sheet")]
    pressure = (0.0, 20e3 * law.young / 0.82e6)  # roofs rise by about 10 mm
    for i in range(4):
        cx, cy = (quarter if i % 2 else -quarter), (quarter if i > 1 else -quarter)
        xs, xo = graded([cx - box / 2, cx - box / 2 + wall, cx, cx + box / 2 - wall, cx + box / 2], size)
        ys, yo = graded([cy - box / 2, cy - box / 2 + wall, cy, cy + box / 2 - wall, cy + box / 2], size)
        zs, zo = graded([0.0, wall, height - wall, height], size)
        room = np.isin(xo, (1, 2))[:, None, None] & np.isin(yo, (1, 2))[None, :, None] & (zo == 1)[None, None, :]
        mesh = structured(~room, rectilinear(xs, ys, zs))
        name = f"chamber{i + 1}"
        mesh = with_cavities(mesh, {name: (cx, cy, height / 2)})
        mesh = mesh.with_node_set("floor", lambda x: x[:, 2] < 1e-9)
        bodies.append(SoftBody(f"box{i + 1}", mesh, law))
        fixations.append(Fixation("floor", f"box{i + 1}"))
        volume = mesh.cavity_volume(name)
        chambers.append(
            Chamber(name=name, drive=drive, effort_limits=pressure, displacement_limits=(0.0, 1.0 * volume))
        )
        points.append(Point(f"peak{i + 1}", (cx, cy, top), "sheet"))
    return Robot(
        "membrane",
        tuple(bodies),
        tuple(fixations),
        actuators=tuple(chambers),
        points=tuple(points),
        gravity=(0.0, 0.0, 0.0),
        source="Spec geometric-computing 2.9, 7.3 (G. Fang, PhD thesis 2022, ch. 3.4.3); boxes chosen.",
    )
