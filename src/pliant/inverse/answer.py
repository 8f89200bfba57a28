"""The answer of `invert`: how good it is, and everything that belongs to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.inverse.limits import violations
from pliant.inverse.qpcc import QPCCStatus
from pliant.inverse.snapshot import Values
from pliant.inverse.targets import Target
from pliant.inverse.work import Options, Work, notices
from pliant.solve.problem import Problem
from pliant.state import Command, State, Status

Array = np.ndarray
MET = 1e-6  # of the robot's size: a target closer than this counts as met
_BROKEN = 1e-6  # limits exceeded by more than this, relative, are broken


def broken_limits(setting: Problem, options: Options, at: Any) -> dict[str, float]:
    """Limits that a state exceeds, and by how much of them [-]."""
    return violations(options.limits, setting.model, at.q, at.effort, at.contacts, options.previous, options.dt)


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
        work.notes.extend(notices(work, setting.model))
        return Status.RELAXED
    broken = {k: v for k, v in broken_limits(setting, options, work).items() if v > _BROKEN}
    if broken:
        work.notes.extend(f"the {name} exceeds its limit by {v:.2g} of it" for name, v in broken.items())
        return Status.RELAXED
    if are_met(setting, work, options.targets):
        return Status.CONVERGED
    contacts = work.contacts is not None and len(work.contacts) > 0
    local = contacts and work.solution.status not in (QPCCStatus.GLOBAL,)
    return Status.LOCAL if local else Status.UNREACHABLE


def command_of(
    setting: Problem,
    mechanics: Any,
    work: Work,
    targets: Sequence[Target],
    status: Status,
    count: int,
    iterations: int,
    elapsed: float,
) -> Command:
    """Put everything together."""
    model = setting.model
    single = status is Status.SINGLE
    if single and work.stroke is not None:
        displacement = work.stroke
        if work.solution is not None and not work.solution.status.success:
            work.notes.extend(notices(work, model) or [str(work.solution.status.value)])
            status = Status.RELAXED
    else:
        displacement = model.displacement(work.q)
    seen = Values(model, work.q)
    rows = [t.evaluate(seen, work.q, work.effort, work.contacts) for t in targets]
    notes = list(work.notes)
    if work.solution is not None and work.solution.friction_ratio.size:
        worst = float(work.solution.friction_ratio.max())
        if worst > 0:
            notes.append(f"largest tangential to normal contact force: {worst:.2f}")
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
