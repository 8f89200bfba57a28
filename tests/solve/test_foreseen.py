"""Rows that are added as they are violated give the step of all rows."""

import numpy as np
import pytest

from pliant.contact import SelfContact
from pliant.models.geometric import GeometricModel
from pliant.robots.silicone_finger import silicone_finger
from pliant.solve.foreseen import FEW, Foreseen
from pliant.solve.newton import LinearSystem
from pliant.solve.problem import Problem


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_step_with_few_rows_is_the_step_with_all_of_them(share):
    model = GeometricModel(silicone_finger(teeth=3, size=5e-3))
    problem = Problem(model, [SelfContact()], alarm=1e-3)
    u = share * np.array([*model.command({"air": 2.0}).values()])
    q, effort = model.rest, np.zeros(1)
    contacts = problem.detect(q, None)
    assert len(contacts) > 2 * FEW
    K, force = model.stiffness(q, effort), model.force(q, effort)
    whole = LinearSystem(K, problem.rows(q, effort, u, contacts)).solve(force)
    foreseen = Foreseen(problem, q, effort, u, contacts)
    system, step = foreseen.solve(LinearSystem(K, foreseen.rows), force)
    assert (whole.force[1:] > 0.0).any()
    assert system.rows.size == 1 + len(foreseen.contacts) < 1 + len(contacts)
    assert np.abs(step.dq - whole.dq).max() < 1e-6 * np.abs(whole.dq).max()
    assert step.force[0] == pytest.approx(whole.force[0], rel=1e-6)
    pressing = dict(zip(foreseen.contacts.key, step.force[1:]))
    for key, force in zip(contacts.key, whole.force[1:]):
        assert pressing.get(key, 0.0) == pytest.approx(force, abs=1e-5 * whole.force[1:].max())


def test_few_contacts_are_all_taken():
    model = GeometricModel(silicone_finger(teeth=3, size=5e-3))
    problem = Problem(model, [SelfContact()], alarm=1e-3)
    contacts = problem.detect(model.rest, None).selected(np.arange(FEW))
    assert Foreseen(problem, model.rest, np.zeros(1), np.zeros(1), contacts).contacts is contacts
