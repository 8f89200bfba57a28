"""Chord steps: a kept factor is good near the answer, and known to be bad far from it."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.contact import SelfContact
from pliant.models.geometric import GeometricModel
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.silicone_finger import silicone_finger
from pliant.solve.chords import AFFORDABLE, chord
from pliant.solve.flex import flex
from pliant.solve.newton import LinearSystem
from pliant.solve.problem import Problem


@pytest.fixture(scope="module")
def finger():
    return GeometricModel(pneumatic_finger(teeth=4, size=5e-3))


def _begun(model, share):
    """Problem, command, and the state and linear system at a part of that command."""
    u = np.array(list(model.command({"air": 1.8}).values()))
    state = flex(model, share * u)
    problem = Problem(model)
    rows = problem.rows(state.q, state.effort, u, None)
    return problem, u, state, LinearSystem(model.stiffness(state.q, state.effort), rows)


def test_chord_steps_end_at_the_equilibrium_next_door(finger):
    problem, u, state, system = _begun(finger, 0.999)
    goal = 1e-9 * problem.length
    found = chord(problem, system, state.q, state.effort, u, size=1e-2 * problem.length, goal=goal)
    answer = flex(finger, u)
    assert found.converged and 1 < found.steps <= AFFORDABLE and found.size <= goal
    assert np.abs(found.q - answer.q).max() < 1e-7 * problem.length
    assert found.effort == pytest.approx(answer.effort, rel=1e-6)


def test_chord_steps_far_away_are_given_up(finger):
    problem, u, state, system = _begun(finger, 0.5)
    found = chord(problem, system, state.q, state.effort, u, size=problem.length, goal=1e-9 * problem.length)
    assert not found.converged and found.steps <= AFFORDABLE


def test_a_step_that_does_not_shrink_is_not_taken(finger):
    problem, u, state, system = _begun(finger, 0.9)
    found = chord(problem, system, state.q, state.effort, u, size=1e-6 * problem.length, goal=1e-9 * problem.length)
    assert not found.converged and found.steps == 1 and found.q is state.q


@pytest.fixture(scope="module")
def closing():
    """A finger that presses on itself: model, problem, answer, command."""
    model = GeometricModel(silicone_finger(teeth=3, size=5e-3))
    u = np.array(list(model.command({"air": 1.5}).values()))
    options = {"obstacles": [SelfContact()], "alarm": 1e-3}
    return model, Problem(model, **options), flex(model, u, **options), u


def _nearby(model, problem, answer, u, push):
    """Chord steps from a pose beside the answer."""
    bump = push * problem.length * np.sin(40.0 * model.rest)
    contacts = answer.contacts
    rows = problem.rows(answer.q, answer.effort, u, contacts)
    system = LinearSystem(model.stiffness(answer.q, answer.effort), rows)
    start = model.retract(answer.q, bump[: model.nv])
    goal = 1e-9 * problem.length
    return chord(problem, system, start, answer.effort, u, size=problem.length, goal=goal, contacts=contacts)


def test_chord_steps_hold_the_contacts_that_press(closing):
    model, problem, answer, u = closing
    assert (answer.contacts.forces > 0.0).any()
    found = _nearby(model, problem, answer, u, 1e-4)
    assert found.converged and not found.stale
    assert np.abs(found.q - answer.q).max() < 1e-7 * problem.length
    pressing = answer.contacts.forces > 0.0
    assert found.contacts.forces[pressing] == pytest.approx(answer.contacts.forces[pressing], rel=1e-4)
    assert np.abs(found.contacts.gap[pressing]).max() < 1e-9 * problem.length


def test_chord_steps_stop_where_a_contact_would_pull(closing):
    model, problem, answer, u = closing
    loose = 0.9 * u  # the teeth come apart
    contacts = answer.contacts
    system = LinearSystem(
        model.stiffness(answer.q, answer.effort), problem.rows(answer.q, answer.effort, loose, contacts)
    )
    found = chord(
        problem, system, answer.q, answer.effort, loose, size=problem.length, goal=1e-9 * problem.length,
        contacts=contacts,
    )  # fmt: skip
    assert not found.converged and (found.contacts.forces >= 0.0).all()
