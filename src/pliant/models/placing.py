"""Positions, orientations and Jacobians of points inside solid elements.

The orientation at a point is the rotation R of the polar decomposition F = R S of the deformation gradient there;
its derivative follows from (tr(S) I - S) w = axial(R^T dF - dF^T R), with R^T dR = [w]x.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._kernels.placing import place_point, point_rows
from pliant.models.layout import Embedding

Array = np.ndarray


def place(model: Any, q: Array, points: list[tuple[Embedding, Array]], jacobian: bool) -> tuple:
    """Positions (n, 3), rotations (n, 3, 3) and, on request, Jacobians (n, 6, nv) of embedded points."""
    layout = model.layout
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
