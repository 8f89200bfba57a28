"""From a wanted generalised force to commands, and the scales that make coordinates of a model comparable."""

from __future__ import annotations

import numpy as np

from pliant.models.contract import Model

Array = np.ndarray


def commands_for(model: Model, q: Array, wanted: Array, *, weight: Array | None = None) -> Array:
    """Efforts whose generalised force is nearest to a wanted one, within the actuators' limits (nu,).

    The part that the actuators cannot give (under-actuation) is left out: u = argmin |G u - wanted|^2.
    """
    G = model.actuation(q, np.zeros(model.nu))
    low = np.array([a.effort_limits[0] for a in model.robot.actuators])
    high = np.array([a.effort_limits[1] for a in model.robot.actuators])
    if weight is not None:
        G, wanted = weight[:, None] * G, weight * wanted
    scale = np.maximum(np.linalg.norm(G, axis=0), 1e-300)
    u = np.linalg.lstsq(G / scale, wanted, rcond=1e-10)[0] / scale
    if (u >= low).all() and (u <= high).all():
        return u
    from scipy.optimize import lsq_linear

    found = lsq_linear(G / scale, wanted, bounds=(low * scale, np.maximum(high * scale, low * scale + 1e-12)))
    return np.clip(found.x / scale, low, high)


def motion_scale(model: Model) -> Array:
    """How far the skin moves per unit of each coordinate at rest [m] (nv,): makes coordinates comparable."""
    n = model.skin.size
    vertices = np.repeat(np.arange(n), 3)[:, None]
    rows = model.skin_rows(model.rest, vertices, np.ones((3 * n, 1)), np.tile(np.eye(3), (n, 1)))
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    size = np.sqrt((rows.reshape(n, 3, -1) ** 2).sum(axis=1)).max(axis=0)
    # a pure twist moves no centre line: give it the mean scale
    return np.where(size > 1e-9 * size.max(), size, size.max())


def damped_inverse(J: Array, damping: float) -> Array:
    """J^T (J J^T + damping I)^-1 (n, m)."""
    return np.linalg.solve(J @ J.T + damping * np.eye(len(J)), J).T
