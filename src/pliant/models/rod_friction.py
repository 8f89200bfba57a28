"""Capstan friction of cables in rods: the tension falls by exp(-mu angle) from the pulled end.

The angle is what the path turns: kappa x t per length inside the body (t: unit tangent of the path in the section's
axes), and the kink at every via point. The force of a cable is then the sum of share times d(length)/dq over its
quadrature points, no longer the gradient of its length; its derivative, the change of the shares included, is exact.
"""

from __future__ import annotations

import numpy as np

from pliant.actuators import Cable
from pliant.errors import ArgumentError
from pliant.models.rod_tables import RodLayout, Station

Array = np.ndarray
_SMOOTH = 1e-6  # the modulus of an angle is rounded off over this much [rad, or rad/m]


class RodFriction:
    """One cable with friction.

    Args:
        layout: the rods.
        cable: its description (for its coefficient and name).
        stations: its via points on the rods, from the pulled end.
    """

    def __init__(self, layout: RodLayout, cable: Cable, stations: list[Station]) -> None:
        if cable.world or cable.pull_point is not None:
            raise ArgumentError(f"{cable.name}.friction", "not modelled on rods if the cable leaves the body", "0")
        self.coefficient = cable.friction
        t, n = layout.tables, len(layout.tables.comp)
        phi, rest, r, dr, weight = [], [], [], [], []
        first: list[bool] = []  # points where a new run begins
        sign: list[float] = []  # of the cable's way against the arc length
        for a, b in layout.runs(stations):
            table = layout.threads([((a, b), -1.0)])
            order = np.arange(len(table.seg)) if b.s > a.s else np.arange(len(table.seg))[::-1]
            for k in order:
                dense, seg = np.zeros((n, 6)), table.seg[k]
                dense[t.dof0[seg] : t.dof0[seg] + t.nb[seg]] = table.phi[k, : t.nb[seg]]
                phi.append(dense)
                rest.append(table.rest[k])
                r.append(table.r[k])
                dr.append(table.dr[k])
                weight.append(abs(table.weight[k]))
                first.append(bool(first) and k == order[0])
                sign.append(1.0 if b.s > a.s else -1.0)
        self._phi, self._rest = np.array(phi), np.array(rest)
        self._r, self._dr, self._weight = np.array(r), np.array(dr), np.array(weight)
        self._kink, self._sign = np.flatnonzero(first), np.array(sign)

    def _measure(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """Path slopes' lengths (m,), unit tangents (m, 3), d slope / dq (m, 3, n), and the strains (m, 6)."""
        strain = self._rest + np.einsum("mnc,n->mc", self._phi, q)
        slope = strain[:, 3:] + np.cross(strain[:, :3], self._r) + self._dr
        length = np.linalg.norm(slope, axis=1)
        turn = np.swapaxes(np.cross(self._phi[:, :, :3], self._r[:, None]), 1, 2)
        return length, slope / length[:, None], np.swapaxes(self._phi[:, :, 3:], 1, 2) + turn, strain

    def shares(self, q: Array) -> tuple[Array, Array]:
        """Tension over that of the pulled end at the quadrature points (m,), and its derivative (m, n)."""
        return self._shares(*self._measure(q))

    def _shares(self, length: Array, t: Array, A: Array, strain: Array) -> tuple[Array, Array]:
        dt = (A - t[:, :, None] * np.einsum("mc,mcn->mn", t, A)[:, None]) / length[:, None, None]
        kappa = strain[:, :3]
        c = np.cross(kappa, t)
        dc = np.cross(np.swapaxes(self._phi[:, :, :3], 1, 2), t[:, :, None], axis=1)
        dc += np.cross(kappa[:, :, None], dt, axis=1)
        size = np.sqrt(np.sum(c**2, axis=1) + _SMOOTH**2)
        own = self._weight * (size - _SMOOTH)
        d_own = (self._weight / size)[:, None] * np.einsum("mc,mcn->mn", c, dc)
        kink, d_kink = np.zeros(len(own)), np.zeros_like(d_own)
        i = self._kink
        way = self._sign[:, None] * t
        gap = way[i] - way[i - 1]
        d_gap = self._sign[i, None, None] * dt[i] - self._sign[i - 1, None, None] * dt[i - 1]
        chord = np.sqrt(np.sum(gap**2, axis=1) + _SMOOTH**2)
        half = np.minimum(0.5 * chord, 0.999)
        kink[i] = 2.0 * np.arcsin(half) - 2.0 * np.arcsin(0.5 * _SMOOTH)
        d_kink[i] = (np.einsum("mc,mcn->mn", gap, d_gap) / chord[:, None]) / np.sqrt(1.0 - half**2)[:, None]
        total = np.cumsum(own + kink) - 0.5 * own
        slope = np.cumsum(d_own + d_kink, axis=0) - 0.5 * d_own
        share = np.exp(-self.coefficient * total)
        return share, -self.coefficient * share[:, None] * slope

    def column(self, q: Array) -> Array:
        """What friction adds to the generalised force per tension at the pulled end (n,)."""
        length, t, A, strain = self._measure(q)
        share, _ = self._shares(length, t, A, strain)
        return -np.einsum("m,mc,mcn->n", (share - 1.0) * self._weight, t, A)

    def add_hessian(self, q: Array, effort: float, H: Array) -> None:
        """Adds the derivative of effort * column to H (n, n); not symmetric."""
        length, t, A, strain = self._measure(q)
        share, d_share = self._shares(length, t, A, strain)
        rows = np.einsum("mc,mcn->mn", t, A)
        factor = effort * (share - 1.0) * self._weight / length
        H -= np.einsum("m,mcn,mck->nk", factor, A, A) - np.einsum("m,mn,mk->nk", factor, rows, rows)
        H -= effort * np.einsum("m,mn,mk->nk", self._weight, rows, d_share)
