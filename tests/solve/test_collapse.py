"""collapse: commands beyond which a cable has no length left end at once, and say which cable and where."""

import numpy as np

import pliant as pl
from pliant.solve.collapse import collapsed


def test_muscles_that_pull_an_arm_together_to_nothing_are_named():
    """Three neighbours that pull with 20 % of E A each shorten the fibre under the middle one to nothing."""
    robot = pl.robots.octopus_arm(groups=1)
    model = pl.RodModel(robot)
    stiff = robot.bodies[0].material.young * np.pi * 0.00825**2
    pull = np.array([1.0, 1.0, 0.0, 1.0]) * stiff
    within = pl.equilibrium(model, 0.15 * pull)
    assert within.status is pl.Status.CONVERGED and collapsed(model, within.q, within.effort) == []
    beyond = pl.equilibrium(model, 0.3 * pull)
    assert beyond.status is pl.Status.INVERTED and beyond.iterations < 300
    assert any("m1a has pulled the body together to" in note for note in beyond.notes)
    reached = next(float(n.split()[4]) for n in beyond.notes if n.startswith("the path ends at"))
    assert 0.3 * reached < 21.0  # percent of E A; 1 / (3 + 4 * 0.7**2) is 20.2


def test_walls_of_a_notch_meet_before_the_cable_vanishes():
    """A stroke as long as the notch is wide has no pose; a little less has one in which the walls press."""
    robot = pl.robots.notched_finger(groups=1, notches=1, length=0.05, size=0.02).but(gravity=(0, 0, 0))
    model = pl.FemModel(robot)
    through = pl.equilibrium(model, {"cable1": 4.5e-3})
    assert through.status is pl.Status.INVERTED
    assert any("cable1 has pulled the body together" in note for note in through.notes)
    assert any("SelfContact" in note for note in through.notes)
    touching = pl.equilibrium(model, {"cable1": 4.3e-3}, obstacles=[pl.SelfContact()])
    assert touching.status is pl.Status.CONVERGED and touching.contacts.forces.sum() > 1.0
    assert touching.contacts.max_penetration < 1e-6
