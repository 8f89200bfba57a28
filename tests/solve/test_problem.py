import numpy as np

from pliant import robots
from pliant.contact import Plane
from pliant.models.fem import FemModel
from pliant.solve.equilibrium import equilibrium
from pliant.solve.problem import Problem


def test_held_nodes_make_no_contacts() -> None:
    model = FemModel(robots.golden_beam())
    floor = Plane(point=(0, 0, -0.012), normal=(0, 0, 1))
    contacts = Problem(model, [floor], alarm=0.01).detect(model.rest, None)
    assert len(contacts)
    assert (np.abs(contacts.rows(model, model.rest)).sum(axis=1) > 0).all()
    state = equilibrium(model, {"cable2": 5e-3, "cable3": 5e-3}, obstacles=[floor])
    assert state.ok
    assert state.contacts.forces.sum() > 0
