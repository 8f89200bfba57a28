"""The diamond: a parallel soft robot of four legs, moved by four cables."""

from __future__ import annotations

import math

import numpy as np

from pliant.actuators import Cable
from pliant.bodies import Fixation, Point, SoftBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational, Material
from pliant.robot import Robot
from pliant.robots.grids import divisions, mirrored, structured
from pliant.robots.parameters import checked


@checked
def diamond(
    *,
    reach: float = 0.100,
    height: float = 0.125,
    leg_width: float = 0.030,
    leg_thickness: float = 0.014,
    hub: float = 0.036,
    material: Material | None = None,
    size: float = 0.008,
) -> Robot:
    """A parallel robot with the outline of a diamond: four bent legs between two hubs, a cable at each elbow.

    The lower hub stands at z = 0 and is held; the upper one carries the tip at z = 125 mm. The cables
    "cable1" to "cable4" pull the elbows at +x, +y, -x, -y towards the axis: each pushes the upper hub
    away from its side, all together lift it. Pulled too far together, the legs buckle sideways.

    Numbers and where they come from:
        four cables, tip at 125 mm, elbows at about 97 mm, 450 kPa, 0.45, 0.5 kg: the Diamond robot of the
            SOFA SoftRobots examples (tutorial script), which spec inverse-fem 10.2 names. The density here is
            that of silicone.
        mesh: of the order of its 1628 nodes and 4147 tets with the default size.
        leg and hub sections, rounded elbows at half height: chosen (there the elbows are at 45 mm).

    Args:
        reach: largest distance of the elbows from the axis [m].
        height: from the bottom of the lower to the top of the upper hub [m].
        leg_width: tangential width of the legs [m].
        leg_thickness: thickness of the legs [m].
        hub: width of the hubs [m], at least that of the legs.
        material: of the whole body.
        size: wanted edge length of the mesh [m].

    Points: "tip" (centre of the top face), "elbow1" to "elbow4".
    """
    if not 0 < leg_width <= hub < reach or not 0 < 3 * leg_thickness < height / 2:
        raise ArgumentError("hub", "the legs do not fit", "leg_width <= hub < reach and thin legs")
    half_hub = hub / 2
    # Tangent angle along a half leg: level at the hub, rising, upright at the elbow. Two unknowns (slope,
    # length) meet the elbow exactly.
    s = np.linspace(0.0, 1.0, 401)
    rise, turn = 0.18, 0.72
    blend = np.clip(s / rise, 0.0, 1.0)
    blend = blend * blend * (3 - 2 * blend)
    end = np.clip((s - turn) / (1 - turn), 0.0, 1.0)
    end = end * end * (3 - 2 * end)
    dr = reach - leg_thickness / 2 - half_hub
    dz = height / 2 - leg_thickness / 2

    def curve(slope: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angle = slope * blend + (math.pi / 2 - slope) * end
        step = np.diff(s, prepend=0.0)
        r, z = np.cumsum(np.cos(angle) * step), np.cumsum(np.sin(angle) * step)
        return angle, r, z

    low, high = -1.2, 1.5
    for _ in range(80):
        mid = (low + high) / 2
        _, r, z = curve(mid)
        low, high = (mid, high) if z[-1] * dr < r[-1] * dz else (low, mid)
    angle, r, z = curve((low + high) / 2)
    scale = dr / r[-1]
    r, z = half_hub + scale * r, leg_thickness / 2 + scale * z
    z += height / 2 - z[-1]  # rounding of the search only
    n_leg, n_width = divisions(scale, size), 2 * divisions(leg_width / 2, size)
    n_thick, n_side = (
        divisions(leg_thickness, size),
        divisions((hub - leg_width) / 2, size) if hub > leg_width else 0,
    )
    across = np.linspace(-leg_width / 2, leg_width / 2, n_width + 1)
    if n_side:
        extra = np.linspace(half_hub, leg_width / 2, n_side + 1)[:-1]
        across = np.concatenate([-extra, across, extra[::-1]])
    n_hub = len(across) - 1
    along = np.linspace(0.0, 1.0, n_leg + 1)[1:]
    path = np.stack([np.interp(along, s, v) for v in (r, z, angle)])

    count = n_leg * 2 + n_hub
    mask = np.zeros((count, count, n_thick), dtype=bool)
    inside = np.arange(count)
    is_hub = (inside >= n_leg) & (inside < n_leg + n_hub)
    is_leg = (inside >= n_leg + n_side) & (inside < n_leg + n_hub - n_side)
    mask[np.ix_(is_hub, is_hub)] = True
    mask[np.ix_(~is_hub, is_leg)] = True
    mask[np.ix_(is_leg, ~is_hub)] = True

    def place(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        depth = leg_thickness * (k / n_thick - 0.5)
        out = np.zeros((len(i), 3))
        out[:, 2] = leg_thickness / 2 + depth
        for axis, index in ((0, i), (1, j)):
            out[:, axis] = across[np.clip(index - n_leg, 0, n_hub)]
        for axis, index in ((0, i), (1, j)):
            steps = np.maximum(n_leg - index, index - n_leg - n_hub)
            on = steps > 0
            sign = np.where(index[on] < n_leg, -1.0, 1.0)
            rr, zz, aa = path[:, steps[on] - 1]
            out[on, axis] = sign * (rr - depth[on] * np.sin(aa))
            out[on, 2] = zz + depth[on] * np.cos(aa)
        return out

    mesh = mirrored(structured(mask, place), 2, height / 2)
    tall = leg_thickness * 1.001
    mesh = mesh.with_node_set(
        "base", lambda x: (x[:, 2] < tall) & (np.abs(x[:, :2]).max(axis=1) <= half_hub + 1e-7)
    )
    elbow = reach - leg_thickness / 2
    cables, elbows = [], []
    for c in range(4):
        x, y = round(math.cos(math.pi * c / 2)), round(math.sin(math.pi * c / 2))
        place_of = (elbow * x, elbow * y, height / 2)
        elbows.append(Point(f"elbow{c + 1}", place_of))
        cables.append(
            Cable(
                name=f"cable{c + 1}",
                points=(place_of,),
                pull_point=(0.01 * x, 0.01 * y, 0.03),
                displacement_limits=(-0.02, 0.02),
                effort_limits=(0.0, 30.0),
            )
        )
    return Robot(
        "diamond",
        (SoftBody("body", mesh, material or Corotational.from_young(450e3, 0.45, density=1070.0)),),
        fixations=(Fixation("base"),),
        actuators=tuple(cables),
        points=(Point("tip", (0.0, 0.0, height)), *elbows),
        source="Diamond robot of the SOFA SoftRobots examples (spec inverse-fem 10.2); sections chosen.",
    )
