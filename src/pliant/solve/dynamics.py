"""step: one implicit time step of any model, with actuation, contact and friction, Newton-converged.

The generalised-alpha family (Chung and Hulbert) covers all schemes here:

    q1 = q0 (+) h v0 + h^2 [(1/2 - beta) a0 + beta a1],   v1 = v0 + h [(1 - gamma) a0 + gamma a1]
    M a_m + bias + D v_f = (1 - alpha_f) F(q1) + alpha_f F(q0)      a_m, v_f blended in the same way

"euler" is the backward Euler scheme (first order, damps), "trapezoidal" conserves energy best, "alpha" is second
order and damps only what the time step cannot resolve.

Inertia and bias are those of the pose at which forces are blended, q_f = q0 (+) (1 - alpha_f) (q1 - q0): with those of
q1 the scheme would be of first order, and a swinging rod would gain energy. The damping D is that of the pose which the
velocity v_f belongs to: that of the old pose would brake a body that turns.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra.factorisation import NotPositiveDefinite, factorise
from pliant.checks import count, finite, positive
from pliant.contact.contacts import Contacts
from pliant.errors import ArgumentError
from pliant.solve.commands import CommandLike, check_state, command_vector, linearise, travel
from pliant.solve.newton import LinearSystem, Rows, Step, regularised
from pliant.solve.problem import Problem, surroundings
from pliant.state import State, Status

Array = np.ndarray
_TOLERANCE = 1e-9  # of the robot's size: what Newton's method leaves of a step
_LOOKS = 4  # tangents of a step at which the damping is taken anew
_ENOUGH = 1e-6  # and what it may leave where contacts let it contract slowly only
_ABSURD = 1e6  # and a correction that is no motion any more
_HALVINGS = 4  # how often a step that Newton's method does not solve is cut in two


@dataclass(frozen=True)
class Scheme:
    """Coefficients of a generalised-alpha scheme (alpha_m, alpha_f weigh the old time level)."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    euler: bool = False


def scheme_named(name: str, damping: float = 0.8) -> Scheme:
    """A scheme by name; `damping` is the spectral radius at infinity of "alpha" (1: none, 0: most)."""
    if name == "euler":
        return Scheme(0.0, 0.0, 1.0, 1.0, euler=True)
    if name == "trapezoidal":
        return Scheme(0.0, 0.0, 0.25, 0.5)
    if name == "alpha":
        rho = finite("damping", damping)
        if not 0.0 <= rho <= 1.0:
            raise ArgumentError("damping", f"{damping}", "a spectral radius in [0, 1]")
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        return Scheme(alpha_m, alpha_f, 0.25 * (1 - alpha_m + alpha_f) ** 2, 0.5 - alpha_m + alpha_f)
    raise ArgumentError("scheme", f"{name!r}", "'euler', 'trapezoidal' or 'alpha'")


@dataclass
class _Iterate:
    """Where Newton's method is within a step."""

    q: Array
    increment: Array
    effort: Array
    contacts: Contacts | None
    factor: Any = None
    status: Status = Status.MAX_ITERATIONS
    residual: float = math.inf
    iterations: int = 0


