"""Settling: what is left uneven by a long step is mended, and the efforts are told."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.factorisation import NotPositiveDefinite, factorise
from pliant.models.geometric import GeometricModel
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.solve.flex import flex
from pliant.solve.settling import Settler


@pytest.fixture(scope="module")
def bent():
    """A finger after the first, long step to twice its chamber's volume, and the equilibrium there."""
    model = GeometricModel(pneumatic_finger(teeth=4, size=5e-3))
    u = np.array(list(model.command({"air": 2.0}).values()))
    C = model.displacement_rows(model.rest)
    flexibility = model.rest_factor.solve(C.T)
    effort = u / (C @ flexibility)[0]
    q, _ = model.turner.turn(model.rest, flexibility @ effort)
    length = float(np.linalg.norm(np.ptp(model.layout.rest_nodes, axis=0)))
    return model, u, q, effort, length, flex(model, u)


def _definite(model, q, effort) -> bool:
    try:
        factorise(model.stiffness(q, effort))
    except NotPositiveDefinite:
        return False
    return True


def test_settling_makes_the_stiffness_definite_and_finds_the_pressure(bent):
    model, u, q, effort, length, answer = bent
    assert not _definite(model, q, effort)
    settler = Settler(model, np.array([True]), length)
    settled, pressure = settler.settle(q, effort, None, u, even=1e-6 * length)
    assert _definite(model, settled, pressure)
    assert settler.iterations <= 8
    assert abs(model.displacement(settled)[0] / u[0] - 1) < 0.01
    assert abs(pressure[0] / answer.effort[0] - 1) < 0.1 < abs(effort[0] / answer.effort[0] - 1) + 0.1


def test_settling_leaves_an_equilibrium_where_it_is(bent):
    model, u, *_, length, answer = bent
    settler = Settler(model, np.array([True]), length)
    q, effort = settler.settle(answer.q, answer.effort, None, u, even=1e-6 * length)
    assert settler.iterations == 1
    assert np.abs(q - answer.q).max() < 1e-9 * length
    assert effort == pytest.approx(answer.effort, rel=1e-6)


def test_efforts_that_are_commanded_stay(bent):
    model, u, q, effort, length, _ = bent
    settler = Settler(model, np.array([False]), length)
    _, kept = settler.settle(q, effort, None, u, even=1e-6 * length, most=2)
    assert np.array_equal(kept, effort)
