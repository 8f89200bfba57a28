"""The last digits of a lowest point: Newton's method from where a grid has found it.

Grids end at 1e-5 of a simplex. The gap is exact to the square of that, but the force acts at the point, and an
equilibrium of a slender body feels where. Smooth obstacles know the slope and the Hessian of their distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


def lowered(corners: Array, thickness: Array, weights: Array, obstacle: Any, *, steps: int = 3) -> Array:
    """Barycentric coordinates (m, k) of lowest points, made exact where they lie inside of their simplex.

    Args:
        corners: [m] (m, k, 3).
        thickness: at the corners [m] (m, k).
        weights: near a lowest point (m, k).
        obstacle: with `normals` and `curvature`.
        steps: of Newton's method.
    """
    out = weights.copy()
    inside = np.flatnonzero(weights.min(axis=1, initial=1.0) > 0.0)
    if not len(inside):
        return out
    e = corners[inside, 1:] - corners[inside, :1]
    taper = thickness[inside, 1:] - thickness[inside, :1]
    here = weights[inside]
    for _ in range(steps):
        p = np.einsum("mk,mki->mi", here, corners[inside])
        C = obstacle.curvature(p)
        if C is None:
            return out
        slope = np.einsum("mai,mi->ma", e, obstacle.normals(p)) - taper
        bend = np.einsum("mai,mij,mbj->mab", e, C, e)
        size = np.abs(C).max(axis=(1, 2)) * np.einsum("mai,mai->m", e, e)
        convex = np.linalg.eigvalsh(bend)[:, 0] > 1e-6 * np.maximum(size, 1e-300)
        step = np.zeros_like(slope)
        step[convex] = -np.linalg.solve(bend[convex], slope[convex][:, :, None])[:, :, 0]
        new = here + np.concatenate([-step.sum(axis=1, keepdims=True), step], axis=1)
        near = (new.min(axis=1) > 0.0) & (np.abs(step).max(axis=1) < 1e-2)
        here = np.where(near[:, None], new, here)
    out[inside] = here
    return out
