"""A torso that takes body shapes: an elastic skin over twelve chambers on a rigid core."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pliant.actuators import Chamber
from pliant.actuators.actuator import Drive
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Material
from pliant.robot import Robot
from pliant.robots.grids import graded, solid_cells, structured, with_cavities
from pliant.robots.parameters import checked
from pliant.robots.silicone_finger import thesis_silicone

Array = np.ndarray

#: Girth of hip, waist and bust [m] by dress size; 50 mm per size as usual charts have it.
GIRTHS: Mapping[int, tuple[float, float, float]] = {
    10: (0.91, 0.65, 0.83),
    12: (0.96, 0.70, 0.88),
    14: (1.01, 0.75, 0.93),
}
REST = (0.89, 0.63, 0.81)  # [m] girths of the skin at rest: a little slimmer than the smallest size
HEIGHT = 0.46  # [m] of the torso
LEVELS = (0.08, 0.25, 0.40)  # [m] heights of hip, waist and bust
DEPTH = (0.74, 0.78, 0.80)  # depth / width of the sections there


def torso_section(girths: tuple[float, float, float], z: Array) -> tuple[Array, Array]:
    """Half width (along x) and half depth (along y) [m] of the elliptic sections of a torso at heights z [m].

    Args:
        girths: of hip, waist and bust [m].
        z: heights above the lower rim [m] (n,).
    """
    from scipy.interpolate import PchipInterpolator

    levels = (0.0, *LEVELS, HEIGHT)
    girth = PchipInterpolator(levels, (0.97 * girths[0], *girths, 0.97 * girths[2]))(z)
    ratio = PchipInterpolator(levels, (DEPTH[0], *DEPTH, DEPTH[2]))(z)
    h = ((1 - ratio) / (1 + ratio)) ** 2  # Ramanujan's formula for the girth of an ellipse
    unit = math.pi * (1 + ratio) * (1 + 3 * h / (10 + np.sqrt(4 - 3 * h)))
    width = girth / unit
    return width, ratio * width


def torso_surface(size: int | tuple[float, float, float], *, count: tuple[int, int] = (361, 281)) -> Array:
    """Points on the front half of a torso [m] (n, 3), as a scan would give them.

    Args:
        size: dress size (10, 12, 14), or the girths of hip, waist and bust [m].
        count: points around and along.
    """
    if isinstance(size, int) and size not in GIRTHS:
        raise ArgumentError("size", f"{size}", ", ".join(map(str, GIRTHS)))
    girths = GIRTHS[size] if isinstance(size, int) else size
    z, turn = np.meshgrid(np.linspace(0.0, HEIGHT, count[1]), np.linspace(0.0, math.pi, count[0]), indexing="ij")
    a, b = torso_section(girths, z.ravel())
    return np.stack([a * np.cos(turn.ravel()), -b * np.sin(turn.ravel()), z.ravel()], axis=1)


@checked
def mannequin(
    *,
    rows: int = 3,
    columns: int = 4,
    skin: float = 5e-3,
    depth: float = 0.055,
    rib: float = 4e-3,
    size: float = 0.030,
    material: Material | None = None,
    drive: Drive = "effort",
) -> Robot:
    """The front half of a torso: a silicone skin over a grid of chambers that push it out towards other dress sizes.

    The skin is held to a rigid core by soft ribs, which part the chambers. It stands between two plates, and the cut
    at y = 0 is a plane of symmetry: the nodes there slide in these planes. The front is towards -y. At rest it is a
    little slimmer than size 10; `torso_surface` gives the sizes it can take.

    Numbers and where they come from:
        inner chambers and an outer elastic membrane, three targets within UK sizes 10 to 14: spec geometric-computing
        5 (after Tian, Fang et al., T-MECH 2022); "half-torso shell over 6-12 chambers": 7.3.
        sizes of the body, thicknesses, number of chambers: not published; chosen. Dragon Skin 20 for the skin with the
        source's constants; the ribs are pleated, which 0.3 of the stiffness of Ecoflex 00-30 stands for: softer ones
        give way sideways, stiffer ones quilt the skin.
        limit of the pressures: 13 kPa, which size 14 takes where neighbours push too. A chamber alone has its largest
        pressure between 10 and 13 kPa and would balloon beyond it; driven by volume it has no such limit.

    Args:
        rows: of chambers, from hip to bust.
        columns: of chambers, around the front.
        skin: thickness of the skin [m].
        depth: of the chambers [m].
        rib: thickness of the walls between the chambers [m].
        size: edge length of the mesh [m].
        material: of the skin.
        drive: "effort" commands pressures, "displacement" volumes.

    Actuators: "chamber11" (hip, left, +x) to "chamber34" (bust, right): row and column. Points on the skin's front:
    "hip", "waist", "bust" and "tip" (the same as bust).
    """
    if rows < 1 or columns < 1 or rows * columns > 24:
        raise ArgumentError("rows", f"{rows} x {columns} chambers", "1 to 24 chambers")
    least = float(torso_section(REST, np.linspace(0.0, HEIGHT, 60))[1].min())
    if not (skin > 0 and 0 < rib < 0.05 and 0 < depth < least - skin - 0.01):
        raise ArgumentError("depth", f"{depth} m of chamber and {skin} m of skin", f"less than {least - 0.01:.3f} m")
    turns, turn_of = _ribbed(math.pi, columns, rib / 0.14, size / 0.14)
    zs, z_of = _ribbed(HEIGHT, rows, rib, size)
    half_width, half_depth = torso_section(REST, zs)
    inward = np.array([skin + depth + 4e-3, skin + depth, skin + depth / 2, skin, 0.0])

    def place(i: Array, j: Array, k: Array) -> Array:
        a, b = half_width[k] - inward[i], half_depth[k] - inward[i]
        return np.stack([a * np.cos(turns[j]), -b * np.sin(turns[j]), zs[k]], axis=1)

    mask = solid_cells(4, len(turns) - 1, len(zs) - 1)
    mask[1:3] = ~((turn_of % 2 == 1)[:, None] & (z_of % 2 == 1)[None, :])  # ribs are the even intervals
    mesh = structured(mask, place)

    def inside(x: Array, less: float) -> Array:
        """Where a point is relative to the ellipse that lies `less` inside the skin: 1 on it."""
        a, b = torso_section(REST, x[:, 2])
        return np.hypot(x[:, 0] / (a - less), x[:, 1] / (b - less))

    mesh = mesh.with_node_set("core", lambda x: inside(x, skin + depth) < 1 + 1e-6)
    mesh = mesh.with_node_set("cut", lambda x: np.abs(x[:, 1]) < 1e-9)
    mesh = mesh.with_node_set("ends", lambda x: (x[:, 2] < 1e-9) | (x[:, 2] > HEIGHT - 1e-9))
    mesh = mesh.with_node_set("skin", lambda x: inside(x, 0.0) > 1 - 1e-6)
    mesh = mesh.with_region("ribs", lambda c: inside(c, skin) < 1.0)
    names, centres = [], {}
    for r in range(rows):
        for c in range(columns):
            z, turn = HEIGHT * (r + 0.5) / rows, math.pi * (c + 0.5) / columns
            a, b = (float(v) - skin - depth / 2 for v in torso_section(REST, np.array(z)))
            names.append(f"chamber{r + 1}{c + 1}")
            centres[names[-1]] = (a * math.cos(turn), -b * math.sin(turn), z)
    mesh = with_cavities(mesh, centres)
    law = material or thesis_silicone("dragonskin")
    depths = torso_section(REST, np.array(LEVELS))[1]
    front = {n: (0.0, -float(y), z) for n, y, z in zip(("hip", "waist", "bust"), depths, LEVELS)}
    points = [Point(n, _on_skin(mesh, p)) for n, p in {**front, "tip": front["bust"]}.items()]
    return Robot(
        "mannequin",
        (SoftBody("body", mesh, law, {"ribs": thesis_silicone("ecoflex").scaled(0.3)}),),
        (Fixation("core"), Fixation("cut", axes="y"), Fixation("ends", axes="z")),
        actuators=tuple(
            Chamber(
                name=n, drive=drive, effort_limits=(0.0, 13e3 * law.young / 0.82e6),
                displacement_limits=(0.0, mesh.cavity_volume(n)),
            )
            for n in names
        ),
        points=tuple(points),
        gravity=(0.0, 0.0, 0.0),
        source="Spec geometric-computing 5 and 7.3 (mannequin-lite), after Tian, Fang et al. 2022; dimensions chosen.",
    )  # fmt: skip


def _ribbed(extent: float, rooms: int, rib: float, size: float) -> tuple[Array, Array]:
    """Grid lines of rooms between ribs, ribs at both ends; even intervals are ribs, odd ones rooms."""
    pitch = (extent - rib) / rooms
    marks = [0.0]
    for i in range(rooms):
        marks += [i * pitch + rib, (i + 1) * pitch]
    return graded([*marks, extent], size)


def _on_skin(mesh: object, point: tuple[float, float, float]) -> tuple[float, float, float]:
    """The node of the skin nearest to a point: flat elements lie a little inside the curved surface."""
    nodes = mesh.nodes[mesh.node_sets["skin"]]  # type: ignore[attr-defined]
    x, y, z = nodes[int(np.argmin(((nodes - np.array(point)) ** 2).sum(axis=1)))]
    return (float(x), float(y), float(z))
