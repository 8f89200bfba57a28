"""From rods and strain bases to the tables of the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pliant import lie
from pliant._kernels.rod import RodTables
from pliant._kernels.rod_points import PointTables
from pliant._kernels.rod_threads import ThreadTables
from pliant.bodies import RodBody
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.basis import Basis, constant

Array = np.ndarray
REACH = 1.0
"""How far from a rod a point may lie that it carries, relative to the rod's length."""
GAUSS = np.array([0.5 - np.sqrt(3.0) / 6.0, 0.5 + np.sqrt(3.0) / 6.0])


@dataclass(frozen=True, eq=False)
class Station:
    """A material point of a rod: body index, arc length s [m] and offset in the section's axes [m]."""

    body: int
    s: float
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Piece:
    """One segment of a rod: its interval of arc length [m], its basis, and where its steps end.

    A moving base is a segment of its own, without mass: one step of unit length whose strains are the twists
    `joint` (size, 6) of the base. Its body is -1, so that nothing material lies on it. A turning one stands at zero:
    its rotation is in its attachment.
    """

    body: int
    start: float
    end: float
    basis: Basis
    nodes: Array
    weights: Array
    joint: Array | None = None
    turns: bool = False

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.basis.size if self.joint is None else len(self.joint)

    @property
    def components(self) -> Array:
        """The single strain of each coordinate, -1 if it has several (size,)."""
        return self.basis.components if self.joint is None else np.full(len(self.joint), -1)

    def phi(self, s: Array) -> Array:
        """Basis at arc lengths s (len(s), size, 6)."""
        if self.joint is not None:
            return np.repeat(self.joint[None], len(np.atleast_1d(s)), axis=0)
        x = np.clip((np.atleast_1d(s) - self.start) / (self.end - self.start), 0.0, 1.0)
        return self.basis.table(x)