class Stepper:
    """Time steps of one model among fixed obstacles; keeps what does not change from step to step.

    Args:
        model: any model with inertia.
        obstacles: what is in the way; obstacles with a motion are moved with the time.
        scheme: "alpha", "trapezoidal" or "euler".
        damping: numerical damping of "alpha" (spectral radius at infinity).
        alarm: distance below which a pair is treated as a possible contact [m].
        contact_distance: distance at which surfaces touch [m].
        iterations: Newton iterations allowed per step.
    """

    def __init__(
        self,
        model: Any,
        *,
        obstacles: Sequence[Any] = (),
        scheme: str = "alpha",
        damping: float = 0.8,
        alarm: float | None = None,
        contact_distance: float = 0.0,
        iterations: int = 30,
    ) -> None:
        self.model = model
        self.scheme = scheme_named(scheme, damping)
        self.iterations = count("iterations", iterations)
        self._obstacles = surroundings(obstacles)
        self._moving = any(getattr(o, "motion", None) is not None for o in self._obstacles)
        self._options: dict[str, Any] = {"alarm": alarm, "contact_distance": contact_distance}
        self.problem = Problem(model, self._obstacles, **self._options)

    def start(self, state: State | None = None, u: CommandLike = None) -> State:
        """A state with the acceleration that belongs to it, ready to be stepped."""
        model = self.model
        check_state(model, state)
        if state is None:
            zero = np.zeros(model.nu)
            state = State(model.rest.copy(), np.zeros(model.nv), zero, zero, model.displacement(model.rest))
        if "a" in state.memory:
            return state
        problem = self.problem
        command = command_vector(model.robot, u, state.u)
        effort = np.where(problem.driven, state.effort, command)
        force = _during(model, state, 0.0).force(state.q, effort) - model.bias(state.q, state.v)
        force = force - model.damping(state.q, effort) @ state.v
        contacts = problem.detect(state.q, state.contacts)
        rows = problem.rows(state.q, effort, command, contacts)
        force = force + rows.columns[:, rows.drives :] @ rows.force[rows.drives :]
        acceleration = factorise(model.inertia(state.q)).solve(force)
        return state.but(memory={**state.memory, "a": acceleration}, contacts=contacts)

    def step(self, state: State | None, u: CommandLike, dt: float) -> State:
        """The state one time step later.

        Args:
            state: where it is; the rest pose if None.
            u: command during the step, in the unit of each actuator's drive.
            dt: time step [s]. A step that cannot be solved as a whole (a hard impact) is taken in 2 to 16 parts, and
                says so in its notes.
        """
        begin = clock.perf_counter()
        h = positive("dt", dt)
        check_state(self.model, state)
        state = state or self.start(None, u)
        whole = found = self._advance(state, u, h)
        spent = whole.iterations
        for halvings in range(1, _HALVINGS + 1):
            if found.ok or whole.status is Status.PENETRATING:
                break
            found, parts = state, 2**halvings
            for _ in range(parts):
                found = self._advance(found, u, h / parts)
                spent += found.iterations
                if not found.ok:
                    break
            else:
                found = found.but(notes=(*found.notes, f"taken in {parts} parts"))
        after = (
            found
            if found.ok or whole.status is Status.PENETRATING
            else whole.but(notes=(*whole.notes, f"no end was found in {2**_HALVINGS} parts either: take smaller steps"))
        )
        return after.but(iterations=spent, elapsed=clock.perf_counter() - begin)

    def _advance(self, state: State, u: CommandLike, h: float) -> State:
        """The state a time h later, in one step."""
        model = self.model
        if self._moving:
            placed = [o.at(state.time + h) if getattr(o, "motion", None) is not None else o for o in self._obstacles]
            self.problem = Problem(model, placed, **self._options)
        state = self.start(state, u)
        command = command_vector(model.robot, u, state.u)
        self.problem.begin(state.q, state.contacts)
        effort = np.where(self.problem.driven, state.effort, command)
        mechanics = _during(model, state, h)
        level = _Level(self.scheme, h, state.v, state.memory["a"], mechanics)
        if self.scheme.alpha_f:
            level.old_force = _during(model, state, 0.0).force(state.q, effort)
        guess = level.predictor()
        found = self._solve(state, command, effort, level, guess)
        if not found.status.ok and guess.any():
            # Where the old rates mislead (stiff modes, sudden contact), the old pose is the better guess.
            spent = found.iterations
            found = self._solve(state, command, effort, level, np.zeros_like(guess))
            found.iterations += spent
        v1, a1 = level.rates(found.increment)
        status, contacts = found.status, found.contacts
        if status.ok and contacts is not None and contacts.max_penetration > 1e-3 * self.problem.length:
            status = Status.PENETRATING
        notes: tuple[str, ...] = ()
        if status.ok and self.problem.detector is not None:
            through = self.problem.detector.passed(
                state.q, found.q, state.contacts, self.problem.obstacles, tolerance=1e-3 * self.problem.length
            )
            if through:
                status = Status.PENETRATING
                notes = (f"passed through {', '.join(through)} within one step: take smaller steps",)
            elif state.status is Status.PENETRATING or _released(state.contacts, contacts):
                inside = self.problem.swallowed(found.q)[1]
                if inside:
                    status, notes = Status.PENETRATING, (f"{', '.join(inside)} stands inside of the body: finer skin",)
        return State(
            q=found.q,
            v=v1,
            u=command,
            effort=found.effort,
            displacement=model.displacement(found.q),
            time=state.time + h,
            contacts=contacts,
            status=status,
            notes=notes,
            residual=found.residual,
            iterations=found.iterations,
            factor=found.factor,
            memory={"a": a1, **(mechanics.after(found.q) if mechanics is not model else {})},
        )

    def _solve(self, state: State, command: Array, effort: Array, level: _Level, increment: Array) -> _Iterate:
        """Newton's method for one step. The tangent is kept while it contracts well: force alone is far cheaper."""
        model, problem = level.mechanics, self.problem
        here = _Iterate(model.retract(state.q, increment), increment, effort, state.contacts)
        weight = 1 - self.scheme.alpha_f
        system: LinearSystem | None = None
        previous, alpha = math.inf, 1.0
        exact = False  # whether the derivatives of inertial forces are needed
        taken: _Iterate | None = None  # where the last move started
        move = Step(increment, np.zeros(0))
        while here.iterations < self.iterations:
            contacts = problem.detect(here.q, here.contacts)
            K = None
            if system is None:
                force, K = linearise(model, here.q, here.effort)
                if level.looks < _LOOKS:  # its change with the pose is not in the matrix: it must come to rest
                    level.D = self.model.damping(model.retract(state.q, level.share * here.increment), here.effort)
                    level.looks += 1
            else:
                force = model.force(here.q, here.effort)
            between = here.q if weight == 1.0 else model.retract(state.q, weight * here.increment)
            M = model.inertia(between)
            unbalanced, scale = level.unbalanced(model, between, here.increment, force, M)
            if not np.isfinite(unbalanced).all():
                if taken is None or alpha < 1e-4:
                    here.status = Status.INVERTED
                    return here
                alpha *= 0.5
                here.q, here.increment = model.retract(taken.q, alpha * move.dq), taken.increment + alpha * move.dq
                system = None
                continue
            rows = problem.rows(here.q, here.effort, command, contacts)
            if system is not None and not system.fits(rows):
                system = None
                continue
            if K is not None:
                # Contact forces act fully in the step that finds them: only what has an old value is blended with it.
                matrix = level.matrix(problem.tangent(here.q, K, contacts, weight=weight), M)
                turning = level.gyroscopic(model, between, here.increment) if exact else None
                system = _system(matrix, turning, rows)
                if system is None:
                    here.status = Status.SINGULAR
                    return here
            else:
                assert system is not None
                system = system.at(rows)
                if not _yields(system):
                    system = None
                    continue
            drives = rows.columns[:, : rows.drives] @ rows.force[: rows.drives]
            move = system.solve(unbalanced - weight * drives)
            here.iterations += 1
            size = travel(model, move.dq)
            if not size < _ABSURD * problem.length:
                here.status = Status.DIVERGED
                return here
            if K is None and size > 0.2 * previous:
                system = None  # the old tangent does not contract any more: take the new one, here
                exact = hasattr(model, "inverse_dynamics")
                previous = math.inf
                continue
            rate = min(size / previous, 0.5) if previous < math.inf else 0.5
            alpha = 0.5 if size > 2.0 * previous and here.iterations > 4 else 1.0
            taken = _Iterate(here.q, here.increment, here.effort, contacts)
            blended = np.where(np.arange(len(rows.force)) < rows.drives, weight, 1.0)
            multipliers = rows.force + alpha * (move.force / blended - rows.force)
            here.effort, here.contacts = problem.split(here.effort, multipliers, contacts, move.states)
            here.q, here.increment = model.retract(taken.q, alpha * move.dq), taken.increment + alpha * move.dq
            here.factor = system.factor
            left = system.rows.columns @ move.force + unbalanced - weight * drives
            here.residual = float(np.abs(left).max(initial=0.0)) / scale
            if alpha == 1.0 and size * rate / (1.0 - rate) <= _TOLERANCE * problem.length:
                here.status = Status.CONVERGED
                return here
            near = alpha == 1.0 and size / max(1.0 - size / previous, 1e-3) <= _ENOUGH * problem.length
            if near and here.iterations >= self.iterations:
                here.status = Status.CONVERGED
            previous = size
        return here


