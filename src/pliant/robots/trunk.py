"""The trunk: a tapered stack of discs on a flexible core, with eight cables."""

from __future__ import annotations

import math

import numpy as np

from pliant.actuators import Cable
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import divisions, near, solid_cells, structured
from pliant.robots.parameters import checked


@checked
def trunk(
    *,
    length: float = 0.195,
    base_radius: float = 0.018,
    tip_radius: float = 0.010,
    core: float = 0.6,
    sections: int = 11,
    base_cable: float = 0.014,
    tip_cable: float = 0.007,
    tube_stiffness: float = 0.0,
    material: Material | None = None,
    size: float = 0.0065,
) -> Robot:
    """A soft trunk, 195 mm long, with eight cables: four to its middle and four along its full length.

    It stands on its base at z = 0, which is held, along +z. The cables "long1" to "long4" and "short1" to
    "short4" run at +x, +y, -x, -y in this order; each bends the trunk towards itself. A short
    and the opposite long cable together make an S. To bend far, let the opposite cables out (negative
    displacements).

    Numbers and where they come from:
        eight cables 90 degrees apart, four to the middle and four over the full length: spec inverse-fem 7.5.
        length 195 mm, 450 kPa, 0.45, 42 g: the trunk of the SOFA SoftRobots examples (its tutorial script);
            the density follows from its mass.
        base_radius, tip_radius, core, sections, base_cable, tip_cable: chosen. There the cables run from 10
            to 2 mm off the axis.
        mesh: about the 709 nodes and 1972 tets of the SOFA example with the default size.

    Args:
        length: along z [m].
        base_radius: outer radius at the base [m].
        tip_radius: outer radius at the tip [m].
        core: radius of the core between the discs, relative to the outer radius.
        sections: number of discs.
        base_cable: distance of the cables from the axis at the base [m].
        tip_cable: the same at the tip [m].
        tube_stiffness: axial stiffness of the guiding tubes (7.5 models them as stiff springs) [N]; 0 for
            none.
        material: of the whole body.
        size: wanted edge length of the mesh [m].

    Points: "tip" (centre of the end face), "middle" (on the axis at half length).
    """
    if sections < 2 or not 0 < core < 1:
        raise ArgumentError("core", "the discs do not fit", "sections >= 2 and 0 < core < 1")
    if not (0 < tip_cable < tip_radius and 0 < base_cable < base_radius):
        raise ArgumentError("base_cable", "the cables leave the body", "less than the radius at both ends")
    pitch = length / sections
    n_disc = n_gap = divisions(pitch / 2, size)
    # Half a gap at both ends of a section would leave half discs at the ends: start and end with a disc.
    disc, gap = pitch * 0.55, (length - sections * pitch * 0.55) / (sections - 1)
    zs, solid = [0.0], []
    for s in range(sections):
        zs += [zs[-1] + disc * (i + 1) / n_disc for i in range(n_disc)]
        solid += [True] * n_disc
        if s < sections - 1:
            zs += [zs[-1] + gap * (i + 1) / n_gap for i in range(n_gap)]
            solid += [False] * n_gap
    z = np.array(zs)
    n_core, n_rim, sides = (
        divisions(core * base_radius, 1.5 * size),
        divisions((1 - core) * base_radius, size),
        8,
    )
    outer = base_radius + (tip_radius - base_radius) * z / length

    def place(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        fraction = np.where(i <= n_core, core * i / n_core, core + (1 - core) * (i - n_core) / n_rim)
        angle = 2 * math.pi * (j % sides) / sides
        r = outer[k] * fraction
        return np.stack([r * np.cos(angle), r * np.sin(angle), z[k]], axis=1)

    mask = solid_cells(n_core + n_rim, sides, len(solid))
    mask[n_core:, :, ~np.array(solid)] = False
    mesh = structured(mask, place).with_node_set("base", near(2, 0.0))

    starts = [s * (disc + gap) for s in range(sections)]
    holes = [h for s in starts for h in (s, s + disc)]
    cables = []
    for kind, end in (("long", length), ("short", length / 2)):
        for c in range(4):
            x, y = round(math.cos(math.pi * c / 2)), round(math.sin(math.pi * c / 2))
            path = []
            for h in holes:
                if h <= end:
                    r = base_cable + (tip_cable - base_cable) * h / length
                    path.append((r * x, r * y, float(h)))
            cables.append(
                Cable(
                    name=f"{kind}{c + 1}",
                    points=tuple(path[1:]),
                    pull_point=path[0],
                    tube_stiffness=tube_stiffness,
                    displacement_limits=(-0.2 * end, 0.2 * end),
                    effort_limits=(0.0, 50.0),
                )
            )
    volume = mesh.volume
    return Robot(
        "trunk",
        (SoftBody("body", mesh, material or Corotational.from_young(450e3, 0.45, density=0.042 / volume)),),
        fixations=(Fixation("base"),),
        actuators=tuple(cables),
        points=(Point("tip", (0.0, 0.0, length)), Point("middle", (0.0, 0.0, length / 2))),
        source="Spec inverse-fem 7.5, 18; length, modulus, mass: trunk of the SOFA SoftRobots examples.",
    )
