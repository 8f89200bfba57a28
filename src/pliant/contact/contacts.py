"""Contacts: what touches, or is about to touch, at one configuration.

A contact is a gap and the derivative of that gap: a few skin vertices x_k with weights w_k and a unit
normal n pointing from the obstacle (or the second body) towards the first body,

    d gap / d q = d/dq  n . sum_k w_k x_k .

With two soft sides the weights of the second are negative. Keys name the pair of features that
touches, so that forces and friction anchors survive from one step to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant._kernels.persistence import handed_on
from pliant._kernels.repeats import first_of_each
from pliant._kernels.tangents import tangents_of
from pliant.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from pliant.contact.obstacles import Pose

Array = np.ndarray


class ContactState(IntEnum):
    """What a contact does."""

    OPEN = 0
    STICK = 1
    SLIDE = 2
    FRICTIONLESS = 3


OPEN, STICK, SLIDE, FRICTIONLESS = ContactState


def tangent_basis(normal: Array) -> Array:
    """Two unit tangents t, s per normal (m, 2, 3), right-handed: t x s = n; smooth almost everywhere."""
    return tangents_of(np.ascontiguousarray(normal, dtype=float).reshape(-1, 3))


@dataclass(frozen=True, eq=False)
class Contacts:
    """m contacts (see the module docstring for the geometry).

    Attributes:
        gap: [m] (m,), positive when open; the contact distance is already subtracted.
        normal: unit, from the obstacle or second body towards the first (m, 3).
        vertices: skin vertices (m, k); unused places repeat a vertex with weight 0.
        weights: (m, k), negative on the second body.
        point: where in the world the contact is [m] (m, 3).
        obstacle: index into the obstacles given to the detection (m,).
        key: identifier of the pair of features (m,) int64, stable from step to step.
        friction: Coulomb coefficient [-] (m,).
        tangents: t, s with t x s = n (m, 2, 3).
        gradients: d gap / d x_k (m, k, 3) where a contact is not described by one normal (volume
            contacts), else None.
        curvature: Hessian of the obstacle's distance at the contact [1/m] (m, 3, 3), zero where it is not known; only
            at an equilibrium, else None.
        travelled: how far the vertices moved since the slip is measured [m] (m, k, 3), zero where that is a material
            point's; only at an equilibrium with friction, else None.
        forces: normal force [N] (m,), positive pushes apart.
        tangential: force along t and s on the first body [N] (m, 2).
        states: `ContactState` (m,).
        anchor: value of sum_k anchor_weights_k x_k when the contact closed [m] (m, 3); it travels
            with a moving obstacle.
        anchor_weights: weights of the material point that closed (m, k).
        names: names of the obstacles, by index.
        poses: poses of the obstacles at detection, by index (None for soft ones).
    """

    gap: Array
    normal: Array
    vertices: Array
    weights: Array
    point: Array
    obstacle: Array
    key: Array
    friction: Array
    tangents: Array = field(repr=False)
    gradients: Array | None = field(default=None, repr=False)
    curvature: Array | None = field(default=None, repr=False)
    travelled: Array | None = field(default=None, repr=False)
    forces: Array = field(default_factory=lambda: np.zeros(0))
    tangential: Array = field(default_factory=lambda: np.zeros((0, 2)))
    states: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    anchor: Array = field(default_factory=lambda: np.zeros((0, 3)), repr=False)
    anchor_weights: Array = field(default_factory=lambda: np.zeros((0, 1)), repr=False)
    names: tuple[str, ...] = ()
    poses: tuple[Pose | None, ...] = field(default=(), repr=False)

    @classmethod
    def none(cls, names: Sequence[str] = (), poses: Sequence[Pose | None] = ()) -> Contacts:
        """No contact at all."""
        return cls.build(
            gap=np.zeros(0), normal=np.zeros((0, 3)), vertices=np.zeros((0, 1), dtype=np.int64),
            weights=np.zeros((0, 1)), position=np.zeros((0, 3)), point=np.zeros((0, 3)),
            obstacle=np.zeros(0, dtype=np.int64), key=np.zeros(0, dtype=np.int64),
            friction=np.zeros(0), names=names, poses=poses,
        )  # fmt: skip

    @classmethod
    def build(
        cls,
        *,
        gap: Array,
        normal: Array,
        vertices: Array,
        weights: Array,
        position: Array,
        point: Array,
        obstacle: Array,
        key: Array,
        friction: Array,
        names: Sequence[str] = (),
        poses: Sequence[Pose | None] = (),
        gradients: Array | None = None,
    ) -> Contacts:
        """Fresh contacts, open and without force; `position` is sum_k w_k x_k (m, 3), the anchor."""
        m = len(gap)
        out = object.__new__(cls)  # as in `_but`
        out.__dict__.update(
            gap=gap, normal=normal, vertices=vertices, weights=weights, point=point, obstacle=obstacle,
            key=key, friction=friction, tangents=tangent_basis(normal),
            gradients=gradients, curvature=None, travelled=None, forces=np.zeros(m), tangential=np.zeros((m, 2)),
            states=np.zeros(m, dtype=np.int8), anchor=position, anchor_weights=weights,
            names=tuple(names), poses=tuple(poses),
        )  # fmt: skip
        return out

    # ---- size and totals ---------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.gap)

    @property
    def max_penetration(self) -> float:
        """Largest depth [m]; zero if nothing penetrates."""
        return float(max(0.0, -self.gap.min())) if len(self) else 0.0

    @property
    def rigid(self) -> Array:
        """Which contacts (m,) are with a rigid obstacle; the weights of two soft sides cancel."""
        return np.asarray(np.abs(self.weights.sum(axis=1)) > 0.5)

    @property
    def cone_ratio(self) -> Array:
        """Tangential force over friction times normal force (m,): 1 slides; nan without normal force."""
        limit = self.friction * self.forces
        size = np.linalg.norm(self.tangential, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = size / limit
        ratio[(size == 0.0) & (self.forces > 0.0)] = 0.0
        return ratio

    @property
    def force_vectors(self) -> Array:
        """Force on the first body, world axes [N] (m, 3)."""
        along = self.forces[:, None] * self.normal
        return along + np.einsum("ma,mai->mi", self.tangential, self.tangents)

    def forces_on_vertices(self, size: int) -> Array:
        """What the contacts exert on the vertices of the skin, world axes [N] (size, 3)."""
        push, out = self.force_vectors, np.zeros((size, 3))
        for k in range(self.vertices.shape[1]):
            np.add.at(out, self.vertices[:, k], self.weights[:, k, None] * push)
        return out

    def wrench(self, about: Any = (0.0, 0.0, 0.0), obstacle: str | int | None = None) -> Array:
        """Total moment [N m] and force [N] on the first body (6,), angular first, about a point.

        With an obstacle's name or index, only what that obstacle exerts.
        """
        chosen = np.ones(len(self), dtype=bool)
        if obstacle is not None:
            if isinstance(obstacle, str) and obstacle not in self.names:
                raise UnknownNameError("obstacle", obstacle, self.names)
            index = self.names.index(obstacle) if isinstance(obstacle, str) else int(obstacle)
            chosen = self.obstacle == index
        f = self.force_vectors[chosen]
        arm = self.point[chosen] - np.asarray(about, dtype=float)
        return np.concatenate([np.cross(arm, f).sum(axis=0), f.sum(axis=0)])

    # ---- rows --------------------------------------------------------------------------------------
    def rows(self, model: Any, q: Array) -> Any:
        """d gap / d q (m, nv), sparse or dense as the model gives it."""
        if self.gradients is None:
            return model.skin_rows(q, self.vertices, self.weights, self.normal)
        total = None
        for axis in range(3):
            direction = np.tile(np.eye(3)[axis], (len(self), 1))
            slope = np.ascontiguousarray(self.gradients[..., axis])
            part = model.skin_rows(q, self.vertices, slope, direction)
            total = part if total is None else total + part
        return total

    def frictional_rows(self, model: Any, q: Array) -> Any:
        """Derivatives of gap and of the two tangential shifts, interleaved n, t, s (3m, nv)."""
        m = len(self)
        vertices = np.repeat(self.vertices, 3, axis=0)
        weights = np.repeat(self.weights, 3, axis=0)
        directions = np.concatenate([self.normal[:, None], self.tangents], axis=1).reshape(3 * m, 3)
        if self.gradients is None:
            return model.skin_rows(q, vertices, weights, directions)
        from scipy import sparse

        shift = model.skin_rows(q, vertices, weights, directions)
        keep = np.tile([0.0, 1.0, 1.0], m)
        normal = self.rows(model, q)
        place = sparse.csr_array((np.ones(m), (3 * np.arange(m), np.arange(m))), shape=(3 * m, m))
        if sparse.issparse(shift):
            return (sparse.diags_array(keep) @ shift + place @ normal).tocsr()
        return keep[:, None] * shift + place @ normal

    def slip(self, positions: Array) -> Array:
        """Tangential shift since the contact closed, along t and s [m] (m, 2), for skin positions (n, 3)."""
        now = np.einsum("mk,mki->mi", self.anchor_weights, positions[self.vertices])
        return np.einsum("mai,mi->ma", self.tangents, now - self.anchor)

    # ---- changes -----------------------------------------------------------------------------------
    def with_forces(
        self, forces: Array, tangential: Array | None = None, states: Array | None = None
    ) -> Contacts:
        """A copy with forces; states follow from the forces if they are not given."""
        m = len(self)
        lam = np.array(forces, dtype=float)
        if lam.shape != (m,):
            raise ArgumentError("forces", f"shape {lam.shape}", f"one normal force per contact ({m},)")
        tau = np.zeros((m, 2)) if tangential is None else np.array(tangential, dtype=float)
        if tau.shape != (m, 2):
            raise ArgumentError("tangential", f"shape {tau.shape}", f"({m}, 2)")
        if states is None and not self.friction.any():
            states = np.int8(FRICTIONLESS) * (lam > 0.0)  # the others are open
        elif states is None:
            size = np.linalg.norm(tau, axis=1)
            closed = np.where(size >= (1.0 - 1e-9) * self.friction * lam, SLIDE, STICK)
            closed = np.where(self.friction > 0.0, closed, FRICTIONLESS)
            states = np.where(lam > 0.0, closed, OPEN)
        codes = np.array(states, dtype=np.int8)
        if codes.shape != (m,):
            raise ArgumentError("states", f"shape {codes.shape}", f"one state per contact ({m},)")
        return self._but(forces=lam, tangential=tau, states=codes)

    def _but(self, **changes: Any) -> Contacts:
        """A copy with some fields changed; `dataclasses.replace` without its cost, since nothing needs a check."""
        other = object.__new__(Contacts)
        other.__dict__.update(self.__dict__, **changes)
        return other

    def followed(self, before: Array, after: Array) -> Contacts:
        """A copy whose gaps follow a small motion of the skin (n, 3) -> (n, 3) [m], to first order."""
        moved = (after - before)[self.vertices]
        return replace(self, gap=self.gap + np.einsum("mki,mki->m", self.all_gradients(), moved))

    def reanchored(self, positions: Array, which: Array | None = None) -> Contacts:
        """A copy whose anchors (all, or the masked ones) are where the contacts are now."""
        mask = np.ones(len(self), dtype=bool) if which is None else np.asarray(which, dtype=bool)
        now = np.einsum("mk,mki->mi", self.weights, positions[self.vertices])
        return replace(
            self,
            anchor=np.where(mask[:, None], now, self.anchor),
            anchor_weights=np.where(mask[:, None], self.weights, self.anchor_weights),
        )

    def matched(self, previous: Contacts | None) -> Contacts:
        """A copy that takes forces, states and anchors of the same keys from an earlier step.

        Tangential forces are turned into the new tangents. Anchors are kept where the contact was
        closed before, and travel with an obstacle that has moved since.
        """
        if previous is None or not len(previous) or not len(self):
            return self
        whole = np.ascontiguousarray  # few layouts of arrays: each one is compiled for
        forces, tangential, states, anchor, weights = handed_on(
            self.key, self.tangents, whole(self.vertices), whole(self.anchor), whole(self.anchor_weights),
            previous.key, previous.tangents, whole(previous.vertices), whole(previous.carried_anchors(self.poses)),
            whole(previous.anchor_weights), previous.forces, previous.tangential, previous.states,
        )  # fmt: skip
        return self._but(
            forces=forces, tangential=tangential, states=states, anchor=anchor, anchor_weights=weights
        )

    def carried_anchors(self, poses: Sequence[Pose | None]) -> Array:
        """The anchors after the obstacles have moved to other poses [m] (m, 3)."""
        anchor = self.anchor
        for index, (before, now) in enumerate(zip(self.poses, poses, strict=False)):
            if before is None or now is None or before is now:
                continue
            chosen = self.obstacle == index
            if chosen.any():
                anchor = anchor.copy() if anchor is self.anchor else anchor
                anchor[chosen] = now.apply(before.undo(anchor[chosen]))
        return anchor

    def selected(self, which: Array) -> Contacts:
        """Only some of the contacts (mask or indices)."""
        per_contact = (
            "gap", "normal", "vertices", "weights", "point", "obstacle", "key", "friction", "tangents",
            "forces", "tangential", "states", "anchor", "anchor_weights",
        )  # fmt: skip
        which = np.asarray(which, dtype=None if len(which) else np.int64)
        if which.dtype == bool:
            which = which.nonzero()[0]  # once, not in every array
        changes = {name: getattr(self, name).take(which, axis=0) for name in per_contact}
        if self.gradients is not None:
            changes["gradients"] = self.gradients[which]
        for name in ("curvature", "travelled"):
            if getattr(self, name) is not None:
                changes[name] = getattr(self, name)[which]
        return self._but(**changes)

    def distinct(self) -> Contacts:
        """Without contacts that repeat another: the same vertices with the same weights, pushed along the same line.

        Where a vertex lies over a vertex, several pairs of features describe the same contact.
        """
        if len(self) < 2 or self.vertices.shape[1] < 2 or self.gradients is not None:
            return self
        first = first_of_each(self.obstacle, self.vertices, self.weights, self.normal)
        return self if first.all() else self.selected(first)

    @staticmethod
    def joined(parts: Sequence[Contacts], names: Sequence[str], poses: Sequence[Pose | None]) -> Contacts:
        """All contacts of several detections against the same list of obstacles."""
        parts = [p for p in parts if len(p)]
        if not parts:
            return Contacts.none(names, poses)
        if len(parts) == 1:
            return parts[0]._but(names=tuple(names), poses=tuple(poses))
        k = max(p.vertices.shape[1] for p in parts)
        wide = [p.widened(k) for p in parts]
        gradients = None
        if any(p.gradients is not None for p in wide):
            gradients = np.concatenate([p.all_gradients() for p in wide])
        columns = (
            "gap", "normal", "vertices", "weights", "point", "obstacle", "key", "friction", "tangents",
            "forces", "tangential", "states", "anchor", "anchor_weights",
        )  # fmt: skip
        merged = {name: np.concatenate([getattr(p, name) for p in wide]) for name in columns}
        return Contacts(**merged, gradients=gradients, names=tuple(names), poses=tuple(poses))

    def all_gradients(self) -> Array:
        """d gap / d x_k for every contact (m, k, 3)."""
        if self.gradients is not None:
            return self.gradients
        return self.weights[:, :, None] * self.normal[:, None, :]

    def widened(self, k: int) -> Contacts:
        """A copy with k vertices per contact, the new ones with weight zero."""
        have = self.vertices.shape[1]
        if k <= have:
            return self
        m = len(self)
        vertices = np.empty((m, k), dtype=self.vertices.dtype)
        vertices[:, :have], vertices[:, have:] = self.vertices, self.vertices[:, -1:]
        weights, anchors = np.zeros((m, k)), np.zeros((m, k))
        weights[:, :have], anchors[:, :have] = self.weights, self.anchor_weights
        gradients = None
        if self.gradients is not None:
            gradients = np.zeros((m, k, 3))
            gradients[:, :have] = self.gradients
        return self._but(vertices=vertices, weights=weights, anchor_weights=anchors, gradients=gradients)
