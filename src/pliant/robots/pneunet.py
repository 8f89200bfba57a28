"""The pneu-net: a row of connected air chambers on a strip that cannot stretch."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Chamber
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material, NeoHookean
from pliant.robot import Robot
from pliant.robots.grids import HANGING, graded, near, rectilinear, solid_cells, structured, with_cavities
from pliant.robots.parameters import checked


@checked
def pneunet(
    *,
    length: float = 0.120,
    width: float = 0.025,
    height: float = 0.025,
    chambers: int = 8,
    gap: float = 0.002,
    wall: float = 0.0025,
    side: float = 0.003,
    strip: float = 0.001,
    floor: float = 0.003,
    channel: float = 0.003,
    roof: float = 0.003,
    material: Material | None = None,
    strip_material: Material | None = None,
    size: float = 0.016,
) -> Robot:
    """A bending actuator, 120 x 25 x 25 mm, with eight chambers joined by a channel into one cavity.

    It hangs from its base at z = 0, which is held, along -z; its chambers are at -x, the strip is at +x, and
    pressure curls it towards +x.

    Numbers and where they come from:
        120 x 25 x 25 mm, one chamber, inextensible bottom: pneu-finger of spec geometric-computing 7.3; eight
            chambers
            with gaps of 1 to 2 mm: its silicone-finger.
        material: neo-Hookean, 0.5 MPa, 0.45; the modulus of the SOFA pneu-net tutorial. For its rubber,
            Elastosil, take `preset("elastosil-m4601")` with quadratic elements.
        strip_material: 20 MPa: 1 mm of it is as stiff in tension as 0.01 mm of paper of 2 GPa, and soft
            enough in bending not to matter; chosen.
        walls, floor, channel: not published; chosen. With the default size the mesh is of the order of the
            1214 nodes and 4130 tets of the SOFA example.

    Args:
        length: of the finger, along -z [m].
        width: along y [m].
        height: along x, from the strip to the top of the chambers [m].
        chambers: how many.
        gap: between two chambers [m].
        wall: between a chamber and the gap beside it [m].
        side: outer walls at +-y and on top [m].
        strip: thickness of the strip [m].
        floor: rubber between the strip and the channel [m].
        channel: height and half the width of the channel that joins the chambers [m].
        roof: rubber above the channel in the gaps [m].
        material: of the rubber.
        strip_material: of the strip.
        size: wanted edge length of the mesh [m].

    Points: "tip" (end face, middle of the strip), "middle" (strip at half length).
    """
    pitch = (length - wall) / chambers
    inside = pitch - gap - 2 * wall
    if chambers < 1 or inside <= 0:
        raise ArgumentError(
            "chambers", f"{chambers} chambers do not fit into {length} m", "fewer, or thinner walls"
        )
    levels = np.cumsum([0.0, strip, floor, channel, roof])
    if levels[-1] >= height - side or 2 * (side + channel) >= width:
        raise ArgumentError(
            "height", "the layers do not fit", "strip + floor + channel + roof + side < height"
        )
    marks, kinds = [0.0], []  # described lying along x: wall, chamber, wall, gap, ...; hung up at the end
    for c in range(chambers):
        first = wall if c else wall + gap / 2
        for width_of, kind in ((first, "wall"), (inside, "chamber"), (wall, "wall"), (gap, "gap")):
            if kind == "gap" and c == chambers - 1:
                break
            marks.append(marks[-1] + width_of)
            kinds.append(kind)
    marks[-1] = length
    xs, part = graded(marks, size)
    half = channel
    ys, column = graded([-width / 2, side - width / 2, -half, 0.0, half, width / 2 - side, width / 2], size)
    zs, layer = graded([*levels, height - side, height], size)
    kind = np.array(kinds)[part][:, None, None]
    middle = np.isin(column, (2, 3))[None, :, None]
    between = np.isin(column, (1, 2, 3, 4))[None, :, None]
    z = layer[None, None, :]
    mask = solid_cells(len(part), len(column), len(layer))
    mask &= ~((kind == "gap") & (z >= 4))
    mask &= ~((kind == "chamber") & between & (z >= 2) & (z <= 4))
    ends = (part > 0) & (part < len(kinds) - 1)
    mask &= ~((kind != "chamber") & ends[:, None, None] & middle & (z == 2))
    mesh = structured(mask, rectilinear(xs, ys, zs)).with_region("strip", lambda x: x[:, 2] < strip)
    mesh = mesh.transformed(HANGING).with_node_set("base", near(2, 0.0))
    mesh = with_cavities(mesh, {"chamber": (-height / 2, 0.0, -length / 2)})
    rest = mesh.cavity_volume("chamber")
    return Robot(
        "pneunet",
        (
            SoftBody(
                "body",
                mesh,
                material or NeoHookean.from_young(500e3, 0.45, density=1070.0),
                {"strip": strip_material or Corotational.from_young(20e6, 0.3, density=1070.0)},
            ),
        ),
        fixations=(Fixation("base"),),
        actuators=(
            Chamber(
                name="chamber", effort_limits=(-5e3, 60e3), displacement_limits=(-0.3 * rest, 3.0 * rest)
            ),
        ),
        points=(Point("tip", (0.0, 0.0, -length)), Point("middle", (0.0, 0.0, -length / 2))),
        source="Spec geometric-computing 7.3 (pneu-finger, silicone-finger); walls chosen.",
    )
