"""Paths of the learned-inverse paper: flower, box, figure eight and L, sampled at uniform distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.errors import ArgumentError

Array = np.ndarray


def uniform(points: Array, count: int, *, closed: bool = False) -> Array:
    """A polyline resampled at equal distances (count, d); a closed one does not repeat its first point."""
    if count < 2:
        raise ArgumentError("count", f"{count}", "at least 2")
    points = np.asarray(points, float)
    if closed:
        points = np.concatenate([points, points[:1]])
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0.0, s[-1], count, endpoint=not closed)
    return np.stack([np.interp(at, s, points[:, k]) for k in range(points.shape[1])], axis=1)


def flower(
    centre: Sequence[float] | Array,
    *,
    radius: float = 0.04,
    half_width: float = 0.012,
    drop: float = 0.012,
    count: int = 120,
) -> Array:
    """Three petals [m] (count, 3) (spec learned-ik 4.5).

    Args:
        centre: where the petals begin [m] (3,).
        radius: from the centre to the tips [m].
        half_width: of a petal [m].
        drop: how much lower than the centre the tips are [m].
        count: number of waypoints.
    """
    t = np.linspace(0.0, 2.0 * np.pi, 400)
    out, across = 0.5 * radius * (1.0 - np.cos(t)), half_width * np.sin(t)
    petals = []
    for turn in (0.0, 2.0 * np.pi / 3, -2.0 * np.pi / 3):
        c, s = np.cos(turn), np.sin(turn)
        petals.append(np.stack([c * out - s * across, s * out + c * across, -drop * out / radius], axis=1))
    return np.asarray(centre, float) + uniform(np.concatenate(petals), count, closed=True)


def box(centre: Sequence[float] | Array, *, side: float = 0.03, height: float = 0.006, count: int = 240) -> Array:
    """Edges of a box in one stroke: lower square, up, upper square, down [m] (count, 3).

    Args:
        centre: of the box [m] (3,).
        side: of the squares [m].
        height: between the squares [m].
        count: number of waypoints.
    """
    a, h = 0.5 * side, 0.5 * height
    square = np.array([(-a, -a), (a, -a), (a, a), (-a, a), (-a, -a)])
    low, high = np.column_stack([square, np.full(5, -h)]), np.column_stack([square, np.full(5, h)])
    return np.asarray(centre, float) + uniform(np.concatenate([low, high, low[:1]]), count, closed=True)


def eight(centre: Sequence[float] | Array, *, width: float = 0.02, height: float = 0.03, count: int = 200) -> Array:
    """A figure eight in the xy-plane [m] (count, 3).

    Args:
        centre: where it crosses itself [m] (3,).
        width: its extent along x [m].
        height: its extent along y [m].
        count: number of waypoints.
    """
    t = np.linspace(0.0, 2.0 * np.pi, 800, endpoint=False)
    curve = np.stack([0.5 * width * np.sin(2.0 * t), 0.5 * height * np.sin(t), np.zeros_like(t)], axis=1)
    return np.asarray(centre, float) + uniform(curve, count, closed=True)


def ell(
    corner: Sequence[float] | Array,
    *,
    first: Sequence[float] | Array,
    second: Sequence[float] | Array,
    count: int = 100,
) -> Array:
    """An L: from corner + first to the corner and on to corner + second [m] (count, 3).

    Args:
        corner: where it turns [m] (3,).
        first, second: from the corner to the ends [m] (3,).
        count: number of waypoints.
    """
    c = np.asarray(corner, float)
    return uniform(np.stack([c + np.asarray(first, float), c, c + np.asarray(second, float)]), count)


def arm_flower(count: int = 120) -> Array:
    """A flower inside of the workspace of the three-chamber arm (`chamber_arm`) and both of its specimens."""
    return flower((0.0, 0.0, 0.129), radius=0.02, half_width=0.006, drop=0.001, count=count)


def arm_box(count: int = 240) -> Array:
    """A box inside of the workspace of the three-chamber arm and both of its specimens."""
    return box((0.0, 0.0, 0.128), side=0.02, height=0.002, count=count)
