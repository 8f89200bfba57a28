"""PccModel: constant-curvature links that bend and stretch, with nonlinear joints: a real-time model of an arm.

    M(q) a + C(q, v) v + f_g(q) + dU/dq + R v = G u        q = (stretch, bend_y, bend_z) per link

The coordinates are strains, so that nothing is singular in the straight pose. Kinematics, inertia and gravity are
those of a rod with piecewise constant strain (exact); what is special is the joint law, which lumps the stiffness of
bellows and folds that no section property can give, and which `identify` fits to FEM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant._kernels import pcc as _k
from pliant._kernels import rod_dynamics as _dyn
from pliant._kernels import rod_tangent as _tan
from pliant.bodies import RodBody
from pliant.checks import count, instances, numbers
from pliant.errors import ArgumentError
from pliant.models.basis import constant
from pliant.models.creep import Creep, Creeping
from pliant.models.rod import RodModel
from pliant.models.rod_drives import ChamberPath
from pliant.models.rods import check_held, rods_of
from pliant.models.sizes import Flat
from pliant.robot import Robot
from pliant.state import Placement, Skin, State

Array = np.ndarray
STRAINS = ("stretch", "bend_y", "bend_z")


@dataclass(frozen=True, eq=False)
class JointLaw:
    """Elastic law of the links' coordinates: y is the stretch, or the curvature [1/m].

        "secant":   f(y) = k(y) y                  k(y) = a1 + a2 (tanh^2(a3 y) - 1)
        "tangent":  f(y) = int_0^y k(s) ds

    f is the generalised force on the coordinate itself (moment times length for a curvature).

    Attributes:
        axial: (a1, a2, a3) of the stretch [J, J, -].
        bending: (a1, a2, a3) of the curvature [N m^2 m, ..., m].
        form: "secant" or "tangent".
    """

    axial: tuple[float, float, float]
    bending: tuple[float, float, float]
    form: Literal["secant", "tangent"] = "tangent"

    def __post_init__(self) -> None:
        if self.form not in ("secant", "tangent"):
            raise ArgumentError("form", f"{self.form!r}", "'secant' or 'tangent'")
        for name in ("axial", "bending"):
            values = numbers(name, getattr(self, name))
            if values.shape != (3,) or values[0] <= max(values[1], 0.0):
                raise ArgumentError(name, f"{values.tolist()}", "(a1, a2, a3) with a1 > a2 and a1 > 0")
            object.__setattr__(self, name, tuple(values.tolist()))

    @classmethod
    def hookean(cls, axial: float, bending: float) -> JointLaw:
        """Constant generalised stiffnesses of stretch [J] and curvature [N m^3]."""
        return cls((axial, 0.0, 0.0), (bending, 0.0, 0.0))

    @classmethod
    def from_curves(cls, axial: Sequence[float], bending: Sequence[float], length: float) -> JointLaw:
        """From a force over elongation F(x) [N, m] and a moment over angle M(beta) [N m, rad].

        Args:
            axial: (alpha1 [N/m], alpha2 [N/m], alpha3 [1/m]): F = int alpha1 + alpha2 (tanh^2(alpha3 x) - 1) dx.
            bending: (alpha4, alpha5 [N m/rad], alpha6 [1/rad]), likewise.
            length: of a link [m]; x = length stretch, beta = length curvature.
        """
        a, b, s = tuple(axial), tuple(bending), float(length)
        return cls((a[0] * s * s, a[1] * s * s, a[2] * s), (b[0] * s * s, b[1] * s * s, b[2] * s), "tangent")

    @classmethod
    def fit(
        cls, elongation: ArrayLike, force: ArrayLike, angle: ArrayLike, moment: ArrayLike, length: float
    ) -> JointLaw:
        """The tangent law nearest to measured curves F(x) [m, N] and M(beta) [rad, N m], by least squares.

        Args:
            elongation, force: samples of the axial test (n,).
            angle, moment: samples of the bending test (n,).
            length: of a link [m].
        """
        axial = fit_curve(elongation, force)
        return cls.from_curves(axial, fit_curve(angle, moment), length)

    def response(self, y: ArrayLike, which: Literal["axial", "bending"]) -> Array:
        """Generalised force at values of the stretch or curvature (n,)."""
        a = getattr(self, which)
        secant = self.form == "secant"
        return np.array(
            [v * _k.law(float(v), a[0], a[1], a[2], secant)[1] for v in np.atleast_1d(np.asarray(y, float))]
        )


def fit_curve(x: ArrayLike, force: ArrayLike) -> tuple[float, float, float]:
    """(a1, a2, a3) of F(x) = int_0^x a1 + a2 (tanh^2(a3 s) - 1) ds nearest to samples (n,)."""
    from scipy.optimize import least_squares

    x, f = np.asarray(x, float), np.asarray(force, float)
    if x.shape != f.shape or x.ndim != 1 or len(x) < 3 or not (np.isfinite(x).all() and np.isfinite(f).all()):
        raise ArgumentError("x", f"shapes {x.shape}, {f.shape} or not finite", "at least three samples each")
    scale, size = float(np.abs(x).max()), float(np.abs(f).max())
    y, g = x / scale, f / size
    secant = float(g @ y / (y @ y))

    # a1 = a2 + stiffness at rest: both positive by construction
    def model(p: Array) -> Array:
        rest, extra, rate = np.exp(p)
        return (rest + extra) * y - extra * np.tanh(rate * y) / rate

    best = min(
        (
            least_squares(lambda p: model(p) - g, np.log([secant, grow, rate]), x_scale="jac", max_nfev=400)
            for grow in (0.1 * secant, 10.0 * secant)
            for rate in (0.3, 2.0)
        ),
        key=lambda found: found.cost,
    )
    rest, extra, rate = np.exp(best.x)
    unit = size / scale
    return float((rest + extra) * unit), float(extra * unit), float(rate / scale)


class PccModel(Flat):
    """Constant-curvature links.

    Args:
        robot: rods (in series or not) whose bases are held, each cut into `links` links.
        links: per rod.
        joints: elastic law, one for all links or one per link; that of the sections if None.
        damping: viscous coefficients (stretch, curvature), for all links or one row per link (links, 2); from the rods'
            damping if None.
        gains: input map of bellows, (alpha_stretch, alpha_curvature) per pressure: `bellows` actuators per link at
            equal angles, in the order of the robot's actuators, first link first. None takes the channels.
        bellows: actuators per link, if gains are given.
        inputs: generalised force per effort (3 links, nu) instead, constant (as `identify` finds it).
        chambers: channel of each `Chamber`, if gains are not given.
        rotary: whether the sections have rotary inertia.
        creep: viscoelastic creep, the same for all links; `step`, `simulate` and `rollout` carry its states along.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        links: int = 1,
        joints: JointLaw | Sequence[JointLaw] | None = None,
        damping: ArrayLike | None = None,
        gains: tuple[float, float] | None = None,
        bellows: int = 3,
        inputs: ArrayLike | None = None,
        chambers: Mapping[str, ChamberPath] | None = None,
        rotary: bool = True,
        creep: Creep | None = None,
    ) -> None:
        if gains is not None and inputs is not None:
            raise ArgumentError("inputs", "given beside gains", "one of both")
        links = count("links", links)
        check_held(rods_of(robot), "PccModel")
        inner = robot if gains is None and inputs is None else robot.but(actuators=())
        self.robot = robot
        self.rod = RodModel(inner, basis=constant(segments=links, strains=STRAINS), chambers=chambers)
        if self.rod.drives.loaded:
            raise ArgumentError("robot", "loads and cables with friction act on rods only", "a RodModel for these")
        rods = [b for b in robot.bodies if isinstance(b, RodBody)]
        self.links = links * len(rods)
        self.lengths = np.repeat([b.length / links for b in rods], links)
        n = 3 * self.links
        self._rest = self.rod.rest
        self.laws = _laws(joints, self.rod, self.links)
        self.axial = np.array([law.axial for law in self.laws])
        self.bending = np.array([law.bending for law in self.laws])
        forms = {law.form for law in self.laws}
        if len(forms) > 1:
            raise ArgumentError("joints", "forms differ between links", "one form for all")
        self.secant = forms == {"secant"}
        # The rod keeps inertia and gravity only: elasticity and viscosity are the joints'.
        self.viscous = np.diag(self.rod.viscosity).copy()
        if damping is not None:
            self.viscous = _viscous(damping, self.links)
        self.rod.elasticity, self.rod.viscosity = np.zeros((n, n)), np.zeros((n, n))
        tables = self.rod.tables
        tables = tables._replace(K=np.zeros_like(tables.K), D=np.zeros_like(tables.D))
        self.rod.tables = tables if rotary else tables._replace(rot=np.zeros_like(tables.rot))
        self.creep = creep
        self._map = _input_map(gains, bellows, len(robot.actuators), self.links)
        if inputs is not None:
            self._map = numbers("inputs", inputs)
            if self._map.shape != (n, len(robot.actuators)):
                raise ArgumentError("inputs", f"shape {self._map.shape}", f"({n}, {len(robot.actuators)}) numbers")

    def __repr__(self) -> str:
        return f"PccModel({self.robot.name!r}, {self.nv} dofs)"

    # ---- statics -------------------------------------------------------------------------------------------
    def elastic(self, q: Array) -> tuple[float, Array, Array]:
        """Energy [J], resisting force (nv,) and tangent (nv, nv) of the joints."""
        f, K = np.zeros(self.nv), np.zeros((self.nv, self.nv))
        e = _k.joint_law(self.axial, self.bending, self.secant, self.rod._check(q), f, K)
        return e, f, K

    def energy(self, q: Array, effort: Array) -> float:
        """Potential energy [J]: elastic, gravity, and -effort * displacement."""
        weight = self.rod.energy(q, np.zeros(self.rod.nu))
        work = float(np.asarray(effort) @ self.displacement(q)) if self.nu else 0.0
        return self.elastic(q)[0] + weight - work

    def force(self, q: Array, effort: Array) -> Array:
        """-d energy / d q (nv,)."""
        f = self.gravity(q) - self.elastic(q)[1]
        return f + np.asarray(effort) @ self.displacement_rows(q) if self.nu else f

    def gravity(self, q: Array) -> Array:
        """Generalised weight (nv,)."""
        rod, tau = self.rod, np.empty(self.nv)
        q = rod._check(q)
        _dyn.inverse_dynamics(rod.tables, rod._work, q, rod._zero, rod._zero, rod._still, rod._lift, tau)
        return -tau

    def stiffness(self, q: Array, effort: Array) -> Array:
        """-d force / d q (nv, nv)."""
        return self.linearise(q, effort)[1]

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Array]:
        """Force (nv,) and stiffness (nv, nv)."""
        given = np.zeros(self.rod.nu) if self._map is not None else np.asarray(effort, float)
        force, K = self.rod.linearise(q, given)
        _, f, tangent = self.elastic(q)
        force = force - f
        if self._map is not None and self.nu:
            force = force + self._map @ effort
        return force, K + tangent

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu)."""
        return self.displacement_rows(q).T

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates (nu,)."""
        return self._map.T @ self.rod._check(q) if self._map is not None else self.rod.displacement(q)

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""
        return self._map.T.copy() if self._map is not None else self.rod.displacement_rows(q)

    def retract(self, q: Array, dq: Array) -> Array:
        """q + dq."""
        return np.asarray(q, float) + dq

    def during(self, state: State, dt: float) -> Any:
        """Mechanics of the time step that starts at a state: this model, or with the force of its creep states."""
        if self.creep is None:
            return self
        return Creeping(self, self.creep.table(self.links), state.q, state.memory, dt)

    def rollout(self, q: Array, v: Array, **options: Any) -> Any:
        """A compiled run in time from (q, v); options as in `pliant.models.pcc_rollout.rollout_links`."""
        from pliant.models.pcc_rollout import rollout_links

        return rollout_links(self, q, v, **options)

    def travel(self, dq: Array) -> float:
        """How far an increment moves anything, about [m]."""
        return self.rod.travel(dq)

    # ---- where things are ----------------------------------------------------------------------------------
    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions, orientations and Jacobians of named points; q may be a State."""
        return self.rod.locate(q, points, jacobian=jacobian)

    def centre_of_mass(self, q: Array) -> tuple[Array, Array]:
        """Centre of mass [m] (3,) and its derivative (3, nv)."""
        return self.rod.centre_of_mass(q)

    @property
    def mass_total(self) -> float:
        """Mass of all links and payloads [kg]."""
        return self.rod.mass_total

    @property
    def skin(self) -> Skin:
        """Capsules along the links."""
        return self.rod.skin

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""
        return self.rod.skin_positions(q)

    def skin_rows(self, q: Array, vertices: Array, weights: Array, directions: Array) -> Array:
        """d/dq of sum_k weights[i,k] directions[i] . x[vertices[i,k]] (m, nv)."""
        return self.rod.skin_rows(q, vertices, weights, directions)

    def load_stiffness(self, q: Array, forces: Array) -> Array:
        """-d/dq of the generalised force of forces (n, 3) [N] on the skin's vertices (nv, nv)."""
        return self.rod.load_stiffness(q, forces)

    # ---- dynamics ------------------------------------------------------------------------------------------
    def inertia(self, q: Array) -> Array:
        """Mass matrix (nv, nv)."""
        return self.rod.inertia(q)

    def bias(self, q: Array, v: Array) -> Array:
        """Coriolis and centrifugal generalised force (nv,)."""
        return self.rod.bias(q, v)

    def coriolis(self, q: Array, v: Array) -> Array:
        """Christoffel's C(q, v): Mdot - 2 C is skew (nv, nv)."""
        return self.rod.coriolis(q, v)

    def damping(self, q: Array, effort: Array) -> Array:
        """Viscous matrix (nv, nv)."""
        return np.diag(self.viscous)

    def tangent_work(self) -> Any:
        """Work arrays of the compiled derivatives."""
        return _tan.make_tangent_work(self.rod.tables)


