"""Robot: the description that every model starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from pliant.actuators import Actuator, Chamber, Slide, Stiffness
from pliant.actuators.actuator import check_name, check_vector
from pliant.bodies import Fixation, Point, RigidBody, RigidRegion, RodBody, SoftBody, StrainGauge
from pliant.checks import instance, instances
from pliant.errors import ArgumentError, UnknownNameError

Vector = tuple[float, float, float]
Body = SoftBody | RodBody | RigidBody
EARTH: Vector = (0.0, 0.0, -9.81)
_KINDS: dict[str, tuple[type, ...]] = {
    "bodies": (SoftBody, RodBody, RigidBody),
    "fixations": (Fixation,),
    "rigid": (RigidRegion,),
    "actuators": (Actuator,),
    "points": (Point,),
    "sensors": (StrainGauge,),
}


@dataclass(frozen=True, eq=False)
class Robot:
    """What a robot is: bodies, how they are held, how they are driven. It has no solver in it.

    Every list may also be given as a single thing of its kind.

    Attributes:
        name: name of the robot.
        bodies: soft bodies, rods and rigid bodies.
        fixations: what is held in place.
        rigid: rigid regions of soft bodies.
        actuators: how it is driven; their order is that of the command vector u.
        points: named points and frames.
        sensors: strain gauges; actuators are read out without being declared here.
        gravity: acceleration of gravity [m/s^2].
        source: where the numbers come from.
    """

    name: str
    bodies: tuple[Body, ...]
    fixations: tuple[Fixation, ...] = ()
    rigid: tuple[RigidRegion, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    points: tuple[Point, ...] = ()
    sensors: tuple[StrainGauge, ...] = ()
    gravity: Vector = EARTH
    source: str = ""

    def __post_init__(self) -> None:
        check_name("name", self.name)
        for f, kinds in _KINDS.items():
            object.__setattr__(self, f, instances(f, getattr(self, f), kinds))
        instance("source", self.source, str)
        object.__setattr__(self, "gravity", check_vector("gravity", self.gravity))
        if not self.bodies:
            raise ArgumentError("bodies", "a robot needs a body", "at least one body")
        for group in ("bodies", "actuators", "points", "sensors"):
            _unique(group, [item.name for item in getattr(self, group)])
        _unique("rigid parts", [r.name for r in self.rigid] + [b.name for b in self.bodies])
        everything_held: list[Fixation | RigidRegion] = [*self.fixations, *self.rigid]
        for held in everything_held:
            body = self.soft_body(held.body)
            if held.nodes not in body.mesh.node_sets:
                raise UnknownNameError(f"node set of body {body.name!r}", held.nodes, body.mesh.node_sets)
        for item in (*self.actuators, *self.points, *self.sensors):
            if name := getattr(item, "body", ""):
                self.body(name)
        for actuator in self.actuators:
            self._check_actuator(actuator)

    def _check_actuator(self, actuator: Actuator) -> None:
        soft = [b for b in self.bodies if isinstance(b, SoftBody)]
        if isinstance(actuator, Chamber) and soft:
            owners = [b for b in soft if actuator.cavity in b.mesh.cavities and actuator.body in ("", b.name)]
            if len(owners) != 1:
                raise UnknownNameError("cavity", actuator.cavity, [c for b in soft for c in b.mesh.cavities])
        elif isinstance(actuator, Stiffness):
            owners = [b for b in soft if actuator.region in b.mesh.regions and actuator.body in ("", b.name)]
            if len(owners) != 1:
                raise UnknownNameError("region", actuator.region, [r for b in soft for r in b.mesh.regions])
        elif isinstance(actuator, Slide) and actuator.part not in self.part_names:
            raise UnknownNameError("rigid part", actuator.part, self.part_names)

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of the rigid regions and rigid bodies, and of rods (their base)."""
        return tuple(r.name for r in self.rigid) + tuple(b.name for b in self.bodies if not isinstance(b, SoftBody))

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of the actuators, in the order of u."""
        return tuple(a.name for a in self.actuators)

    def body(self, name: str) -> Body:
        """The body of that name."""
        for body in self.bodies:
            if body.name == name:
                return body
        raise UnknownNameError("body", name, [b.name for b in self.bodies])

    def soft_body(self, name: str = "") -> SoftBody:
        """The soft body of that name; the only one if the name is empty."""
        soft = [b for b in self.bodies if isinstance(b, SoftBody)]
        if not name and len(soft) == 1:
            return soft[0]
        for body in soft:
            if body.name == name:
                return body
        raise UnknownNameError("soft body", name, [b.name for b in soft])

    def actuator(self, name: str) -> Actuator:
        """The actuator of that name."""
        return self.actuators[self.actuator_index(name)]

    def actuator_index(self, name: str) -> int:
        """Position of an actuator in u."""
        try:
            return self.actuator_names.index(name)
        except ValueError:
            raise UnknownNameError("actuator", name, self.actuator_names) from None

    def point(self, name: str) -> Point:
        """The point of that name."""
        for point in self.points:
            if point.name == name:
                return point
        raise UnknownNameError("point", name, [p.name for p in self.points])

    def but(self, **changes: Any) -> Robot:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def save(self, folder: str | Path) -> Path:
        """Write `robot.toml` and one mesh file per body into a folder; returns the path of the toml."""
        from pliant.robot_file import save_robot

        return save_robot(self, Path(instance("folder", folder, (str, PathLike))))

    @staticmethod
    def load(path: str | Path) -> Robot:
        """Read a robot from its folder or its `robot.toml`, reporting all mistakes at once."""
        from pliant.robot_file import load_robot

        return load_robot(Path(instance("path", path, (str, PathLike))))


def _unique(what: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ArgumentError(what, f"the name {name!r} is used twice", "unique names")
        seen.add(name)
