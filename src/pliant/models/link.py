"""LinkModel: every segment of an arm as slide - joint - slide, with stiffness, weight and inertia.

The paper's model (piecewise universal joint) is kinematic. Here the joints also have springs (EI / L per rotation,
twice EA / L per slide, GJ / L for torsion) and the segments have mass, so that it predicts shapes and motions and
satisfies the same contract as every other model. Coordinates of a segment: (d1, theta1, theta2, d2[, gamma]), see
`pliant.models.segments`; frames have z along the arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant import checks, lie
from pliant._kernels import link as _k
from pliant.actuators import Cable, Chamber
from pliant.bodies import RodBody
from pliant.checks import count, numbers
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models import basis as _basis
from pliant.models.rod import RodModel
from pliant.models.rod_drives import ChamberPath
from pliant.models.rod_tables import Station, section
from pliant.models.rods import check_held, rods_of
from pliant.models.segments import JOINTS, LinkEstimate, check_joint, estimate_links
from pliant.models.sizes import Flat
from pliant.robot import Robot
from pliant.state import Placement, Skin

Array = np.ndarray
ROD_TO_LINK = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Axes of a link's frame (z along the arm) in the section's axes of a rod (x along the arm)."""
_DRIVES = (Cable, Chamber)  # their coordinates are linear in those of the links
_PER = 5  # joints of a segment: slide, hinge y, hinge x, hinge z, slide


