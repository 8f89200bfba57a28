"""Snapshot: a model at one configuration, asked each question once; or asked for values alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.checks import name_list
from pliant.state import Placement

Array = np.ndarray
_ZERO = bytes(8)  # 0.0


class Snapshot:
    """A model seen at one configuration: answers about it are kept; everything else goes to the model.

    Targets and limits ask a model for points, strokes and their derivatives, each on its own; many ask the same.

    Args:
        model: any model.
        q: the configuration.
    """

    def __init__(self, model: Any, q: Array) -> None:
        self._model, self._q = model, q
        self._known: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def _once(self, key: Any, q: Any, ask: Any) -> Any:
        if q is not self._q:
            return ask()
        if key not in self._known:
            self._known[key] = ask()
        return self._known[key]

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu)."""
        if q is self._q and "rows" in self._known and getattr(self._model, "conservative", False):
            return self._known["rows"].T
        return self._once("actuation", q, lambda: self._model.actuation(q, effort))

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates (nu,)."""
        return self._once("displacement", q, lambda: self._model.displacement(q))

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""
        if q is self._q and "actuation" in self._known and getattr(self._model, "conservative", False):
            return self._known["actuation"].T
        return self._once("rows", q, lambda: self._model.displacement_rows(q))

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""
        return self._once("skin", q, lambda: self._model.skin_positions(q))

    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions, orientations and Jacobians of named points."""
        key = (name_list("points", points), isinstance(points, str), jacobian)
        return self._once(key, q, lambda: self._model.locate(q, points, jacobian=jacobian))


class Values(Snapshot):
    """A snapshot for those who want to know how far targets are from being met, not how that changes.

    Derivatives of points and of the skin are zeros, which cost nothing.
    """

    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions and orientations of named points."""
        found = super().locate(q, points)
        if not jacobian:
            return found
        zeros = _zeros((*found.position.shape[:-1], 6, self._model.nv))
        return Placement(found.names, found.position, found.rotation, zeros)

    def skin_rows(self, q: Array, vertices: Array, weights: Array, directions: Array) -> Array:
        """Zeros (m, nv)."""
        return _zeros((len(vertices), self._model.nv))

    def displacement_rows(self, q: Array) -> Array:
        """Zeros (nu, nv)."""
        return _zeros((self._model.nu, self._model.nv))


def _zeros(shape: tuple[int, ...]) -> Array:
    """Zeros that share one number and cannot be written to: `np.broadcast_to(0.0, shape)` without its cost."""
    return np.ndarray(shape, np.float64, _ZERO, strides=(0,) * len(shape))
