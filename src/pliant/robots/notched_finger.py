"""The printed finger with three groups of V-notches, one tendon per group."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Cable
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Material, preset
from pliant.robot import Robot
from pliant.robots.grids import HANGING, divisions, graded, hung, near, solid_cells, structured
from pliant.robots.parameters import checked


@checked
def notched_finger(
    *,
    length: float = 0.120,
    width: float = 0.025,
    height: float = 0.025,
    groups: int = 3,
    notches: int = 3,
    pitch: float = 0.007,
    depth: float = 0.019,
    opening: float = 0.005,
    root: float = 0.0015,
    cable_depth: float = 0.021,
    material: Material | None = None,
    size: float = 0.0085,
    sheathed: bool = False,
) -> Robot:
    """A printed finger, 120 x 25 x 25 mm, with three groups of V-notches and three tendons; it is planar.

    It hangs from its base at z = 0, which is held, along -z; its back is at -x, its notches are at +x, and
    pulling curls it towards +x. The tendons "cable1", "cable2", "cable3" end behind the first, second and
    third group: the first bends the first knuckle only, the third all of them. All run in the plane y = 0. Pulled
    alone, the third bends all knuckles alike; what slackens the first two by that does nothing until it is taken up.
    With `sheathed` tendons every knuckle has its own, whatever the others do.

    Numbers and where they come from:
        length, width, height, three knuckles, one cable per knuckle: spec geometric-computing 3.4.1 and 7.3.
        material: TPU 95A, one of the filaments of the printed fingers in 1.9.
        notches, pitch, depth, opening, root, cable_depth: not published; chosen so that a group closes at
            about 45 degrees.
        stroke: a group closes at about 12 mm of cable, so the limits are 12 mm per group passed (four fifths of the
            notches' openings, where they are chosen otherwise).

    Args:
        length: of the finger, along -z [m].
        width: along y [m].
        height: along x, from the back to the notched side [m].
        groups: number of knuckles, each with its own tendon.
        notches: notches per knuckle.
        pitch: distance between the notches of a group [m].
        depth: how deep the notches reach [m].
        opening: width of a notch at the surface [m].
        root: width of a notch at its root [m].
        cable_depth: how far in front of the back face the tendons run [m].
        material: of the whole body.
        size: wanted edge length of the mesh away from the notches [m].
        sheathed: the tendons come in sheaths that end before their own group, one tendon per knuckle.

    Points: "tip" (centre of the end face), "corner" (of its back, the tracked point of 3.4.1),
    "knuckle1", "knuckle2", ... (behind each group, on the axis).
    """
    solid = (length - groups * notches * pitch) / (groups + 1)
    if groups < 1 or notches < 1 or solid <= 0:
        raise ArgumentError(
            "pitch",
            f"{groups} groups of {notches} notches {pitch} m apart do not fit",
            "less than the length",
        )
    if not 0 < root <= opening < pitch or not 0 < depth < cable_depth < height:
        raise ArgumentError(
            "depth", "the notches do not fit", "root <= opening < pitch and depth < cable_depth < height"
        )
    top, floor = height / 2, -height / 2
    # Described lying along x: solid blocks, and per notch a half rib, the notch, a half rib; the sides of the
    # notches lean. It is hung up at the end.
    edges, kind = [0.0], []
    lean = [0.0]  # how far a grid line moves at the bottom
    for g in range(groups + 1):
        n = divisions(solid, size)
        edges += [edges[-1] + solid / n * (i + 1) for i in range(n)]
        kind += [0] * n
        lean += [0.0] * n
        for _ in range(notches if g < groups else 0):
            start = edges[-1]
            half = (pitch - root) / 2
            edges += [start + half, start + half + root, start + pitch]
            kind += [0, 1, 0]
            lean += [-(opening - root) / 2, (opening - root) / 2, 0.0]
    xs, lean_at = np.array(edges), np.array(lean)
    ys, _ = graded([-width / 2, 0.0, width / 2], size)
    zs, layer = graded([floor, top - cable_depth, floor + depth, top], size)
    mask = solid_cells(len(kind), len(ys) - 1, len(layer))
    mask[np.ix_(np.array(kind) == 1, np.ones(len(ys) - 1, bool), layer < 2)] = False

    def place(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        below = np.clip((floor + depth - zs[k]) / depth, 0.0, 1.0)
        return np.stack([xs[i] + lean_at[i] * below, ys[j], zs[k]], axis=1)

    mesh = structured(mask, place).transformed(HANGING).with_node_set("base", near(2, 0.0))
    height_of_cable = top - cable_depth
    at = (floor + depth - height_of_cable) / depth
    sides = xs + lean_at * at
    holes = [float(x) for x in sides[[i for i in range(1, len(kind)) if kind[i] != kind[i - 1]]]]
    tendons = []
    for g in range(groups):
        end = (g + 1) * (solid + notches * pitch) + solid / 2
        start = end - notches * pitch - solid if sheathed else 0.0
        path = [start] * sheathed + [x for x in holes if start < x < end] + [end]
        tendons.append(
            Cable(
                name=f"cable{g + 1}",
                points=tuple(hung(x, 0.0, height_of_cable) for x in path),
                pull_point=None if sheathed else hung(0.0, 0.0, height_of_cable),
                displacement_limits=(0.0, 0.8 * notches * opening * (1 if sheathed else g + 1)),
                effort_limits=(0.0, 100.0),
            )
        )
    knuckles = [(g + 1) * (solid + notches * pitch) + solid / 2 for g in range(groups)]
    return Robot(
        "notched_finger",
        (SoftBody("body", mesh, material or preset("tpu-95a")),),
        fixations=(Fixation("base"),),
        actuators=tuple(tendons),
        points=(
            Point("tip", hung(length, 0.0, 0.0)),
            Point("corner", hung(length, -width / 2, top)),
            *(Point(f"knuckle{g + 1}", hung(x, 0.0, 0.0)) for g, x in enumerate(knuckles)),
        ),
        source="Spec geometric-computing 3.4.1, 7.3 (cable-finger), 1.9; notches chosen.",
    )
