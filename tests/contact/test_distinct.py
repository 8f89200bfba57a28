"""Obstacles in one place count once, in forward and in inverse solves."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.detection import detect
from pliant.contact.distinct import distinct

FINGER = pl.FemModel(pl.robots.finger())
BALL = pl.Sphere((0.04, 0, -0.07), 0.01)
WALL, BLOCK = pl.Plane((0.02, 0, 0), (-1, 0, 0)), pl.Box((0.03, 0, -0.05), (0.01, 0.2, 0.2))


def test_the_nearest_of_those_that_say_the_same_is_kept():
    bent = pl.equilibrium(FINGER, {"cable": 0.012}, obstacles=[WALL]).require()
    far = pl.Plane((0.021, 0, 0), (-1, 0, 0))
    both = detect(FINGER, bent.q, [far, WALL], alarm=5e-3)
    one = distinct(both, 1e-7)
    alone = detect(FINGER, bent.q, [WALL], alarm=5e-3)
    assert len(alone) < len(both)
    assert (one.obstacle == 1).sum() == len(alone)
    assert set(one.gap[one.obstacle == 1]) == set(alone.gap)
    assert distinct(alone, 1e-7) is alone


@pytest.mark.parametrize(("alone", "again"), [(BALL, BALL), (WALL, BLOCK)], ids=["ball", "wall and block"])
def test_an_inverse_through_an_obstacle_given_twice_is_that_through_one(alone, again):
    """A plane and a box with the same face ended STALLED, a ball given twice RELAXED for no limit."""
    goal = (0.05, 0, -0.05) if alone is BALL else (0.03, 0, -0.08)
    target = pl.PointTarget("tip", goal)
    once, twice = (
        pl.invert(FINGER, targets=target, obstacles=o, search="local") for o in ([alone], [alone, again])
    )
    assert once.status is twice.status is pl.Status.LOCAL
    assert twice.u == pytest.approx(once.u, rel=1e-6)
    forward = [pl.equilibrium(FINGER, once.u, obstacles=o).require() for o in ([alone], [alone, again])]
    assert np.abs(forward[0].q - forward[1].q).max() < 1e-8
    assert forward[1].contacts.forces.sum() == pytest.approx(forward[0].contacts.forces.sum(), rel=1e-6)
