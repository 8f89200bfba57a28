"""One linearisation of the inverse: condense the mechanics, solve the small problem, take a step to be trusted."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pliant.contact.contacts import ContactState
from pliant.inverse.answer import MET, verdict
from pliant.inverse.condense import Condensed, condense
from pliant.inverse.qpcc import FRICTIONLESS, OPEN, QPCC, QPCCSolution, QPCCStatus, solve_qpcc
from pliant.inverse.qpcc_problem import held_response
from pliant.inverse.redundancy import least_effort
from pliant.inverse.work import Options, Work, problem_of
from pliant.solve.commands import travel
from pliant.solve.problem import Problem
from pliant.solve.step_length import within_reach
from pliant.state import Status

Array = np.ndarray
_PATIENCE = 6  # iterations without a shorter step before the safe ones take over
_FAR = 0.02  # of the robot's size: after larger steps contact forces are not to be relied on
_NOISE = 1e-7  # of the robot's size: several steps below this in a row end the iteration too
_STEP = 1e-9  # of the robot's size: a smaller step ends the iteration


def condensed_at(setting: Problem, mechanics: Any, work: Work, options: Options) -> Condensed | None:
    """Linearise and condense at the present configuration; None if it is inadmissible."""
    clock = time.perf_counter()
    work.contacts = setting.detect(work.q, work.contacts)
    work.spend("detection", time.perf_counter() - clock)
    clock = time.perf_counter()
    unbalanced, matrix = mechanics.linearise(work.q, work.effort)
    if not np.isfinite(unbalanced).all():
        return None
    # Contact forces turn as the robot moves. After a large step they are guesses that would only mislead the next one.
    settled = not work.moved > _FAR * setting.length
    total = setting.tangent(work.q, matrix, work.contacts) if settled else matrix
    work.spend("assembly", time.perf_counter() - clock)
    for convex in (False, True):
        condensed = condense(
            setting.model, work.q, work.effort, unbalanced, total, options.targets, options.rest,
            contacts=work.contacts, frictional=options.sticking, prescribed=options.fixed_displacement,
            previous=options.previous, dt=options.dt, holding=setting.holding,
        )  # fmt: skip
        setting.holding = condensed.holding
        if condensed.stable or convex or total is matrix:
            break
        total = setting.tangent(work.q, matrix, work.contacts, convex=True)
    work.turned = None if total is matrix else lambda dq: total @ dq - matrix @ dq
    for phase, seconds in condensed.timing.items():
        work.spend(phase, seconds)
    return condensed


def solved_qpcc(
    condensed: Condensed, work: Work, options: Options, shift: Any, remain: float = 0.0
) -> tuple[QPCC, QPCCSolution, Array, Array]:
    """Solve the QPCC of a linearisation: the problem, its solution, efforts and contact forces.

    `shift` moves the goal towards the present; `remain` is the part of present penetrations, and of rows that must
    hold, that may stay.
    """
    clock = time.perf_counter()
    qpcc = problem_of(condensed, work, options, shift, remain)
    warm = None
    if work.contacts is not None and len(work.contacts):
        pressing = work.contacts.forces > 0
        if work.held is not None:
            pressing |= np.isin(work.contacts.key, work.held)
        warm = pressing.astype(np.int8) if pressing.any() else None
    solution = solve_qpcc(qpcc, search=options.search, start=work.effort, contact_set=warm)  # type: ignore[arg-type]
    if solution.status is QPCCStatus.INFEASIBLE and options.search == "local" and len(qpcc.dc):
        # no contact set near the start holds: that need not be so for others
        solution = solve_qpcc(qpcc, search="multistart", start=work.effort, starts=4)
    effort, contact = solution.effort, solution.contact
    if options.least:
        effort, contact = least_effort(qpcc, solution)
        if work.turns > 8:  # the energy is that of a linearisation: where its least goes back and forth, go half way
            effort, contact = 0.5 * (effort + solution.effort), 0.5 * (contact + solution.contact)
    work.spend("qp", time.perf_counter() - clock)
    return qpcc, solution, effort, contact


def iterate(setting: Problem, mechanics: Any, work: Work, options: Options, *, careful: bool) -> Status | None:
    """One linearisation: condense, solve, move. A status when the iteration ends, None to go on."""
    condensed = condensed_at(setting, mechanics, work, options)
    if condensed is None:
        return Status.INVERTED
    work.turns += 1
    now = condensed.now
    fraction, proximal = 1.0, work.proximal
    # Without contacts Newton's method finds back by itself from steps that stretch a slender body; a test of each step
    # would make them ten times shorter. Contacts open and close for ever without one.
    open_before = careful and (work.contacts is None or not (work.contacts.forces > 0.0).any())
    plain = False
    for attempt in range(8):
        # Over a time step the body moves by itself: a goal nearer to the present would brake it. There, a shorter step
        # is one that changes the efforts less.
        part = 1.0 if mechanics.inertial else fraction
        qpcc, solution, effort, contact = solved_qpcc(condensed, work, options, (1.0 - part) * now, 1.0 - part)
        dq = condensed.step(effort, contact)
        size = travel(setting.model, dq)
        if not np.isfinite(size):
            return Status.DIVERGED
        near = size <= 2e-3 * setting.length or not options.least  # the least efforts of far poses tell little
        if careful and near and attempt == 0 and mechanics.inertial and not condensed.springs:
            better = work.acceleration.mixed(work.effort, effort, contact, qpcc)
            if better is not None:
                effort, contact = better
                dq = condensed.step(effort, contact)
        stroke = condensed.displacement.value(effort, contact)
        effort, contact = condensed.true_effort(effort, contact), condensed.true_contact(effort, contact)
        plain = work.daring and not mechanics.inertial and open_before and not contact.any()
        small = size <= 1e-4 * setting.length
        if not careful or small or (plain and _admissible(setting, mechanics, work, dq, effort)):
            break
        if not plain and _predictable(setting, mechanics, condensed, work, dq, effort, contact):
            break
        if attempt == 6 and not mechanics.inertial:
            return Status.STALLED
        if attempt == 6:
            break  # with the efforts as they were it is a plain Newton step of the forward problem
        fraction *= 0.4
        if mechanics.inertial:
            work.proximal = 4.0 * max(work.proximal, 0.1)  # at one the change of efforts is halved
    work.proximal = proximal
    part = setting.furthest(work.q, dq)
    if plain and careful:
        work.dared = True
        part = min(part, within_reach(setting, dq))
        cost = float(now @ now)
        work.waited = 0 if size < 0.9 * work.shortest or cost < 0.1 * work.lowest else work.waited + 1
        work.shortest, work.lowest = min(size, work.shortest), min(cost, work.lowest)
        if work.waited > _PATIENCE:
            return Status.STALLED
    if part < 1.0:
        dq, fraction = part * dq, min(fraction, part)
        effort = work.effort + part * (effort - work.effort)
        stroke = condensed.coordinate + part * (stroke - condensed.coordinate)
    work.q, work.moved = mechanics.move(work.q, dq), min(part, 1.0) * size
    work.effort = effort
    work.problem, work.solution, work.condensed, work.stroke = qpcc, solution, condensed, stroke
    _carry(work, contact, options.rows, solution)
    if not careful:
        return Status.SINGLE
    reached = float(np.abs(now).max(initial=0.0)) <= MET * setting.length
    tolerance = _STEP if reached or condensed.exact.free.size else 1e-7
    # Curved contacts converge linearly and end in rounding noise: a few small steps in a row will do as well.
    work.small = work.small + 1 if fraction == 1.0 and size <= _NOISE * setting.length else 0
    # A time step needs no stability: a body that only contacts hold has an indefinite matrix without them.
    stable = condensed.stable or mechanics.inertial
    if fraction == 1.0 and (size <= tolerance * setting.length or work.small >= 4) and stable:
        if setting.overlooked(work.q, work.contacts):
            work.small = 0  # in balance, but not with what touches
            return None
        return verdict(setting, work, options)
    _adapt(work, now, fraction)
    return None


def _carry(work: Work, contact: Array, rows: int, solution: QPCCSolution) -> None:
    """Put contact forces into the contacts they belong to."""
    if work.contacts is not None and len(work.contacts):
        forces = contact.reshape(-1, rows)
        tangential = forces[:, 1:] if rows == 3 else np.zeros((len(forces), 2))
        work.contacts = work.contacts.with_forces(forces[:, 0], tangential)
        work.held = work.contacts.key[solution.contact_set != OPEN]
        slid = solution.contact_set == FRICTIONLESS
        if rows == 3 and slid.any():  # what slid is not held to where it was
            states = np.where(slid, np.int8(ContactState.SLIDE), work.contacts.states)
            work.contacts = work.contacts.with_forces(forces[:, 0], tangential, states)


def _predictable(
    setting: Problem, mechanics: Any, condensed: Condensed, work: Work, dq: Array, effort: Array, contact: Array
) -> bool:
    """Whether the linear prediction is good enough: the correction after the step is much smaller than the step.

    Contacts that press hold in the correction too: forces that they take up at once are none of its concern.
    """
    q = mechanics.move(work.q, dq, keep=False)
    unbalanced = mechanics.residual(q, effort, dq)
    if not np.isfinite(unbalanced).all():
        return False
    if work.turned is not None:
        unbalanced = unbalanced - work.turned(dq)
    correction = condensed.correction(unbalanced, contact)
    pressing = np.flatnonzero(contact)
    if len(pressing):
        frictional = len(contact) > len(work.contacts)
        H = (work.contacts.frictional_rows if frictional else work.contacts.rows)(setting.model, work.q)[pressing]
        push = np.zeros(len(contact))
        W = condensed.contact.contact[np.ix_(pressing, pressing)]
        push[pressing] = held_response(W, -(H @ correction))
        correction = correction + condensed.correction(np.zeros(len(correction)), push)
    return float(np.linalg.norm(correction)) <= 0.7 * float(np.linalg.norm(dq))


def _admissible(setting: Problem, mechanics: Any, work: Work, dq: Array, effort: Array) -> bool:
    """Whether there are forces after a step (or the part of it that is taken): elements may turn inside out."""
    if not hasattr(setting.model, "inverted"):
        return True
    part = within_reach(setting, dq)
    return bool(np.isfinite(mechanics.residual(mechanics.move(work.q, part * dq, keep=False), effort, None)).all())


def _adapt(work: Work, now: Array, fraction: float) -> None:
    """Levenberg-Marquardt: more proximal weight when the goal gets worse, less when it gets better."""
    cost = float(now @ now)
    if work.cost is not None and cost > work.cost * (1 + 1e-9) and fraction == 1.0:
        work.proximal = min(work.proximal * 10.0, 1e2)
    else:
        work.proximal = max(work.proximal * 0.3, 1e-9)
    work.cost = cost
