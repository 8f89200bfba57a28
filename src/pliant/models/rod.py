"""RodModel: geometrically exact Cosserat rods in strain coordinates, satisfying the Model contract.

    xi(s) = rest(s) + Phi(s) q,   g' = g hat(xi),   M(q) a + c(q, v) + D v = f(q, effort)

Every force, tangent and Jacobian is the exact derivative of one discrete energy (see _kernels/rod.py), by
compiled sweeps. Coordinates are strains, flat and zero at rest; a base that turns adds a quaternion (rod_base.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant import checks
from pliant._kernels import rod as _rod
from pliant._kernels import rod_drag as _water
from pliant._kernels import rod_dynamics as _dyn
from pliant._kernels import rod_handle as _handle
from pliant._kernels import rod_mass as _mass
from pliant._kernels import rod_tangent as _tan
from pliant.bodies import RodBody
from pliant.checks import count, instance
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.basis import Basis, legendre
from pliant.models.rod_base import Configuration
from pliant.models.rod_drives import ChamberPath, Fluid, RodDrives
from pliant.models.rod_paths import RodPaths
from pliant.models.rod_places import RodPlaces
from pliant.models.rod_tables import RodLayout, build
from pliant.models.rods import rods_of
from pliant.models.sizes import Actuated
from pliant.robot import Robot
from pliant.state import Placement, Skin

Array = np.ndarray


class RodModel(Actuated):
    """Rods of a robot in strain coordinates.

    Args:
        robot: a robot whose bodies are all `RodBody`.
        basis: strain basis of all rods, or one per rod by name; Legendre of order 3 if None.
        chambers: channel of each `Chamber` of the robot.
        fluid: a fluid around the rods whose drag enters `bias`; None for none.
        skin_points: capsules' ends per rod along the curve, for contact and drawing.

    Attributes:
        elasticity: elastic stiffness of the coordinates (nv, nv).
        viscosity: Kelvin-Voigt damping of the coordinates (nv, nv).
    """

    def __init__(
        self,
        robot: Robot,
        *,
        basis: Basis | Mapping[str, Basis] | None = None,
        chambers: Mapping[str, ChamberPath] | None = None,
        fluid: Fluid | None = None,
        skin_points: int = 25,
    ) -> None:
        rods = rods_of(robot)
        if fluid is not None:
            instance("fluid", fluid, Fluid)
        self.robot = robot
        self.bases = _bases(rods, basis)
        self.layout = build(rods, self.bases)
        t = self.tables = self.layout.tables
        n = len(t.comp)
        self._n = n
        self._work, self._tangent_work = _rod.make_work(t), _tan.make_tangent_work(t)
        # Constant strain needs one step per segment to say where things are.
        constant = all(b.kind == "constant" for b in self.bases)
        places = build(rods, self.bases, coarse=True) if constant else self.layout
        self._still = np.zeros(6)
        self._lift = np.array([0.0, 0.0, 0.0, *(-np.array(robot.gravity))])
        self._zero = np.zeros(n)
        self.fluid = fluid
        self._drag = _drag_tables(self.layout, fluid) if fluid is not None else None
        self.elasticity, self.viscosity = _blocks(t, t.K), _blocks(t, t.D)
        self._rayleigh = _uniform_rayleigh(rods)
        self.configuration = Configuration(self.layout, places)
        self.drives = RodDrives(self.layout, robot.actuators, {} if chambers is None else chambers)
        _rod.kinematics(t, self._work, self._zero)
        self.drives.calibrate(self._work, self._zero)
        self._reach = _reach(self.layout, self._work)
        self._places = RodPlaces(places, robot.points, count("skin_points", skin_points, 2))
        self._paths: RodPaths | None = None
        self._sweep: Any = None  # compiled handles are made when first needed: they cannot be pickled
        self._static: Any = None

    # ---- sizes ---------------------------------------------------------------------------------
    def __repr__(self) -> str:
        return f"RodModel({self.robot.name!r}, {self.nv} dofs)"

    @property
    def nq(self) -> int:
        """Length of a configuration vector."""
        return self.configuration.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return self._n

    @property
    def rest(self) -> Array:
        """The unloaded configuration: zero strains, the base where it is described (nq,)."""
        return self.configuration.rest

    @property
    def point_names(self) -> tuple[str, ...]:
        """Names that `locate` knows: the robot's points, and the tip of every rod."""
        return self._places.names

    # ---- statics ---------------------------------------------------------------------------------
    def energy(self, q: Array, effort: Array) -> float:
        """Potential energy [J]: elastic, gravity, and -effort * displacement."""
        q = self._check(q)
        _rod.kinematics(self.tables, self._work, q)
        _dyn.node_inertias(self.tables, self._work)
        weight = float(self._lift[3:] @ self._work.W[:, 1:4].sum(axis=0))
        work = float(effort @ self.drives.evaluate(self._work, q)[0]) if self.nu else 0.0
        return 0.5 * float(q @ self.elasticity @ q) + weight - work

    def force(self, q: Array, effort: Array) -> Array:
        """-d energy / d q (nv,)."""
        q = self._check(q)
        tau = np.empty(self._n)
        if self.drives.embedded:
            _handle.force(self._threaded(), q, np.asarray(effort, float)[self.drives.thread_index], tau)
            return tau
        zero, still = self._zero, self._still
        _dyn.inverse_dynamics(self.tables, self._work, q, zero, zero, still, self._lift, tau)
        f = -tau - self.elasticity @ q
        return f + effort @ self._columns(q) if self.nu else f

    def stiffness(self, q: Array, effort: Array) -> Array:
        """-d force / d q: elastic, gravity's and the actuators' geometric part, exact (nv, nv).

        Symmetric unless a `Wrench`, a `LineLoad` or a cable with friction acts: these have no potential.
        """
        return self.linearise(q, effort)[1]

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Array]:
        """force (nv,) and stiffness (nv, nv) in one sweep."""
        q = self._check(q)
        n = self._n
        tau, H = np.empty(n), np.empty((n, n))
        if self.drives.embedded:
            _handle.tangent(self._threaded(), q, np.asarray(effort, float)[self.drives.thread_index], tau, H)
            return tau, H
        zero, still = self._zero, self._still
        _tan.inverse_dynamics_derivatives(
            self.tables, self._work, self._tangent_work, q, zero, zero, still, self._lift, tau, H, H, False
        )
        f = -tau - self.elasticity @ q
        if self.nu:
            f += effort @ self._columns(q)
            if np.any(effort):
                G = np.zeros((n, n))
                self.drives.add_hessian(self._work, q, np.asarray(effort, float), G)
                H -= G
        H += self.elasticity
        if self.drives.loaded:
            return f, H
        return f, 0.5 * (H + H.T)  # symmetric up to rounding: make it so exactly

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu)."""
        q = self._check(q)
        if self.drives.pointed:
            _rod.kinematics(self.tables, self._work, q)
        return self._columns(q).T

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates [m, m^3] (nu,)."""
        return self._driven(q)[0]

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""
        return self._driven(q)[1]

    def retract(self, q: Array, dq: Array) -> Array:
        """q + dq; a base that turns does so about its own axes."""
        return self.configuration.retract(q, dq)

    def rollout(self, q: Array, v: Array, **options: Any) -> Any:
        """A compiled run in time from (q, v); options as in `pliant.models.rod_rollout.rollout`."""
        from pliant.models.rod_rollout import rollout

        return rollout(self, q, v, **options)

    def travel(self, dq: Array) -> float:
        """How far an increment moves the rods, about [m]: strains are not lengths."""
        return float(np.max(np.abs(dq) * self._reach))

    # ---- where things are --------------------------------------------------------------------------
    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions, orientations and Jacobians of named points; q may be a State.

        Besides the robot's points, "<rod>.tip" is the tip of every rod (and "tip" of a single one).
        """
        q = self._check(getattr(q, "q", q))
        names = checks.name_list("points", points)
        x, rotation, jac = self._places.locate(q, names, jacobian)
        if isinstance(points, str):
            return Placement(names, x[0], rotation[0], None if jac is None else jac[0])
        return Placement(names, x, rotation, jac)

    def centre_of_mass(self, q: Array) -> tuple[Array, Array]:
        """Centre of mass [m] (3,) and its derivative (3, nv)."""
        q = self._check(q)
        t, w = self.tables, self._work
        _rod.kinematics(t, w, q)
        _dyn.node_inertias(t, w)
        first = w.W[:, 1:4]
        total = float(w.W[:, 0].sum())
        rows, tau = np.empty((3, self._n)), np.empty(self._n)
        for c in range(3):
            axis = np.eye(3)[c]
            w.F[:, :3] = np.cross(first, axis)
            w.F[:, 3:] = w.W[:, :1] * axis
            _dyn.project(t, w, tau)
            rows[c] = tau / total
        return first.sum(axis=0) / total, rows

    # ---- the surface ---------------------------------------------------------------------------------
    @property
    def skin(self) -> Skin:
        """Capsules along the rods."""
        return self._places.skin

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""
        return self._places.skin_points(self._check(q), False)[0]

    def skin_rows(self, q: Array, vertices: Array, weights: Array, directions: Array) -> Array:
        """d/dq of sum_k weights[i,k] directions[i] . x[vertices[i,k]], dense (m, nv)."""
        jac = self._places.skin_points(self._check(q), True)[1]
        return np.einsum("ik,ic,ikcn->in", weights, directions, jac[np.asarray(vertices), 3:], optimize=True)

    def load_stiffness(self, q: Array, forces: Array) -> Array:
        """-d/dq of the generalised force of forces (n, 3) [N] on the skin's vertices (nv, nv): exact.

        Points move nonlinearly with the strains, so that contact forces have a geometric stiffness of their own.
        """
        return self._places.load_stiffness(self._check(q), forces)

    def cable_paths(self, q: Array) -> dict[str, Array]:
        """Where the cables run, for pictures: name -> polyline [m] (k, 3)."""
        if self._paths is None:
            self._paths = RodPaths(self.layout, self.robot.actuators)
        return self._paths.at(self._work, self._check(q))

    # ---- dynamics ------------------------------------------------------------------------------------
    def inertia(self, q: Array) -> Array:
        """Mass matrix (nv, nv)."""
        M = np.empty((self._n, self._n))
        _mass.inertia_matrix(self.tables, self._work, self._check(q), M)
        return M

    def bias(self, q: Array, v: Array) -> Array:
        """Coriolis and centrifugal generalised force C(q, v) v, and the drag of the fluid (nv,)."""
        tau = np.empty(self._n)
        q, v = self._check(q), self._check(v, "v")
        _dyn.inverse_dynamics(self.tables, self._work, q, v, self._zero, self._still, self._still, tau)
        if self._drag is not None:
            tau -= self._drag_force(q, v)
        return tau

    def coriolis(self, q: Array, v: Array) -> Array:
        """C(q, v) by Christoffel symbols: bias = C v, and Mdot - 2 C is skew (nv, nv)."""
        # The bias is quadratic in v with symmetric coefficients, so half its derivative is Christoffel's C.
        return 0.5 * self._derivatives(q, v, self._zero, self._still)[2]

    def damping(self, q: Array, effort: Array) -> Array:
        """Viscous matrix: Kelvin-Voigt, and the mass-proportional part of the material (nv, nv)."""
        return self.viscosity + self._rayleigh * self.inertia(q) if self._rayleigh else self.viscosity.copy()

    @property
    def mass_total(self) -> float:
        """Mass of all rods and payloads [kg]."""
        return float(self.tables.mass.sum())

    def kinetic_energy(self, q: Array, v: Array) -> float:
        """Kinetic energy [J]."""
        return 0.5 * float(v @ self.inertia(q) @ v)

    def acceleration(self, q: Array, v: Array, effort: Array) -> Array:
        """Forward dynamics: acceleration under given efforts (nv,); linear cost in the number of segments."""
        q, v = self._check(q), self._check(v, "v")
        out = np.empty(self._n)
        tau = self._zero
        if self._drag is not None:
            tau = self._drag_force(q, v)
        if self.nu and np.any(effort):
            if self.drives.pointed:
                _rod.kinematics(self.tables, self._work, q)
            tau = tau + effort @ self._columns(q)
        if self._sweep is None:
            self._sweep = _handle.rod_handle(self.tables, self._work, self._still, self._lift, self._zero)
        _handle.acceleration(self._sweep, q, v, tau, out)
        return out - self._rayleigh * v if self._rayleigh else out

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """M a + bias + gravity + K q + D v (nv,), and its derivatives in q and v (nv, nv)."""
        tau, Hq, Hv = self._derivatives(q, v, self._check(a, "a"), self._lift)
        q, v = self._check(q), self._check(v, "v")
        return tau + self.elasticity @ q + self.viscosity @ v, Hq + self.elasticity, Hv + self.viscosity

    # ---- inside ------------------------------------------------------------------------------------
    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled handles, which are made again when needed."""
        return {**self.__dict__, "_sweep": None, "_static": None}

    def _derivatives(self, q: Array, v: Array, a: Array, lift: Array) -> tuple[Array, Array, Array]:
        n = self._n
        tau, Hq, Hv = np.empty(n), np.empty((n, n)), np.empty((n, n))
        q, v = self._check(q), self._check(v, "v")
        _tan.inverse_dynamics_derivatives(
            self.tables, self._work, self._tangent_work, q, v, a, self._still, lift, tau, Hq, Hv, True
        )
        return tau, Hq, Hv

    def _threaded(self) -> Any:
        """The handle of a model whose actuators are all threads inside the body."""
        if self._static is None:
            self._static = _handle.static_handle(
                self.tables, self._work, self._tangent_work, self.drives.threads, self._zero, self._still,
                self._lift, self.elasticity, *self.drives.scratch,
            )  # fmt: skip
        return self._static

    def _drag_force(self, q: Array, v: Array) -> Array:
        """Generalised force of the fluid on the rods (nv,)."""
        assert self._drag is not None
        t, w, tau = self.tables, self._work, np.empty(self._n)
        _dyn.sweep(t, w, q, v, self._zero, self._still, self._still)
        _water.drag_wrenches(w.R, w.p, w.V, *self._drag, w.F)
        _dyn.project(t, w, tau)
        return -tau

    def _check(self, q: Array, name: str = "q") -> Array:
        return self.configuration.flat(q) if name == "q" else self.configuration.vector(q, name)

    def _driven(self, q: Array) -> tuple[Array, Array]:
        q = self._check(q)
        if self.drives.pointed:
            _rod.kinematics(self.tables, self._work, q)
        return self.drives.evaluate(self._work, q)

    def _columns(self, q: Array) -> Array:
        """Generalised force per unit effort (nu, nv) at checked coordinates; needs the kinematics."""
        rows = self.drives.evaluate(self._work, q)[1]
        if self.drives.loaded:
            self.drives.add_loads(q, rows)
        return rows