class _Level:
    """The new time level of one step: rates, unbalanced force and matrix as functions of the increment."""

    def __init__(self, scheme: Scheme, h: float, v0: Array, a0: Array, mechanics: Any) -> None:
        self.scheme, self.h, self.v0, self.a0, self.mechanics = scheme, h, v0, a0, mechanics
        self.share = 0.5 if scheme.euler else 1 - scheme.alpha_f  # of the increment: there the velocity belongs
        self.D: Any = None  # damping there
        self.looks = 0  # how often it was looked at
        self.old_force: Array | None = None

    def predictor(self) -> Array:
        """The increment that the old rates suggest."""
        coast, turn = self.h * self.v0, 0.5 * self.h**2 * self.a0
        if (
            self.scheme.euler
            or not np.isfinite(turn).all()
            or np.abs(turn).max(initial=0.0) > np.abs(coast).max(initial=0.0)
        ):
            return coast
        return coast + turn

    def rates(self, increment: Array) -> tuple[Array, Array]:
        """Velocity and acceleration at the end of a step that moved by an increment."""
        s, h = self.scheme, self.h
        if s.euler:
            v1 = increment / h
            return v1, (v1 - self.v0) / h
        a1 = (increment - h * self.v0) / (s.beta * h * h) - (0.5 - s.beta) / s.beta * self.a0
        return self.v0 + h * ((1 - s.gamma) * self.a0 + s.gamma * a1), a1

    def unbalanced(self, model: Any, q: Array, increment: Array, force: Array, M: Any) -> tuple[Array, float]:
        """Force that is not balanced, without the multipliers, and the size of the largest force at play."""
        s = self.scheme
        v1, a1 = self.rates(increment)
        v_f = (1 - s.alpha_f) * v1 + s.alpha_f * self.v0
        if self.old_force is not None:
            force = (1 - s.alpha_f) * force + s.alpha_f * self.old_force
        inertial = M @ ((1 - s.alpha_m) * a1 + s.alpha_m * self.a0)
        scale = max(float(np.abs(inertial).max(initial=0.0)), float(np.abs(force).max(initial=0.0)), 1e-12)
        return force - inertial - model.bias(q, v_f) - self.D @ v_f, scale

    def gyroscopic(self, model: Any, q: Array, increment: Array) -> Array:
        """What inertial forces add to the matrix as they change with pose and velocity; not symmetric."""
        s, h = self.scheme, self.h
        v1, a1 = self.rates(increment)
        v_f = (1 - s.alpha_f) * v1 + s.alpha_f * self.v0
        _, dq, dv = model.inverse_dynamics(q, v_f, (1 - s.alpha_m) * a1 + s.alpha_m * self.a0)
        none = np.zeros(model.nu)
        rate = 1.0 / h if s.euler else s.gamma / (s.beta * h)
        return (1 - s.alpha_f) * (dq - model.stiffness(q, none) + rate * (dv - model.damping(q, none)))

    def matrix(self, K: Any, M: Any) -> Any:
        """Minus the derivative of the unbalanced force with respect to the increment."""
        s, h = self.scheme, self.h
        dv, da = (1.0 / h, 1.0 / h**2) if s.euler else (s.gamma / (s.beta * h), 1.0 / (s.beta * h * h))
        weight = 1 - s.alpha_f
        return _sum(K, weight, M, (1 - s.alpha_m) * da, self.D, weight * dv)


