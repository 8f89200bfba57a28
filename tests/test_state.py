"""States say how they were found, are frozen, and refuse to be used as if converged."""

import dataclasses

import numpy as np
import pytest

from pliant.errors import SolveError
from pliant.state import Command, Skin, State, Status


def state(**changes) -> State:
    zero = np.zeros(1)
    return State(zero, zero, zero, zero, zero, **changes)


def test_every_status_is_a_sentence_and_unique():
    assert len({s.value for s in Status}) == len(list(Status))
    for status in Status:
        assert str(status) == status.value
        assert len(status.value.split()) >= 1


def test_what_is_not_converged_is_not_ok():
    for status in Status:
        if status.value.startswith("not converged") or "singular" in status.value or "unstable" in status.value:
            assert not status.ok
    for status in (Status.SINGLE, Status.PENETRATING, Status.DIVERGED, Status.RELAXED, Status.EXTRAPOLATED):
        assert not status.ok
    for status in (Status.CONVERGED, Status.CONTINUED, Status.SNAPPED, Status.SLACK):
        assert status.ok


def test_require_raises_with_the_state_attached():
    good, bad = state(), state(status=Status.STALLED, residual=0.5)
    assert good.require() is good
    with pytest.raises(SolveError, match=r"5\.00e-01") as caught:
        bad.require()
    assert caught.value.result is bad
    zero = np.zeros(1)
    command = Command(zero, zero, zero, bad, zero, Status.MAX_ITERATIONS)
    assert not command.ok
    with pytest.raises(SolveError) as caught:
        command.require()
    assert caught.value.result is command


def test_states_are_frozen_and_copied_with_changes():
    here = state()
    with pytest.raises(dataclasses.FrozenInstanceError):
        here.q = np.ones(1)
    assert here.but(time=2.0).time == 2.0
    assert here.time == 0.0


def test_skin_counts_its_vertices():
    skin = Skin(np.zeros((0, 3), int), np.array([[0, 1]]), np.full(2, 0.01), np.zeros(2, int))
    assert skin.size == 2
