"""Positions, orientations and Jacobians of points inside solid elements.

The orientation at a point is the rotation R of the polar decomposition F = R S of the deformation gradient there;
its derivative follows from (tr(S) I - S) w = axial(R^T dF - dF^T R), with R^T dR = [w]x.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.models.layout import Embedding

Array = np.ndarray
_LEVI = np.zeros((3, 3, 3))
_LEVI[0, 1, 2] = _LEVI[1, 2, 0] = _LEVI[2, 0, 1] = 1.0
_LEVI[0, 2, 1] = _LEVI[2, 1, 0] = _LEVI[1, 0, 2] = -1.0


def rotation_of(F: Array) -> tuple[Array, Array]:
    """Proper rotation and symmetric stretch of a deformation gradient (3, 3)."""
    U, s, Vt = np.linalg.svd(F)
    if np.linalg.det(U @ Vt) < 0:
        U[:, 2] *= -1
        s[2] *= -1
    return U @ Vt, Vt.T @ (s[:, None] * Vt)


def place(model: Any, q: Array, points: list[tuple[Embedding, Array]], jacobian: bool) -> tuple:
    """Positions (n, 3), rotations (n, 3, 3) and, on request, Jacobians (n, 6, nv) of embedded points."""
    layout = model.layout
    x = layout.positions(q)
    position = np.empty((len(points), 3))
    rotation = np.empty((len(points), 3, 3))
    rows = np.zeros((len(points), 6, layout.nv)) if jacobian else None
    for i, (e, rest_rotation) in enumerate(points):
        position[i] = e.weights @ x[e.nodes]
        if e.part >= 0:
            R, _ = layout.part_pose(layout.parts[e.part], q)
            spin = None
        else:
            R, S = rotation_of(x[e.nodes].T @ e.grads)
            spin = _spin(R, S, e.grads)
        rotation[i] = R @ rest_rotation
        if rows is not None:
            rows[i, 3:] = _reduced(layout, q, x, e.nodes, e.weights[:, None, None] * np.eye(3)[:, None, :].swapaxes(0, 1))
            if spin is not None:
                rows[i, :3] = _reduced(layout, q, x, e.nodes, spin)
            else:
                part = layout.parts[e.part]
                if part.rotates:
                    b = part.v_start + part.translations
                    rows[i, :3, b : b + 3] = np.eye(3)
    return position, rotation, rows


def _spin(R: Array, S: Array, grads: Array) -> Array:
    """d(world angular vector) / d x for the nodes around a point (k, 3 angular, 3)."""
    # dF_ij = dx_ki grads_kj; axial vector of R^T dF: a_m = eps_mjl (R^T dF)_lj.
    axial = np.einsum("mjl,il,kj->kmi", _LEVI, R, grads)
    A = np.trace(S) * np.eye(3) - S
    return np.einsum("am,kmi->kai", R @ np.linalg.pinv(A), axial)


def _reduced(layout: Any, q: Array, x: Array, nodes: Array, rows: Array) -> Array:
    """Rows over a few nodes (k, r, 3) as rows over the degrees of freedom (r, nv)."""
    n = rows.shape[1]
    out = np.zeros((n, layout.nv))
    if (layout.carried[nodes] < 0).all():
        dofs = layout.dof[nodes]
        for k in range(len(nodes)):
            for j in range(3):
                if dofs[k, j] >= 0:
                    out[:, dofs[k, j]] += rows[k, :, j]
        return out
    g = np.zeros_like(x)
    for r in range(n):
        g[:] = 0.0
        np.add.at(g, nodes, rows[:, r])
        out[r] = layout.reduce(q, x, g)
    return out
