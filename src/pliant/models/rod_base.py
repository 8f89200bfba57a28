"""Configurations of rods whose base moves: flat coordinates, and one quaternion per base that turns.

    q = [translations | quaternion wxyz | strains] per rod,   v = [translations | body angular velocity | strains]

The kernels know flat coordinates only. A turning base is a segment of three coordinates that always stands at zero;
its rotation is written into its attachment before every sweep. At zero the tangent of the exponential is the
identity, so its velocities are the body's angular velocity and its acceleration exactly.
"""

from __future__ import annotations

import numpy as np

from pliant import lie
from pliant._kernels import lie as _lie
from pliant._kernels.arrays import writable
from pliant.errors import ArgumentError
from pliant.models.rod_tables import RodLayout

Array = np.ndarray


class Configuration:
    """The map from configurations q (nq,) to the flat coordinates (nv,) of the kernels' tables."""

    def __init__(self, *layouts: RodLayout) -> None:
        first = layouts[0]
        t = first.tables
        self.nv = len(t.comp)
        self.nq = self.nv + len(first.turning)
        self._tables = [layout.tables for layout in layouts]
        self._start = [t.attach_R[k].copy() for k in first.turning]
        self._turning = first.turning
        flat_q: list[int] = []
        flat_v: list[int] = []
        self._quaternions: list[tuple[slice, slice]] = []
        at = 0
        for k, (d0, nb) in enumerate(zip(t.dof0, t.nb)):
            if k in first.turning:
                self._quaternions.append((slice(at, at + 4), slice(int(d0), int(d0) + 3)))
                at += 4
            else:
                flat_q += range(at, at + int(nb))
                flat_v += range(int(d0), int(d0 + nb))
                at += int(nb)
        self._flat_q, self._flat_v = np.array(flat_q, np.int64), np.array(flat_v, np.int64)
        self.rest = np.zeros(self.nq)
        for where, _ in self._quaternions:
            self.rest[where.start] = 1.0
        self.rest.setflags(write=False)

    def flat(self, q: Array) -> Array:
        """Flat coordinates (nv,); the tables' attachments take the rotations of q."""
        q = writable(q)
        if q.shape != (self.nq,):
            raise ArgumentError("q", f"shape {q.shape}", f"({self.nq},)")
        if not self._quaternions:
            return q
        out = np.zeros(self.nv)
        out[self._flat_v] = q[self._flat_q]
        R = np.empty((3, 3))
        for k, start, (where, _) in zip(self._turning, self._start, self._quaternions):
            _lie.matrix_from_quat(q[where], R)
            for t in self._tables:
                t.attach_R[k] = start @ R
        return out

    def vector(self, v: Array, name: str) -> Array:
        """A checked tangent vector (nv,)."""
        v = writable(v)
        if v.shape != (self.nv,):
            raise ArgumentError(name, f"shape {v.shape}", f"({self.nv},)")
        return v

    def retract(self, q: Array, dq: Array) -> Array:
        """q moved by a tangent increment: rotations turn about the body's own axes."""
        q = np.asarray(q, float)
        if not self._quaternions:
            return q + dq
        out = np.empty(self.nq)
        out[self._flat_q] = q[self._flat_q] + dq[self._flat_v]
        for where, columns in self._quaternions:
            a, b = q[where], _quaternion(dq[columns])
            w = a[0] * b[0] - a[1:] @ b[1:]
            turned = np.array([w, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])
            out[where] = turned / np.linalg.norm(turned)
        return out

    def difference(self, q: Array, other: Array) -> Array:
        """The tangent increment from q to `other` (nv,): inverse of `retract`."""
        out = np.empty(self.nv)
        out[self._flat_v] = other[self._flat_q] - q[self._flat_q]
        for where, columns in self._quaternions:
            a, b = lie.matrix_from_quaternion(q[where]), lie.matrix_from_quaternion(other[where])
            out[columns] = lie.log(a.T @ b)
        return out


def _quaternion(w: Array) -> Array:
    """Quaternion of a rotation vector."""
    angle = float(np.linalg.norm(w))
    return np.array([np.cos(0.5 * angle), *(0.5 * np.sinc(0.5 * angle / np.pi) * w)])
