"""Settling: a few local/global iterations after a long step of Newton's method, before the next Hessian is made.

A step that bends a body by a right angle leaves elements that do not fit their neighbours, and efforts that are too
large: the Hessian there is indefinite, and its projection wastes a factorisation on evening the elements out. The
constant matrix of the local/global iteration does that at a tenth of the price: it cannot move the body as a whole in
few steps, but it mends what is local, and tells the efforts that balance the pose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.algebra.anderson import Anderson
from pliant.contact.contacts import Contacts

if TYPE_CHECKING:
    from pliant.models.geometric import GeometricModel

Array = np.ndarray
#: Iterations in one go.
MOST = 8
#: Longest step, in parts of the robot's size.
CAP = 0.02


class Settler:
    """Local/global iterations of one model.

    Args:
        model: the geometric model.
        drives: actuators whose displacements are held and whose efforts follow (nu,) bool; the others keep theirs.
        length: size of the robot [m].
    """

    def __init__(self, model: GeometricModel, drives: Array, length: float) -> None:
        self.model, self.drives, self.length = model, drives, length
        self.iterations = 0

    def settle(
        self, q: Array, effort: Array, contacts: Contacts | None, goal: Array, *, even: float, most: int = MOST
    ) -> tuple[Array, Array]:
        """Pose and efforts after at most so many iterations; contact forces stay as they are.

        Args:
            q: configuration.
            effort: efforts of all actuators (nu,).
            contacts: what touches, with its forces.
            goal: displacements to hold (nu,); only those of the drives count.
            even: length of a step at which the pose is even enough [m].
            most: iterations.
        """
        model, drives = self.model, self.drives
        effort = effort.copy()
        history = Anderson(6)
        for _ in range(most):
            self.iterations += 1
            f, effort[drives] = self._step(q, effort, contacts, goal)
            size = float(np.abs(f).max(initial=0.0))
            if size <= even or not np.isfinite(size):
                break
            step = history.step(f)
            longest = float(np.abs(step).max(initial=0.0))
            if longest > CAP * self.length:
                step = step * (CAP * self.length / longest)
                history.moved(step)
            q = model.retract(q, step)
        return q, effort

    def left(self, q: Array, effort: Array, goal: Array) -> float:
        """Largest coordinate of the local/global step that remains at a pose, without contacts [m]."""
        return float(np.abs(self._step(q, effort, None, goal)[0]).max(initial=0.0))

    def _step(self, q: Array, effort: Array, contacts: Contacts | None, goal: Array) -> tuple[Array, Array]:
        """One step of the local/global iteration (nv,), and the efforts of the drives with it."""
        model, drives = self.model, self.drives
        passive = effort.copy()
        passive[drives] = 0.0
        r = model.force(q, passive)
        if contacts is not None and len(contacts):
            r = r + np.asarray(contacts.rows(model, q).T @ contacts.forces)
        C = model.displacement_rows(q)[drives]
        solved = model.proxy.at(q).solve(np.column_stack([r, C.T]))
        if not drives.any():
            return solved[:, 0], np.zeros(0)
        value = model.displacement(q)[drives] - goal[drives]
        e = -np.linalg.lstsq(C @ solved[:, 1:], value + C @ solved[:, 0], rcond=1e-10)[0]
        return solved[:, 0] + solved[:, 1:] @ e, e
