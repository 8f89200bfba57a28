"""A soft sphere of twenty cells that rolls by softening some of them under pressure."""

from __future__ import annotations

import math

import numpy as np

from pliant.actuators import Chamber, Stiffness
from pliant.bodies import Point, SoftBody
from pliant.errors import ArgumentError
from pliant.geometry import TetMesh, topology
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import check_cells
from pliant.robots.parameters import checked

CELLS = 20


@checked
def rolling_sphere(
    *,
    radius: float = 0.050,
    thickness: float = 0.004,
    divisions: int = 7,
    layers: int = 1,
    pressure: float = 2.5e3,
    softest: float = 0.2,
    stiffest: float = 4.0,
    slope: float = 0.0,
    material: Material | None = None,
) -> Robot:
    """A hollow soft sphere of 20 triangular cells, each of variable stiffness, and air inside; nothing holds it.

    It lies on the ground z = 0 (with a slope, gravity is tilted instead, so that +x leads uphill). "cell1" to "cell20"
    change the stiffness of the faces of an icosahedron, one of which lies on the ground (an effort of -0.5 halves
    it, +1 doubles it); "air" is the pressure of the cavity. Under pressure a softened cell bulges, which shifts the
    weight over the patch that carries it.

    Numbers and where they come from:
        icosahedral shell of 20 cells with a central cavity, mesh along the cell borders, 20 moduli and 1 pressure,
            barycentre and two surface points as effectors, 3003 DoFs, 39 contacts: spec inverse-fem 13.2 and 18 (after
            Steltz et al. 2009, whose cells jam).
        dimensions, stiffness (100 kPa, 0.45, 1100 kg/m^3), its range and the pressure: not published; chosen so
            that 1 kPa carries the weight on a patch of about as many nodes as there are contacts in the thesis.
        mesh: 2 layers of 492 nodes, 2952 DoFs.

    Args:
        radius: outer radius [m].
        thickness: of the shell [m].
        divisions: of the edge of a cell.
        layers: elements through the shell.
        pressure: largest pressure inside [Pa].
        softest: stiffness of a cell relative to the material, at least.
        stiffest: the same, at most.
        slope: angle of the ground, uphill along +x [rad].
        material: of the whole body at zero effort.

    Points: "top", "front" (on the outside, along +z and +x).
    """
    if not 1 <= divisions <= 200:
        raise ArgumentError("divisions", f"{divisions}", "1 to 200")
    check_cells(10.0 * divisions**2 * layers)  # two of the 20 divisions^2 prisms of a layer are as large as a cell
    if not 0 < thickness < radius:
        raise ArgumentError("thickness", f"{thickness}", "between 0 and the radius [m]")
    if not 0 < softest <= 1 <= stiffest:
        raise ArgumentError("softest", f"{softest} to {stiffest}", "softest in (0, 1], stiffest at least 1")
    directions, triangles, centres = _divided_icosahedron(divisions)
    n = len(directions)
    radii = np.linspace(radius - thickness, radius, layers + 1)
    nodes = np.concatenate([r * directions for r in radii]) + [0.0, 0.0, radius]
    lower = np.concatenate([triangles + i * n for i in range(layers)])
    tets = topology.split_prisms(lower, lower + n, lower < np.roll(lower, -1, axis=1))
    mesh = TetMesh(nodes, topology.oriented(nodes, tets)).with_cavity("air")
    # a face of the icosahedron holds what is nearest to its centre
    owner = np.argmax((nodes[mesh.tets].mean(axis=1) - [0.0, 0.0, radius]) @ centres.T, axis=1)
    for c in range(CELLS):
        mesh = mesh.with_region(f"cell{c + 1}", np.flatnonzero(owner == c))
    soft = Corotational.from_young(100e3, 0.45, density=1100.0, rayleigh_mass=1.0, rayleigh_stiffness=0.02)
    limits = (softest - 1.0, stiffest - 1.0)
    cells = tuple(Stiffness(name=f"cell{c + 1}", region=f"cell{c + 1}", effort_limits=limits) for c in range(CELLS))
    air = Chamber(name="air", drive="effort", effort_limits=(0.0, pressure))
    return Robot(
        "rolling_sphere",
        (SoftBody("shell", mesh, material or soft),),
        actuators=(*cells, air),
        points=(Point("top", (0.0, 0.0, 2 * radius)), Point("front", (radius, 0.0, radius))),
        gravity=(-9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope)),
        source="spec inverse-fem 13.2 and 18 (after Steltz et al. 2009); dimensions and stiffness chosen",
    )


def _divided_icosahedron(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors, triangles, and face centres of an icosahedron with a face down and its edges divided by n."""
    g = 0.5 * (1.0 + math.sqrt(5.0))
    corners = np.array([np.roll((0.0, a, b * g), r) for r in range(3) for a in (-1, 1) for b in (-1, 1)])
    corners /= np.linalg.norm(corners[0])
    edge = np.sort(np.linalg.norm(corners[0] - corners, axis=1))[1]
    near = np.linalg.norm(corners[:, None] - corners[None], axis=2) < 1.01 * edge
    faces = [
        (i, j, k) for i in range(12) for j in range(i + 1, 12) for k in range(j + 1, 12)
        if near[i, j] and near[j, k] and near[i, k]
    ]  # fmt: skip
    down = corners[list(faces[0])].mean(axis=0)
    z = -down / np.linalg.norm(down)
    x = corners[faces[0][0]] - (corners[faces[0][0]] @ z) * z
    x /= np.linalg.norm(x)
    corners = corners @ np.stack([x, np.cross(z, x), z]).T
    points: list[np.ndarray] = []
    triangles: list[np.ndarray] = []
    for face in faces:
        a, b, c = corners[list(face)]
        if np.linalg.det([a, b, c]) < 0:
            b, c = c, b
        for i in range(n):
            for j in range(n - i):
                cells = [((i, j), (i + 1, j), (i, j + 1))]
                if i + j < n - 1:
                    cells.append(((i + 1, j), (i + 1, j + 1), (i, j + 1)))
                for cell in cells:
                    triangles.append(len(points) + np.arange(3))
                    points += [(a * (n - p - q) + b * p + c * q) / n for p, q in cell]
    stacked = np.array(points)
    stacked /= np.linalg.norm(stacked, axis=1)[:, None]
    _, first, index = np.unique(np.rint(1e7 * stacked).astype(np.int64), axis=0, return_index=True, return_inverse=True)
    centres = np.array([corners[list(f)].mean(axis=0) for f in faces])
    return stacked[first], index.reshape(-1)[np.array(triangles)], centres