@dataclass(frozen=True, eq=False)
class RodLayout:
    """The rods of a robot cut into segments, and the kernels' tables of it."""

    bodies: tuple[RodBody, ...]
    pieces: tuple[Piece, ...]
    tables: RodTables
    base: Array
    """Rest pose of the base of each body (nb, 4, 4)."""

    @property
    def turning(self) -> tuple[int, ...]:
        """Segments whose rotation is a quaternion."""
        return tuple(k for k, piece in enumerate(self.pieces) if piece.turns)

    def rest_frame(self, body: int, s: float) -> Array:
        """Rest pose (4, 4) of a section."""
        return self.base[body] @ lie.exp(s * rest_strain(self.bodies[body]))

    def nearest(self, x: Sequence[float], body: str = "", name: str = "point") -> Station:
        """The material point of the rods that is nearest to x in the rest pose.

        What is farther away than `REACH` of the rod's length is taken for a mistake in units or axes.
        """
        names = [b.name for b in self.bodies]
        if body and body not in names:
            raise UnknownNameError("rod", body, names)
        point = np.asarray(x, float)
        best: tuple[float, int, float] = (np.inf, 0, 0.0)
        for i, rod in enumerate(self.bodies):
            if body and rod.name != body:
                continue
            grid = np.linspace(0.0, rod.length, 65)
            d = [np.linalg.norm(self.rest_frame(i, s)[:3, 3] - point) for s in grid]
            k = int(np.argmin(d))
            s = _refine(self, i, grid[k], point)
            distance = float(np.linalg.norm(self.rest_frame(i, s)[:3, 3] - point))
            if distance < best[0] - 1e-12:
                best = (distance, i, s)
        distance, i, s = best
        reach = REACH * self.bodies[i].length + float(self.bodies[i].radii(np.array(s))[0])
        if distance > reach:
            raise ArgumentError(
                name, f"{point.tolist()} lies {distance:.3g} m from the rod {names[i]!r}", f"at most {reach:.3g} m"
            )
        frame = self.rest_frame(i, s)
        r = frame[:3, :3].T @ (point - frame[:3, 3])
        return Station(i, s, (float(r[0]), float(r[1]), float(r[2])))

    def piece_at(self, body: int, s: float) -> int:
        """Index of the segment that holds arc length s (the one before, at a joint)."""
        last = -1
        for k, piece in enumerate(self.pieces):
            if piece.body == body:
                last = k
                if s <= piece.end + 1e-12 * self.bodies[body].length:
                    return k
        return last

    def points(self, stations: Sequence[Station]) -> PointTables:
        """Tables of points carried by the rods."""
        n, nbm, t = len(stations), self.tables.phi1.shape[1], self.tables
        seg, base = np.zeros(n, np.int64), np.zeros(n, np.int64)
        h, curved = np.zeros(n), np.full(n, 2, np.int64)
        rest1, phi1, phi2 = np.zeros((n, 6)), np.zeros((n, nbm, 6)), np.zeros((n, nbm, 6))
        for i, st in enumerate(stations):
            k = self.piece_at(st.body, st.s)
            piece = self.pieces[k]
            before = int(np.searchsorted(piece.nodes, st.s + 1e-9 * self.bodies[st.body].length)) - 1
            start = piece.nodes[before] if before >= 0 else piece.start
            seg[i] = k
            base[i] = t.step0[k] + before if before >= 0 else -1
            h[i] = max(0.0, st.s - start)
            rest1[i] = rest_strain(self.bodies[st.body])
            phi = piece.phi(start + h[i] * GAUSS)
            phi1[i, : phi.shape[1]], phi2[i, : phi.shape[1]] = phi[0], phi[1]
            if piece.basis.kind != "constant":
                curved[i] = 1
        offset = np.array([st.offset for st in stations], float).reshape(n, 3)
        return PointTables(
            seg,
            base,
            h,
            curved,
            rest1,
            rest1.copy(),
            phi1,
            phi2,
            offset,
            np.zeros((n, 3, 3)),
            np.zeros((n, 3)),
            np.zeros((n, 6)),
            np.zeros((n, nbm, 6)),
            np.zeros((6, 6)),
            np.zeros((nbm, 6)),
        )

    def threads(self, paths: Sequence[tuple[Sequence[Station], float]]) -> ThreadTables:
        """Tables of embedded threads: (stations along the path, weight per unit length) each."""
        nbm = self.tables.phi1.shape[1]
        ptr, seg, weight, rest, phi, r, dr = [0], [], [], [], [], [], []
        x, w = np.polynomial.legendre.leggauss(4)
        for stations, scale in paths:
            for a, b in self.runs(stations):
                low, high = min(a.s, b.s), max(a.s, b.s)
                r0, slope = np.array(a.offset), (np.array(b.offset) - np.array(a.offset)) / (b.s - a.s)
                for k, piece in enumerate(self.pieces):
                    if piece.body != a.body:
                        continue
                    cuts = piece.start + piece.basis.breaks * (piece.end - piece.start)
                    for c0, c1 in pairwise(cuts):
                        lo, hi = max(low, c0), min(high, c1)
                        if hi - lo < 1e-12 * self.bodies[a.body].length:
                            continue
                        s = 0.5 * (lo + hi) + 0.5 * (hi - lo) * x
                        table = piece.phi(s)
                        for i in range(len(s)):
                            seg.append(k)
                            weight.append(scale * 0.5 * (hi - lo) * w[i])
                            rest.append(rest_strain(self.bodies[a.body]))
                            padded = np.zeros((nbm, 6))
                            padded[: table.shape[1]] = table[i]
                            phi.append(padded)
                            r.append(r0 + slope * (s[i] - a.s))
                            dr.append(slope)
            ptr.append(len(seg))
        n = len(seg)
        return ThreadTables(
            np.array(ptr, np.int64),
            np.array(seg, np.int64).reshape(n),
            np.array(weight, float).reshape(n),
            np.array(rest, float).reshape(n, 6),
            np.array(phi, float).reshape(n, nbm, 6),
            np.array(r, float).reshape(n, 3),
            np.array(dr, float).reshape(n, 3),
            np.zeros((nbm, 3)),
        )

    def runs(self, stations: Sequence[Station]) -> list[tuple[Station, Station]]:
        """Consecutive stations on one rod each; a path over a joint is split at the joint."""
        runs = []
        for a, b in pairwise(stations):
            for c, d in self._split(a, b):
                if abs(c.s - d.s) > 1e-12 * self.bodies[c.body].length:
                    runs.append((c, d))
        return runs

    def _split(self, a: Station, b: Station) -> list[tuple[Station, Station]]:
        if a.body == b.body:
            return [(a, b)]
        chain = self._chain(a.body, b.body)
        if chain is None:
            back = self._chain(b.body, a.body)
            if back is None:
                names = (self.bodies[a.body].name, self.bodies[b.body].name)
                raise ArgumentError(
                    "points", f"consecutive points on unconnected rods {names}", "connected rods"
                )
            return [(d, c) for c, d in reversed(self._split(b, a))]
        length = self.bodies[a.body].length - a.s + sum(self.bodies[i].length for i in chain[1:-1]) + b.s
        out, here, gone = [], a, 0.0
        r0, r1 = np.array(a.offset), np.array(b.offset)
        for i, j in pairwise(chain):
            gone += self.bodies[i].length - here.s
            r = tuple(float(v) for v in r0 + (r1 - r0) * gone / max(length, 1e-300))
            out.append((here, Station(i, self.bodies[i].length, r)))  # type: ignore[arg-type]
            here = Station(j, 0.0, r)  # type: ignore[arg-type]
        return [*out, (here, b)]

    def _chain(self, first: int, last: int) -> list[int] | None:
        names = {b.name: i for i, b in enumerate(self.bodies)}
        chain = [last]
        while chain[-1] != first:
            parent = self.bodies[chain[-1]].parent
            if not parent:
                return None
            chain.append(names[parent])
        return chain[::-1]