class LinkModel(Flat):
    """A serial arm as rigid links.

    Args:
        robot: rods in series (each one's parent is the one before; the first has none and is held), driven by chambers
            and by cables that run inside of it.
        segments: links per rod.
        joint: "universal" (the paper), "constant_velocity" or "constant_velocity+twist".
        chambers: channel of each `Chamber` of the robot.
        stiffness: diagonal joint stiffness (nq,) [N/m, N m/rad]; from the sections and moduli if None.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        segments: int = 1,
        joint: str = "constant_velocity+twist",
        chambers: Mapping[str, ChamberPath] | None = None,
        stiffness: Array | None = None,
    ) -> None:
        check_joint(joint)
        rods = _series(robot)
        segments = count("segments", segments)
        self.robot, self.joint, self._cut = robot, joint, segments
        self._rods = rods
        lengths = np.repeat([rod.length / segments for rod in rods], segments)
        n = self.segments = len(lengths)
        self.lengths = lengths
        self._width = 5 if joint == JOINTS[2] else 4
        rest = np.zeros((n, self._width))
        rest[:, 0] = rest[:, 3] = 0.5 * lengths
        self._rest = rest.ravel()
        self._rest.setflags(write=False)
        self._kind = np.tile(np.array([0, 1, 2, 3, 0], np.int64), n)
        self._attachments(rods)
        self._masses(rods)
        self._springs({} if chambers is None else chambers, stiffness)
        m = _PER * n
        self._axes, self._origins = np.empty((m, 3)), np.empty((m, 3))
        self._R, self._p = np.empty((m, 3, 3)), np.empty((m, 3))
        self._x, self._J = np.empty((len(self._mass), 3)), np.empty((len(self._mass), 6, m))
        self._table = self._named_points()
        self._skin_model()

    @property
    def joint_stiffness(self) -> Array:
        """Diagonal of the joint stiffness [N/m, N m/rad] (nq,)."""
        return self._spring

    # ---- statics --------------------------------------------------------------------------------------
    def energy(self, q: Array, effort: Array) -> float:
        """Potential energy [J]."""
        d = self._check(q) - self._rest
        self._walk(q)
        weight = -float(self._mass @ (self._x @ np.array(self.robot.gravity)))
        work = float(effort @ (self._rows @ d)) if self.nu else 0.0
        return 0.5 * float(d @ (self._spring * d)) + weight - work

    def force(self, q: Array, effort: Array) -> Array:
        """-d energy / d q (nv,)."""
        return self.linearise(q, effort)[0]

    def stiffness(self, q: Array, effort: Array) -> Array:
        """-d force / d q (nv, nv)."""
        return self.linearise(q, effort)[1]

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Array]:
        """Force (nv,) and stiffness (nv, nv)."""
        q = self._check(q)
        E, second = self._walk(q)
        m = len(self._kind)
        f, H = np.empty(m), np.empty((m, m))
        _k.gravity(self._kind, self._axes, self._joint_of, self._mass, self._J, np.array(self.robot.gravity), f, H)
        K = E.T @ H @ E - self._curvature(second, f)
        force = E.T @ f - self._spring * (q - self._rest)
        if self.nu:
            force = force + effort @ self._rows
        K[np.diag_indices(self.nq)] += self._spring
        return force, K

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu): constant."""
        return self._rows.T.copy()

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates [m, m^3] (nu,)."""
        return self._rows @ (self._check(q) - self._rest)

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv): constant."""
        return self._rows.copy()

    def retract(self, q: Array, dq: Array) -> Array:
        """q + dq."""
        return np.asarray(q, float) + dq

    def travel(self, dq: Array) -> float:
        """How far an increment moves anything, about [m]: slides as they are, turns with half the arm's length."""
        rows = np.abs(np.asarray(dq, float)).reshape(self.segments, self._width)
        turns = np.delete(rows, [0, 3], axis=1)
        return float(max(rows[:, [0, 3]].max(), 0.5 * float(self.lengths.sum()) * turns.max()))

    # ---- where things are -----------------------------------------------------------------------------
    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions, orientations and Jacobians of named points; q may be a State."""
        q = self._check(getattr(q, "q", q))
        names = checks.name_list("points", points)
        for name in names:
            if name not in self._table:
                raise UnknownNameError("point", name, self._table)
        E, _ = self._walk(q)
        chosen = [self._table[k] for k in names]
        x, J = self._place([c[0] for c in chosen], [c[1] for c in chosen], [c[2] for c in chosen])
        rotation = np.array([self._R[c[0]] @ c[3] for c in chosen]).reshape(len(names), 3, 3)
        jac = J @ E if jacobian else None
        if isinstance(points, str):
            return Placement(names, x[0], rotation[0], None if jac is None else jac[0])
        return Placement(names, x, rotation, jac)

    def frames(self, q: Any) -> Array:
        """Frames at the ends of the segments, base first, z along the arm (n + 1, 4, 4)."""
        self._walk(self._check(getattr(q, "q", q)))
        out = np.tile(np.eye(4), (self.segments + 1, 1, 1))
        out[0, :3, :3], out[0, :3, 3] = self._attach_R[0], self._attach_p[0]
        out[1:, :3, :3], out[1:, :3, 3] = self._R[_PER - 1 :: _PER], self._p[_PER - 1 :: _PER]
        return out

    def estimate(self, frames: Any, **options: Any) -> LinkEstimate:
        """State of the links from measured frames (see `estimate_links`); `.q.ravel()` is a configuration."""
        return estimate_links(frames, joint=self.joint, **options)

    @property
    def mass_total(self) -> float:
        """Mass of all segments and payloads [kg]."""
        return float(self._mass.sum())

    def centre_of_mass(self, q: Array) -> tuple[Array, Array]:
        """Centre of mass [m] (3,) and its derivative (3, nv)."""
        E, _ = self._walk(self._check(q))
        total = float(self._mass.sum())
        return self._mass @ self._x / total, np.einsum("k,kcn->cn", self._mass, self._J[:, 3:]) @ E / total

    # ---- the surface ----------------------------------------------------------------------------------
    @property
    def skin(self) -> Skin:
        """Capsules along the links."""
        return self._skin

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""
        self._walk(self._check(q))
        base = self._attach_p[0] + self._attach_R[0] @ np.zeros(3)
        return np.vstack([base, self._p.reshape(self.segments, _PER, 3)[:, [0, 4]].reshape(-1, 3)])

    def skin_rows(self, q: Array, vertices: Array, weights: Array, directions: Array) -> Array:
        """d/dq of sum_k weights[i,k] directions[i] . x[vertices[i,k]], dense (m, nv)."""
        E, _ = self._walk(self._check(q))
        joints = (_PER * np.arange(self.segments)[:, None] + np.array([0, 4])).ravel()
        _, J = self._place(joints, np.ones(len(joints)), np.zeros((len(joints), 3)))
        linear = np.concatenate([np.zeros((1, 3, self.nq)), J[:, 3:] @ E])
        return np.einsum("ik,ic,ikcn->in", weights, directions, linear[np.asarray(vertices)], optimize=True)

    # ---- dynamics -------------------------------------------------------------------------------------
    def inertia(self, q: Array) -> Array:
        """Mass matrix (nv, nv)."""
        E, _ = self._walk(self._check(q))
        M = np.empty((len(self._kind), len(self._kind)))
        _k.inertia(self._R, self._joint_of, self._mass, self._transverse, self._axial, self._J, M)
        return E.T @ M @ E

    def bias(self, q: Array, v: Array) -> Array:
        """Coriolis and centrifugal generalised force (nv,)."""
        E, second = self._walk(self._check(q))
        v = self._check(v)
        drift = np.zeros(len(self._kind))
        if second is not None:
            w = v.reshape(self.segments, self._width)[:, 1:3]
            drift[3::_PER] = np.einsum("ni,nij,nj->n", w, second, w)
        tau = np.empty(len(self._kind))
        _k.bias(
            self._kind, self._axes, self._R, self._joint_of, self._mass, self._transverse, self._axial, self._J,
            E @ v, drift, tau,
        )  # fmt: skip
        return E.T @ tau

    def damping(self, q: Array, effort: Array) -> Array:
        """Viscous matrix, proportional to the joint stiffness (nv, nv)."""
        return np.diag(self._viscosity)

    # ---- inside ---------------------------------------------------------------------------------------
    def _check(self, q: Array) -> Array:
        q = np.ascontiguousarray(q, dtype=np.float64)
        if q.shape != (self.nq,):
            raise ArgumentError("q", f"shape {q.shape}", f"({self.nq},)")
        return q

    def _walk(self, q: Array) -> tuple[Array, Array | None]:
        """Kinematics at q; the derivative of joint values in q (m, nq) and second derivatives of the twists."""
        rows = np.asarray(q, float).reshape(self.segments, self._width)
        value = np.zeros((self.segments, _PER))
        value[:, :3], value[:, 4] = rows[:, :3], rows[:, 3]
        E = self._linear.copy()
        second = None
        if self.joint != JOINTS[0]:
            t1, t2 = np.tan(0.5 * rows[:, 1]), np.tan(0.5 * rows[:, 2])
            value[:, 3] = 2.0 * np.arctan(t1 * t2)
            if self._width == 5:
                value[:, 3] += rows[:, 4]
            u1, u2, w = 1.0 + t1**2, 1.0 + t2**2, 1.0 + (t1 * t2) ** 2
            i = np.arange(self.segments)
            E[_PER * i + 3, self._width * i + 1] = t2 * u1 / w
            E[_PER * i + 3, self._width * i + 2] = t1 * u2 / w
            second = np.empty((self.segments, 2, 2))
            second[:, 0, 0] = t1 * t2 * (1 - t2**2) * u1 / w**2
            second[:, 1, 1] = t1 * t2 * (1 - t1**2) * u2 / w**2
            second[:, 0, 1] = second[:, 1, 0] = 0.5 * u1 * u2 * (1 - (t1 * t2) ** 2) / w**2
        self._value = value.ravel()
        _k.walk(
            self._kind, self._attach, self._attach_R, self._attach_p, self._value, self._axes, self._origins,
            self._R, self._p,
        )  # fmt: skip
        _k.jacobians(
            self._kind, self._value, self._axes, self._origins, self._R, self._p, self._joint_of, self._fraction,
            self._offset, self._x, self._J,
        )  # fmt: skip
        return E, second

    def _curvature(self, second: Array | None, f: Array) -> Array:
        """sum over twists of f d^2 delta / dq^2 (nq, nq)."""
        out = np.zeros((self.nq, self.nq))
        if second is not None:
            for i in range(self.segments):
                a = self._width * i + 1
                out[a : a + 2, a : a + 2] = f[_PER * i + 3] * second[i]
        return out

    def _place(self, joints: Any, fractions: Any, offsets: Any) -> tuple[Array, Array]:
        joints = np.asarray(joints, np.int64)
        x, J = np.empty((len(joints), 3)), np.empty((len(joints), 6, len(self._kind)))
        offset = np.asarray(offsets, float).reshape(-1, 3)
        fraction = np.asarray(fractions, float)
        _k.jacobians(
            self._kind, self._value, self._axes, self._origins, self._R, self._p, joints, fraction, offset, x, J
        )
        return x, J

    def _attachments(self, rods: Sequence[RodBody]) -> None:
        """Fixed frames before the first segment of each rod, in link axes."""
        R, p = [], []
        self._attach = np.full(_PER * self.segments, -1, np.int64)
        for k, rod in enumerate(rods):
            turn = lie.matrix_from_quaternion(rod.rotation) @ ROD_TO_LINK
            R.append(turn if k == 0 else ROD_TO_LINK.T @ turn)
            p.append(np.array(rod.position) if k == 0 else ROD_TO_LINK.T @ np.array(rod.position))
            self._attach[_PER * self._cut * k] = k
        self._attach_R, self._attach_p = np.array(R), np.array(p)
        self._linear = np.zeros((_PER * self.segments, self.nq))
        for i in range(self.segments):
            for joint, c in ((0, 0), (1, 1), (2, 2), (4, 3), *(((3, 4),) if self._width == 5 else ())):
                self._linear[_PER * i + joint, self._width * i + c] = 1.0

    def _masses(self, rods: Sequence[RodBody]) -> None:
        """Half of a segment's mass in the middle of each slide; payloads at the ends."""
        joint, fraction, mass, transverse, axial = [], [], [], [], []
        for k, rod in enumerate(rods):
            for c in range(self._cut):
                i, length = k * self._cut + c, rod.length / self._cut
                _, line, turn = section(rod, rod.length * (c + np.array([0.25, 0.75])) / self._cut)
                for slide, half in ((0, 0), (4, 1)):
                    m = 0.5 * length * line[half]
                    joint.append(_PER * i + slide)
                    fraction.append(0.5)
                    mass.append(m)
                    transverse.append(0.5 * length * turn[half, 1] + m * (0.5 * length) ** 2 / 12)
                    axial.append(0.5 * length * turn[half, 0])
            if rod.tip_mass:
                joint.append(_PER * ((k + 1) * self._cut) - 1)
                fraction.append(1.0)
                mass.append(rod.tip_mass)
                transverse.append(0.0)
                axial.append(0.0)
        self._joint_of, self._fraction = np.array(joint, np.int64), np.array(fraction)
        self._mass, self._transverse, self._axial = np.array(mass), np.array(transverse), np.array(axial)
        self._offset = np.zeros((len(mass), 3))

    def _springs(self, chambers: Mapping[str, ChamberPath], stiffness: Array | None) -> None:
        """Springs, dampers and actuators, all from the constant-strain rod of the same arm."""
        for actuator in self.robot.actuators:
            cable = actuator if isinstance(actuator, Cable) else None
            loose = cable is not None and (cable.friction or cable.pull_point is not None or cable.world)
            if not isinstance(actuator, _DRIVES) or loose:
                raise ArgumentError(
                    "robot",
                    f"{actuator.name!r} ({actuator.kind}) does not act along a channel inside of the links",
                    "Chamber, or Cable without friction, pull_point and world; a RodModel for others",
                )
        strains = ("twist", "bend_y", "bend_z", "stretch")
        rod = RodModel(
            self.robot,
            basis=_basis.constant(segments=self._cut, strains=strains),
            chambers=chambers,
            skin_points=2,
        )
        n = self.segments
        k = (np.diag(rod.elasticity).reshape(n, 4).T / self.lengths**2).T
        d = (np.diag(rod.viscosity).reshape(n, 4).T / self.lengths**2).T
        rows = rod.displacement_rows(rod.rest).reshape(self.nu, n, 4) / self.lengths[:, None]

        def arrange(twist: Array, about_y: Array, about_x: Array, slide: Array) -> Array:
            columns = [slide, about_y, about_x, slide, *([twist] if self._width == 5 else [])]
            return np.stack(columns, axis=-1)

        # In link axes: y is the rod's y, x is minus its z.
        spring = arrange(k[:, 0], k[:, 1], k[:, 2], 2.0 * k[:, 3])
        self._viscosity = arrange(d[:, 0], d[:, 1], d[:, 2], 2.0 * d[:, 3]).ravel()
        self._rows = arrange(rows[:, :, 0], rows[:, :, 1], -rows[:, :, 2], rows[:, :, 3]).reshape(self.nu, self.nq)
        if stiffness is not None:
            given = numbers("stiffness", stiffness)
            if given.shape != (self.nq,) or not (np.isfinite(given).all() and (given > 0).all()):
                raise ArgumentError("stiffness", f"shape {given.shape} or not positive", f"({self.nq},) positive")
            self._viscosity = self._viscosity * given / spring.ravel()
            spring = given
        self._spring = np.asarray(spring, float).ravel()
        self._rod_layout = rod.layout

    def _named_points(self) -> dict[str, tuple[int, float, Array, Array]]:
        """Joint, fraction of its slide, offset and frame (both in link axes) of every named point."""
        layout = self._rod_layout
        found: dict[str, tuple[Station, Array]] = {}
        for point in self.robot.points:
            station = layout.nearest(point.position, point.body, point.name)
            rest = layout.rest_frame(station.body, station.s)[:3, :3]
            found[point.name] = station, rest.T @ lie.matrix_from_quaternion(point.rotation)
        for i, rod in enumerate(self._rods):
            found.setdefault(f"{rod.name}.tip", (Station(i, rod.length), np.eye(3)))
        found.setdefault("tip", (Station(len(self._rods) - 1, self._rods[-1].length), np.eye(3)))
        out = {}
        for name, (station, turn) in found.items():
            length = self._rods[station.body].length / self._cut
            c = min(int(station.s / length * (1 - 1e-12)), self._cut - 1)
            f = 2.0 * (station.s - c * length) / length
            first = _PER * (station.body * self._cut + c)
            joint, fraction = (first, f) if f <= 1.0 else (first + 4, f - 1.0)
            out[name] = joint, fraction, ROD_TO_LINK.T @ np.array(station.offset), ROD_TO_LINK.T @ turn
        return out

    def _skin_model(self) -> None:
        size = 2 * self.segments + 1
        radius, body = [], []
        for k, rod in enumerate(self._rods):
            r = rod.radii(np.linspace(0.0, rod.length, 2 * self._cut + 1))[0]
            radius += list(r if k == 0 else r[1:])
            body += [k] * (len(r) if k == 0 else len(r) - 1)
        pairs = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
        self._skin = Skin(np.zeros((0, 3), np.int64), pairs, np.array(radius), np.array(body, np.int64))


def _series(robot: Robot) -> list[RodBody]:
    rods = rods_of(robot)
    check_held(rods, "LinkModel")
    for before, rod in zip([None, *rods[:-1]], rods):
        if rod.parent != ("" if before is None else before.name):
            raise ArgumentError(f"{rod.name}.parent", f"{rod.parent!r}", "rods in series, each at the tip of the last")
        if any(rod.rest_curvature):
            raise ArgumentError(f"{rod.name}.rest_curvature", "links are straight at rest", "(0, 0, 0)")
    return rods
