"""A bending finger of folded chambers on an inextensible strip, after Fang's pneumatic finger."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Chamber
from pliant.actuators.actuator import Drive
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import graded, near, rectilinear, solid_cells, structured, with_cavities
from pliant.robots.parameters import checked


@checked
def pneumatic_finger(
    *,
    teeth: int = 12,
    size: float = 2.5e-3,
    material: Material | None = None,
    strip: Material | None = None,
    layers: int = 1,
    drive: Drive = "displacement",
    gravity: bool = False,
    wall: float = 1.5e-3,
    hollow: float = 4.0e-3,
    notch: float = 3.0e-3,
    segments: int = 1,
) -> Robot:
    """A finger along x, fixed at x = 0, that bends towards -z when its chamber is filled.

    The chamber runs through all teeth; between them the roof is notched down to a neck, so that the upper side
    unfolds while the strip at the bottom keeps its length.

    Args:
        teeth: number of teeth.
        size: edge length of the cells away from the walls [m].
        material: of the body; a printed elastomer of 2.5 MPa by default (TPU-like, between NinjaFlex and Agilus).
        strip: of the inextensible strip; 100 times stiffer by default.
        layers: cells through the thickness of a wall.
        drive: "displacement" commands the volume (a syringe), "effort" the pressure.
        gravity: whether gravity acts.
        wall: thickness of the walls [m].
        hollow: length of the air in a tooth [m].
        notch: gap between teeth [m].
        segments: number of equal parts of the finger, each with its own chamber.

    The chamber may be emptied by a tenth and filled to three times its volume (240 degrees need 2.5 times, about
    210 kPa): limits of this stand-in, not of the source. Actuator: "air" (with segments "air1", "air2", ...).
    Points: "tip", at the end of the strip, "middle", and with segments "joint1", ... in the solid walls between them,
    2.5 mm above the strip's lower face.
    """
    if teeth < 1 or layers < 1:
        raise ArgumentError("teeth", f"{teeth} teeth, {layers} layers", "at least 1 of each")
    if segments < 1 or teeth % segments:
        raise ArgumentError("segments", f"{segments} segments of {teeth} teeth", "a divisor of the number of teeth")
    pitch = 2 * wall + hollow + notch
    width, height = 20e-3, 20e-3
    floor, channel = 2.0e-3, 3.0e-3
    xs_marks, kinds = [0.0], []
    for i in range(teeth):
        x = i * pitch
        xs_marks += [x + wall, x + wall + hollow, x + 2 * wall + hollow, x + pitch]
        kinds += ["wall", "hollow", "wall", "notch"]
    kinds[-1] = "cap"
    xs, xo = graded(xs_marks, size, 1)
    if layers > 1:
        xs, xo = _refined(xs, xo, [k in ("wall", "cap") for k in kinds], layers)
    ys, yo = graded([-width / 2, -width / 2 + wall, width / 2 - wall, width / 2], size, 1)
    zs, zo = graded([0.0, floor / 2, floor, floor + channel, floor + channel + wall, height - wall, height], size, 1)
    if layers > 1:
        ys, yo = _refined(ys, yo, [True, False, True], layers)
        zs, zo = _refined(zs, zo, [False, False, False, True, False, True], layers)
    kind = np.array(kinds, dtype=object)[xo]
    inside_y = yo == 1
    solid = solid_cells(len(xo), len(yo), len(zo))
    solid[(kind == "notch")[:, None, None] & np.ones_like(yo, bool)[None, :, None] & (zo >= 4)[None, None, :]] = False
    air = (kind == "hollow")[:, None, None] & inside_y[None, :, None] & ((zo >= 2) & (zo <= 4))[None, None, :]
    passage = ((kind == "wall") | (kind == "notch"))[:, None, None] & inside_y[None, :, None] & (zo == 2)[None, None, :]
    per = 4 * (teeth // segments)  # intervals of a segment; its first and its last two are closed
    passage &= ~((xo % per == 0) | (xo % per >= per - 2))[:, None, None]
    solid &= ~(air | passage)
    mesh = structured(solid, rectilinear(xs, ys, zs))
    names = ["air"] if segments == 1 else [f"air{i + 1}" for i in range(segments)]
    part = teeth * pitch / segments
    mesh = with_cavities(mesh, {name: ((i + 0.5) * part, 0.0, height / 3) for i, name in enumerate(names)})
    mesh = mesh.with_node_set("base", near(0, 0.0)).with_region("strip", lambda c: c[:, 2] < floor / 2)
    body = material or Corotational.from_young(2.5e6, 0.40, density=1150.0, source="illustrative, TPU-like")
    stiff = strip or Corotational.from_young(100.0 * body.young, 0.30, density=1180.0, source="100 times the body")
    volume = mesh.cavity_volume(names[0])
    stiffness = body.young / 2.5e6  # pressures scale with it
    return Robot(
        "pneumatic_finger",
        (SoftBody("body", mesh, body, {"strip": stiff}),),
        (Fixation("base"),),
        actuators=tuple(
            Chamber(
                name=name,
                drive=drive,
                displacement_limits=(-0.1 * volume, 2.0 * volume),
                effort_limits=(-20e3 * stiffness, 300e3 * stiffness),
            )
            for name in names
        ),
        points=(
            Point("tip", (teeth * pitch, 0.0, 0.0)),
            Point("middle", (teeth * pitch / 2, 0.0, 0.0)),
            *(
                Point(f"joint{i}", (i * part - notch / 2, 0.0, 0.5 * (floor + channel)))
                for i in range(1, segments)
            ),
        ),
        gravity=(0.0, 0.0, -9.81) if gravity else (0.0, 0.0, 0.0),
        source="G. Fang, PhD thesis, TU Delft 2022, ch. 2.6.3; the geometry is not published, this is a stand-in",
    )


def _refined(lines: np.ndarray, owner: np.ndarray, chosen: list[bool], layers: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide the cells of the chosen intervals into a number of layers."""
    out, mine = [float(lines[0])], []
    for a, b, o in zip(lines[:-1], lines[1:], owner):
        n = layers if chosen[o] else 1
        out += [a + (b - a) * (j + 1) / n for j in range(n)]
        mine += [o] * n
    return np.array(out), np.array(mine)
