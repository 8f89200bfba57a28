"""Chord steps: a kept factor is good near the answer, and known to be bad far from it."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.models.geometric import GeometricModel
from pliant.robots.pneumatic_finger import pneumatic_finger
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
