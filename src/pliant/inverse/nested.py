"""Nested iteration: every trial is brought to its own equilibrium, and only trials that lower the cost are taken.

Slower than the all-at-once iteration of `invert`, and safe: the cost falls monotonically to a stationary point. It
is what `invert` falls back to when a target is far out of reach or the mechanics is too far from linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.inverse.answer import limits_exceeded
from pliant.inverse.qpcc import QPCC, QPCCSolution
from pliant.inverse.redundancy import contact_response
from pliant.inverse.targets import Target
from pliant.inverse.work import Options
from pliant.solve.commands import travel
from pliant.solve.equilibrium import settle
from pliant.solve.problem import Problem
from pliant.state import State, Status

Array = np.ndarray
_STEP = 1e-9  # of the robot's size: a smaller step ends the iteration
_NOISE = 1e-7  # of the robot's size: a step that short that gains nothing ends it too
_IDLE = 1e-6  # of the cost: three gains in a row that are smaller end it
_HELD = 1e-7  # limits exceeded by less than this, relative, count as held


@dataclass(frozen=True, eq=False)
class Proposal:
    """Where a linearisation wants to go: its QPCC, the solution, the step (nv,), the strokes then (nu,), the cost."""

    problem: QPCC
    solution: QPCCSolution
    dq: Array
    stroke: Array
    foreseen: float


def target_cost(model: Any, targets: Sequence[Target], state: Any) -> float:
    """Half the sum of squares of the weighted objective rows at a state."""
    rows = [t.evaluate(model, state.q, state.effort, state.contacts) for t in targets]
    return 0.5 * sum(float(((r.value * r.weight) ** 2).sum()) * (1e6 if r.exact else 1.0) for r in rows)


class Equilibria:
    """The equilibria of a robot, one for each choice of the efforts, and how good they are.

    Args:
        setting: model and surroundings.
        options: what is wanted and allowed.
    """

    def __init__(self, setting: Problem, options: Options) -> None:
        self.setting, self.options = setting, options
        model = setting.model
        # Without its displacement a body on a slide is not held at all; what is prescribed holds at every trial.
        self._fixed = {**options.closed, **options.fixed_displacement}
        self._slides = [i for i, a in enumerate(model.robot.actuators) if a.kind == "slide" and i not in self._fixed]

    def at(self, q: Array, effort: Array, contacts: Any, stroke: Array | None = None, *, follow: bool) -> State:
        """The equilibrium at efforts; `follow`: go far for it.

        Slides are held at their strokes (those of q if None). So is what a stroke brings to its limit (at its effort it
        would pass that, by as much as the mechanics is not linear), and what is driven by displacement and pulls: near
        a limit point there is no equilibrium at a slightly larger effort, but there is one at a larger stroke.
        """
        low, high = self.options.bounds["displacement"]
        held = dict(self._fixed)
        if stroke is not None:
            margin = 1e-9 * np.maximum(np.where(np.isfinite(low), np.abs(low), 0.0), np.abs(stroke))
            by_stroke = (stroke <= low + margin) | (stroke >= high - margin)
            least, most = self.options.bounds["effort"]
            inside = 1e-6 * float(np.abs(effort).max(initial=0.0))
            by_stroke |= self.setting.driven & (effort > least + inside) & (effort < most - inside)
            for i in np.flatnonzero(by_stroke).tolist():
                held.setdefault(i, float(np.clip(stroke[i], low[i], high[i])))
        for i in self._slides:
            now = self.setting.model.displacement(q)[i] if stroke is None else stroke[i]
            held[i] = float(np.clip(now, low[i], high[i]))
        return settle(self.setting, q, effort, contacts, follow=follow, held=held)

    def missed(self, state: State) -> Array:
        """Rows that must hold, in the order of a condensed problem: zero where they do."""
        model, options = self.setting.model, self.options
        rows = [t.evaluate(model, state.q, state.effort, state.contacts) for t in options.targets]
        stroke = model.displacement(state.q)
        prescribed = [stroke[i] - value for i, value in options.fixed_displacement.items()]
        return np.concatenate([*(r.value for r in rows if r.exact), prescribed])

    def corrected(self, trial: State, proposal: Proposal, condensed: Any) -> State:
        """A trial brought back to where the rows that must hold do, by least changes of efforts that are free to.

        A linearisation leaves them to second order; if that counted against a trial, steps along a curved set of
        answers would become very short.
        """
        solution, problem, options = proposal.solution, proposal.problem, self.options
        if not condensed.exact.free.size:
            return trial
        Z, _ = contact_response(problem, solution)
        rows = condensed.exact.effort + condensed.exact.contact @ Z
        strokes = condensed.displacement.effort + condensed.displacement.contact @ Z
        unit = 1.0 / np.sqrt(np.maximum(np.diag(condensed.displacement.effort), 1e-300))
        free = np.ones(len(unit), dtype=bool)
        for quantity, value in (("effort", solution.effort), ("displacement", proposal.stroke)):
            low, high = options.bounds[quantity]
            free &= (value > low) & (value < high)
        inverse = np.linalg.pinv(rows * unit * free, rcond=1e-8)
        effort, stroke = solution.effort.copy(), proposal.stroke.copy()
        missed = self.missed(trial)
        for _ in range(4):
            if np.abs(missed).max() <= 1e-10 * self.setting.length:
                break
            change = -unit * free * (inverse @ missed)
            effort, stroke = effort + change, stroke + strokes @ change
            again = self.at(trial.q, effort, trial.contacts, stroke, follow=False)
            if not again.ok:
                break
            left = self.missed(again)
            if np.linalg.norm(left) > 0.7 * np.linalg.norm(missed):
                break
            trial, missed = again, left
        return trial

    def cost(self, state: State) -> float:
        """What is minimised."""
        return target_cost(self.setting.model, self.options.targets, state)

    def excess(self, state: State) -> float:
        """By how much a state exceeds the limits [-]."""
        return max((e.relative for e in limits_exceeded(self.setting, self.options, state).values()), default=0.0)

    def rank(self, state: State) -> tuple[bool, float]:
        """The lower, the better: limits come first."""
        return self.excess(state) > 1e-6, self.cost(state)


def descend(
    equilibria: Equilibria,
    state: State,
    linearised: Callable[[State], Any],
    solved: Callable[[Any, float], Proposal],
    *,
    iterations: int,
) -> tuple[State, Proposal | None, Any, Status, int]:
    """Levenberg-Marquardt over equilibria. Where limits are exceeded, lowering that comes first.

    Args:
        equilibria: of the robot.
        state: an equilibrium to start from.
        linearised: condenses the mechanics at an equilibrium.
        solved: solves the QPCC of a condensed problem with a proximal weight.
        iterations: outer iterations allowed; twice as many trials are settled at most.

    Returns:
        (state, last proposal, condensed problem, status, iterations); the status is CONVERGED when no step lowers
        the cost any further.
    """
    setting, model = equilibria.setting, equilibria.setting.model
    cost, over = equilibria.cost(state), equilibria.excess(state)
    proximal, trials = 1e-6, 2 * iterations
    proposal, condensed, idle = None, None, 0
    for count in range(1, iterations + 1):
        condensed = linearised(state)
        moved, last, refused = False, np.inf, False
        for _ in range(16):
            proposal = solved(condensed, proximal)
            if not proposal.solution.status.success and not proposal.solution.notices:
                return state, proposal, condensed, Status.STALLED, count
            size = travel(model, proposal.dq)
            if not np.isfinite(size):
                return state, proposal, condensed, Status.DIVERGED, count
            if size <= _STEP * setting.length:
                return state, proposal, condensed, Status.CONVERGED, count
            if size <= 0.25 * setting.length and size < 0.99 * last and setting.furthest(state.q, proposal.dq) == 1.0:
                if trials == 0:
                    return state, proposal, condensed, Status.MAX_ITERATIONS, count
                trials, last = trials - 1, size
                q, effort = model.retract(state.q, proposal.dq), proposal.solution.effort
                trial = equilibria.at(q, effort, state.contacts, proposal.stroke, follow=False)
                if trial.ok:
                    trial = equilibria.corrected(trial, proposal, condensed)
                    new, new_over = equilibria.cost(trial), equilibria.excess(trial)
                    better = new < cost * (1.0 - 1e-12) and new_over <= max(over, _HELD)
                    if better or (over > _HELD and new_over < 0.9 * over):
                        moved = True
                        break
                    if size <= _NOISE * setting.length and over <= _HELD:
                        return state, proposal, condensed, Status.CONVERGED, count  # what is left is rounding
                refused = True
            proximal = min(max(proximal * 8.0, 1e-8), 1e6)
        if not moved or proposal is None:
            return state, proposal, condensed, Status.CONVERGED, count
        idle = idle + 1 if over <= _HELD and cost - new <= _IDLE * cost else 0
        done = over <= _HELD and (cost - new <= 1e-12 * cost or idle >= 3)
        # the gain against the one foreseen tells how far the linearisation can be trusted
        gain = (cost - new) / max(cost - proposal.foreseen, 1e-300)
        state, cost, over = trial, new, new_over
        if done:
            return state, proposal, condensed, Status.CONVERGED, count
        # what was refused from here would be refused from there, too
        proximal = 4.0 * proximal if gain <= 0.2 else proximal if refused or gain <= 0.6 else max(proximal / 8.0, 1e-10)
    return state, proposal, condensed, Status.MAX_ITERATIONS, iterations


class Curvature:
    """What the second derivatives of target rows add to the Hessian of the cost, learned from step to step.

    Where a target is out of reach its rows r do not vanish, and neither does sum_i r_i d^2 r_i / da^2, which
    linearisations leave out: they then converge slowly. It is found from the exact gradients at the equilibria that are
    visited (the structured secant update of Dennis, Gay and Welsch).
    """

    def __init__(self) -> None:
        self._S: Array | None = None
        self._seen: tuple[Array, Array, bytes, Array] | None = None

    def learn(self, effort: Array, rows: Array, value: Array, unit: Array, contacts: bytes) -> Array:
        """Take in an equilibrium; returns rows R (k, na), so that R^T R is the part of the Hessian that is positive.

        Args:
            effort: efforts there (na,).
            rows: derivatives of the weighted target rows by the efforts (m, na).
            value: the rows (m,).
            unit: efforts of unit energy (na,), as a scale.
            contacts: the contact set; what was learned at another one is forgotten.
        """
        na = len(effort)
        if self._S is None or self._seen is None or self._seen[2] != contacts or self._seen[1].shape != rows.shape:
            self._S = np.zeros((na, na))
        else:
            s = (effort - self._seen[0]) / unit
            y = unit * ((rows - self._seen[1]).T @ value)
            own = float(s @ self._S @ s)
            if abs(own) > abs(float(s @ y)):
                self._S = self._S * (abs(float(s @ y)) / abs(own))
            v = y - self._S @ s
            # least change in the metric of the whole Hessian, which the change w of the gradient stands for
            w = unit * (rows.T @ value - self._seen[3])
            if float(w @ s) <= 1e-6 * float(np.linalg.norm(w) * np.linalg.norm(s)):
                w = s
            size = float(w @ s)
            if size > 0.0:
                self._S = self._S + (np.outer(v, w) + np.outer(w, v)) / size - (v @ s) * np.outer(w, w) / size**2
        self._seen = (effort.copy(), rows.copy(), contacts, rows.T @ value)
        values, axes = np.linalg.eigh(0.5 * (self._S + self._S.T))
        most = 1e2 * float(np.einsum("ij,ij->", rows * unit, rows * unit))
        up = values > 1e-9 * max(most, 1e-300)
        return np.sqrt(np.minimum(values[up], most))[:, None] * axes[:, up].T / unit