def _released(before: Contacts | None, after: Contacts | None) -> bool:
    """Does an obstacle press no longer that did? Then it has lost touch, or stands in the material (a thin one)."""
    if before is None or not len(before):
        return False
    now = () if after is None else after.obstacle[after.forces > 0.0]
    return not np.isin(before.obstacle[before.forces > 0.0], now).all()


def _during(model: Any, state: State, h: float) -> Any:
    """Mechanics of the step that starts at a state: of models with a memory (creep), or the model itself."""
    begin = getattr(model, "during", None)
    return model if begin is None else begin(state, h)


def step(
    model: Any,
    state: State | None,
    u: CommandLike,
    dt: float,
    *,
    obstacles: Sequence[Any] = (),
    scheme: str = "alpha",
    damping: float = 0.8,
    strict: bool = False,
) -> State:
    """One implicit time step.

    Args:
        model: any model with inertia.
        state: where it is; the rest pose if None.
        u: command during the step, in the unit of each actuator's drive.
        dt: time step [s].
        obstacles: what is in the way.
        scheme: "alpha" (second order, default), "trapezoidal" (energy) or "euler" (first order, robust).
        damping: spectral radius at infinity of "alpha".
        strict: raise `SolveError` if the step does not converge.

    Returns:
        The state one step later. For many steps use `simulate`, or a `Stepper`, which keeps its tables.
    """
    stepper = Stepper(model, obstacles=obstacles, scheme=scheme, damping=damping)
    after = stepper.step(stepper.start(state, u), u, dt)
    return after.require() if strict else after


def _sum(K: Any, k: float, M: Any, m: float, D: Any, d: float) -> Any:
    if isinstance(K, np.ndarray):
        return k * K + m * np.asarray(M) + d * np.asarray(D)
    return K.scaled(k) + M.scaled(m) + D.scaled(d)


def _system(matrix: Any, turning: Array | None, rows: Rows) -> LinearSystem | None:
    """The system of one tangent; what turning adds to it is left out where contacts then would not yield to a push."""
    for extra in (turning, None) if turning is not None else (None,):
        try:
            system = LinearSystem(matrix if extra is None else matrix + extra, rows)
        except NotPositiveDefinite:
            continue
        if _yields(system):
            return system
    shifted = regularised(0.5 * (matrix + matrix.T) if isinstance(matrix, np.ndarray) else matrix, rows)
    return shifted if shifted is not None and _yields(shifted) else None


def _yields(system: LinearSystem) -> bool:
    """Does every contact give way to a push? Not where the tangent is indefinite, and such a step is none."""
    return bool(np.isfinite(system.W).all() and (np.diagonal(system.W)[system.rows.drives :] > 0.0).all())
