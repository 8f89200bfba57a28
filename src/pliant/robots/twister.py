"""A cylinder with a helical slit that opens when it is filled, so that the body twists and bends around things."""

from __future__ import annotations

import math

import numpy as np

from pliant.actuators import Chamber
from pliant.actuators.actuator import Drive
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Material
from pliant.robot import Robot
from pliant.robots.grids import divisions, solid_cells, structured, with_cavities
from pliant.robots.parameters import checked
from pliant.robots.silicone_finger import thesis_silicone


@checked
def twister(
    *,
    length: float = 0.120,
    radius: float = 0.010,
    turns: float = 1.0,
    slit: float = 0.10e-3,
    width: float = 0.5,
    size: float = 4e-3,
    material: Material | None = None,
    drive: Drive = "displacement",
) -> Robot:
    """A silicone cylinder along z, held at z = 0, with a thin slit near its surface that winds around its axis.

    The slit's volume is small, so that ratios above 100 mean something: it opens to a tube.

    Args:
        length: of the cylinder [m].
        radius: of the cylinder [m].
        turns: turns of the slit over the length.
        slit: height of the slit at rest [m].
        width: share of the circumference that the slit spans.
        size: edge length of the mesh along and around the axis [m].
        material: of the body; Ecoflex 00-30 by default.
        drive: "displacement" commands the volume, "effort" the pressure.

    Actuator: "air". Points: "tip" (with its frame), "middle".
    """
    if not (0 < width < 0.9 and 0 < slit < 0.2 * radius):
        raise ArgumentError("slit", f"height {slit}, width {width}", "a slit that fits into the cylinder")
    n_arc = 4 * divisions(0.5 * math.pi * radius, size)
    n_len = divisions(length, size)
    depth = 0.55 * radius
    radii = np.array([0.0, 0.3 * radius, depth, depth + slit, 0.78 * radius, radius])
    zs = np.linspace(0.0, length, n_len + 1)
    hollow = max(2, round(width * n_arc))

    def place(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        turn = 2 * math.pi * (j % n_arc) / n_arc + 2 * math.pi * turns * zs[k] / length
        return np.stack([radii[i] * np.cos(turn), radii[i] * np.sin(turn), zs[k]], axis=1)

    mask = solid_cells(len(radii) - 1, n_arc, n_len)
    mask[2, :hollow, 1:-1] = False
    mesh = structured(mask, place)
    mesh = with_cavities(mesh, {"air": (0.0, 0.0, length / 2)})
    mesh = mesh.with_node_set("base", lambda x: x[:, 2] < 1e-9)
    volume = mesh.cavity_volume("air")
    return Robot(
        "twister",
        (SoftBody("body", mesh, material or thesis_silicone("ecoflex")),),
        (Fixation("base"),),
        actuators=(
            Chamber(
                name="air", drive=drive, displacement_limits=(0.0, 120.0 * volume), effort_limits=(0.0, 80e3)
            ),
        ),
        points=(Point("tip", (0.0, 0.0, length)), Point("middle", (0.0, 0.0, length / 2))),
        gravity=(0.0, 0.0, 0.0),
        source="G. Fang, PhD thesis 2022, ch. 3.4.1 (after Yang et al. 2020); dimensions are not published",
    )
