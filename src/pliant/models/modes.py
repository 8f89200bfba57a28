"""From FEM snapshots to a curve: frames along a body, their strains, and a data-driven strain basis (POD).

frames:   weighted rigid fits of slices of the surface (3-D: torsion and shear included)
strains:  xi = log(g_i^-1 g_{i+1}) / ds, exact for the piecewise constant curve through the frames
modes:    singular vectors of the strain snapshots, curvatures weighted with the length
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant import lie
from pliant.errors import ArgumentError
from pliant.models.basis import Basis, from_modes
from pliant.models.contract import Model

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Modes:
    """A data-driven strain basis and how good it is.

    Attributes:
        basis: for `RodModel(basis=...)`.
        energy: part of the snapshots' energy held by the first modes, cumulative (modes,).
        mean_error: mean tip error of the modes on held-out snapshots, over the length [-].
        max_error: largest of them [-].
        strains: all snapshots, rest subtracted (k, stations, 6).
        coordinates: of the snapshots in the basis (k, modes).
        length: of the body's axis [m].
    """

    basis: Basis
    energy: Array
    mean_error: float
    max_error: float
    strains: Array
    coordinates: Array
    length: float


def slice_frames(
    model: Model, q: Array, start: ArrayLike, end: ArrayLike, *, stations: int = 25, width: float | None = None
) -> Array:
    """Frames along a body from its surface, x along the axis (stations, 4, 4).

    Args:
        model: any model with a surface.
        q: configuration (nq,).
        start, end: axis of the body in the rest pose [m] (3,).
        stations: number of frames.
        width: half thickness of a slice [m]; the distance of two stations and a half if None.
    """
    a, b = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(b - a))
    if length <= 0 or stations < 2:
        raise ArgumentError("end", "the axis has no length, or fewer than two stations", "two distinct points")
    axis = (b - a) / length
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    y = np.cross(axis, other)
    y /= np.linalg.norm(y)
    R0 = np.stack([axis, y, np.cross(axis, y)], axis=1)
    X, x = model.skin_positions(model.rest), model.skin_positions(q)
    s = (X - a) @ axis
    half = 2.5 * length / (stations - 1) if width is None else float(width)
    out = np.tile(np.eye(4), (stations, 1, 1))
    for i, at in enumerate(np.linspace(0.0, length, stations)):
        w = np.maximum(0.0, 1.0 - ((s - at) / half) ** 2)
        if np.count_nonzero(w) < 4:
            raise ArgumentError("stations", f"{stations}: a slice has fewer than 4 vertices", "fewer stations")
        w /= w.sum()
        mx, mX = w @ x, w @ X
        # the best rotation of the slice (Kabsch), then the motion of the point of the axis
        U, _, Vt = np.linalg.svd((w[:, None] * (x - mx)).T @ (X - mX))
        Q = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
        out[i, :3, :3] = Q @ R0
        out[i, :3, 3] = mx + Q @ (a + at * axis - mX)
    return out


def frame_strains(frames: ArrayLike, length: float) -> Array:
    """Strains between consecutive frames of a curve of that rest length (stations - 1, 6)."""
    g = np.asarray(frames, float)
    ds = length / (len(g) - 1)
    return np.array([lie.log(lie.inverse(a) @ b) for a, b in pairwise(g)]) / ds


def tip_of_strains(strains: ArrayLike, base: ArrayLike, length: float) -> Array:
    """Tip pose (4, 4) of piecewise constant strains from a base pose."""
    g, ds = np.asarray(base, float), length / len(np.asarray(strains))
    for xi in np.asarray(strains, float):
        g = g @ lie.exp(ds * xi)
    return g


def modes_from(
    model: Model,
    snapshots: Any,
    start: ArrayLike,
    end: ArrayLike,
    *,
    modes: int = 3,
    stations: int = 25,
    strains: Sequence[str] | None = None,
    hold_out: float = 0.3,
) -> Modes:
    """A strain basis from snapshots of another model of the same robot (usually FEM).

    Args:
        model: the model that the snapshots are of.
        snapshots: a Trajectory, or configurations (k, nq).
        start, end: axis of the body in the rest pose [m] (3,).
        modes: number of modes.
        stations: samples along the axis.
        strains: keep only these strains ("bend_y", ...); all if None.
        hold_out: part of the snapshots that is kept for the error.
    """
    from pliant.models.basis import STRAINS

    qs = np.asarray(getattr(snapshots, "q", snapshots), float)
    if qs.ndim != 2 or len(qs) < 2:
        raise ArgumentError("snapshots", f"shape {qs.shape}", "at least two configurations (k, nq)")
    length = float(np.linalg.norm(np.asarray(end, float) - np.asarray(start, float)))
    rest = frame_strains(slice_frames(model, model.rest, start, end, stations=stations), length)
    frames = [slice_frames(model, q, start, end, stations=stations) for q in qs]
    found = np.array([frame_strains(f, length) for f in frames]) - rest
    keep = np.ones(6) if strains is None else np.array([float(s in strains) for s in STRAINS])
    weight = keep * np.array([length] * 3 + [1.0] * 3)
    held = np.zeros(len(qs), bool)
    held[:: max(2, round(1.0 / hold_out))] = hold_out > 0
    if (~held).sum() < 1:
        held[:] = False
    table = (found[~held] * weight).reshape(int((~held).sum()), -1)
    _, sigma, Vt = np.linalg.svd(table, full_matrices=False)
    count = min(modes, len(Vt))
    shapes = (Vt[:count].reshape(count, stations - 1, 6)) / np.where(weight > 0, weight, 1.0) * (weight > 0)
    flat, energy = Vt[:count], np.cumsum(sigma**2)[:count] / max(float(np.sum(sigma**2)), 1e-300)
    # A basis is sampled from base to tip at equally spaced stations; strains live in between.
    middle = (np.arange(stations - 1) + 0.5) / (stations - 1)
    nodes = np.linspace(0.0, 1.0, stations)
    sampled = np.empty((count, stations, 6))
    for m in range(count):
        for c in range(6):
            sampled[m, :, c] = np.interp(nodes, middle, shapes[m, :, c])
    coordinates = (found * weight).reshape(len(qs), -1) @ flat.T
    errors = []
    for i in np.flatnonzero(held) if held.any() else range(len(qs)):
        approx = rest + np.tensordot(coordinates[i], shapes, axes=1)
        tip = tip_of_strains(approx, frames[i][0], length)
        errors.append(np.linalg.norm(tip[:3, 3] - frames[i][-1][:3, 3]) / length)
    basis = from_modes(sampled)
    return Modes(basis, energy, float(np.mean(errors)), float(np.max(errors)), found, coordinates, length)
