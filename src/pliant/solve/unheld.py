"""Bodies that nothing holds: motions without stiffness at rest, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.errors import PliantError
from pliant.solve.newton import dense_rows, factorise_any, raised

Array = np.ndarray
_ZERO = 1e-12  # of the diagonal: a stiffness below this is rounding; soft modes of slender bodies are above 1e-9
_POINTS = 40  # of the skin, per body, at which a motion is looked at


@dataclass(frozen=True, eq=False)
class Loose:
    """Motions that neither stiffness nor an actuator resists at rest.

    Attributes:
        modes: basis of them (nv, k).
        note: a sentence that says which body may move how.
    """

    modes: Array
    note: str

    def loaded(self, force: Array) -> bool:
        """Does a force (nv,) work along one of them? Then nothing can balance it."""
        size = np.linalg.norm(force) * np.linalg.norm(self.modes, axis=0)
        return bool((np.abs(self.modes.T @ force) > 1e-6 * size).any())

    def along(self, model: Any, rows: Array) -> Loose | None:
        """Those that leave the values of some rows (m, nv) alone, to a percent: what slides on its contacts."""
        unit = self.modes / np.linalg.norm(self.modes, axis=0)
        held = rows @ unit
        _, values, V = np.linalg.svd(held / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300))
        left = unit @ V[int((values > 1e-2 * values.max(initial=0.0)).sum()) :].T
        return Loose(left, _named(model, left)) if left.shape[1] else None


def sliding(problem: Any, loose: Loose, found: Any, u: Array) -> Loose | None:
    """Motions of unheld bodies along the smooth contacts that they press on; None with friction, or if none is left.

    Args:
        problem: model, drives and surroundings.
        loose: what nothing holds but contacts.
        found: iterate with q, effort and contacts.
        u: command (nu,).
    """
    contacts = found.contacts
    if contacts is None or not contacts.forces.any() or contacts.friction.any():
        return None
    rows = problem.rows(found.q, found.effort, u, contacts)
    return loose.along(problem.model, rows.rows[rows.force > 0.0])


def loose_motions(model: Any) -> Loose | None:
    """The motions of a model at rest that nothing resists; None if there are none, or it could not be told."""
    q, K = model.rest, model.stiffness(model.rest, np.zeros(model.nu))
    diagonal = np.maximum(np.abs(K.diagonal()), 1e-300)
    try:
        factor = factorise_any(raised(K, 1e-9 * float(diagonal.mean())))
    except (NotPositiveDefinite, PliantError):
        return None
    Z = np.random.default_rng(0).standard_normal((model.nv, min(model.nv, 6 * len(model.robot.bodies) + 2)))
    for _ in range(3):  # inverse iteration: what has no stiffness outgrows everything else
        Z = np.linalg.qr(factor.solve(diagonal[:, None] * Z))[0]
    scale = np.sqrt(diagonal)
    _, R = np.linalg.qr(scale[:, None] * Z)
    Z = np.linalg.solve(R.T, Z.T).T  # now Z^T D Z = 1
    values, turn = np.linalg.eigh(Z.T @ np.asarray(K @ Z))
    Z = (Z @ turn)[:, np.abs(values) < _ZERO]
    if model.nu and Z.shape[1]:
        rows = model.displacement_rows(q)
        held = (rows @ Z) / np.maximum(np.linalg.norm(rows / scale, axis=1), 1e-300)[:, None]
        _, size, V = np.linalg.svd(held)
        Z = Z @ V[int((size > 1e-6).sum()) :].T
    if not Z.shape[1]:
        return None
    return Loose(Z, _named(model, Z))


def _named(model: Any, Z: Array) -> str:
    """Which bodies move how, in words."""
    q, skin = model.rest, model.skin
    x = model.skin_positions(q)
    everywhere = np.arange(skin.size)[:, None]
    ones = np.ones((skin.size, 1))
    farthest = max(
        float(np.abs(dense_rows(model.skin_rows(q, everywhere, ones, np.tile(axis, (skin.size, 1)))) @ Z).max())
        for axis in np.eye(3)
    )
    told = []
    for b, body in enumerate(model.robot.bodies):
        own = np.flatnonzero(skin.body == b)
        own = own[np.unique(np.linspace(0, len(own) - 1, _POINTS).astype(int))] if len(own) else own
        if not len(own):
            continue
        motions = [
            dense_rows(model.skin_rows(q, own[:, None], np.ones((len(own), 1)), np.tile(axis, (len(own), 1)))) @ Z
            for axis in np.eye(3)
        ]
        S = np.stack(motions, axis=1).reshape(3 * len(own), -1)
        if np.abs(S).max() < 1e-6 * farthest:
            continue  # it is held
        arm = x[own] - x[own].mean(axis=0)
        along = [a for a, e in zip("xyz", np.eye(3)) if _spanned(S, np.tile(e, (len(own), 1)).ravel())]
        about = [a for a, e in zip("xyz", np.eye(3)) if _spanned(S, np.cross(e, arm).ravel())]
        ways = [f"{verb} {', '.join(axes)}" for verb, axes in (("move along", along), ("turn about", about)) if axes]
        more = int((np.linalg.svd(S, compute_uv=False) > 1e-3 * np.linalg.norm(S, 2)).sum()) - len(along) - len(about)
        if more > 0 and S.any():
            ways.append(f"turn in {more} other way(s)")
        if ways:
            told.append(f"nothing holds {body.name!r}: it can {' and '.join(ways)}")
    what = "; ".join(told) or f"nothing resists {Z.shape[1]} motion(s) of the robot"
    return f"{what} (rigid-body modes). Fix it by a Fixation, or hold it by a Slide or a Closure"


def _spanned(S: Array, motion: Array) -> bool:
    """Is a motion among those in the columns of S?"""
    size = float(np.linalg.norm(motion))
    if size == 0.0:
        return False
    left = motion - S @ np.linalg.lstsq(S, motion, rcond=1e-3)[0]
    return float(np.linalg.norm(left)) < 1e-3 * size
