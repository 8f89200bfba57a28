"""Soft beams: one with two opposite cables, and the test beam that all golden values belong to."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Cable
from pliant.bodies import Fixation, Point, SoftBody
from pliant.geometry import TetMesh
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import divisions, near, rectilinear, solid_cells, structured
from pliant.robots.parameters import checked

_SILICONE = {"young": 350e3, "poisson": 0.45, "density": 1100.0}


@checked
def beam(
    *,
    length: float = 0.100,
    width: float = 0.015,
    height: float = 0.015,
    hexes: bool = False,
    material: Material | None = None,
    size: float = 0.0055,
) -> Robot:
    """A soft beam with two opposite cables.

    It lies along +x with its face x = 0 held; "top" runs along its upper and "bottom" along its lower face,
    and each bends the beam towards itself, in the x-z plane. To bend far, let the other one out (a negative
    displacement).

    Numbers and where they come from:
        hexahedra, 480 DoFs (160 nodes, 9 x 3 x 3 cells), two opposite cables, tip: spec inverse-fem 10.3 and
        18.
        length, width, height, material: not published; those of the test beam of 17.1.

    Args:
        length: along x [m].
        width: along y [m].
        height: along z [m].
        hexes: hexahedra instead of tets.
        material: of the whole body.
        size: wanted edge length of the mesh [m]; 11 mm along x is the 160-node mesh.

    Points: "tip" (centre of the end face), "middle" (on the axis at half length).
    """
    nx, ny, nz = divisions(length, 2 * size, 2), divisions(width, size, 2), divisions(height, size, 2)
    lines = [np.linspace(0, length, nx + 1)]
    lines += [np.linspace(-w / 2, w / 2, n + 1) for w, n in ((width, ny), (height, nz))]
    mesh = structured(solid_cells(nx, ny, nz), rectilinear(*lines), hexes=hexes)
    mesh = mesh.with_node_set("base", near(0, 0.0))
    cables = tuple(
        Cable(
            name=name,
            points=tuple((float(x), 0.0, z) for x in lines[0][1:]),
            pull_point=(-0.005, 0.0, z),
            displacement_limits=(-0.3 * length, 0.3 * length),
            effort_limits=(0.0, 20.0),
        )
        for name, z in (("top", height / 2), ("bottom", -height / 2))
    )
    return Robot(
        "beam",
        (SoftBody("body", mesh, material or Corotational.from_young(**_SILICONE)),),
        fixations=(Fixation("base"),),
        actuators=cables,
        points=(Point("tip", (length, 0.0, 0.0)), Point("middle", (length / 2, 0.0, 0.0))),
        source="Spec inverse-fem 10.3, 18 (soft beam); dimensions of 17.1.",
    )


@checked
def golden_beam() -> Robot:
    """The test beam of spec inverse-fem 17.1, exactly, to which the golden values of section 17 belong.

    Box x in [0, 100] mm, y and z in [-7.5, 7.5] mm, 12 x 2 x 2 cells, 117 nodes (index (3 i + j) 3 + k), 288
    tets; co-rotational, 350 kPa, 0.45, 1100 kg/m^3, gravity 9.81 m/s^2 along -z, face x = 0 held. Three
    cables "cable1", "cable2", "cable3" through all nodes (except the held one) of the lines (y, z) = (0,
    7.5), (7.5, -7.5) and (-7.5, -7.5) mm, pulled from x = -5 mm. They may push, as in the dossier, where
    their tension is not limited.

    At strokes of 5, 10, 15 mm: tensions 1.71789, 1.15047, 3.27295 N, tip (89.4445, -9.0660, -20.7812) mm.

    Points: "tip" (centre node of the end face), "middle".
    """
    mesh = TetMesh.box((0.1, 0.015, 0.015), (12, 2, 2), (0.0, -0.0075, -0.0075))
    mesh = mesh.with_node_set("base", near(0, 0.0))
    edge = 0.0075
    cables = tuple(
        Cable(
            name=f"cable{c + 1}",
            points=tuple((0.1 * i / 12, y, z) for i in range(1, 13)),
            pull_point=(-0.005, y, z),
            slackable=False,
            effort_limits=(-100.0, 100.0),
            displacement_limits=(-0.02, 0.03),
        )
        for c, (y, z) in enumerate(((0.0, edge), (edge, -edge), (-edge, -edge)))
    )
    return Robot(
        "golden_beam",
        (SoftBody("body", mesh, Corotational.from_young(**_SILICONE)),),
        fixations=(Fixation("base"),),
        actuators=cables,
        points=(Point("tip", (0.1, 0.0, 0.0)), Point("middle", (0.05, 0.0, 0.0))),
        source="Spec inverse-fem 17.1.",
    )
