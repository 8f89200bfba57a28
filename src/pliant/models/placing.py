"""Positions, orientations and Jacobians of points inside solid elements.

The orientation at a point is the rotation R of the polar decomposition F = R S of the deformation gradient there;
its derivative follows from (tr(S) I - S) w = axial(R^T dF - dF^T R), with R^T dR = [w]x.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._kernels.placing import place_point, place_points, point_rows
from pliant.models.layout import Embedding

Array = np.ndarray


_NO_ROWS = np.zeros((0, 6, 0))


class Points:
    """Some embedded points that are placed together, again and again.

    Args:
        layout: of the model.
        points: embeddings, and orientations at rest (3, 3).
    """

    def __init__(self, layout: Any, points: list[tuple[Embedding, Array]]) -> None:
        self._layout, self._points = layout, points
        self._stacked: tuple[Array, ...] | None = None  # points alike, in soft bodies: one compiled call
        plain = all(e.part < 0 and (layout.carried[e.nodes] < 0).all() for e, _ in points)
        if points and plain and len({len(e.nodes) for e, _ in points}) == 1:
            first = [np.array([getattr(e, name) for e, _ in points]) for name in ("nodes", "weights", "grads")]
            self._stacked = (*first, np.array([rest for _, rest in points]), layout.dof)

    def place(self, q: Array, jacobian: bool) -> tuple:
        """Positions (n, 3), rotations (n, 3, 3) and, on request, Jacobians (n, 6, nv)."""
        if self._stacked is None:
            return _place(self._layout, q, self._points, jacobian)
        n = len(self._points)
        position, rotation = np.empty((n, 3)), np.empty((n, 3, 3))
        rows = np.zeros((n, 6, self._layout.nv)) if jacobian else None
        place_points(
            self._layout.positions(q), *self._stacked, position, rotation, _NO_ROWS if rows is None else rows
        )
        return position, rotation, rows


def _place(layout: Any, q: Array, points: list[tuple[Embedding, Array]], jacobian: bool) -> tuple:
    """The same for points of any kind, one by one."""
    x = layout.positions(q)
    position = np.empty((len(points), 3))
    rotation = np.empty((len(points), 3, 3))
    rows = np.zeros((len(points), 6, layout.nv)) if jacobian else None
    R = np.empty((3, 3))
    for i, (e, rest_rotation) in enumerate(points):
        spin = np.zeros((len(e.nodes), 3, 3))
        if e.part >= 0:
            position[i] = e.weights @ x[e.nodes]
            R[:] = layout.part_pose(layout.parts[e.part], q)[0]
        else:
            place_point(x, e.nodes, e.weights, e.grads, position[i], R, spin)
        rotation[i] = R @ rest_rotation
        if rows is None:
            continue
        if (layout.carried[e.nodes] < 0).all():
            point_rows(layout.dof, e.nodes, e.weights, spin, rows[i])
            continue
        rows[i, 3:] = _reduced(layout, q, x, e.nodes, e.weights[:, None, None] * np.eye(3))
        if e.part < 0:
            rows[i, :3] = _reduced(layout, q, x, e.nodes, spin)
        elif layout.parts[e.part].rotates:
            part = layout.parts[e.part]
            b = part.v_start + part.translations
            rows[i, :3, b : b + 3] = np.eye(3)
    return position, rotation, rows


def _reduced(layout: Any, q: Array, x: Array, nodes: Array, rows: Array) -> Array:
    """Rows over a few nodes (k, r, 3) as rows over the degrees of freedom (r, nv)."""
    n = rows.shape[1]
    out = np.zeros((n, layout.nv))
    g = np.zeros_like(x)
    for r in range(n):
        g[:] = 0.0
        np.add.at(g, nodes, rows[:, r])
        out[r] = layout.reduce(q, x, g)
    return out
