"""Solves that are given up as soon as something newer is wanted.

Convergence deep in contact may take many seconds. On a page nobody waits for an answer to a question that is no longer
asked: the next drag must move the robot at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pliant.models.contract import Model
from pliant.solve.problem import Problem
from pliant.state import Command, State


class Superseded(Exception):
    """The solve was given up: a newer one waits."""


class Abandonable(Problem):
    """A problem whose solve ends with `Superseded` once `stale()` is true; it is asked at every linearisation."""

    def __init__(self, model: Model, obstacles: Sequence[Any], stale: Callable[[], bool]) -> None:
        super().__init__(model, obstacles)
        self._stale = stale

    def detect(self, q: Any, previous: Any) -> Any:
        """Contacts at a configuration, unless a newer solve waits."""
        self._look()
        return super().detect(q, previous)

    def rows(self, q: Any, effort: Any, u: Any, contacts: Any) -> Any:
        """Actuator and contact rows, unless a newer solve waits."""
        self._look()
        return super().rows(q, effort, u, contacts)

    def _look(self) -> None:
        if self._stale():
            raise Superseded


def statics(
    model: Model,
    u: Any,
    *,
    obstacles: Sequence[Any] = (),
    start: State | None = None,
    stale: Callable[[], bool] = lambda: False,
) -> State:
    """`pliant.equilibrium`, given up with `Superseded` once `stale()` is true."""
    from pliant.solve.equilibrium import equilibrium

    return equilibrium(model, u, start=start, problem=Abandonable(model, obstacles, stale))


def inverse(
    model: Model,
    state: State,
    targets: Sequence[Any],
    *,
    obstacles: Sequence[Any] = (),
    stale: Callable[[], bool] = lambda: False,
    **options: Any,
) -> Command:
    """`pliant.invert`, given up with `Superseded` once `stale()` is true."""
    from pliant.inverse.invert import invert

    return invert(model, state, targets, problem=Abandonable(model, obstacles, stale), **options)
