"""Rows that are added as they are violated give the step of all rows."""

import numpy as np
import pytest

import pliant as pl
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


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_equilibrium_with_few_rows_is_that_with_all_of_them(friction, monkeypatch):
    """A block that a ball presses: pairs that a step does not meet change nothing, with friction neither."""
    side = 0.04
    mesh = pl.TetMesh.box((side, side, side / 2), (8, 8, 3))
    mesh = mesh.with_node_set("bottom", np.flatnonzero(mesh.nodes[:, 2] < 1e-9))
    law = pl.materials.Corotational(young=1e5, poisson=0.3, density=1000.0)
    body = pl.SoftBody("block", mesh, law)
    model = pl.FemModel(pl.Robot("block", (body,), (pl.Fixation("bottom"),), gravity=(0, 0, 0)))
    ball = pl.Sphere(centre=(side / 2 + 1e-3, side / 2, side / 2 + 0.029), radius=0.03, friction=friction)
    few = pl.equilibrium(model, obstacles=[ball], alarm=0.004, strict=True)
    monkeypatch.setattr("pliant.solve.foreseen.FEW", 10_000)
    every = pl.equilibrium(model, obstacles=[ball], alarm=0.004, strict=True)
    assert FEW < (few.contacts.forces > 0.0).sum() + 10 < len(few.contacts) == len(every.contacts)
    assert np.abs(few.q - every.q).max() < 1e-8 * side
    assert few.contacts.wrench()[3:] == pytest.approx(every.contacts.wrench()[3:], abs=1e-6)
