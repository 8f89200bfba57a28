"""The scenes of the inverse benchmark: bodies of the sizes of the thesis and of the SOFA scenes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from inverse_goals import Reached, pressures, strokes

import pliant as pl


@dataclass(frozen=True)
class Scene:
    """A robot, what moves it where, what is in the way, and what the others need.

    Attributes:
        name: of the row.
        source: "thesis" or "SOFA".
        reference: time per step there [s].
        size: size there, in words.
        robot: makes the robot.
        targets: (model, start state, phase) -> targets; the goal moves with the phase.
        obstacles: in the way.
        command: where the motion begins.
        alarm: distance at which contacts are considered [m].
        qp: time of the QPs there [s], where given.
    """

    name: str
    source: str
    reference: float
    size: str
    robot: Callable[[], pl.Robot]
    targets: Callable[[Any, pl.State, float], list]
    obstacles: tuple = ()
    command: dict = field(default_factory=dict)
    alarm: float | None = None
    qp: float | None = None


def circle(
    point: str = "tip", radius: float = 3e-3, axes: str = "xyz", lower: float = 0.0
) -> Callable[[Any, pl.State, float], list]:
    """A goal that wanders around where the point is at the start."""

    def targets(model: Any, start: pl.State, phase: float) -> list:
        here = model.locate(start, point).position
        goal = here + radius * np.array([np.sin(phase), np.sin(0.7 * phase), 0.3 * np.sin(0.5 * phase) - lower])
        return [pl.PointTarget(point, tuple(goal), axes=axes)]

    return targets


def free_cables(robot: pl.Robot) -> pl.Robot:
    """The same robot without limits on its strokes, as in the thesis."""
    open_ended = (-np.inf, np.inf)
    return robot.but(actuators=tuple(replace(a, displacement_limits=open_ended) for a in robot.actuators))


def trunk_709() -> pl.Robot:
    """The trunk with a mesh of about 709 nodes."""
    return pl.robots.trunk(sections=12, size=0.006)


def scenes() -> list[Scene]:
    """All of them."""
    posts = (
        pl.Cylinder(a=(0.026, -0.06, 0.08), b=(0.026, 0.06, 0.08), radius=0.012),
        pl.Cylinder(a=(-0.025, -0.06, 0.13), b=(-0.025, 0.06, 0.13), radius=0.012),
    )
    wall = pl.Plane(point=(0.045, 0, 0), normal=(-1, 0, 0))
    beam_posts = (
        pl.Cylinder(a=(0.045, -0.03, -0.0182), b=(0.045, 0.03, -0.0182), radius=0.01),
        pl.Cylinder(a=(0.085, -0.03, 0.0195), b=(0.085, 0.03, 0.0195), radius=0.01),
    )
    own = (pl.SelfContact(),)
    return [
        Scene("finger", "SOFA", 2.2e-3, "158 nodes, 1 cable", lambda: pl.robots.finger(size=0.008), circle(axes="z")),
        Scene("trunk", "SOFA", 11.1e-3, "709 nodes, 8 cables", trunk_709, circle(lower=0.8)),
        Scene("trunk at a sphere", "SOFA", 12.7e-3, "709 nodes, 8 cables", trunk_709, circle(lower=0.8),
              (pl.Sphere((0.037, 0, 0.10), 0.02),), {"long1": 0.005}),
        Scene("pneunet", "SOFA", 26.4e-3, "1214 nodes, 1 cavity", lambda: pl.robots.pneunet(chambers=5, size=0.010),
              circle(axes="z", radius=1e-3)),
        Scene("diamond", "SOFA", 24.7e-3, "1628 nodes, 4 cables", lambda: pl.robots.diamond(size=0.0085), circle()),
        Scene("finger + wall", "thesis", 4.79e-3, "474 DoFs, 5 contacts",
              lambda: pl.robots.finger(cables=2, size=0.008), circle(radius=1e-3, axes="yz"), (wall,),
              {"cable1": 0.018, "cable2": 0.018}, 0.003, 0.08e-3),
        Scene("beam", "thesis", 13.17e-3, "480 DoFs, 19 contacts", lambda: free_cables(pl.robots.beam()),
              Reached(["tip"], strokes, axes="xz", obstacles=beam_posts, alarm=0.001), beam_posts, strokes(0.0),
              0.001, 0.63e-3),
        Scene("trunk + cylinders", "thesis", 34.52e-3, "1665 DoFs, 76 contacts",
              lambda: pl.robots.trunk(sections=10, size=0.006), circle(lower=0.8), posts, {}, 0.0125, 4.91e-3),
        Scene("tower", "thesis", 36.40e-3, "1680 DoFs, 21 contacts", pl.robots.tower,
              Reached(["tip", "middle"], pressures, obstacles=own), own, pressures(0.0), None, 0.44e-3),
        Scene("accordion", "thesis", 858.4e-3, "12678 DoFs, 1 cavity",
              lambda: pl.robots.accordion(size=0.0021, sides=54), circle(axes="z", radius=1e-3)),
        Scene("accordion, middle mesh", "thesis", 142.6e-3, "4518 DoFs, 1 cavity",
              lambda: pl.robots.accordion(size=0.0028, sides=28), circle(axes="z", radius=1e-3)),
        Scene("finger, fine", "thesis", 907.6e-3, "16227 DoFs, 1 cable", lambda: pl.robots.finger(size=0.0016),
              circle(axes="z")),
        Scene("finger, middle mesh", "thesis", 36.4e-3, "2553 DoFs, 1 cable", lambda: pl.robots.finger(size=0.0033),
              circle(axes="z")),
    ]  # fmt: skip
