"""What goes with a robot of the catalogue: the model that suits it, and the contacts that it cannot do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from pliant.robot import Robot


def _nothing(robot: Robot) -> dict[str, Any]:
    return {}


def _alone(robot: Robot) -> tuple[Any, ...]:
    return ()


@dataclass(frozen=True)
class Entry:
    """A robot of the catalogue, ready to be opened.

    Attributes:
        make: function that returns the robot.
        kind: the model that suits it: "fem", "geometric", "rod", "beam" or "pcc".
        options: robot -> keyword arguments of that model.
        obstacles: robot -> contacts that belong to the robot itself (its bodies, its own surface).
        move: a moderate command that shows what the robot does [unit of each drive].
    """

    make: Callable[..., Robot]
    kind: str = "fem"
    move: Mapping[str, float] = field(default_factory=dict)
    options: Callable[[Robot], Mapping[str, Any]] = _nothing
    obstacles: Callable[[Robot], tuple[Any, ...]] = _alone

    @property
    def name(self) -> str:
        """Name in the catalogue."""
        return self.make.__name__

    def model(self, robot: Robot | None = None) -> Any:
        """The model that suits the robot; the robot with its default parameters if None."""
        robot = self.make() if robot is None else robot
        module = import_module(f"pliant.models.{self.kind}")
        return getattr(module, f"{self.kind.title()}Model")(robot, **self.options(robot))


def quadratic(robot: Robot) -> dict[str, Any]:
    """Quadratic elements, for thin sheets."""
    return {"element": "quadratic"}


def arm_chambers(robot: Robot) -> dict[str, Any]:
    """The channels of a four-segment arm, which a rod does not have by itself."""
    from pliant.robots.four_segment_arm import arm_channels

    return {"chambers": arm_channels(robot)}


def trunk_chambers(robot: Robot) -> dict[str, Any]:
    """The channels of an elephant trunk."""
    from pliant.robots.elephant_trunk import trunk_channels

    return {"chambers": trunk_channels()}


def printed_laws(robot: Robot) -> dict[str, Any]:
    """The joint law and the input map of the printed link."""
    from pliant.robots.printed_link import link_laws

    return link_laws()


def six_laws(robot: Robot) -> dict[str, Any]:
    """The joint law and the input map of the six-link benchmark."""
    from pliant.robots.six_link import six_link_laws

    return six_link_laws()


def sheet_on_boxes(robot: Robot) -> tuple[Any, ...]:
    """Contact of the first body with each of the others."""
    from pliant.contact import BodyContact

    return tuple(BodyContact(body_a=0, body_b=i) for i in range(1, len(robot.bodies)))


def own_surface(robot: Robot) -> tuple[Any, ...]:
    """Contact of the body with itself."""
    from pliant.contact import SelfContact

    return (SelfContact(),)
