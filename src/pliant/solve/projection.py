"""project: the equilibrium of a geometric model by local projections and one prefactorised global solve.

Local step: the targets of all elements at the current pose, which gives the unbalanced force r. Global step: the
constant matrix M (see `geometric_proxy`) moves all nodes at once, dq = M^-1 (r + C^T e), where the efforts e of the
actuators driven by displacement are such that the linearised drives are met. The fixed points are exactly the
equilibria of the model: those that `equilibrium` finds with the exact Hessian.

The iteration converges linearly: fast for compact bodies, slowly for slender ones and where a stiff strip runs along a
soft body. Its rate is watched, and where it would not be there in time Newton's method (`flex`) takes over.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant._kernels import geometric_local as kernels
from pliant.actuators import Chamber
from pliant.algebra.anderson import Anderson
from pliant.algebra.threads import one_blas_thread, use_threads
from pliant.contact.contacts import Contacts
from pliant.errors import ArgumentError
from pliant.models.geometric_proxy import Proxy
from pliant.solve.balance import INSIDE_OUT, inverted
from pliant.solve.commands import (
    CommandLike,
    beyond_limits,
    command_vector,
    driven_by_displacement,
    impossible,
    slackable,
)
from pliant.solve.complementarity import solve_contact
from pliant.solve.flex import flex
from pliant.solve.problem import Problem
from pliant.state import State, Status

if TYPE_CHECKING:
    from pliant.models.geometric import GeometricModel

Array = np.ndarray
#: Unbalanced forces, relative to the largest force, with which a small step counts as the end.
RESIDUAL = 3e-3


class LocalStep:
    """Unbalanced forces of a geometric model, fast: threads over the elements, chambers by kernel.

    Args:
        model: the geometric model.
        threads: how many threads share the elements; default `thread_count()`.
    """

    def __init__(self, model: GeometricModel, threads: int | None = None) -> None:
        self.model = model
        self.threads = threads

    def elastic(self, x: Array, scale: list[Array], out: Array) -> float:
        """out -= d energy / d x; returns the energy [J]."""
        with nullcontext() if self.threads is None else use_threads(self.threads):
            return self.model._elastic_force(x, scale, out)

    def drive(self, index: Any, q: Array, x: Array) -> tuple[float, Array]:
        """Displacement of an actuator and its gradient in the degrees of freedom (nv,)."""
        model = self.model
        kind, bound = model._bound[index]
        if isinstance(model.robot.actuators[index], Chamber) and bound.triangles.shape[1] == 3:
            g = np.zeros_like(x)
            volume = kernels.enclosed_volume(x, bound.triangles, g)
            return volume - bound.rest_volume, model.layout.reduce(q, x, g)
        if kind == "part":
            part, row = bound
            out = np.zeros(model.nv)
            out[part.v_start : part.v_start + part.translations] = row
            return model._coordinate(kind, bound, q, x), out
        g = np.zeros_like(x)
        bound.add_gradient(x, 1.0, g)
        return bound.value(x), model.layout.reduce(q, x, g)


@one_blas_thread()
def project(
    model: GeometricModel,
    u: CommandLike = None,
    *,
    start: State | None = None,
    iterations: int = 2000,
    acceleration: str = "anderson",
    window: int = 6,
    tolerance: float = 1e-7,
    control: str = "exact",
    weight: float = 5.0,
    obstacles: Sequence[Any] = (),
    spring: float | None = None,
    clearance: float = 0.0,
    alarm: float | None = None,
    threads: int | None = None,
    handover: bool = True,
    strict: bool = False,
) -> State:
    """The equilibrium of a geometric model by accelerated local/global iterations.

    Args:
        model: the geometric model.
        u: command per actuator, as for `equilibrium`.
        start: a state to start from; the rest pose if None.
        iterations: most local/global iterations.
        acceleration: "anderson" or "none".
        window: length of Anderson's history.
        tolerance: largest remaining step relative to the robot's size [-]. A small step is not yet a small error: where
            forces are still out of balance by more than 0.3 % of the largest it is made smaller.
        control: "exact" reaches commanded displacements exactly; "soft" draws to them as the source does, with a
            finite weight, and the state's displacement tells what was reached.
        weight: of soft control, relative to the stiffness of the body against the drive (the source uses 5).
        obstacles: what is in the way, itself included (`SelfContact`), with their friction: points stick where they
            were at the start, or slide on the cone.
        spring: stiffness of the virtual springs that push surface points out, relative to the mean stiffness of a
            node (10 to 100); None for unilateral contact without any give.
        clearance: distance from the surface of the other at which the springs begin (epsilon of the source) [m]. They
            push only, and vanish when a point is farther away: nothing sticks, nothing chatters.
        alarm: distance below which a pair is looked at [m]; default 2 % of the robot's size.
        threads: threads of the local step.
        handover: let `flex` finish where the observed rate says that the iterations will not suffice (not with soft
            control or springs, which are a solution of their own).
        strict: raise `SolveError` with the state attached if the solve does not succeed.
    """
    if not hasattr(model, "proxy"):
        raise ArgumentError("model", f"a {type(model).__name__}", "a GeometricModel; `equilibrium` takes all")
    if acceleration not in ("anderson", "none"):
        raise ArgumentError("acceleration", f"{acceleration!r}", "'anderson' or 'none'")
    if control not in ("exact", "soft"):
        raise ArgumentError("control", f"{control!r}", "'exact' or 'soft'")
    if not (weight > 0.0 and np.isfinite(weight)):
        raise ArgumentError("weight", f"{weight}", "a positive number")
    if spring is not None and not spring > 0.0:
        raise ArgumentError("spring", f"{spring}", "a positive number or None")
    if impossible(model, command_vector(model.robot, u, None if start is None else start.u)):
        return flex(model, u, start=start, strict=strict)  # says so at once
    solver = Projection(model, threads=threads, obstacles=obstacles, spring=spring, clearance=clearance, alarm=alarm)
    return solver.solve(
        u, start=start, iterations=iterations, window=window if acceleration == "anderson" else 0,
        tolerance=tolerance, softness=1.0 / weight if control == "soft" else 0.0, handover=handover, strict=strict,
    )  # fmt: skip


class Pace:
    """How fast a linearly convergent iteration gets on.

    Args:
        goal: size of the step at which it is there [m].
        budget: most iterations.
    """

    window = 250

    def __init__(self, goal: float, budget: int) -> None:
        self.goal, self.budget = goal, budget
        self.sizes: list[float] = []
        self.needed = np.inf

    def hopeless(self, used: int, size: float) -> bool:
        """Whether at the pace of the last iterations the budget will not suffice. Looks once per window."""
        self.sizes.append(size)
        if used % self.window or used < 2 * self.window:
            return False
        # Anderson's steps go up and down: the best of each window counts
        before, now = min(self.sizes[-2 * self.window : -self.window]), min(self.sizes[-self.window :])
        self.needed = self.window * np.log(now / self.goal) / np.log(before / now) if now < before else np.inf
        return bool(used + self.needed > self.budget)

    def words(self, used: int) -> str:
        """What was seen, in a sentence."""
        more = f"about {self.needed:.0f}" if np.isfinite(self.needed) else "many"
        return f"local/global iterations are slow here: {more} more after {used}; flex is faster"


class Projection:
    """Local/global solver of one model: keeps the factor and the tables between solves.

    Args:
        model: the geometric model.
        proxy: the constant matrix; the model's own (made once) if None.
        threads: threads of the local step.
        obstacles, spring, clearance, alarm: see `project`.
    """

    def __init__(
        self,
        model: GeometricModel,
        *,
        proxy: Proxy | None = None,
        threads: int | None = None,
        obstacles: Sequence[Any] = (),
        spring: float | None = None,
        clearance: float = 0.0,
        alarm: float | None = None,
    ) -> None:
        self.model = model
        self.proxy = proxy or model.proxy
        self.local = LocalStep(model, threads)
        self.driven = np.flatnonzero(driven_by_displacement(model.robot))
        self.slack = slackable(model.robot)[self.driven]
        self.length = float(np.linalg.norm(np.ptp(model.layout.rest_nodes, axis=0)))
        self.problem: Problem | None = None
        self.give, self.clearance = 0.0, clearance
        if obstacles:
            self.problem = Problem(
                model, obstacles, alarm=0.02 * self.length if alarm is None else alarm, contact_distance=clearance
            )
            if spring is not None:
                self.give = 1.0 / (spring * float(self.proxy.matrix.diagonal().mean()))

    def solve(
        self,
        u: CommandLike,
        *,
        start: State | None = None,
        iterations: int = 2000,
        window: int = 6,
        tolerance: float = 1e-7,
        softness: float = 0.0,
        handover: bool = False,
        strict: bool = False,
    ) -> State:
        """See `project`."""
        begin = time.perf_counter()
        model = self.model
        u = command_vector(model.robot, u, None if start is None else start.u)
        q = np.array(model.rest if start is None else start.q, dtype=float)
        effort = np.zeros(model.nu) if start is None else np.array(start.effort, dtype=float)
        free = np.setdiff1d(np.arange(model.nu), self.driven)
        effort[free] = u[free]
        scale = model._scale(effort)
        compliance = self._compliance(softness)
        history = Anderson(window)
        damping, previous, smallest = 1.0, np.inf, np.inf
        cap = 0.05 * self.length
        status = Status.MAX_ITERATIONS
        used = 0
        solver = self.proxy.at(q)
        contacts: Contacts | None = None if start is None else start.contacts
        if self.problem is not None:
            self.problem.begin(q, contacts)
        touching: Array = np.zeros(0)
        pace = Pace(tolerance * self.length, iterations)
        for used in range(1, iterations + 1):
            if any(p.rotates for p in model.layout.parts):
                solver = self.proxy.at(q)
            x = model.positions(q)
            g = model._gravity_load.copy()
            self.local.elastic(x, scale, g)
            passive = effort.copy()
            passive[self.driven] = 0.0
            model._add_loads(x, passive, g)
            r = model.layout.reduce(q, x, g)
            model._add_parts(passive, r)
            if self.problem is not None:
                contacts = self.problem.detect(q, contacts)
            if self.problem is not None and contacts is not None and len(contacts):
                f, effort, contacts, ramp = self._touching(solver, q, effort, r, u, compliance, cap, contacts)
                held = np.sort(contacts.key[contacts.forces > 0.0])
                if not np.array_equal(held, touching):  # the history belongs to another set of contacts
                    history.restart()
                touching = held
            else:
                f, effort[self.driven], ramp = self._global(solver, q, x, r, u, compliance, cap)
            if not np.isfinite(f).all():
                status = Status.DIVERGED
                break
            size = float(np.abs(f).max(initial=0.0))
            norm = float(np.linalg.norm(f))
            if size <= tolerance * self.length and ramp == 1.0:
                end = model.retract(q, f)
                if self._residual(end, effort, u, contacts) <= RESIDUAL or tolerance < 1e-12:
                    q, status = end, Status.CONVERGED
                    break
                tolerance *= 0.1  # the steps are small because the iteration is slow, not because it is there
                pace.goal *= 0.1
            if pace.hopeless(used, size) and handover and not softness and not self.give:
                break
            if ramp < 1.0:
                history.restart()
                step = f
            else:
                if norm > 2.0 * previous:  # the safeguard: history misleads, or the plain step is too long
                    if not history._df:
                        damping = max(0.5 * damping, 1e-3)
                    history.restart()
                elif not history._df:
                    damping = min(1.0, 1.3 * damping)
                step = history.step(f) if damping == 1.0 else f * damping
            longest = float(np.abs(step).max(initial=0.0))
            if longest > 2.0 * cap:
                step = step * (2.0 * cap / longest)
            history.moved(step)
            previous, smallest = norm, min(smallest, norm)
            q = model.retract(q, step)
        if status is Status.MAX_ITERATIONS and used < iterations:
            return self._hand_over(u, start, used, pace, begin, strict)
        if self.problem is not None:
            contacts = self.problem.detect(q, contacts)
        notes = [pace.words(used)] if status is Status.MAX_ITERATIONS else []
        return self._state(q, effort, u, status, used, time.perf_counter() - begin, start, strict, contacts, notes)

    def _hand_over(self, u: Array, start: State | None, used: int, pace: Pace, begin: float, strict: bool) -> State:
        """Let Newton's method finish, from where this solve began (a pose on the way may be far off any path)."""
        problem = self.problem
        if problem is None:
            state = flex(self.model, u, start=start)
        else:
            state = flex(self.model, u, start=start, obstacles=problem.obstacles, alarm=problem.alarm,
                         contact_distance=self.clearance)  # fmt: skip
        state = state.but(
            iterations=used + state.iterations, elapsed=time.perf_counter() - begin,
            notes=(*state.notes, pace.words(used) + "; flex took over"),
        )  # fmt: skip
        return state.require() if strict else state

    def _compliance(self, softness: float) -> Array:
        """Diagonal compliance of soft drives: softness times that of the body at rest against each drive."""
        n = len(self.driven)
        if softness == 0.0 or n == 0:
            return np.zeros(n)
        q = self.model.rest
        x = self.model.positions(q)
        C = np.array([self.local.drive(i, q, x)[1] for i in self.driven])
        flex = np.array([c @ self.proxy.at(q).solve(c) for c in C])
        return softness * flex

    def _global(
        self, solver: Any, q: Array, x: Array, r: Array, u: Array, compliance: Array, cap: float
    ) -> tuple[Array, Array, float]:
        """The plain step, efforts of the drives, and how much of the drives' error it removes."""
        n = len(self.driven)
        if n == 0:
            return solver.solve(r), np.zeros(0), 1.0
        drives = [self.local.drive(i, q, x) for i in self.driven]
        error = np.array([d for d, _ in drives]) - u[self.driven]
        C = np.array([c for _, c in drives])
        solved = solver.solve(np.column_stack([r, C.T]))
        free, flex = solved[:, 0], solved[:, 1:]
        W = C @ flex + np.diag(compliance)
        # A far command is approached in steps: the drives alone may not move any node by more than the cap.
        toward = np.linalg.solve(W, -np.where(self.slack & (error > 0.0), 0.0, error))
        reach = float(np.abs(flex @ toward).max(initial=0.0))
        ramp = 1.0 if reach <= cap else cap / reach
        lam = np.linalg.solve(W, -(ramp * error + C @ free))
        loose = self.slack & (lam < 0.0)
        while loose.any():
            tight = ~loose
            lam = np.zeros(n)
            if tight.any():
                lam[tight] = np.linalg.solve(W[np.ix_(tight, tight)], -(ramp * error + C @ free)[tight])
            more = loose | (self.slack & (lam < 0.0))
            if (more == loose).all():
                break
            loose = more
        return free + flex @ lam, lam, ramp

    def _touching(
        self, solver: Any, q: Array, effort: Array, r: Array, u: Array, compliance: Array, cap: float,
        contacts: Contacts,
    ) -> tuple[Array, Array, Contacts, float]:  # fmt: skip
        """The plain step with contacts, unilateral and with friction: also the efforts, and the contacts' forces."""
        assert self.problem is not None
        n = len(self.driven)
        rows = self.problem.rows(q, effort, u, contacts)
        solved = solver.solve(np.column_stack([r, rows.columns]))
        free, flex = solved[:, 0], solved[:, 1:]
        W = rows.rows @ flex + np.diag(np.concatenate([compliance, np.full(rows.size - n, self.give)]))
        error, ramp = rows.value.copy(), 1.0
        if n:
            wanted = np.where(self.slack & (error[:n] > 0.0), 0.0, error[:n])
            reach = float(np.abs(flex[:, :n] @ np.linalg.solve(W[:n, :n], -wanted)).max(initial=0.0))
            ramp = 1.0 if reach <= cap else cap / reach
            error[:n] *= ramp
        found = solve_contact(
            W, error + rows.rows @ free, triples=rows.triples if len(rows.triples) else None, friction=rows.friction,
            lower=rows.lower, upper=rows.upper, start=rows.force, tolerance=1e-10,
        )  # fmt: skip
        states = tuple(found.states) if len(rows.triples) else ()
        effort, touching = self.problem.split(effort, found.force, contacts, states)
        assert touching is not None
        return free + flex @ found.force, effort, touching, ramp

    def _residual(self, q: Array, effort: Array, u: Array, contacts: Contacts | None) -> float:
        """Largest unbalanced force relative to the largest force at play [-]."""
        model = self.model
        force = model.force(q, effort)
        if self.problem is not None and contacts is not None and len(contacts):
            rows = self.problem.rows(q, effort, u, contacts)
            force = force + rows.columns[:, rows.drives :] @ rows.force[rows.drives :]
        load = model.actuation(q, effort) @ effort if model.nu else np.zeros(model.nv)
        weight = model.force(model.rest, np.zeros(model.nu))
        rounding = 1e-9 * self.length * float(self.proxy.matrix.diagonal().mean())  # where there is no load at all
        scale = max(float(np.abs(load).max(initial=0.0)), float(np.abs(weight).max(initial=0.0)), rounding)
        return float(np.abs(force).max(initial=0.0)) / scale

    def _state(
        self, q: Array, effort: Array, u: Array, status: Status, used: int, elapsed: float, start: Any, strict: bool,
        contacts: Contacts | None, notes: list[str],
    ) -> State:  # fmt: skip
        model = self.model
        deepest = 0.0 if contacts is None or not len(contacts) else contacts.max_penetration
        if status.ok and not self.give and deepest > 1e-5 * self.length:
            status = Status.PENETRATING
            notes.append(f"penetration {deepest:.2e} m")
        displacement = model.displacement(q)
        if status.ok and inverted(model, q):
            status = Status.INVERTED
            notes += [INSIDE_OUT, *beyond_limits(model.robot, u)]
        if status.ok and self.slack.any():
            loose = self.slack & (effort[self.driven] <= 0.0)
            loose &= displacement[self.driven] > u[self.driven] + 1e-9 * self.length
            if loose.any():
                status = Status.SLACK
                notes.append("slack: " + ", ".join(np.array(model.robot.actuator_names)[self.driven][loose]))
        state = State(
            q=q, v=np.zeros(model.nv), u=u, effort=effort, displacement=displacement, status=status,
            contacts=contacts,
            residual=self._residual(q, effort, u, contacts), iterations=used, elapsed=elapsed,
            time=0.0 if start is None else start.time, notes=tuple(notes),
        )  # fmt: skip
        return state.require() if strict else state
