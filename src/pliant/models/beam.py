"""BeamModel: chains of co-rotational beam elements for robots made of rods (catheters, wires, tentacles)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant import checks
from pliant._kernels import beam as kernels
from pliant._kernels.beam_chain import furthest_travel, located
from pliant._kernels.beam_pull import balance
from pliant.errors import ArgumentError, UnknownNameError
from pliant.lie import matrix_from_quaternion
from pliant.models.beam_drives import BeamDrives
from pliant.models.beam_layout import BeamLayout
from pliant.models.beam_skin import BeamSkin
from pliant.models.contract import Operator
from pliant.models.sizes import LaidOut
from pliant.robot import Robot
from pliant.state import Placement, Skin

Array = np.ndarray


class BeamModel(LaidOut):
    """Mechanics of rods as chains of beam elements; see `pliant.models.contract.Model` for the methods.

    Every node has a position and a rotation. An element is linear in the frame that turns with it, so its strain
    must be small but its motion may be anything; small deflections of the nodes are those of Euler and Bernoulli.
    The first node of a rod is held, or moves along an axis if a `Slide` drives the rod (insertion). Via points
    of cables and named points are carried rigidly by the nearest node.

    Args:
        robot: a robot of `RodBody` only, without parents; their bases are held, or move along one `Slide`.
        elements: elements per rod, or per rod by name.
        shear: Timoshenko instead of Euler-Bernoulli.
        capsules: of the skin, per element, along the curve between its nodes. With 1 the rod touches things as the
            polyline of its nodes; more of them follow bends between the nodes and make more points that may touch.
    """

    #: `displacement_rows` is the transpose of `actuation`
    conservative = True

    def __init__(
        self, robot: Robot, *, elements: int | Mapping[str, int] = 10, shear: bool = False, capsules: int = 1
    ) -> None:
        self.robot = robot
        self.layout = BeamLayout(robot, elements, shear)
        self.drives = BeamDrives(self.layout, robot.actuators)
        self.layout.couple(self.drives.pairs)
        self.drives.number(self.layout)
        self._skin = BeamSkin(self.layout, checks.count("capsules", capsules))
        self._points = self._named_points()
        self._asked: dict[tuple[str, ...], tuple[Array, Array, Array]] = {}

    def __repr__(self) -> str:
        return f"BeamModel({self.robot.name!r}, {len(self.layout.rest_p)} nodes, {self.nv} dofs)"

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Positions [m] (n, 3) and unit quaternions (n, 4) of all nodes."""
        return self.layout.poses(self._check(q))

    def retract(self, q: Array, dq: Array) -> Array:
        """The configuration reached from q by the tangent increment dq.

        The elements turn with their nodes instead of being sheared along the tangent: a rod is far stiffer in
        length than in bending, and Newton's method would have to undo the stretch of every large rotation.
        """
        return self.layout.retract(self._check(q), np.ascontiguousarray(dq, dtype=np.float64))

    def travel(self, dq: Array) -> float:
        """How far an increment moves the nodes and, by turning, the points between them [m]."""
        L = self.layout
        return float(furthest_travel(dq, L.first_v, L.slide_v, L.mean_length))

    # ---- mechanics ---------------------------------------------------------------------------------------
    def energy(self, q: Array, effort: Array) -> float:
        """Potential energy [J], actuators included as -effort * displacement."""
        p, Q = self.poses(q)
        L = self.layout
        elastic = kernels.element_forces(
            p, Q, L.ends, L.lengths, L.stiffness, L.strain, 0, np.zeros((len(p), 6)), L.no_blocks
        )
        potential = float((L.weight * p).sum())
        driven = float(np.asarray(effort) @ self.displacement(q)) if self.nu else 0.0
        return float(elastic) - potential - driven

    def force(self, q: Array, effort: Array) -> Array:
        """Residual generalised force, zero at equilibrium (nv,)."""
        return self._balance(q, effort, False)[0]

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Operator]:
        """Force and stiffness in one pass."""
        force, blocks = self._balance(q, effort, True)
        return force, self.layout.matrix(blocks)

    def _balance(self, q: Array, effort: Array, tangent: bool) -> tuple[Array, Array]:
        L, D = self.layout, self.drives
        wrench, blocks = balance(
            *self.poses(q), L.ends, L.lengths, L.stiffness, L.strain, L.weight, L.element_pairs, len(L.pairs),
            *D.acting, D.pair, D.own, np.ascontiguousarray(effort, dtype=np.float64), tangent,
        )  # fmt: skip
        out = L.reduce(wrench)
        D.add_slides(effort, out)
        return out, blocks

    def stiffness(self, q: Array, effort: Array) -> Operator:
        """-d force / d q, symmetric, exact at equilibrium; block tridiagonal unless cables skip nodes (nv, nv)."""
        return self.linearise(q, effort)[1]

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu)."""
        return self.displacement_rows(q).T.copy()

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates [m] (nu,)."""
        p, Q = self.poses(q)
        return self.drives.values(p, Q, np.asarray(q))

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""
        return self.drives.rows(*self.poses(q))

    # ---- points ------------------------------------------------------------------------------------------
    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions, orientations and (on request) Jacobians of named points; q may be a State."""
        p, Q = self.poses(getattr(q, "q", q))
        single = isinstance(points, str)
        names = checks.name_list("points", points)
        nodes, offsets, frames = self._carriers(names)
        L = self.layout
        position, rotation, rows = located(p, Q, nodes, offsets, frames, L.place, L.share, self.nv, jacobian)
        if single:
            return Placement(names, position[0], rotation[0], rows[0] if jacobian else None)
        return Placement(names, position, rotation, rows if jacobian else None)

    def _carriers(self, names: tuple[str, ...]) -> tuple[Array, Array, Array]:
        """Nodes (n,), offsets (n, 3) and frames (n, 3, 3) of named points; the same few are asked for all the time."""
        known = self._asked.get(names)
        if known is None:
            for name in names:
                if name not in self._points:
                    raise UnknownNameError("point", name, self._points)
            chosen = [self._points[name] for name in names]
            known = (
                np.array([n for n, _, _ in chosen], dtype=np.int64),
                np.array([o for _, o, _ in chosen]).reshape(-1, 3),
                np.array([f for _, _, f in chosen]).reshape(-1, 3, 3),
            )
            self._asked[names] = known
        return known

    def centre_of_mass(self, q: Array) -> tuple[Array, Array]:
        """Centre of mass [m] (3,) and its derivative (3, nv)."""
        p, _ = self.poses(q)
        share = self.layout.mass / self.layout.mass.sum()
        rows = np.empty((3, self.nv))
        for k in range(3):
            g = np.zeros((len(p), 6))
            g[:, 3 + k] = share
            rows[k] = self.layout.reduce(g)
        return share @ p, rows

    def read(self, state: Any) -> dict[str, float]:
        """Length and tension of the cables, motion and force of the other actuators."""
        p, Q = self.poses(state.q)
        return self.drives.read(p, Q, state)

    def cable_paths(self, q: Array) -> dict[str, Array]:
        """Polylines of the cables [m], for drawing."""
        return self.drives.paths(*self.poses(q))

    # ---- surface -----------------------------------------------------------------------------------------
    @property
    def skin(self) -> Skin:
        """Capsules along the rods."""
        return self._skin.topology

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""
        return self._skin.positions(*self.poses(q))

    def skin_rows(self, q: Array, vertices: Array, weights: Array, directions: Array) -> Array:
        """Derivative of sum_k w[i,k] d[i] . x[vertices[i,k]] w.r.t. q (m, nv)."""
        return self._skin.rows(self.poses(q)[1], vertices, weights, directions)

    # ---- dynamics ----------------------------------------------------------------------------------------
    def inertia(self, q: Array) -> Operator:
        """Mass matrix: lumped masses and turning inertias (nv, nv)."""
        _, Q = self.poses(q)
        return self.layout.matrix(self.layout.mass_blocks(Q, np.ones(len(Q))))

    def bias(self, q: Array, v: Array) -> Array:
        """Gyroscopic moments of the nodes (nv,)."""
        _, Q = self.poses(q)
        L = self.layout
        wrench = np.zeros((len(Q), 6))
        omega = np.zeros((len(Q), 3))
        omega[L.free] = np.asarray(v)[L.free_v[:, :3]]
        R = np.array([matrix_from_quaternion(x) for x in Q])
        spin = np.einsum("nij,nj,nkj,nk->ni", R, L.turning, R, omega)
        wrench[:, :3] = np.cross(omega, spin)
        return L.reduce(wrench)

    def damping(self, q: Array, effort: Array) -> Operator:
        """Kelvin-Voigt and Rayleigh damping: beta times the material stiffness, alpha times the mass (nv, nv)."""
        p, Q = self.poses(q)
        L = self.layout
        elements = np.empty((len(L.ends), 12, 12))
        viscous = L.viscosity[:, None] * L.stiffness
        kernels.element_forces(p, Q, L.ends, L.lengths, viscous, L.strain, 2, np.zeros((len(p), 6)), elements)
        blocks = L.gather(elements) + L.mass_blocks(Q, L.drag)
        return L.matrix(blocks)

    # ---- inside --------------------------------------------------------------------------------------------
    def _check(self, q: Array) -> Array:
        q = np.ascontiguousarray(q, dtype=np.float64)
        if q.shape != (self.nq,):
            raise ArgumentError("q", f"shape {q.shape}", f"({self.nq},)")
        return q

    def _named_points(self) -> dict[str, tuple[int, Array, Array]]:
        """Node, offset and frame (in node axes) of every named point; the tips have names of their own."""
        L = self.layout
        out: dict[str, tuple[int, Array, Array]] = {}
        for point in self.robot.points:
            node, offset = L.carrier(np.array(point.position), point.body, point.name)
            R = matrix_from_quaternion(L.rest_Q[node])
            out[point.name] = (node, offset, R.T @ matrix_from_quaternion(point.rotation))
        for name, node in L.tips.items():
            for alias in (f"{name}.tip", *(("tip",) if len(L.tips) == 1 else ())):
                out.setdefault(alias, (node, np.zeros(3), np.eye(3)))
        return out