def rest_strain(rod: RodBody) -> Array:
    """Strain of the rest shape (6,)."""
    return np.array([*rod.rest_curvature, 1.0, 0.0, 0.0])


def section(rod: RodBody, s: Array) -> tuple[Array, Array, Array]:
    """Stiffness (n, 6) [N m^2, N], mass (n,) [kg/m] and rotational inertia (n, 3) [kg m] per length."""
    outer, inner = rod.radii(s)
    area = np.pi * (outer**2 - inner**2)
    second = 0.25 * np.pi * (outer**4 - inner**4)
    e, g, rho = rod.material.young, rod.material.shear, rod.material.density
    stiffness = np.stack([2 * g * second, e * second, e * second, e * area, g * area, g * area], axis=1)
    return stiffness, rho * area, rho * np.stack([2 * second, second, second], axis=1)


def _refine(layout: RodLayout, body: int, s: float, x: Array) -> float:
    length = layout.bodies[body].length
    for _ in range(20):
        frame = layout.rest_frame(body, s)
        d = frame[:3, :3].T @ (x - frame[:3, 3])
        kappa = np.array(layout.bodies[body].rest_curvature)
        # d/ds of (x - p).t = -1 + (x - p).t', with t' = kappa x e1 in the section's axes
        slope = 1.0 - float(d @ np.cross(kappa, [1.0, 0.0, 0.0]))
        step = d[0] / slope if slope > 0.1 else d[0]
        new = float(np.clip(s + step, 0.0, length))
        if abs(new - s) < 1e-14 * length:
            break
        s = new
    return s


def build(bodies: Sequence[RodBody], bases: Sequence[Basis], *, coarse: bool = False) -> RodLayout:
    """Cuts every rod into its segments and steps and tabulates them; parents must come before children.

    A coarse layout has one step per segment and no mass: the same kinematics for constant strain, cheaper.
    """
    index = {rod.name: i for i, rod in enumerate(bodies)}
    pieces: list[Piece] = []
    parent, attach = [], []
    base: list = []
    ends: dict[int, int] = {}
    for i, (rod, basis) in enumerate(zip(bodies, bases)):
        if rod.parent and index.get(rod.parent, i) >= i:
            raise UnknownNameError(
                "parent rod (it must come earlier)", rod.parent, [b.name for b in bodies[:i]]
            )
        local = lie.frame(lie.matrix_from_quaternion(rod.rotation), rod.position)
        if rod.parent:
            j = index[rod.parent]
            base.append(base[j] @ lie.exp(bodies[j].length * rest_strain(bodies[j])) @ local)
        else:
            base.append(local)
        before, start = ends[index[rod.parent]] if rod.parent else -1, local
        for joint in _joints(rod):
            parent.append(before)
            attach.append(local if joint.turns else np.eye(4))
            start = np.eye(4) if joint.turns else local
            before = len(pieces)
            pieces.append(joint)
        for k in range(basis.segments):
            low, high = rod.length * k / basis.segments, rod.length * (k + 1) / basis.segments
            nodes, weights = _nodes(low, high, basis, coarse)
            if k > 0:
                parent.append(len(pieces) - 1)
                attach.append(np.eye(4))
            else:
                parent.append(before)
                attach.append(start)
            pieces.append(Piece(i, low, high, basis, nodes, weights))
        ends[i] = len(pieces) - 1
    return RodLayout(
        tuple(bodies), tuple(pieces), _tables(bodies, pieces, parent, attach, ends), np.array(base)
    )


