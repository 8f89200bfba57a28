"""Tracer: the equilibria of many commands, each from the one before, with as few factorisations as possible.

A new command is first met to first order: the factor at hand gives dq/du. If that was a long step, its end is where
the stiffness is factorised, once. From there Newton's method goes on with the same factor (chord steps, mixed by
Anderson's method: a force and a back-substitution each) for as long as every step is a fraction of the last, and
factorises anew where not. The sparsity of a model is analysed once, its factorisations share that.

For commands near each other: samples of a workspace, datasets, paths. Without contact; what does not converge is left
to `equilibrium`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.algebra.anderson import Anderson
from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.checks import count, positive
from pliant.errors import PliantError
from pliant.solve.balance import inverted
from pliant.solve.commands import CommandLike, check_state, command_vector, impossible
from pliant.solve.complementarity import solve_contact
from pliant.solve.equilibrium import equilibrium
from pliant.solve.newton import factorise_any
from pliant.solve.problem import Problem
from pliant.state import State, Status

Array = np.ndarray
Rescue = Callable[[Array, State | None], State]
#: A chord step longer than this part of the one before ends the use of its factor.
CONTRACTION = 0.4
#: Longest step, in parts of the robot's size. Longer ones are taken in parts, each with a new factor.
STRIDE = 0.1
#: After a step longer than this part of the robot's size the factor is made anew: chord steps would lead astray.
LONG = 5e-3
#: Steps longer than this part of the robot's size are carried out with their rotations exact.
TURNED = 3e-4


class Tracer:
    """Follows the equilibria of a model from command to command.

    Args:
        model: any mechanical model.
        start: a state to start from; the rest pose if None.
        tolerance: last step relative to the robot's size [-].
        rescue: command and start to a state, where tracing fails; `equilibrium` by default.
        iterations: most steps per command before that.
    """

    def __init__(
        self,
        model: Any,
        *,
        start: State | None = None,
        tolerance: float = 1e-8,
        rescue: Rescue | None = None,
        iterations: int = 25,
    ) -> None:
        self.model, self.tolerance = model, positive("tolerance", tolerance)
        self.iterations = count("iterations", iterations)
        self.problem = Problem(model)
        check_state(model, start, "start")
        self.driven = self.problem.driven
        self.rescue = rescue or (lambda u, state: equilibrium(model, u, start=state))
        self._advance: Callable[[Array, Array], Array] = getattr(model, "advance", model.retract)
        self._weight = float(np.abs(model.force(model.rest, np.zeros(model.nu))).max(initial=0.0))
        self._factor: Any = None
        self._loose: Array | None = None  # cables that were slack in the last step
        self.factorisations = self.forces = self.rescues = 0
        self.state = start

    def solve(self, u: CommandLike) -> State:
        """The equilibrium at a command, started from the last one that was found."""
        begin = time.perf_counter()
        target = command_vector(self.model.robot, u, None if self.state is None else self.state.u)
        known = self._factor is not None
        refused = bool(impossible(self.model, target))
        found = None if refused else self._trace(target)
        if found is None and known and not refused:
            self._factor = None  # with a factor of the pose that it starts from the first step is a better one
            found = self._trace(target)
        if found is None:
            self.rescues += 1
            self._factor = None
            found = self.rescue(target, self.state)
            if not found.ok and not refused and self.state is not None:
                found = self.rescue(target, None)
        if found.ok:
            self.state = found
        return found.but(elapsed=time.perf_counter() - begin)

    # ---- one command -----------------------------------------------------------------------------------
    def _trace(self, u: Array) -> State | None:
        model, driven, length = self.model, self.driven, self.problem.length
        q = np.array(model.rest if self.state is None else self.state.q, dtype=float)
        effort = np.zeros(model.nu) if self.state is None else np.array(self.state.effort, dtype=float)
        effort[~driven] = u[~driven]
        last = np.inf
        stale = self._factor is None
        history, taut = Anderson(4), np.zeros(0, dtype=bool)
        for used in range(1, self.iterations + 1):
            if stale and not self._factorise(q, effort):
                return None
            force = model.force(q, effort)
            self.forces += 1
            error = model.displacement(q)[driven] - u[driven]
            dq, change = self._step(force, error, effort[driven])
            size = float(np.abs(dq).max(initial=0.0))
            if size > CONTRACTION * last and not stale:  # the factor has served its time
                if not self._factorise(q, effort):
                    return None
                stale = True
                dq, change = self._step(force, error, effort[driven])
                size = float(np.abs(dq).max(initial=0.0))
            if not np.isfinite(size) or (stale and size > 3.0 * last):
                return None
            part = min(1.0, STRIDE * length / max(size, 1e-300))
            pulling = effort[driven] + change > 0.0
            if stale or size > LONG * length or not np.array_equal(pulling, taut):
                history.restart()  # steps with another factor, or other cables, do not belong together
            taut = pulling
            if size <= self.tolerance * length:
                return self._finish(model.retract(q, dq), effort + self._spread(change), u, used)
            mixed = history.step(np.concatenate([part * dq, part * change * self._reach]))
            q = (self._advance if size > TURNED * length else model.retract)(q, mixed[: len(dq)])
            effort = effort + self._spread(mixed[len(dq) :] / self._reach)
            # after a long step the old factor is of no use, and the rest of the way is a new beginning
            stale = size > LONG * length
            last = np.inf if stale else size
        return None

    def _factorise(self, q: Array, effort: Array) -> bool:
        model = self.model
        self._factor = None
        for share in (1.0, 0.8):  # efforts that a long step predicts are too large: they would soften too much
            try:
                self._factor = factorise_any(model.stiffness(q, np.where(self.driven, share * effort, effort)))
                break
            except (NotPositiveDefinite, PliantError):
                continue
        if self._factor is None:
            return False
        self.factorisations += 1
        self._rows = model.displacement_rows(q)[self.driven]
        columns = model.actuation(q, effort)[:, self.driven]
        self._flexibility = self._factor.solve(columns) if columns.size else columns
        self._compliance = self._rows @ self._flexibility
        reach = np.abs(self._flexibility).max(axis=0, initial=0.0)  # how far each effort moves the body, per unit
        self._reach = np.where(reach > 0.0, reach, 1.0)
        return True

    def _spread(self, change: Array) -> Array:
        """Changes of the driven efforts among all efforts (nu,)."""
        out = np.zeros(self.model.nu)
        out[self.driven] = change
        return out

    def _step(self, force: Array, error: Array, effort: Array) -> tuple[Array, Array]:
        """Newton's step with the factor at hand: motion, and change of the driven efforts. Cables do not push."""
        dq = self._factor.solve(force)
        if not len(error):
            return dq, error
        left = error + self._rows @ dq
        slackable = self.problem.slackable
        change = None
        if self._loose is not None and self._loose.any():
            change = self._with_slack(left, effort, self._loose)  # most often it is the same cables again
        if change is None:
            change = np.linalg.lstsq(self._compliance, -left, rcond=None)[0]
            if (slackable & (effort + change < 0.0)).any():
                lower = np.where(slackable, 0.0, -np.inf)
                found = solve_contact(
                    self._compliance, left - self._compliance @ effort, lower=lower, upper=np.full(len(lower), np.inf),
                    start=np.maximum(effort, lower), tolerance=1e-12,
                )  # fmt: skip
                change = found.force - effort
            self._loose = slackable & (effort + change <= 0.0)
        return dq + self._flexibility @ change, change

    def _with_slack(self, left: Array, effort: Array, loose: Array) -> Array | None:
        """Changes of the efforts if exactly these cables are slack; None if others would have to be."""
        taut = ~loose
        change = np.where(loose, -effort, 0.0)
        W = self._compliance
        if taut.any():
            known = left[taut] + W[np.ix_(taut, loose)] @ change[loose]
            change[taut] = np.linalg.lstsq(W[np.ix_(taut, taut)], -known, rcond=None)[0]
        gap = (left + W @ change)[loose]
        pulls = (effort + change)[taut & self.problem.slackable]
        return change if (gap >= 0.0).all() and (pulls > 0.0).all() else None

    def _finish(self, q: Array, effort: Array, u: Array, used: int) -> State | None:
        model, driven = self.model, self.driven
        displacement = model.displacement(q)
        force = model.force(q, effort)
        pushed = model.actuation(q, effort) @ effort if model.nu else np.zeros(model.nv)
        scale = max(float(np.abs(pushed).max(initial=0.0)), self._weight, 1e-12)
        loose = self.problem.slackable & (effort[driven] <= 0.0)
        loose &= displacement[driven] > u[driven] + 1e-9 * self.problem.length
        names = np.array(model.robot.actuator_names)[driven][loose]
        if inverted(model, q):  # another way there may end better, and can tell
            return None
        return State(
            q=q, v=np.zeros(model.nv), u=u, effort=effort, displacement=displacement,
            status=Status.SLACK if len(names) else Status.CONVERGED,
            residual=float(np.abs(force).max(initial=0.0)) / scale, iterations=used,
            time=0.0 if self.state is None else self.state.time,
            notes=("slack: " + ", ".join(names),) if len(names) else (),
        )  # fmt: skip


def nearest_order(u: Array) -> list[int]:
    """Indices of commands (n, nu) in an order in which each is the nearest one not yet visited; the smallest first."""
    size = np.ptp(u, axis=0)
    x = u / np.where(size > 0, size, 1.0)
    left = np.ones(len(u), dtype=bool)
    i = int(np.argmin(np.linalg.norm(x - np.where(size > 0, 0.0, x[0]), axis=1)))
    order = []
    for _ in range(len(u)):
        order.append(i)
        left[i] = False
        distance = np.where(left, np.linalg.norm(x - x[i], axis=1), np.inf)
        i = int(np.argmin(distance))
    return order
