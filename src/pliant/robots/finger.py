"""The cable-driven finger: blocks joined by a flexible back."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Cable
from pliant.bodies import Fixation, Point, SoftBody
from pliant.checks import count, positive
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import graded, near, rectilinear, solid_cells, structured


def finger(
    *,
    length: float = 0.100,
    width: float = 0.015,
    height: float = 0.015,
    joints: int = 3,
    back: float = 0.004,
    notch: float = 0.018,
    cable_depth: float = 0.0095,
    cables: int = 1,
    material: Material | None = None,
    size: float = 0.005,
) -> Robot:
    """A soft finger, 100 x 15 x 15 mm, with one cable (or two side by side).

    It hangs from its base at the origin, along -z; its back is at -x, its notches and cables are at +x, and pulling a
    cable curls it towards +x.

    Numbers and where they come from:
        length, width, height: 100 x 15 x 15 mm, spec inverse-fem 7.2 (design similar to Manti et al. 2015).
        cable stroke: 30 mm (and 39 mm) in 7.2 and 7.3, so the displacement limit is 39 mm. Two cables, 18 mm: 10.1.
        material: co-rotational, 350 kPa, 0.45, 1100 kg/m^3, the silicone of 17.1.
        joints, back, notch, cable_depth: not published. Chosen so that 30 mm of cable needs a force like the 0.33 N
            of 7.2: 0.38 N with quadratic elements, 0.84 N with linear ones of the default size.
        self-contact: the sides of the last notch meet at 25 to 30 mm of cable (18: "self beyond a threshold");
            without `SelfContact()` among the obstacles they pass through each other.
        size: 7.5 mm gives a mesh as coarse as the coarsest of 7.2 (158 nodes, 389 tets), 2 mm one as fine as its
            second. Linear tets of one layer make the back too stiff; use quadratic ones where forces matter.

    Args:
        length: of the finger, along -z [m].
        width: along y [m].
        height: along x, from the back to the notched side [m].
        joints: number of notches.
        back: thickness of the back [m].
        notch: length of one notch along the finger [m].
        cable_depth: how far in front of the back face the cables run [m].
        cables: 1 ("cable") or 2 ("cable1" at +y, "cable2" at -y).
        material: of the whole body.
        size: wanted edge length of the mesh [m].

    Points: "tip" (centre of the end face), "middle" (middle of the back).
    """
    joints = count("joints", joints)
    sizes = {"length": length, "width": width, "height": height, "back": back, "notch": notch}
    for name, value in {**sizes, "cable_depth": cable_depth}.items():
        positive(name, value)
    block = (length - joints * notch) / (joints + 1)
    if block <= 0:
        raise ArgumentError("joints", f"{joints} notches of {notch} m do not fit", f"a total below {length} m")
    if not back < cable_depth < height:
        raise ArgumentError("cable_depth", f"{cable_depth}", "between the thickness of the back and the height [m]")
    if cables not in (1, 2):
        raise ArgumentError("cables", f"{cables}", "1 or 2")
    face = height / 2
    marks = [0.0]
    for _ in range(joints):
        marks += [marks[-1] + block, marks[-1] + block + notch]
    marks = [*marks, length]
    zs, part = graded(marks, size)
    ys, _ = graded([-width / 2, 0.0, width / 2], size)
    xs, layer = graded([-face, back - face, cable_depth - face, face], size)
    mask = solid_cells(len(layer), len(ys) - 1, len(part))
    mask[np.ix_(layer > 0, np.ones(len(ys) - 1, bool), part % 2 == 1)] = False
    mesh = structured(mask, rectilinear(xs, ys, -zs)).with_node_set("base", near(2, 0.0))

    sides = {"cable": 0.0} if cables == 1 else {"cable1": width / 4, "cable2": -width / 4}
    tendons = tuple(
        Cable(
            name=name,
            points=tuple((cable_depth - face, y, -z) for z in marks[1:]),
            pull_point=(cable_depth - face, y, 0.0),
            displacement_limits=(0.0, 0.39 * length),
            effort_limits=(0.0, 10.0),
        )
        for name, y in sides.items()
    )
    return Robot(
        "finger",
        (SoftBody("body", mesh, material or Corotational.from_young(350e3, 0.45, density=1100.0)),),
        fixations=(Fixation("base"),),
        actuators=tendons,
        points=(Point("tip", (0.0, 0.0, -length)), Point("middle", (back / 2 - face, 0.0, -length / 2))),
        source="Spec inverse-fem 7.2, 7.3, 10.1, 17.1; notches chosen to match the force of 7.2.",
    )
