"""The contract of a mechanical model: what statics, inverse, contact, control and viewer rely on.

A model is mechanics without a solver. Its configuration `q` may live on a manifold (rotations);
increments live in the tangent space of dimension `nv` and are applied by `retract`. Actuators act
through efforts: an actuator is a coordinate (its displacement) and the gradient of that coordinate,
along which its effort pushes. Whether a user commands the effort or the displacement is the
business of the solvers.

    force(q, e)      = -d energy / d q                      zero at equilibrium
    stiffness(q, e)  = -d force / d q
    actuation(q, e)  =  d force / d e                       (nv, nu)
    displacement(q)  :  one coordinate per actuator         (nu,)

For a conservative actuator `displacement_rows(q)` is `actuation(q, e).T` (virtual work).

What a model may offer on top; whoever uses it asks first (`getattr`), and does without where it is missing:

    linearise(q, e)             force and stiffness in one pass; linearise_damped(q, e, rate): with rate times damping
    mass_total                  [kg]
    conservative                whether virtual work holds for all actuators
    coriolis(q, v)              C with bias = C v and Mdot - 2 C skew (nv, nv)
    load_stiffness(q, f)        -d/dq of the generalised force of forces f (n, 3) [N] on the skin's vertices (nv, nv)
    travel(dq), advance(q, dq)  how far an increment moves the robot [m]; the pose it leads to, with exact rotations
    inverted(q)                 whether an element is inside out
    during(state, dt)           mechanics of one time step of a model with a memory (creep), whose `after(q)` is what
                                `State.memory` then keeps
    flag(state)                 lets a fitted model mark states outside of what it was fitted on
    forceless                   True: only the commanded quantities mean something (kinematic models)
    read(state), gauge(q, name), field(q, e, name), point_names, cable_paths(q), cavity_surfaces(q)
                                for sensors and pictures

`Turning` lets `equilibrium` start near the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from pliant.algebra.symmetric import SymmetricMatrix
from pliant.state import Placement, Skin

if TYPE_CHECKING:
    from pliant.robot import Robot

Array = np.ndarray
Operator = SymmetricMatrix | np.ndarray


@runtime_checkable
class Model(Protocol):
    """Mechanics of a robot (see the module docstring for the signs)."""

    robot: Robot

    @property
    def nq(self) -> int:
        """Length of a configuration vector."""

    @property
    def nv(self) -> int:
        """Dimension of the tangent space (degrees of freedom)."""

    @property
    def nu(self) -> int:
        """Number of actuators; their order is that of `robot.actuators`."""

    @property
    def rest(self) -> Array:
        """The unloaded configuration (nq,)."""

    def energy(self, q: Array, effort: Array) -> float:
        """Potential energy [J], actuators included as -effort * displacement; inf if inadmissible."""

    def force(self, q: Array, effort: Array) -> Array:
        """Residual generalised force, zero at equilibrium (nv,)."""

    def stiffness(self, q: Array, effort: Array) -> Operator:
        """-d force / d q, symmetric (nv, nv)."""

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort, dense (nv, nu)."""

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates [m, m^3, ...] (nu,)."""

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""

    def retract(self, q: Array, dq: Array) -> Array:
        """The configuration reached from q by the tangent increment dq (nq,)."""

    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions, orientations and (on request) Jacobians of named points; q may be a State."""

    def centre_of_mass(self, q: Array) -> tuple[Array, Array]:
        """Centre of mass [m] (3,) and its derivative (3, nv)."""

    # ---- the surface: contact and drawing --------------------------------------------------
    @property
    def skin(self) -> Skin:
        """Topology of the surface."""

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""

    def skin_rows(self, q: Array, vertices: Array, weights: Array, directions: Array) -> Any:
        """Derivative of sum_k weights[i,k] directions[i] . x[vertices[i,k]] w.r.t. q.

        vertices (m, k) int, weights (m, k), directions (m, 3) -> scipy CSR or dense (m, nv).
        """

    # ---- dynamics: inertia(q) a + bias(q, v) + damping(q, e) v = force(q, e) -------------------
    def inertia(self, q: Array) -> Operator:
        """Mass matrix, same storage as the stiffness (nv, nv)."""

    def bias(self, q: Array, v: Array) -> Array:
        """Velocity-dependent (Coriolis, gyroscopic) generalised force (nv,)."""

    def damping(self, q: Array, effort: Array) -> Operator:
        """Viscous matrix, positive semi-definite, same storage as the stiffness (nv, nv)."""


@runtime_checkable
class Turning(Protocol):
    """What a mechanical model may offer on top: steps with exact rotations, however long.

    A model that has these finds large motions by `flex`; `equilibrium` then starts where `flex` arrives. The
    equilibria are those of `force` alone: nothing here changes them.
    """

    @property
    def stride(self) -> float:
        """Largest change of an element's stretch [-] for which one step is worth taking."""

    @property
    def turner(self) -> Any:
        """`turn(q, dq)`: the configuration that a tangent step leads to, and the largest change of stretch in it."""

    @property
    def proxy(self) -> Any:
        """`at(q).solve(f)`: the metric of a constant matrix, factorised once."""

    def projected(self, q: Array, effort: Array) -> tuple[Array, Operator]:
        """Force and stiffness with every element's part made positive semi-definite."""


def turns(model: Any) -> bool:
    """Whether a model is `Turning`, be it through a wrapper (`isinstance` would not see those from Python 3.12 on)."""
    return all(hasattr(model, name) for name in ("stride", "turner", "proxy", "projected"))


@runtime_checkable
class Kinematics(Protocol):
    """The smaller contract that a learned model offers: from actuation straight to where points are."""

    robot: Robot

    @property
    def nu(self) -> int:
        """Number of actuators."""

    def place(self, u: Array, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions of named points for a command u; the Jacobian is d(angular; linear)/du (n, 6, nu)."""
