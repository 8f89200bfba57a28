"""Where a robot is and what a solver found: State, Command, Trajectory, Status.

These are frozen records. Solvers return them; nothing in them can be changed afterwards. Every
record says in words how its computation ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import ArgumentError, SolveError

if TYPE_CHECKING:
    from pliant.contact.contacts import Contacts

Array = np.ndarray


class Status(Enum):
    """How a computation ended, as a sentence that says what to try."""

    CONVERGED = "converged"
    CONTINUED = "converged, after following the path in smaller load steps"
    SNAPPED = "converged, after the body snapped to another branch (the path was not continuous)"
    SLACK = "converged; at least one cable is slack, its commanded displacement is not taken up"
    UNREACHABLE = "the target was not reached within the limits; this is the closest point found from here"
    LIMITED = "the targets are met as far as the active limits allow"
    LOCAL = "converged to a local optimum; search='multistart' or 'global' may find a better one"
    SINGLE = "one linearisation only, as asked; not converged"
    RELAXED = "some limits could not be satisfied and were dropped; see notes"
    EXTRAPOLATED = "the answer lies outside of what the model was fitted on; do not trust it blindly"
    MAX_ITERATIONS = "not converged within max_iterations; try more iterations or a closer start"
    STALLED = "not converged: no step reduced the residual; try smaller changes or a better mesh"
    UNSTABLE = "the equilibrium found is unstable (the tangent stiffness is not positive definite)"
    INVERTED = "no valid pose: elements are inside out, or would be; refine the mesh or reduce the load"
    PENETRATING = "contacts could not be resolved within the stated penetration tolerance"
    SINGULAR = "the stiffness is singular: the robot is not held (fix at least 6 directions)"
    DIVERGED = "the computation produced non-finite numbers"

    @property
    def ok(self) -> bool:
        """True if the result satisfies the equations it was asked to satisfy."""
        return self in _OK

    def __str__(self) -> str:
        return self.value


_OK = {
    Status.CONVERGED,
    Status.CONTINUED,
    Status.SNAPPED,
    Status.SLACK,
    Status.LIMITED,
    Status.LOCAL,
    Status.UNREACHABLE,
}


@dataclass(frozen=True, eq=False)
class State:
    """A configuration of a model and how it was found.

    Attributes:
        q: configuration (nq,).
        v: velocity in the tangent space (nv,).
        u: command per actuator, in the unit of its drive (effort or displacement) (nu,).
        effort: effort per actuator [N, Pa, ...] (nu,).
        displacement: coordinate per actuator [m, m^3, ...] (nu,).
        time: simulated time [s].
        contacts: contacts with their forces and gaps, or None if there were no obstacles.
        status: how the solve ended.
        residual: largest unbalanced generalised force, relative to the largest force at play [-].
        iterations: Newton iterations (linear solves) spent.
        elapsed: wall-clock time [s].
        notes: sentences about anything unusual.
        factor: factorisation of the tangent stiffness left behind by the solve (None if not kept).
        memory: history that the next step needs (multi-step schemes, creep, friction anchors).
    """

    q: Array
    v: Array
    u: Array
    effort: Array
    displacement: Array
    time: float = 0.0
    contacts: Contacts | None = None
    status: Status = Status.CONVERGED
    residual: float = 0.0
    iterations: int = 0
    elapsed: float = 0.0
    notes: tuple[str, ...] = ()
    factor: Any = field(default=None, repr=False)
    memory: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        """True if the state satisfies the equations it was asked to satisfy."""
        return self.status.ok

    def but(self, **changes: Any) -> State:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def require(self) -> State:
        """This state, or a `SolveError` carrying it if the solve did not succeed."""
        if not self.ok:
            raise SolveError(f"{self.status} (residual {self.residual:.2e})", self)
        return self


@dataclass(frozen=True, eq=False)
class Command:
    """What `invert` found: an actuation, the state it leads to, and how good it is.

    Attributes:
        u: command per actuator in the unit of its drive (nu,).
        effort: effort per actuator [N, Pa, ...] (nu,).
        displacement: coordinate per actuator [m, m^3, ...] (nu,).
        state: the state that belongs to it.
        error: residual of each target row, unweighted [unit of the target] (rows,).
        status: how the solve ended.
        iterations: outer (SQP) iterations.
        elapsed: wall-clock time [s].
        problem: the last QP or QPCC that was solved, to look at.
        solution: its solution with dual variables.
        timing: seconds spent per phase (assembly, factorisation, condensation, detection, qp).
        notes: sentences about anything unusual (dropped limits, cone violations, ...).
    """

    u: Array
    effort: Array
    displacement: Array
    state: State
    error: Array
    status: Status
    iterations: int = 0
    elapsed: float = 0.0
    problem: Any = field(default=None, repr=False)
    solution: Any = field(default=None, repr=False)
    timing: Mapping[str, float] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if the command satisfies the equations it was asked to satisfy."""
        return self.status.ok

    def require(self) -> Command:
        """This command, or a `SolveError` carrying it if the solve did not succeed."""
        if not self.ok:
            raise SolveError(str(self.status), self)
        return self


@dataclass(frozen=True, eq=False)
class Placement:
    """Where named points of a model are.

    For a single name the leading axis is dropped.

    Attributes:
        names: the points.
        position: world positions [m] (n, 3).
        rotation: world orientation of the frame carried by each point (n, 3, 3).
        jacobian: d(angular; linear)/dq in world axes (n, 6, nv), or None if not asked for.
    """

    names: tuple[str, ...]
    position: Array
    rotation: Array
    jacobian: Array | None = None

    @property
    def slopes(self) -> Array:
        """The Jacobian (n, 6, nv); an `ArgumentError` if it was not asked for."""
        if self.jacobian is None:
            raise ArgumentError("jacobian", "was not asked for", "locate(..., jacobian=True)")
        return self.jacobian


@dataclass(frozen=True, eq=False)
class Skin:
    """Topology of the surface by which a model touches things and is drawn.

    Attributes:
        triangles: vertex indices (nt, 3), outward; empty for curves.
        segments: vertex indices (ns, 2) of capsules along a curve; empty for solids.
        radius: thickness around each vertex [m] (n,), zero for solids.
        body: index of the body that each vertex belongs to (n,).
    """

    triangles: Array
    segments: Array
    radius: Array
    body: Array

    @property
    def size(self) -> int:
        """Number of vertices."""
        return len(self.radius)
