"""The accordion: a bellows driven by pressure or by three cables."""

from __future__ import annotations

import math

import numpy as np

from pliant.actuators import Actuator, Cable, Chamber
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import divisions, near, solid_cells, structured, with_cavities
from pliant.robots.parameters import checked


@checked
def accordion(
    *,
    drive: str = "chamber",
    height: float = 0.050,
    radius: float = 0.020,
    fold: float = 0.008,
    folds: int = 4,
    wall: float = 0.0025,
    plate: float = 0.005,
    sides: int = 16,
    material: Material | None = None,
    size: float = 0.005,
) -> Robot:
    """A bellows, 50 mm tall, with one air chamber or three cables.

    It stands on its base at z = 0, which is held, along +z. Pressure lengthens it; a cable bends it towards
    the cable.

    Numbers and where they come from:
        height 50 mm: spec inverse-fem 7.1. One cavity, or three cables and the point at the end: 7.4 and 18.
        stroke 15 mm: the largest of the round trip in 7.4, so the cables may be pulled by 20 mm.
        pressure up to 40 kPa: chosen; a fifth more (a half more on the default mesh) turns elements of this soft
            material inside out.
        material: co-rotational, 350 kPa, 0.45, 1100 kg/m^3, the silicone of 17.1.
        radius, fold, folds, wall, plate: not published; chosen so that the meshes of 7.1 (619 to 4226 nodes)
            resolve the wall.

    Args:
        drive: "chamber" (one actuator "chamber", by pressure) or "cables" ("cable1" at +x, the others 120
            degrees apart).
        height: along z [m].
        radius: largest outer radius [m].
        fold: depth of the folds [m].
        folds: how many of them.
        wall: thickness of the wall in the horizontal [m].
        plate: thickness of the two end plates [m].
        sides: cells around the circumference, an even number.
        material: of the whole body.
        size: wanted edge length along the axis [m].

    Points: "tip" (centre of the top face), "middle" (on a fold at half height, +x side).
    """
    if drive not in ("chamber", "cables"):
        raise ArgumentError("drive", f"{drive!r}", "'chamber' or 'cables'")
    if sides < 6 or sides % 2:
        raise ArgumentError("sides", f"{sides}", "an even number of at least 6")
    if not (fold + wall < radius and 2 * plate < height and folds >= 1):
        raise ArgumentError("radius", "the folds do not fit", "fold + wall < radius and 2 plate < height")
    n_inner = 2 * folds * divisions((height - 2 * plate) / (2 * folds), size)
    n_plate = divisions(plate, size)
    n_wall = divisions(wall, size)
    n_core = divisions(radius - fold - wall, 1.5 * size)
    mask = solid_cells(n_core + n_wall, sides, n_inner + 2 * n_plate)  # first: it refuses what does not fit
    mask[:n_core, :, n_plate : n_plate + n_inner] = False
    inner = np.linspace(plate, height - plate, n_inner + 1)
    z_plate = np.linspace(0.0, plate, n_plate + 1)
    zs = np.concatenate([z_plate[:-1], inner, height - z_plate[:-1][::-1]])
    swing = np.abs(
        (zs - plate) / ((height - 2 * plate) / (2 * folds)) % 2.0 - 1.0
    )  # 1 at a valley, 0 at a crest
    swing[(zs <= plate) | (zs >= height - plate)] = 1.0
    outer = radius - fold * swing
    hole = outer - wall

    def place(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        r = np.where(i <= n_core, hole[k] * i / n_core, hole[k] + wall * (i - n_core) / n_wall)
        angle = 2 * math.pi * (j % sides) / sides
        return np.stack([r * np.cos(angle), r * np.sin(angle), zs[k]], axis=1)

    mesh = structured(mask, place).with_node_set("base", near(2, 0.0))
    mesh = with_cavities(mesh, {"chamber": (0.0, 0.0, height / 2)})
    actuators: tuple[Actuator, ...]
    if drive == "chamber":
        rest = mesh.cavity_volume("chamber")
        actuators = (
            Chamber(
                name="chamber", effort_limits=(-2e3, 40e3), displacement_limits=(-0.5 * rest, 2.5 * rest)
            ),
        )
    else:
        levels = [
            float(z)
            for z in inner
            if abs((z - plate) / ((height - 2 * plate) / (2 * folds)) % 2.0 - 1.0) < 1e-6
        ]
        reach = radius - fold - wall / 2
        tendons = []
        for c in range(3):
            x, y = (reach * f(2 * math.pi * c / 3) for f in (math.cos, math.sin))
            tendons.append(
                Cable(
                    name=f"cable{c + 1}",
                    points=tuple((x, y, z) for z in (*levels[1:-1], height - plate / 2)),
                    pull_point=(x, y, 0.0),
                    displacement_limits=(0.0, 0.4 * height),
                    effort_limits=(0.0, 20.0),
                )
            )
        actuators = tuple(tendons)
    half = int(np.argmin(np.abs(zs - height / 2)))
    return Robot(
        "accordion",
        (SoftBody("body", mesh, material or Corotational.from_young(350e3, 0.45, density=1100.0)),),
        fixations=(Fixation("base"),),
        actuators=actuators,
        points=(
            Point("tip", (0.0, 0.0, height)),
            Point("middle", (float(outer[half] - wall / 2), 0.0, float(zs[half]))),
        ),
        source="Spec inverse-fem 7.1, 7.4, 17.1, 18; radii and wall chosen.",
    )
