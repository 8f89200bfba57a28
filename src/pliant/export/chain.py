"""A robot of rods as a chain of rigid links with springs, for simulators that know no rods.

Every rod is cut into equal elements. The strain of an element is lumped in a joint at its middle (hinges for twist
and bending, a slide for stretch: those strains that the model's basis has); the links between the joints carry the
mass. Poses converge with the square of the element length, and in proportion to it where a tendon ends within an
element. What is lost: shear, the coupling of the strains of a basis (each element is free by itself), and the
smooth path of a tendon (it runs straight from link to link).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant import lie
from pliant.actuators import Actuator, Cable, Chamber
from pliant.errors import ArgumentError
from pliant.models.rod import RodModel
from pliant.models.rod_tables import Station, rest_strain, section

Array = np.ndarray
# strain -> axis in the section; the stretch comes first, so that the hinges of a joint meet in one point
_JOINTS = (("stretch", 3), ("twist", 0), ("bend_y", 1), ("bend_z", 2))


@dataclass(frozen=True)
class Joint:
    """One degree of freedom: kind "slide", "hinge" or "ball", axis in the link, spring, damper and relaxed value."""

    name: str
    kind: str
    axis: tuple[float, float, float]
    stiffness: float
    damping: float
    rest: float


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid piece. It lies along its own x axis from 0 to `length`; its joints act at its origin.

    Attributes:
        name: "<rod>_0" is the piece at the base.
        parent: name of the link that carries it, "" for the world.
        pose: in the parent's axes, joints at zero (4, 4).
        joints: in the order in which they act.
        length: [m].
        radius: for drawing [m].
        mass: [kg].
        centre: of the mass along x [m].
        inertia: about the centre, along x and across [kg m^2].
        start: arc length of its origin on the rod [m].
    """

    name: str
    parent: str
    pose: Array
    joints: tuple[Joint, ...]
    length: float
    radius: float
    mass: float
    centre: float
    inertia: tuple[float, float]
    start: float


@dataclass(frozen=True, eq=False)
class Route:
    """The path of a tendon or channel: (link, or "" for the world; place in its axes [m]), and the force per effort."""

    actuator: Actuator
    places: tuple[tuple[str, Array], ...]
    gear: float


@dataclass(frozen=True, eq=False)
class Chain:
    """Links, parents first, and routes."""

    links: tuple[Link, ...]
    routes: tuple[Route, ...]

    def coordinates(self, model: RodModel, q: Array) -> dict[str, float]:
        """Joint values of the chain at a configuration of the model: each element takes the strain at its middle.

        Balls (turning bases) are left out.
        """
        strains = _element_strains(model, q, self)
        out: dict[str, float] = {}
        for link in self.links:
            for joint in link.joints:
                if joint.name in strains:
                    out[joint.name] = strains[joint.name]
        return out


def rod_chain(model: RodModel, *, links: int = 20) -> Chain:
    """The chain of a rod model.

    Args:
        model: rods; held, sliding or turning bases; cables and chambers.
        links: elements per rod.
    """
    if links < 1 or int(links) != links:
        raise ArgumentError("links", f"{links}", "an integer >= 1")
    out: list[Link] = []
    last: dict[str, tuple[str, float]] = {}  # of a rod: its last link and that link's length
    for rod, basis in zip(model.layout.bodies, model.bases):
        h = rod.length / links
        pose = lie.frame(lie.matrix_from_quaternion(rod.rotation), rod.position)
        parent = ""
        if rod.parent:
            parent, reach = last[rod.parent]
            pose = lie.frame(np.eye(3), (reach, 0, 0)) @ pose
        axes = rod.axes or ()
        base = tuple(
            Joint(f"{rod.name}_slide{i}", "slide", tuple(float(v) for v in pose[:3, :3].T @ axis), 0.0, 0.0, 0.0)  # type: ignore[arg-type]
            for i, axis in enumerate(np.array(axes).reshape(-1, 3))
        )
        if rod.rotates:
            base += (Joint(f"{rod.name}_turn", "ball", (0.0, 0.0, 0.0), 0.0, 0.0, 0.0),)
        viscous = rod.damping + rod.material.rayleigh_stiffness
        for k in range(links + 1):
            start = max(0.0, (k - 0.5) * h)
            end = min(rod.length, (k + 0.5) * h)
            joints = base
            if k:
                stiffness = section(rod, np.array([start]))[0][0]
                rest = rest_strain(rod) - [0, 0, 0, 1, 0, 0]
                joints = tuple(
                    Joint(
                        f"{rod.name}_{name}{k}", "slide" if c == 3 else "hinge",
                        tuple(float(v) for v in np.eye(3)[c % 3]),  # type: ignore[arg-type]
                        float(stiffness[c] / h), float(viscous * stiffness[c] / h), float(rest[c] * h),
                    )
                    for name, c in _JOINTS if name in basis.strains
                )  # fmt: skip
                pose = lie.frame(np.eye(3), (start - out[-1].start, 0, 0))
                parent = out[-1].name
            mass, centre, inertia = _inertia(rod, start, end, rod.tip_mass if k == links else 0.0)
            radius = float(rod.radii(np.array([0.5 * (start + end)]))[0][0])
            out.append(Link(f"{rod.name}_{k}", parent, pose, joints, end - start, radius, mass, centre, inertia, start))
        last[rod.name] = (out[-1].name, out[-1].length)
    return Chain(tuple(out), tuple(_route(model, a, out, links) for a in model.robot.actuators))


