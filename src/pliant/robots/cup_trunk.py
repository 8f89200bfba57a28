"""A hanging trunk that holds a cup in its coil."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.actuators import Cable
from pliant.bodies import Fixation, Point, SoftBody
from pliant.contact import BodyContact
from pliant.errors import ArgumentError
from pliant.geometry import TetMesh
from pliant.materials import Corotational
from pliant.models.contract import Model
from pliant.robot import Robot
from pliant.robots.grids import check_cells, structured
from pliant.robots.parameters import checked
from pliant.robots.trunk import trunk
from pliant.solve.dynamics import Stepper
from pliant.solve.equilibrium import equilibrium
from pliant.state import State

CUP_POINTS = ("cup1", "cup2", "cup3", "cup4")
_OPEN = 7.0  # tension of long1 and short3 at which the coil is a little wider than the cup [N]
_COIL = (0.0240, 0.0, -0.1602)  # its centre then [m]
_BESIDE = (0.085, 0.0, -0.1602)  # where the cup is described, clear of the straight trunk [m]


@checked
def cup_trunk(
    *,
    cup_radius: float = 0.025,
    cup_height: float = 0.050,
    wall: float = 0.003,
    cells: tuple[int, int] = (36, 15),
    tension: float = 25.0,
) -> Robot:
    """A trunk that hangs from its base, and a cup beside it that nothing holds: a gripper and its object.

    The trunk's lower half curls around the cup when "long1" is pulled (towards +x) while "short3" keeps the upper
    half straight; `grasped` does that. The cup's axis lies along y. Then all eight cables move the cup.

    Numbers and where they come from:
        trunk of 2127 and cup of 3765 DoFs, eight cables, four controlled points on the cup, 81 contacts, gravity,
            a soft cup: spec inverse-fem 13.3, 13.4 and 18 (trunk #2: longer, deeper joints).
        dimensions and stiffness (trunk 800 kPa, cup 3 MPa, both 0.45 and 1100 kg/m^3): not published; chosen so that
            7 N curl the lower half of the trunk to the size of the cup.
        mesh: trunk 714 nodes (2091 DoFs), cup 1226 nodes (3678 DoFs).

    Args:
        cup_radius: outside [m]; about the default, since the coil must fit.
        cup_height: along its axis [m].
        wall: thickness of the cup's wall and bottom [m].
        cells: of the cup, around and along it.
        tension: largest tension of a cable [N].

    Points: "cup1" to "cup4" on the two rims of the cup, "tip" and "middle" of the trunk.
    """
    around, along = cells
    if around < 6 or around % 2 or along < 2:
        raise ArgumentError("cells", f"{cells}", "an even number >= 6 around, at least 2 along")
    check_cells(3 * around * along)
    if not (0 < wall < cup_radius and wall < cup_height and 0.5 * cup_radius < 0.025 < 2 * cup_radius):
        raise ArgumentError("cup_radius", f"{cup_radius} with wall {wall}", "about 0.025 m, with a thinner wall")
    damped: dict[str, Any] = {"density": 1100.0, "rayleigh_mass": 10.0, "rayleigh_stiffness": 0.02}
    arm = trunk(
        length=0.30, base_radius=0.014, tip_radius=0.011, core=0.5, sections=21, base_cable=0.0105, tip_cable=0.008,
        size=0.0072, material=Corotational.from_young(800e3, 0.45, **damped),
    )  # fmt: skip
    hang = np.diag([1.0, -1.0, -1.0])  # from standing to hanging; towards +x stays so
    c, s = math.cos(math.pi / 8), math.sin(math.pi / 8)
    flat = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])  # the discs meet the cup with a side, not a corner
    soft = arm.soft_body()

    def hung(place: Any) -> tuple[float, float, float]:
        x, y, z = hang @ np.asarray(place)
        return (float(x), float(y), float(z))

    cables = tuple(
        replace(
            a, points=tuple(hung(p) for p in a.points), pull_point=hung(a.pull_point), body="trunk", drive="effort",
            effort_limits=(0.0, tension), displacement_limits=(-math.inf, math.inf),
        )
        for a in arm.actuators
        if isinstance(a, Cable)
    )  # fmt: skip
    cup = _cup(cup_radius, cup_height, wall, around, along).transformed(translation=_BESIDE)
    r, h = cup_radius, 0.5 * cup_height
    rims = ((r, h, 0.0), (-r, h, 0.0), (0.0, -h, r), (0.0, -h, -r))
    places = [tuple(float(v) for v in np.add(_BESIDE, p)) for p in rims]
    return Robot(
        "cup_trunk",
        (
            replace(soft, name="trunk", mesh=soft.mesh.transformed(rotation=hang @ flat)),
            SoftBody("cup", cup, Corotational.from_young(3e6, 0.45, **damped)),
        ),
        fixations=(Fixation("base", "trunk"),),
        actuators=cables,
        points=(
            *(Point(name, place, "cup") for name, place in zip(CUP_POINTS, places)),  # type: ignore[arg-type]
            *(Point(p.name, hung(p.position), "trunk") for p in arm.points),
        ),
        source="spec inverse-fem 13.3 and 18; dimensions and stiffness chosen",
    )


def grasp_contact(friction: float = 0.8) -> BodyContact:
    """The contact between trunk and cup."""
    return BodyContact(body_a=0, body_b=1, friction=friction, name="grasp")


def grasped(model: Model, *, tension: float = 9.0, friction: float = 0.8, dt: float = 0.02, steps: int = 40) -> State:
    """The trunk of a `cup_trunk` holding its cup, at rest: the coil is formed, the cup put into it, the coil tightened.

    Args:
        model: a model of `cup_trunk`.
        tension: of "long1" in the end [N]; at 7 N the coil is still wider than the cup.
        friction: between trunk and cup [-].
        dt: time step [s].
        steps: time steps, half of them to tighten.
    """
    robot = model.robot
    alone = robot.but(bodies=robot.bodies[:1], points=tuple(p for p in robot.points if p.body == "trunk"))
    kind: Any = type(model)
    arm = kind(alone)
    coil: State | None = None
    for share in np.linspace(0.25, 1.0, 4):
        coil = equilibrium(arm, {"long1": share * _OPEN, "short3": share * _OPEN}, start=coil, strict=True)
    assert coil is not None
    q = np.array(model.rest)
    q[: arm.nq] = coil.q
    q[arm.nq :] += np.tile(np.subtract(_COIL, _BESIDE), (model.nq - arm.nq) // 3)
    state = State(q, np.zeros(model.nv), coil.u, coil.effort, model.displacement(q))
    forward = Stepper(model, obstacles=[grasp_contact(friction)], scheme="euler", alarm=0.003)
    command = np.array(coil.u)
    for k in range(steps):
        command[robot.actuator_index("long1")] = _OPEN + (tension - _OPEN) * min(1.0, 2.0 * (k + 1) / steps)
        state = forward.step(state, command, dt)
    return state


def _cup(radius: float, height: float, wall: float, around: int, along: int) -> TetMesh:
    """A cup about the y axis with its bottom at -height/2."""
    rings = np.array([0.0, 0.5 * (radius - wall), radius - wall, radius])
    levels = np.concatenate([[0.0], np.linspace(wall, height, along)]) - 0.5 * height
    mask = np.zeros((3, around, along), dtype=bool)
    mask[2] = True
    mask[:, :, 0] = True

    def place(i: np.ndarray, j: np.ndarray, k: np.ndarray) -> np.ndarray:
        angle = 2 * math.pi * (j % around) / around
        return np.stack([rings[i] * np.cos(angle), levels[k], rings[i] * np.sin(angle)], axis=1)

    return structured(mask, place)
