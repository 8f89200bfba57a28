"""The answer of `invert`: how good it is, and everything that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.inverse.limits import Excess, exceeded, excesses
from pliant.inverse.qpcc import QPCCStatus
from pliant.inverse.qpcc_problem import friction_ratio
from pliant.inverse.snapshot import Values
from pliant.inverse.targets import Target
from pliant.inverse.work import Options, Work, notices
from pliant.solve.problem import Problem
from pliant.state import Command, State, Status

Array = np.ndarray
MET = 1e-6  # of the robot's size: a target closer than this counts as met
_BROKEN = 1e-6  # limits exceeded by more than this, relative, are broken
_SLIPS = 1e-6  # of all normal forces: tangential forces that exceed friction by more than this make a contact slip


def limits_exceeded(setting: Problem, options: Options, at: Any) -> dict[str, Excess]:
    """Limits that a state exceeds, and by how much."""
    return excesses(options.limits, setting.model, at.q, at.effort, at.contacts, options.previous, options.dt)


def broken(setting: Problem, options: Options, at: Any) -> list[str]:
    """Which limits a state breaks by more than rounding, in words."""
    return [
        f"the {name} exceeds its limit of {e.bound:.4g} by {e.amount:.3g}"
        for name, e in limits_exceeded(setting, options, at).items()
        if e.relative > _BROKEN
    ]


def are_met(setting: Problem, work: Work, targets: Sequence[Target]) -> bool:
    """Whether all these targets are met, by their own units and not by their weights."""
    seen = Values(setting.model, work.q)
    rows = [t.evaluate(seen, work.q, work.effort, work.contacts) for t in targets]
    return all(float(np.abs(r.value * r.metre).max(initial=0.0)) <= MET * setting.length for r in rows)


def verdict(setting: Problem, work: Work, options: Options) -> Status:
    """The status of a solution that no longer moves."""
    assert work.solution is not None
    if work.solution.status is QPCCStatus.INFEASIBLE:
        return Status.STALLED
    if work.solution.status is QPCCStatus.RELAXED:
        # what the answer breaks is not quite what its last linearisation had to; equalities are no limits
        work.notes.extend(broken(setting, options, work) or notices(work, setting.model))
        return Status.RELAXED
    if over := broken(setting, options, work):
        work.notes.extend(over)
        return Status.RELAXED
    if are_met(setting, work, options.targets):
        return Status.CONVERGED
    contacts = work.contacts is not None and len(work.contacts) > 0
    local = contacts and work.solution.status not in (QPCCStatus.GLOBAL,)
    return Status.LOCAL if local else Status.UNREACHABLE


def stuck(setting: Problem, contacts: Any) -> tuple[float, list[str]]:
    """The largest ratio of tangential to normal forces of sticking contacts, and in words where it is too large.

    Where no obstacle has friction, contacts were told to stick whatever it is: there is nothing to compare with.
    """
    force = np.column_stack([contacts.forces, contacts.tangential])
    ratio = friction_ratio(force.ravel(), 3)
    worst = float(ratio.max(initial=0.0))
    mu = contacts.friction
    if not setting.rough:
        return worst, []
    over = np.hypot(force[:, 1], force[:, 2]) - mu * force[:, 0]
    slips = over > _SLIPS * float(contacts.forces.sum())
    out = []
    for index in np.unique(contacts.obstacle[slips]):
        here = slips & (contacts.obstacle == index)
        most = np.argmax(np.where(here, ratio, -1.0))
        name = setting.obstacles[index].name
        out.append(f"contacts with {name} would slip: they need friction {ratio[most]:.3g}, there is {mu[most]:.3g}")
    return worst, out


def command_of(
    setting: Problem,
    mechanics: Any,
    work: Work,
    options: Options,
    status: Status,
    count: int,
    elapsed: float,
) -> Command:
    """Put everything together."""
    model = setting.model
    single = status is Status.SINGLE
    if single and work.stroke is not None:
        displacement = work.stroke
        if work.solution is not None and not work.solution.status.success:
            work.notes.extend(notices(work, model) or [str(work.solution.status.value)])
        if not work.notes:
            work.notes.extend(exceeded(options.bounds, model.robot, work.effort, displacement))
        if work.notes:
            status = Status.RELAXED
    else:
        displacement = model.displacement(work.q)
    seen = Values(model, work.q)
    rows = [t.evaluate(seen, work.q, work.effort, work.contacts) for t in options.targets]
    notes = list(work.notes)
    if options.sticking and work.contacts is not None and len(work.contacts):
        worst, slips = stuck(setting, work.contacts)
        if worst > 0:
            notes.append(f"largest tangential to normal contact force: {worst:.2f}")
        notes.extend(slips)
        if slips and status.ok and options.coulomb:
            status = Status.RELAXED
    driven = setting.driven
    state = State(
        q=work.q,
        v=mechanics.velocity(),
        u=np.where(driven, displacement, work.effort),
        effort=work.effort,
        displacement=displacement,
        time=mechanics.time,
        contacts=work.contacts,
        status=status,
        residual=work.moved / setting.length if single else _residual(mechanics, work, setting.length),
        iterations=count,
        elapsed=elapsed,
        factor=None if work.condensed is None else work.condensed.factor,
        memory=mechanics.memory(),
    )
    if state.ok and (flag := getattr(model, "flag", None)) is not None:
        state = flag(state)  # a fitted model says where it is used beyond what it was fitted on
        status, notes = state.status, [*notes, *state.notes]
    return Command(
        u=state.u,
        effort=work.effort,
        displacement=displacement,
        state=state,
        error=np.concatenate([r.value for r in rows]),
        status=status,
        iterations=count,
        elapsed=elapsed,
        problem=work.problem,
        solution=work.solution,
        timing=dict(work.timing),
        notes=tuple(dict.fromkeys(notes)),
    )


def _residual(mechanics: Any, work: Work, length: float) -> float:
    """Size of the Newton correction that remains, relative to the size of the pose [-]."""
    if work.condensed is None:
        return float("nan")
    left, contacts = mechanics.residual(work.q, work.effort, None), work.contacts
    if contacts is not None and contacts.forces.any():
        if contacts.tangential.any():
            H = contacts.frictional_rows(mechanics.model, work.q)
            left = left + H.T @ np.column_stack([contacts.forces, contacts.tangential]).ravel()
        else:
            left = left + contacts.rows(mechanics.model, work.q).T @ contacts.forces
    correction = work.condensed.compliance.solve(left)
    return float(np.abs(correction).max()) / length
