"""A robot small enough to write down: a bead on a hardening spring, pulled by cables from fixed anchors.

    energy = k/2 |q|^2 + h/4 |q|^4 - m g.q - sum_i e_i d_i(q),     d_i = L_i - |q - A_i|

It satisfies the model contract and nothing else; whatever works with it does not ask which model it has.
"""

import numpy as np

import pliant as pl
from pliant.state import Placement, Skin

ANCHORS = 0.2 * np.array([[1.0, 0, 0], [-0.5, 0.8, 0], [-0.5, -0.8, 0], [0, 0, 1.0]])


class PointRobot:
    """The bead; `robot` only carries names, limits and drives."""

    def __init__(self, anchors=ANCHORS, stiffness=40.0, hardening=2e3, mass=0.05, radius=0.01, **changes):
        self.anchors, self.k, self.h, self.mass, self.radius = anchors, stiffness, hardening, mass, radius
        body = pl.RodBody("bead", 0.1, 0.01, pl.materials.Corotational.from_young(1e6, 0.4, density=1000))
        cables = tuple(
            pl.Cable(name=f"c{i + 1}", points=[(0, 0, 0)], pull_point=tuple(a), effort_limits=(0, 60))
            for i, a in enumerate(anchors)
        )
        self.robot = pl.Robot("bead", (body,), actuators=cables, points=(pl.Point("tip", (0, 0, 0)),))
        if changes:
            self.robot = self.robot.but(**changes)
        self.g = np.array(self.robot.gravity) * mass
        self.nq = self.nv = 3
        self.make = PointRobot.like
        self.nu = len(anchors)
        self.rest = np.zeros(3)
        none = np.zeros((0, 3), np.int64)
        self.skin = Skin(none, none[:, :2], np.full(1, radius), np.zeros(1, np.int64))

    @classmethod
    def like(cls, robot):
        """The bead with the drives and limits of another description."""
        bead = cls()
        bead.robot = robot
        return bead

    def energy(self, q, effort):
        r2 = q @ q
        return 0.5 * self.k * r2 + 0.25 * self.h * r2**2 - self.g @ q - effort @ self.displacement(q)

    def force(self, q, effort):
        return -(self.k + self.h * (q @ q)) * q + self.g + self.displacement_rows(q).T @ effort

    def stiffness(self, q, effort):
        K = (self.k + self.h * (q @ q)) * np.eye(3) + 2 * self.h * np.outer(q, q)
        for a, e in zip(self.anchors, effort):
            d = q - a
            n = np.linalg.norm(d)
            K += e * (np.eye(3) - np.outer(d, d) / n**2) / n
        return K

    def actuation(self, q, effort):
        return self.displacement_rows(q).T

    def displacement(self, q):
        return np.linalg.norm(self.anchors, axis=1) - np.linalg.norm(q - self.anchors, axis=1)

    def displacement_rows(self, q):
        d = q - self.anchors
        return -d / np.linalg.norm(d, axis=1)[:, None]

    def retract(self, q, dq):
        return q + dq

    def locate(self, q, points, *, jacobian=False):
        q = getattr(q, "q", q)
        J = np.vstack([np.zeros((3, 3)), np.eye(3)])
        names = (points,) if isinstance(points, str) else tuple(points)
        if isinstance(points, str):
            return Placement(names, q.copy(), np.eye(3), J if jacobian else None)
        n = len(names)
        return Placement(
            names, np.tile(q, (n, 1)), np.tile(np.eye(3), (n, 1, 1)), np.tile(J, (n, 1, 1)) if jacobian else None
        )

    def centre_of_mass(self, q):
        return q.copy(), np.eye(3)

    def skin_positions(self, q):
        return q[None, :].copy()

    def skin_rows(self, q, vertices, weights, directions):
        return weights.sum(axis=1)[:, None] * directions

    def inertia(self, q):
        return self.mass * np.eye(3)

    def bias(self, q, v):
        return np.zeros(3)

    def damping(self, q, effort):
        return 0.05 * np.eye(3)
