"""flex: the equilibrium of a geometric model by Newton's method with turning steps, in few factorisations.

- The first step from rest uses the factor that the model keeps of its rest pose.
- A step is carried out with its rotations exact (`geometric_turning`), so that bending by 100 degrees is one step.
- After a long step the pose is settled (`settling`): elements that do not fit their neighbours, and efforts that are
  too large by then, would make the next Hessian indefinite, and Newton's next step a poor one.
- Near the answer the last factor serves to the end (`chords`), and so it does while contacts settle.
- The Hessian is exact where that is positive definite and projected element by element where not.
- What presses on a curved obstacle was held where it was met. At the end it is looked at afresh (`afresh`), and the
  iteration goes on until a step with what is found then is short as well.

A command that would strain elements by more than `stride` is approached in parts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.actuators import Chamber, DielectricLayer
from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.algebra.threads import one_blas_thread
from pliant.checks import count, positive
from pliant.contact.contacts import Contacts
from pliant.errors import ArgumentError, PliantError
from pliant.models.contract import turns
from pliant.models.geometric_turning import Turner
from pliant.solve.afresh import found_afresh, presses_on_curved, same_features_press
from pliant.solve.balance import INSIDE_OUT, inverted, mean_diagonal, unbalanced
from pliant.solve.chords import chord
from pliant.solve.commands import CommandLike, beyond_limits, check_state, command_vector, impossible
from pliant.solve.curvature import stiffened, turning_forces
from pliant.solve.flex_contacts import doubted, kept_along, motion, smooth
from pliant.solve.foreseen import Foreseen
from pliant.solve.newton import LinearSystem, Rows
from pliant.solve.problem import Problem
from pliant.solve.settling import Settler
from pliant.state import State, Status

if TYPE_CHECKING:
    from pliant.models.geometric import GeometricModel

Array = np.ndarray
#: Steps longer than this part of the robot's size leave an uneven pose (see `settling`).
_LONG = 1e-3
#: How even a pose has to be before the next Hessian, in parts of the step that led to it.
_EVEN = 1e-4
#: A step that was carried out to this part needs no second one: settling reaches the command as well.
_RIPE = 0.8
#: After steps shorter than this part of the robot's size the factor is good for some more (see `chords`).
_NEAR = 3e-3
_PATIENCE = 10  # whole steps twice as long as the shortest before an attempt is given up
_DOUBTS = 3  # times that contacts which are none are taken away before an attempt is given up
_AFRESH = 8  # iterations that may be added for contacts with curved obstacles, looked at afresh
_SURE = 0.3  # of the tolerance: their steps, with a factor that is kept, may shrink slowly
_LADDER = (("exact", 1.0), ("exact", 0.8), ("projected", 0.8), ("projected", 0.0))


@one_blas_thread()
def flex(
    model: GeometricModel,
    u: CommandLike = None,
    *,
    start: State | None = None,
    obstacles: Sequence[Any] = (),
    iterations: int = 40,
    stride: float | None = None,
    tolerance: float = 1e-8,
    alarm: float | None = None,
    contact_distance: float = 0.0,
    strict: bool = False,
) -> State:
    """The equilibrium of a geometric model, fully converged, in few factorisations.

    Args:
        model: the geometric model.
        u: command per actuator, as for `equilibrium`.
        start: a state to start from; the rest pose if None.
        obstacles: what is in the way.
        iterations: most Newton iterations per attempt. Where they do not suffice the stride is halved, twice; then
            `equilibrium` takes over.
        stride: largest change of an element's stretch in one step [-]; default 0.6 for linear bodies, 0.3 for rubber.
        tolerance: last step relative to the robot's size [-]; the convergence is quadratic.
        alarm: distance below which a pair is treated as a possible contact [m]; default 5 % of the robot's size.
        contact_distance: gap at which contact begins [m].
        strict: raise `SolveError` with the state attached if the solve does not succeed.
    """
    check_state(model, start, "start")
    if not turns(model):
        raise ArgumentError("model", f"a {type(model).__name__}", "a model with turning steps; `equilibrium` takes all")
    stride = model.stride if stride is None else positive("stride", stride)
    iterations, tolerance = count("iterations", iterations), positive("tolerance", tolerance)
    solver = Flexing(model, obstacles, alarm=alarm, contact_distance=contact_distance)
    begin = time.perf_counter()
    state: State | None = None
    attempts = 0 if impossible(model, command_vector(model.robot, u, None if start is None else start.u)) else 3
    for attempt in range(attempts):
        found = solver.solve(u, start=start, iterations=iterations, stride=stride * 0.5**attempt, tolerance=tolerance)
        state = found if found is not None else state
        if found is not None and found.status is not Status.INVERTED:  # shorter steps may find a better pose
            break
    if state is None:
        state = solver.rescue(u, start, tried=attempts > 0)
    state = state.but(elapsed=time.perf_counter() - begin)
    return state.require() if strict else state


class Flexing:
    """Newton's method with turning steps for one model and its surroundings."""

    def __init__(
        self,
        model: GeometricModel,
        obstacles: Sequence[Any] = (),
        *,
        alarm: float | None = None,
        contact_distance: float = 0.0,
    ) -> None:
        self.model = model
        self.problem = Problem(model, obstacles, alarm=alarm, contact_distance=contact_distance)
        self.contact_distance = contact_distance
        self.turner: Turner = model.turner
        self.driven = self.problem.driven
        soft = [isinstance(a, Chamber | DielectricLayer) for a in model.robot.actuators]
        self.soft = np.array(soft, dtype=bool)
        self.inflated = self.driven & self.soft
        self.settler = Settler(model, self.inflated, self.problem.length)
        self.factorisations = 0

    def solve(
        self,
        u: CommandLike,
        *,
        start: State | None = None,
        iterations: int = 40,
        stride: float = 0.3,
        tolerance: float = 1e-8,
    ) -> State | None:
        """One attempt; None if it did not converge."""
        begin = time.perf_counter()
        model, problem, driven = self.model, self.problem, self.driven
        self.factorisations = 0
        target = command_vector(model.robot, u, None if start is None else start.u)
        q = np.array(model.rest if start is None else start.q, dtype=float)
        effort = np.zeros(model.nu) if start is None else np.array(start.effort, dtype=float)
        contacts: Contacts | None = None if start is None else start.contacts
        problem.begin(q, contacts)
        last, hold, status = np.inf, False, Status.MAX_ITERATIONS
        system: LinearSystem | None = None
        exact, used, chords, best, lost, doubts = True, 0, 0, np.inf, 0, 0
        moved_gap = np.zeros(0)
        factor = kept = pending = None
        looked = afresh = False
        for used in range(1, iterations + _AFRESH + 1):
            if used > iterations and not afresh:
                break
            if pending is not None:
                contacts, pending = pending, None
            elif afresh:
                contacts = found_afresh(problem, q, contacts)
            else:
                found = problem.detect(q, contacts)
                contacts = found if doubts else kept_along(found, contacts, moved_gap)
            goal = target.copy()
            if hold:
                goal[driven] = model.displacement(q)[driven]
                goal[~driven] = effort[~driven]
            foreseen = Foreseen(problem, q, effort, goal, contacts)
            rows = foreseen.rows
            nearby = self._known(start) if used == 1 else kept
            if nearby is None:
                built = self._system(q, effort, rows, last, foreseen.contacts if afresh else None)
            else:  # the factor of the start is the exact one for the first step, or nearly so
                built = _with_factor(nearby, rows), model.force(q, effort), True
            if built is None:
                status = Status.SINGULAR
                break
            system, force, exact = built
            factor = system.factor if nearby is None else None
            # efforts of the drives enter through the rows; a change of the other efforts is a load
            load = force - rows.columns[:, : rows.drives] @ rows.force[: rows.drives]
            change = goal - effort
            change[driven] = 0.0
            if change.any():
                load = load + model.actuation(q, effort) @ change
            try:
                system, step = foreseen.solve(system, load)
            except ArgumentError:  # a contact row without compliance, on an indefinite stiffness
                status = Status.SINGULAR
                break
            rows, contacts = foreseen.rows, foreseen.contacts
            size = float(np.abs(step.dq).max(initial=0.0))
            if not np.isfinite(size):
                status = Status.DIVERGED
                break
            before = q
            q, part = self._move(system, q, effort, change, goal, step, size, last, stride, exact)
            effort = np.where(driven, effort, goal) if part == 1.0 else effort + part * change
            multipliers = rows.force + part * (step.force - rows.force)
            effort, contacts = problem.split(effort, multipliers, contacts, step.states)
            settled = size > _LONG * problem.length and bool(self.soft.any())
            if settled:
                ripe = part >= _RIPE and not hold and not change.any()
                part = 1.0 if ripe else part
                reached = target if part == 1.0 and not hold else model.displacement(q)
                q, effort = self.settler.settle(q, effort, contacts, reached, even=_EVEN * size)
            if contacts is not None and len(contacts):
                moved = motion(model, before, q, contacts)
                moved_gap = contacts.gap + moved
            # contacts that settle need no new factor; where they do not, the stiffness may be to blame
            short = exact and size < min(_NEAR * problem.length, 0.3 * last)
            kept = system.factor if short and rows.size > rows.drives else None
            last = size
            lost = 0 if size < 0.9 * best else lost + (part == 1.0 and size > 2.0 * best)
            best = min(best, size)
            if lost > _PATIENCE:  # shorter steps serve better
                break
            if size <= (_SURE if afresh else 1.0) * tolerance * problem.length and part == 1.0 and not hold:
                pending, contacts = doubted(problem, q, contacts)
                if pending is None and presses_on_curved(problem, contacts):
                    solved, contacts = contacts, found_afresh(problem, q, contacts)
                    if not (afresh and same_features_press(solved, contacts)):
                        afresh, last, best, lost = True, _NEAR * problem.length, np.inf, 0
                        kept = system.factor if exact else None
                        continue
                    factor = None  # it may know how contact forces wander, or belong to a pose before
                if pending is None:
                    status = Status.CONVERGED
                    break
                doubts += 1
                if doubts > _DOUBTS:
                    break
            hold = part < 1.0 and not hold and not settled
            # a held pose is in balance with only a part of the commanded efforts: there is more to come
            arrived = np.array_equal(effort[~driven], target[~driven])
            near = size < _NEAR * problem.length and exact and smooth(problem, contacts) and not afresh
            if arrived and not hold and near and pending is None:
                if not looked and system.rows.size > system.rows.drives:
                    # what was carried along on the way here need not touch any more
                    looked, pending = True, doubted(problem, q, contacts)[0]
                    kept = system.factor if pending is not None else kept
                if pending is not None:
                    continue
                tail = chord(
                    problem, system, q, effort, target, size=size, goal=tolerance * problem.length, contacts=contacts
                )
                q, effort, last, chords = tail.q, tail.effort, tail.size, chords + tail.steps
                if tail.contacts is not None:
                    contacts, moved_gap = tail.contacts, tail.contacts.gap
                    kept = None if tail.stale else system.factor
                if tail.converged:
                    pending, contacts = doubted(problem, q, contacts)
                    if pending is None and presses_on_curved(problem, contacts):
                        afresh, last, best, lost, kept = True, _NEAR * problem.length, np.inf, 0, system.factor
                        continue
                    if pending is None:
                        # the factor belongs to a pose before; sensitivities would not be exact with it
                        status, factor = Status.CONVERGED, None
                        break
                    doubts += 1
                    if doubts > _DOUBTS:
                        break
        if status is not Status.CONVERGED:
            return None
        used += chords
        residual = self._residual(q, effort, target, contacts)
        if residual is None:  # short steps may come of a factor that is too stiff
            return None
        stable = True if exact else self._stable(q, effort, target, contacts)
        if stable is False:
            return None
        elapsed = time.perf_counter() - begin
        state = self._state(q, effort, contacts, target, used, factor, stable, start, elapsed, residual)
        if system is None or not exact:
            return state
        return state.but(memory={"factor": system.factor, "factor of": model})

    def _stable(self, q: Array, effort: Array, u: Array, contacts: Contacts | None) -> bool | None:
        """Whether a pose of indefinite stiffness rests all the same, held by its drives; None where that is unknown."""
        rows = self.problem.rows(q, effort, u, contacts)
        _, K = self.model.linearise(q, effort)
        self.factorisations += 1
        try:
            return LinearSystem(K, rows, indefinite=True).stable
        except (PliantError, RuntimeError):
            return None

    def _residual(self, q: Array, effort: Array, u: Array, contacts: Contacts | None) -> float | None:
        """What is left of the forces, in parts of the largest load; None if that is more than rounding."""
        left, scale = unbalanced(self.problem, q, effort, u, contacts)
        size = float(np.abs(left).max(initial=0.0))
        if size > 1e-6 * scale:
            _, K = self.model.linearise(q, effort)
            if size > 1e-9 * mean_diagonal(K) * self.problem.length:
                return None
        return size / scale

    def _state(
        self, q: Array, effort: Array, contacts: Contacts | None, u: Array, used: int, factor: Any, stable: bool | None,
        start: State | None, elapsed: float, residual: float,
    ) -> State:  # fmt: skip
        model, problem, driven = self.model, self.problem, self.driven
        if contacts is not None and len(contacts):
            contacts = contacts.selected((contacts.forces > 0.0) | (contacts.gap > -1e-9 * problem.length))
        displacement = model.displacement(q)
        status, notes = Status.CONVERGED, [f"{self.factorisations} factorisations"]
        loose = problem.slackable & (effort[driven] <= 0.0)
        loose &= displacement[driven] > u[driven] + 1e-9 * problem.length
        if loose.any():
            status = Status.SLACK
            notes.append("slack: " + ", ".join(np.array(model.robot.actuator_names)[driven][loose]))
        if inverted(model, q):
            status = Status.INVERTED
            notes += [INSIDE_OUT, *beyond_limits(model.robot, u)]
        if stable is None:
            notes.append("stability not known")
        if contacts is not None and contacts.max_penetration > 1e-6 * problem.length:
            notes.append(f"penetration {contacts.max_penetration:.2e} m")
            status = Status.PENETRATING
        elif status.ok and problem.detector is not None and (names := problem.swallowed(q)[1]):
            notes.append(f"{', '.join(names)} inside of the body")
            status = Status.PENETRATING
        return State(
            q=q, v=np.zeros(model.nv), u=u, effort=effort, displacement=displacement, contacts=contacts,
            status=status, residual=residual, iterations=used,
            elapsed=elapsed, notes=tuple(notes), factor=factor, time=0.0 if start is None else start.time,
        )  # fmt: skip

    def _move(
        self, system: LinearSystem, q: Array, effort: Array, change: Array, goal: Array, step: Any, size: float,
        last: float, stride: float, exact: bool,
    ) -> tuple[Array, float]:  # fmt: skip
        """Carry out a step: turned or straight, whichever leaves the smaller correction, and shortened if need be."""
        model, L = self.model, self.problem.length
        if size <= 1e-6 * L or (exact and size < min(_LONG * L, 0.1 * last)):  # as short as Newton's steps should be
            return model.retract(q, step.dq), 1.0
        turned, strain = self.turner.turn(q, step.dq)
        part = min(1.0, stride / max(strain, 1e-300))
        if part < 1.0:
            turned, _ = self.turner.turn(q, part * step.dq)
        if size > 0.1 * L or not exact or (self.inflated.any() and size > 1e-3 * L):
            # The correction would be measured in a frame that no longer holds; and inflation passes through poses
            # that look worse before it gets better.
            return turned, part
        norm = float(np.linalg.norm(step.dq))
        active = step.force > system.rows.lower
        best: tuple[float, Array, float] | None = None
        for attempt in range(4):
            if attempt:
                part *= 0.5
                turned, _ = self.turner.turn(q, part * step.dq)
            for candidate in (turned, model.retract(q, part * step.dq)):
                left = self._correction(system, candidate, effort + part * change, goal, step, part, active)
                if best is None or left < best[0]:
                    best = (left, candidate, part)
            if best is not None and best[0] <= (1.0 - 0.25 * part) * norm:
                break
        assert best is not None
        return best[1], best[2]

    def _correction(
        self, system: LinearSystem, q: Array, effort: Array, goal: Array, step: Any, part: float, active: Array
    ) -> float:
        """Size of the simplified Newton correction at a candidate."""
        model, rows, n = self.model, system.rows, system.rows.drives
        multipliers = rows.force + part * (step.force - rows.force)
        effort = effort.copy()
        effort[self.driven] = multipliers[:n]
        force = model.force(q, effort)
        if not np.isfinite(force).all():
            return np.inf
        force = force + rows.columns[:, n:] @ multipliers[n:]
        value = rows.value + part * (rows.rows @ step.dq)
        value[:n] = model.displacement(q)[self.driven] - goal[self.driven]
        return float(np.linalg.norm(system.correct(force, value, active)))

    def _system(
        self, q: Array, effort: Array, rows: Rows, last: float, turning: Contacts | None = None
    ) -> tuple[LinearSystem, Array, bool] | None:
        """The first Hessian of the ladder that is positive definite, and the force at these efforts.

        `turning`: contacts whose forces turn and wander on curved obstacles, which counts where it leaves it definite.
        """
        model = self.model
        for rung, (kind, share) in enumerate(_LADDER):
            weakened = effort.copy()
            weakened[self.driven] *= share
            force, K = (model.linearise if kind == "exact" else model.projected)(q, weakened)
            if share != 1.0:
                n = rows.drives
                force = force + rows.columns[:, :n] @ ((1.0 - share) * rows.force[:n])
            if rung == 0 and turning is not None:
                blocks = turning_forces(self.problem.obstacles, turning, model.skin_positions(q))
                try:
                    if blocks:
                        self.factorisations += 1
                        return LinearSystem(stiffened(model, q, K, blocks, convex=False), rows), force, True
                except NotPositiveDefinite:
                    K = stiffened(model, q, K, blocks, convex=True)
            self.factorisations += 1
            try:
                return LinearSystem(K, rows), force, rung == 0
            except NotPositiveDefinite:
                pass
            if rung == 0 and last < 1e-2 * self.problem.length and rows.drives:
                # near the solution of a drive by displacement an indefinite stiffness may be the true one
                try:
                    return LinearSystem(K, rows, indefinite=True), force, False
                except (PliantError, RuntimeError):
                    pass
        return None

    def _known(self, start: State | None) -> Any:
        """A factor of the stiffness at the start, or nearly there, if there is one."""
        if start is None:
            return getattr(self.model, "rest_factor", None)
        return start.memory.get("factor") if start.memory.get("factor of") is self.model else None

    def rescue(self, u: CommandLike, start: State | None, *, tried: bool = True) -> State:
        """The answer of `equilibrium`, where turning steps did not converge, or (not `tried`) could not."""
        from pliant.solve.equilibrium import equilibrium

        problem = self.problem
        state = equilibrium(
            self.model, u, start=start, max_iterations=60 if problem.obstacles else 300,
            obstacles=problem.obstacles, alarm=problem.alarm, contact_distance=self.contact_distance,
            turning=False,
        )  # fmt: skip
        took_over = ("turning steps did not converge; equilibrium took over",) if tried else ()
        return state.but(notes=(*state.notes, *took_over))


def _with_factor(factor: Any, rows: Rows) -> LinearSystem:
    """A linear system on a factor that exists already."""
    system = LinearSystem.__new__(LinearSystem)
    system.rows, system.shift, system._held, system.factor, system.stable = rows, 0.0, None, factor, True
    system.flexibility = factor.solve(rows.columns) if rows.size else np.zeros((factor.n, 0))
    system.W = rows.rows @ system.flexibility
    return system