def _inertia(rod, start: float, end: float, load: float) -> tuple[float, float, tuple[float, float]]:  # type: ignore[no-untyped-def]
    """Mass, centre and inertia (along, across) of a piece of a rod with a point mass at its end."""
    x, w = np.polynomial.legendre.leggauss(4)
    s, w = 0.5 * (end - start) * (x + 1), 0.5 * (end - start) * w
    _, line, turn = section(rod, start + s)
    mass = float(w @ line) + load
    centre = (float(w @ (line * s)) + load * (end - start)) / mass
    across = float(w @ (turn[:, 1] + line * (s - centre) ** 2)) + load * (end - start - centre) ** 2
    return mass, centre, (float(w @ turn[:, 0]), across)


def _route(model: RodModel, actuator: Actuator, links: list[Link], count: int) -> Route:
    layout = model.layout
    if isinstance(actuator, Cable):
        places: list[Station | Array] = [
            np.array(x) if i in actuator.world else layout.nearest(x, actuator.body)
            for i, x in enumerate(actuator.points)
        ]
        if actuator.pull_point is not None:
            places.insert(0, np.array(actuator.pull_point))
        gear = -1.0  # tension shortens
    elif isinstance(actuator, Chamber):
        path = model.drives.channels[actuator.name]
        places, gear = [layout.nearest(x, actuator.body) for x in path.points], path.area
    else:
        raise ArgumentError("actuators", f"{actuator.name!r} ({actuator.kind}) is not exported", "Cable, Chamber")
    out: list[tuple[str, Array]] = []

    def add(station: Station) -> None:
        rod = layout.bodies[station.body]
        k = min(count, int(station.s * count / rod.length + 0.5))
        link = next(x for x in links if x.name == f"{rod.name}_{k}")
        out.append((link.name, np.array([station.s - link.start, 0, 0]) + station.offset))

    for i, here in enumerate(places):
        if not isinstance(here, Station):
            out.append(("", here))
            continue
        before = places[i - 1] if i else None
        if isinstance(before, Station):
            for a, b in layout.runs((before, here)):
                h = layout.bodies[a.body].length / count
                middles = np.arange(count + 1) * h
                inside = middles[(middles > min(a.s, b.s) + 1e-9) & (middles < max(a.s, b.s) - 1e-9)]
                for s in inside if b.s > a.s else inside[::-1]:
                    f = (s - a.s) / (b.s - a.s)
                    r = (1 - f) * np.array(a.offset) + f * np.array(b.offset)
                    add(Station(a.body, float(s), (float(r[0]), float(r[1]), float(r[2]))))
        add(here)
    return Route(actuator, tuple(out), gear)


def _element_strains(model: RodModel, q: Array, chain: Chain) -> dict[str, float]:
    out: dict[str, float] = {}
    layout, flat = model.layout, model.configuration.flat(q)
    for k, piece in enumerate(layout.pieces):
        if piece.body < 0:
            continue
        rod, t = layout.bodies[piece.body], layout.tables
        own = [x for x in chain.links if x.name.rsplit("_", 1)[0] == rod.name]
        h = rod.length / (len(own) - 1)
        values = flat[t.dof0[k] : t.dof0[k] + t.nb[k]]
        for link in own[1:]:
            if piece.start <= link.start < piece.end:
                strain = values @ piece.phi(np.array([link.start]))[0] + rest_strain(rod) - [0, 0, 0, 1, 0, 0]
                number = link.name.rsplit("_", 1)[1]
                out.update({f"{rod.name}_{name}{number}": float(strain[c] * h) for name, c in _JOINTS})
    return out
