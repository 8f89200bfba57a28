"""The tower: four storeys with an air chamber each, separated by slots whose sides meet."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Chamber
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import graded, near, rectilinear, solid_cells, structured, with_cavities
from pliant.robots.parameters import checked


@checked
def tower(
    *,
    width: float = 0.040,
    storey: float = 0.022,
    storeys: int = 4,
    slot: float = 0.0015,
    neck: float = 0.014,
    wall: float = 0.003,
    material: Material | None = None,
    size: float = 0.015,
) -> Robot:
    """A soft tower with four chambers separated by slots whose sides touch when chambers are inflated.

    It stands on its base at z = 0, which is held, along +z. The storeys are joined by a slender neck. The
    chamber of each storey lies to one side (+x, +y, -x, -y in turn), so each pressure bends the tower its own
    way.

    Numbers and where they come from:
        four cavities separated by self-collision regions, points tip and middle, 1680 DoFs (560 nodes), 18 to
        24 kPa:
            spec inverse-fem 10.1, 10.3 and 18.
        material and all dimensions: not published; co-rotational, 350 kPa, 0.45 (the silicone of 17.1),
            chosen so that pressures of 20 kPa close the slots.

    Args:
        width: of the square section [m].
        storey: height of one storey [m].
        storeys: how many.
        slot: height of the slots [m].
        neck: width of the square neck between storeys [m].
        wall: thickness of walls, floors and ceilings [m].
        material: of the whole body.
        size: wanted edge length of the mesh [m].

    Points: "tip" (centre of the top face), "middle" (on the axis, under the upper half). Surfaces
    "slot1.lower", "slot1.upper", ...: the two sides of each slot, see `slot_pairs`.
    """
    if storeys < 1 or not 2 * wall < storey or not neck < width - 2 * wall:
        raise ArgumentError("wall", "the storeys do not fit", "2 wall < storey and neck < width - 2 wall")
    half, inner, core = width / 2, width / 2 - wall, neck / 2
    lines, cell = graded([-half, -inner, -core, core, inner, half], size)
    marks, kinds = [0.0], []
    for s in range(storeys):
        for height, kind in (
            (wall, "floor"),
            (storey - 2 * wall, f"room{s}"),
            (wall, "floor"),
            (slot, "slot"),
        ):
            if kind == "slot" and s == storeys - 1:
                break
            marks.append(marks[-1] + height)
            kinds.append(kind)
    zs, level = graded(marks, size)
    kind = np.array(kinds)[level][None, None, :]
    ix, iy = cell[:, None, None], cell[None, :, None]
    mask = solid_cells(len(cell), len(cell), len(level))
    mask &= ~((kind == "slot") & ~((ix == 2) & (iy == 2)))
    centres = {}
    for s in range(storeys):
        side, across = (ix, iy) if s % 2 == 0 else (iy, ix)
        chosen = 3 if s % 4 < 2 else 1
        room = ((side == chosen) | (side == 2)) & (across >= 1) & (across <= 3)
        mask &= ~((kind == f"room{s}") & room)
        offset = (inner - core) / 2 * (1 if chosen == 3 else -1)
        z = s * (storey + slot) + storey / 2
        centres[f"chamber{s + 1}"] = (offset, 0.0, z) if s % 2 == 0 else (0.0, offset, z)
    mesh = structured(mask, rectilinear(lines, lines, zs)).with_node_set("base", near(2, 0.0))
    mesh = with_cavities(mesh, centres)
    for s in range(storeys - 1):
        low = s * (storey + slot) + storey
        mesh = mesh.with_surface(f"slot{s + 1}.lower", near(2, low)).with_surface(
            f"slot{s + 1}.upper", near(2, low + slot)
        )
    top = storeys * (storey + slot) - slot
    middle = (storeys // 2) * (storey + slot) - slot
    return Robot(
        "tower",
        (SoftBody("body", mesh, material or Corotational.from_young(350e3, 0.45, density=1100.0)),),
        fixations=(Fixation("base"),),
        actuators=tuple(Chamber(name=name, effort_limits=(0.0, 40e3)) for name in centres),
        points=(Point("tip", (0.0, 0.0, top)), Point("middle", (0.0, 0.0, middle))),
        source="Spec inverse-fem 10.1, 10.3, 18; dimensions chosen.",
    )


def slot_pairs(robot: Robot) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The slots of a tower as pairs of facing places, for contact that is known beforehand.

    Returns:
        slot name -> (points on its lower side, the points above them) at rest [m], both (m, 3). With
        `ContactPairs.nearest(model, upper, lower, within=1e-6)` they become contacts; `SelfContact()` finds
        the same ones by detection.
    """
    mesh = robot.soft_body().mesh
    pairs = {}
    for name in (s for s in mesh.surfaces if s.endswith(".lower")):
        slot = name.removesuffix(".lower")
        low = mesh.nodes[np.unique(mesh.surfaces[name])]
        high = mesh.nodes[np.unique(mesh.surfaces[f"{slot}.upper"])]
        distance = np.linalg.norm(low[:, None, :2] - high[None, :, :2], axis=2)
        partner = np.argmin(distance, axis=1)
        close = distance[np.arange(len(low)), partner] < 1e-7
        pairs[slot] = (low[close], high[partner[close]])
    return pairs
