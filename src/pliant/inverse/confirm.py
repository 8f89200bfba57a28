"""Confirmation: is the answer of an inverse through contact what its own command leads to?

The iteration of the inverse ends where forces balance with the contacts it has. That is a forward equilibrium if those
contacts are what touches, and if the body stays there. So the command is solved forwards from where it ended, as
`equilibrium` would, which costs a Newton step or two.
"""

from __future__ import annotations

import numpy as np

from pliant.inverse.answer import are_met, stuck, verdict
from pliant.inverse.work import Options, Work
from pliant.solve.equilibrium import settle
from pliant.solve.problem import Problem
from pliant.state import Status

_SAME = 1e-6  # of the robot's size, as deep as contacts may be: what moves less when solved forwards is at rest


def confirmed(setting: Problem, work: Work, options: Options, status: Status) -> Status:
    """The status of an answer after its command was solved forwards.

    Where that leads elsewhere, `work` becomes the equilibrium that was found, and a note says how far away it is; where
    it fails, the answer has failed. Contacts that stick are solved forwards where they would need more friction than
    there is: what slips then was not held by it, so limits of friction were given up unless the targets are met anyway.

    Args:
        setting: model and surroundings.
        work: where the iteration ended.
        options: what is wanted and allowed.
        status: how it ended.
    """
    if not status.ok:
        return status
    slips: list[str] = []
    if setting.rough:
        if options.coulomb and work.contacts is not None:
            slips = stuck(setting, work.contacts)[1]
        if not slips:
            return status
    model = setting.model
    stroke = model.displacement(work.q)
    held = {int(i): float(stroke[i]) for i in np.flatnonzero(setting.driven)} | options.closed
    setting.begin(work.q, work.contacts)
    state = settle(setting, work.q, work.effort, work.contacts, follow=False, tries=40, held=held)
    if not state.ok:
        work.notes.append(f"solved forwards from here, this command does not converge: {state.status}")
        return state.status
    moved = float(np.abs(model.skin_positions(state.q) - model.skin_positions(work.q)).max(initial=0.0))
    if moved <= _SAME * setting.length:
        return status
    work.notes.extend(slips)
    work.notes.append(
        f"the iteration ended {moved:.2g} m away from what this command leads to, which is the state given here"
    )
    work.q, work.effort, work.contacts = state.q, state.effort, state.contacts
    work.stroke = None
    if slips and not are_met(setting, work, options.targets):
        return Status.RELAXED
    return verdict(setting, work, options) if work.solution is not None else status
