"""The three-chamber arm: three bellows columns at 120 degrees between two rigid plates."""

from __future__ import annotations

import math

import numpy as np

from pliant.actuators import Chamber
from pliant.bodies import Fixation, Point, RigidRegion, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Material, NeoHookean
from pliant.robot import Robot
from pliant.robots.grids import divisions, solid_cells, structured, with_cavities
from pliant.robots.parameters import checked


@checked
def three_chamber_arm(
    *,
    radius: float = 0.024,
    height: float = 0.136,
    plate: float = 0.008,
    folds: int = 7,
    fold: float = 0.007,
    waist: float = 0.018,
    wall: float = 0.002,
    septum: float = 0.0015,
    core: float = 0.004,
    material: Material | None = None,
    size: float = 0.0065,
) -> Robot:
    """A pneumatic arm, 48 x 48 x 136 mm: three bellows columns, grown together, between rigid plates.

    It stands on its lower plate at z = 0, which is held, along +z. The columns are at 0 (+x), 120 and 240
    degrees; each pressure bends the arm away from its column, all together lengthen it.

    Numbers and where they come from:
        48 x 48 x 136 mm, three chambers, 100 to 240 kPa: spec geometric-computing 1.9. Bellows columns at 120
            degrees, rigid end plates: 7.3 (arm-3ch, there 4k, 30k or 135k tets).
        material: the VeroMagenta and Agilus 30 mix of Shore 70A of 1.9; Young's modulus 5.5 MPa by Gent's
            relation (1958), neo-Hookean, 0.45 and 1140 kg/m^3 assumed.
        size: linear tets are too stiff for thin folded walls: the tip moves sideways by 17 mm at 240 kPa in
            one chamber with the default mesh, by about 50 mm with quadratic elements and size 11 mm. Use
            those where it matters.
        folds, fold, waist, wall, septum, core, plate: not published; chosen.

    Args:
        radius: largest outer radius [m].
        height: along z [m].
        plate: thickness of the end plates [m].
        folds: number of folds.
        fold: their depth [m].
        waist: outer radius between the columns [m].
        wall: thickness of the outer wall in the horizontal [m].
        septum: half the thickness of the walls between the columns [m].
        core: radius of the solid core [m].
        material: of the whole body.
        size: wanted edge length along the axis and around it [m].

    Points: "tip" (centre of the upper plate, with its frame), "middle" (on the axis at half height).
    Rigid part: "plate".
    """
    if not (core < waist - fold - wall and waist <= radius and 2 * plate < height and 0 < septum < radius):
        raise ArgumentError("waist", "the columns do not fit", "core + wall + fold < waist <= radius")
    soft = height - 2 * plate
    n_half = divisions(soft / (2 * folds), size)
    inner = np.linspace(plate, height - plate, 2 * folds * n_half + 1)
    zs = np.concatenate([[0.0], inner, [height]])
    swing = np.abs((zs - plate) / (soft / (2 * folds)) % 2.0 - 1.0)
    swing[[0, -1]] = 1.0
    n_arc = 2 * divisions(math.pi * radius / 3 - septum, size)
    per = n_arc + 2  # half a septum, the chamber, half a septum
    n_wall, n_room = divisions(wall, size), divisions(radius - wall - core, 2.5 * size)

    def angles(j: np.ndarray) -> np.ndarray:
        """Angle of a grid line: the chamber spreads evenly between its two half septa."""
        sector, local = j // per, j % per
        half = septum / (0.5 * (waist + core))  # angle of half a septum
        inside = half + (2 * math.pi / 3 - 2 * half) * (local - 1) / n_arc
        return (sector + np.where(local == 0, 0.0, inside / (2 * math.pi / 3))) * (
            2 * math.pi / 3
        ) - math.pi / 3

    def place(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        turn = angles(j % (3 * per))
        lobe = 0.5 + 0.5 * np.cos(3 * turn)
        outer = waist + (radius - waist) * lobe - fold * swing[k]
        hole = outer - wall
        r = np.select(
            [i == 0, i <= 1 + n_room],
            [np.zeros(len(i)), core + (hole - core) * (i - 1) / n_room],
            hole + wall * (i - 1 - n_room) / n_wall,
        )
        return np.stack([r * np.cos(turn), r * np.sin(turn), zs[k]], axis=1)

    mask = solid_cells(1 + n_room + n_wall, 3 * per, len(zs) - 1)
    local = np.arange(3 * per) % per
    rooms = (local >= 1) & (local <= n_arc)
    for i in range(1, 1 + n_room):
        mask[i, rooms, 1:-1] = False
    mesh = structured(mask, place)
    mesh = mesh.with_node_set("base", lambda x: x[:, 2] < plate + 1e-7)
    mesh = mesh.with_node_set("plate", lambda x: x[:, 2] > height - plate - 1e-7)
    centres = {}
    for c in range(3):
        turn = 2 * math.pi * c / 3
        centres[f"chamber{c + 1}"] = (
            0.5 * radius * math.cos(turn),
            0.5 * radius * math.sin(turn),
            height / 2,
        )
    mesh = with_cavities(mesh, centres)
    rubber = material or NeoHookean.from_young(5.5e6, 0.45, density=1140.0)
    return Robot(
        "three_chamber_arm",
        (SoftBody("body", mesh, rubber),),
        fixations=(Fixation("base"),),
        rigid=(RigidRegion("plate", "plate"),),
        actuators=tuple(Chamber(name=name, effort_limits=(-50e3, 240e3)) for name in centres),
        points=(Point("tip", (0.0, 0.0, height)), Point("middle", (0.0, 0.0, height / 2))),
        source="Spec geometric-computing 1.9, 3.4.2, 7.3 (arm-3ch); walls and folds chosen.",
    )
