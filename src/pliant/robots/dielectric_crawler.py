"""A crawler of pre-stretched dielectric elastomer on a flexible frame: it curls at rest and flattens under voltage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.actuators import DielectricLayer
from pliant.actuators.actuator import Drive
from pliant.bodies import Fixation, Point, SoftBody
from pliant.geometry import TetMesh
from pliant.materials import Corotational
from pliant.robot import Robot
from pliant.robots.grids import check_cells
from pliant.robots.parameters import checked


@checked
def dielectric_crawler(
    *,
    length: float = 0.080,
    width: float = 0.040,
    film: float = 0.5e-3,
    frame: float = 0.2e-3,
    prestretch: float = 0.7,
    cells: tuple[int, int] = (16, 4),
    drive: Drive = "displacement",
) -> Robot:
    """A film on a frame, 80 x 40 mm, lying in the x-y plane with its ends (the legs) on the ground.

    The film was stretched before it was glued on: released, it would shrink to 0.7 of its area. So the crawler arches.
    A voltage lets the film grow again and flattens the arch; legs that slip one way only turn that into steps.

    Args:
        length, width: of the crawler [m].
        film: thickness of the elastomer [m]; 0.2 MPa (VHB-like), permittivity 4.7.
        frame: thickness of the frame [m]; 0.4 GPa, the mean of PET strips and the gaps between them.
        prestretch: area ratio that the film would take if it were free.
        cells: cells along and across.
        drive: "displacement" commands the area (see `GeometricModel.command`), "effort" the voltage squared.

    Use quadratic elements: `GeometricModel(robot, element="quadratic")`. The voltage is limited to
    50 MV/m of film, the area to 0.98 to 1 of the glued one. Points: "front" (also called "tip"), "back", "middle".
    """
    nx, ny = cells
    check_cells(2 * nx * ny)
    mesh = TetMesh.box((length, width, 2.0), (nx, ny, 2), (0.0, -width / 2, 0.0))
    nodes = mesh.nodes.copy()
    nodes[:, 2] = np.interp(nodes[:, 2], (0.0, 1.0, 2.0), (0.0, film, film + frame))
    mesh = TetMesh(nodes, mesh.tets).with_region("film", lambda c: c[:, 2] < film)
    mesh = mesh.with_node_set("back_leg", lambda x: (x[:, 0] < 1e-9) & (x[:, 2] < 1e-9))
    mesh = mesh.with_node_set("front_leg", lambda x: (x[:, 0] > length - 1e-9) & (x[:, 2] < 1e-9))
    mesh = mesh.with_node_set("pin", lambda x: (x[:, 0] < 1e-9) & (x[:, 2] < 1e-9) & (np.abs(x[:, 1]) < 1e-9))
    mesh = mesh.with_node_set(
        "guide", lambda x: (x[:, 0] > length - 1e-9) & (x[:, 2] < 1e-9) & (np.abs(x[:, 1]) < 1e-9)
    )
    elastomer = Corotational.from_young(0.2e6, 0.45, density=960.0, source="VHB-like, illustrative")
    strip = Corotational.from_young(0.4e9, 0.3, density=1380.0, source="PET strips with gaps, illustrative")
    layer = DielectricLayer(name="film", thickness=film, prestretch=prestretch, drive=drive)
    rest = layer.factor * length * width * film  # half the capacity at rest [F]
    layer = replace(
        layer, displacement_limits=((0.98**2 - 1.0) * rest, 0.0), effort_limits=(0.0, (50e6 * film) ** 2)
    )
    return Robot(
        "dielectric_crawler",
        (SoftBody("body", mesh, strip, {"film": elastomer}),),
        (
            Fixation("back_leg", axes="z"),
            Fixation("front_leg", axes="z"),
            Fixation("pin"),
            Fixation("guide", axes="yz"),
        ),
        actuators=(layer,),
        points=(
            Point("back", (0.0, 0.0, 0.0)),
            Point("middle", (length / 2, 0.0, film + frame)),
            Point("front", (length, 0.0, 0.0)),
            Point("tip", (length, 0.0, 0.0)),
        ),
        gravity=(0.0, 0.0, 0.0),
        source="after Cao et al., ICRA 2018, as in G. Fang, PhD thesis 2022, ch. 2.6.2; dimensions are a stand-in",
    )