def _joints(rod: RodBody) -> list[Piece]:
    """Segments that let the base of a rod move: first its translations, then its rotation."""
    one, none = np.ones(1), np.zeros(1)
    joints = []
    if rod.axes:
        slides = np.hstack([np.zeros((len(rod.axes), 3)), np.array(rod.axes)])
        joints.append(Piece(-1, 0.0, 1.0, constant(), one, none, slides))
    if rod.rotates:
        joints.append(Piece(-1, 0.0, 1.0, constant(), one, none, np.eye(6)[:3], True))
    return joints


def _nodes(start: float, end: float, basis: Basis, coarse: bool) -> tuple[Array, Array]:
    """Ends of the steps (Gauss points and ends of smooth pieces) and the quadrature weights there."""
    if coarse:
        return np.array([end]), np.array([0.0])
    x, w = np.polynomial.legendre.leggauss(basis.gauss)
    cuts = start + basis.breaks * (end - start)
    nodes, weights = [], []
    for a, b in pairwise(cuts):
        nodes += [*(0.5 * (a + b) + 0.5 * (b - a) * x), b]
        weights += [*(0.5 * (b - a) * w), 0.0]
    return np.array(nodes), np.array(weights)


def _tables(
    bodies: Sequence[RodBody],
    pieces: list[Piece],
    parent: list[int],
    attach: list[Array],
    ends: dict[int, int],
) -> RodTables:
    nb = np.array([p.size for p in pieces], np.int64)
    steps = np.array([len(p.nodes) for p in pieces], np.int64)
    dof0 = np.concatenate([[0], np.cumsum(nb)[:-1]]).astype(np.int64)
    step0 = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
    n, nst, nbm = int(nb.sum()), int(step0[-1]), int(nb.max())
    h, curved = np.zeros(nst), np.ones(nst, np.int64)
    rest, phi1, phi2 = np.zeros((nst, 6)), np.zeros((nst, nbm, 6)), np.zeros((nst, nbm, 6))
    comp = np.concatenate([p.components for p in pieces]).astype(np.int64)
    mass, rot = np.zeros(nst), np.zeros((nst, 6))
    K, D = np.zeros((n, nbm)), np.zeros((n, nbm))
    for k, piece in enumerate(pieces):
        rod = bodies[piece.body]
        rows, size = slice(step0[k], step0[k + 1]), int(nb[k])
        before = np.concatenate([[piece.start], piece.nodes[:-1]])
        h[rows] = piece.nodes - before
        phi1[rows, :size] = piece.phi(before + GAUSS[0] * h[rows])
        phi2[rows, :size] = piece.phi(before + GAUSS[1] * h[rows])
        if piece.joint is None:
            rest[rows] = rest_strain(rod)
        if piece.basis.kind == "constant":
            curved[rows] = 0
            curved[step0[k]] = 2
        stiffness, line, inertia = section(rod, piece.nodes)
        mass[rows] = piece.weights * line
        rot[rows, :3] = piece.weights[:, None] * inertia
        at = piece.phi(piece.nodes)
        block = np.einsum("s,sic,sc,sjc->ij", piece.weights, at, stiffness, at)
        dofs = slice(dof0[k], dof0[k] + size)
        K[dofs, :size] = block
        D[dofs, :size] = (rod.damping + rod.material.rayleigh_stiffness) * block
    for i, rod in enumerate(bodies):
        mass[step0[ends[i] + 1] - 1] += rod.tip_mass
    frames = np.array(attach)
    return RodTables(
        np.array(parent, np.int64),
        dof0,
        nb,
        step0,
        np.ascontiguousarray(frames[:, :3, :3]),
        np.ascontiguousarray(frames[:, :3, 3]),
        h,
        curved,
        rest,
        rest.copy(),
        phi1,
        phi2,
        comp,
        mass,
        np.zeros((nst, 3)),
        rot,
        K,
        D,
    )