def _laws(joints: JointLaw | Sequence[JointLaw] | None, rod: RodModel, links: int) -> list[JointLaw]:
    if joints is None:
        k = np.diag(rod.elasticity).reshape(links, 3)
        return [JointLaw.hookean(a, b) for a, b in k[:, :2]]
    laws = list(instances("joints", joints, JointLaw))
    laws = laws * links if isinstance(joints, JointLaw) else laws
    if len(laws) != links:
        raise ArgumentError("joints", f"{len(laws)} laws", f"one, or one for each of the {links} links")
    return laws


def _viscous(damping: ArrayLike, links: int) -> Array:
    given = numbers("damping", damping)
    if given.shape not in ((2,), (links, 2)) or np.any(given < 0):
        raise ArgumentError("damping", f"{given.tolist()}", f"(stretch, curvature), or ({links}, 2) of numbers >= 0")
    return np.broadcast_to(given, (links, 2))[:, [0, 1, 1]].ravel()


def _input_map(gains: tuple[float, float] | None, bellows: int, nu: int, links: int) -> Array | None:
    """G (nv, nu): equal pressures stretch, one alone bends away from its side."""
    if gains is None:
        return None
    if numbers("gains", gains).shape != (2,):
        raise ArgumentError("gains", f"{gains!r}", "(alpha_stretch, alpha_curvature)")
    if nu % count("bellows", bellows) or nu // bellows > links:
        raise ArgumentError("gains", f"{nu} actuators", f"{bellows} per link, up to {bellows * links}")
    G = np.zeros((3 * links, nu))
    for a in range(nu):
        link, angle = a // bellows, 2 * np.pi * (a % bellows) / bellows
        G[3 * link : 3 * link + 3, a] = gains[0], -gains[1] * np.cos(angle), gains[1] * np.sin(angle)
    return G
