"""Cables (tendons): pulled length and tension."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from pliant.actuators.actuator import Actuator, Drive, Interval, check_points, check_vector
from pliant.checks import count, non_negative
from pliant.errors import ArgumentError

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Cable(Actuator):
    """A cable that slides through via points on the body and is pulled from one end.

    Its displacement is the length pulled in, delta = L_0 - L(q) [m], with L_0 the length at rest; its
    effort is the tension [N], never negative where `slackable` is set.

    The path between two via points depends on the model. In `FemModel`, `GeometricModel` and `BeamModel` the cable is
    free between them and runs along the straight chord, whatever the body does there: what guides the cable (eyelets,
    discs, a sheath) must be listed point by point, and two points only make a bowstring. In `RodModel`, `PccModel` and
    `LinkModel` consecutive via points on the body are the ends of a channel, straight in the rest shape, in which the
    cable is guided all along. The two agree as the via points become dense. Towards points fixed in the world the
    cable is straight in every model (`LinkModel` refuses such cables).

    Attributes:
        points: via points in the rest pose, from the actuator's side to the anchored end [m] (n, 3).
            Points inside the body move with it.
        pull_point: fixed point in the world from which the cable is pulled [m]; None if the cable starts
            at its first via point (its housing is carried by the body).
        world: indices of the via points that are fixed in the world instead of carried by the body.
        slackable: the cable cannot push; commanded displacement that needs a negative tension leaves it slack.
        tube_stiffness: axial stiffness EA of a guiding tube between consecutive via points [N]; 0 for none.
        friction: Capstan coefficient mu [-]: the tension falls by exp(-mu * angle) at every bend.
        body: name of the body that carries the via points; "" takes the nearest body for each point.
    """

    kind: ClassVar[str] = "cable"

    points: tuple[Vector, ...]
    pull_point: Vector | None = None
    world: tuple[int, ...] = ()
    slackable: bool = True
    tube_stiffness: float = 0.0
    friction: float = 0.0
    body: str = ""
    drive: Drive = "displacement"
    effort_limits: Interval = (0.0, math.inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("points", check_points(f"{self.name}.points", self.points))
        if self.pull_point is not None:
            self._set("pull_point", check_vector(f"{self.name}.pull_point", self.pull_point))
        path = ([] if self.pull_point is None else [self.pull_point]) + list(self.points)
        if len(path) < 2:
            raise ArgumentError(f"{self.name}.points", "a cable needs a length", "at least two points on its path")
        for a, b in zip(path[:-1], path[1:]):
            if math.dist(a, b) < 1e-9:
                raise ArgumentError(f"{self.name}.points", f"two consecutive points coincide at {a}", "distinct points")
        listed = self.world if isinstance(self.world, Iterable) else (self.world,)
        self._set("world", tuple(count(f"{self.name}.world", i, 0) for i in listed))
        if any(i >= len(self.points) for i in self.world):
            raise ArgumentError(f"{self.name}.world", f"{self.world}", f"indices 0..{len(self.points) - 1}")
        for field_name in ("tube_stiffness", "friction"):
            self._set(field_name, non_negative(f"{self.name}.{field_name}", getattr(self, field_name)))
