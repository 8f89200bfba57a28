"""Between descriptions of the same arm: frames, arcs, links, strains.

frames_of(model, q, points)      what any model looks like from outside, z along the arm
arcs_of(frames, lengths)         constant-curvature coordinates (stretch, bend_y, bend_z) per link
links_of(frames, link)           configuration of a LinkModel
configuration_of(model, ...)     configuration of any model that fits poses of its points (rods)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant import lie
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.models.identify import arc_coordinates
from pliant.models.link import ROD_TO_LINK, LinkModel

Array = np.ndarray


def frames_of(model: Model, q: Any, points: Sequence[str], base: ArrayLike | None = None) -> Array:
    """Poses of points, base first (n + 1, 4, 4); the points' own axes."""
    place = model.locate(q, tuple(points))
    out = np.tile(np.eye(4), (len(points) + 1, 1, 1))
    if base is not None:
        out[0] = np.asarray(base, float)
    out[1:, :3, :3], out[1:, :3, 3] = place.rotation, place.position
    return out


def arcs_of(frames: ArrayLike, lengths: ArrayLike) -> Array:
    """Coordinates (stretch, bend_y, bend_z) of the links between frames with z along the arm (n, 3).

    They are those of a PccModel, whose sections have x along the arm.
    """
    S, sizes = np.asarray(frames, float), np.atleast_1d(np.asarray(lengths, float))
    if S.ndim != 3 or S.shape[1:] != (4, 4) or len(sizes) != len(S) - 1:
        raise ArgumentError("frames", f"shape {S.shape} for {len(sizes)} lengths", "(n + 1, 4, 4) for n lengths")
    turn = lie.frame(ROD_TO_LINK.T, np.zeros(3))
    rods = S @ turn
    return np.array([arc_coordinates(lie.inverse(a) @ b, h) for a, b, h in zip(rods[:-1], rods[1:], sizes)])


def links_of(frames: ArrayLike, link: LinkModel, **options: Any) -> Array:
    """Configuration of a link model from frames with z along the arm (nq,); options of `estimate_links`."""
    return link.estimate(frames, **options).q.ravel()


def configuration_of(
    model: Model,
    points: Sequence[str],
    poses: ArrayLike,
    *,
    start: ArrayLike | None = None,
    length: float = 0.05,
    smoothing: float = 1e-9,
    iterations: int = 50,
) -> Array:
    """The configuration of a model whose points have given poses, in the least-squares sense (nq,).

    Args:
        model: any model with a flat configuration space.
        points: names.
        poses: wanted poses of the points, in their own axes (n, 4, 4).
        start: first guess; rest if None.
        length: metres that weigh as much as a radian.
        smoothing: weight of the distance from the start; makes the answer unique if there are too few points.
        iterations: Gauss-Newton iterations allowed.
    """
    wanted = np.asarray(poses, float)
    names = tuple(points)
    if wanted.shape != (len(names), 4, 4) or not np.isfinite(wanted).all():
        raise ArgumentError("poses", f"shape {wanted.shape} or not finite", f"({len(names)}, 4, 4)")
    first = np.array(model.rest if start is None else start, float)
    q = first.copy()
    for _ in range(iterations):
        place = model.locate(q, names, jacobian=True)
        error, rows = [], []
        for R, x, J, g in zip(place.rotation, place.position, place.slopes, wanted):
            error.append(np.concatenate([length * lie.log(g[:3, :3] @ R.T), g[:3, 3] - x]))
            rows.append(J * np.repeat([length, 1.0], 3)[:, None])
        r, A = np.concatenate(error), np.vstack(rows)
        size = np.maximum((A**2).sum(axis=0), 1e-12 * (A**2).sum())
        H = A.T @ A + smoothing * np.diag(size)
        step = np.linalg.solve(H, A.T @ r - smoothing * size * (q - first))
        q = q + step
        if np.abs(A @ step).max() < 1e-12:
            break
    return q