def _bases(rods: Sequence[RodBody], basis: Basis | Mapping[str, Basis] | None) -> list[Basis]:
    if basis is None:
        basis = legendre(3)
    if isinstance(basis, Basis):
        return [basis] * len(rods)
    instance("basis", basis, (Basis, Mapping))
    names = [rod.name for rod in rods]
    for name in names:
        if name not in basis:
            raise ArgumentError("basis", f"none for rod {name!r}", f"one basis for each of {names}")
    for name in basis:
        if name not in names:
            raise UnknownNameError("rod", name, names)
    return [instance(f"basis[{name!r}]", basis[name], Basis) for name in names]


def _drag_tables(layout: RodLayout, fluid: Fluid) -> tuple[Array, Array]:
    """1/2 rho c A of the rod's piece at every node, along and across [kg/m]."""
    along, across = [], []
    for piece in layout.pieces:
        width = layout.bodies[piece.body].radii(piece.nodes)[0] * piece.weights * fluid.density
        along.append(np.pi * width * fluid.along)
        across.append(width * fluid.across)
    return np.concatenate(along), np.concatenate(across)


def _reach(layout: RodLayout, work: _rod.RodWork) -> Array:
    """Metres of motion per unit of each coordinate, at rest (n,); a rotation counts with half the robot's length."""
    t = layout.tables
    out, size = np.zeros(len(t.comp)), 0.5 * sum(body.length for body in layout.bodies)
    for d0, nb, first, end in zip(t.dof0, t.nb, t.step0[:-1], t.step0[1:]):
        turn, move = work.J[first:end, :nb, :3], work.J[first:end, :nb, 3:]
        move = move + np.cross(turn, work.p[first:end, None])
        out[d0 : d0 + nb] = np.maximum(np.linalg.norm(move, axis=2), size * np.linalg.norm(turn, axis=2)).max(axis=0)
    return out


def _blocks(t: _rod.RodTables, rows: Array) -> Array:
    """Dense matrix of the block rows."""
    out = np.zeros((len(t.comp), len(t.comp)))
    for d0, nb in zip(t.dof0, t.nb):
        out[d0 : d0 + nb, d0 : d0 + nb] = rows[d0 : d0 + nb, :nb]
    return out


def _uniform_rayleigh(rods: Sequence[RodBody]) -> float:
    values = {float(rod.material.rayleigh_mass) for rod in rods}
    if len(values) > 1:
        raise ArgumentError("rayleigh_mass", f"differs between rods: {sorted(values)}", "one value for all rods")
    return values.pop()
