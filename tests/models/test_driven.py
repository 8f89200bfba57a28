"""Driven: a constant input map instead of a model's own actuators."""

import numpy as np
import pytest
from harness import check_derivatives, check_virtual_work

import pliant as pl
from pliant.errors import ArgumentError
from pliant.models.modal import GeneralisedForce


@pytest.fixture(scope="module")
def driven() -> pl.Driven:
    """A finger whose cable pulls along the direction that it has at rest."""
    finger = pl.GeometricModel(pl.robots.finger())
    G = finger.actuation(finger.rest, np.zeros(1))
    return pl.Driven(finger, G, [GeneralisedForce(name="pull")])


def test_derivatives_and_virtual_work(driven):
    q = driven.rest + 1e-4 * np.random.default_rng(0).standard_normal(driven.nq)
    check_derivatives(driven, q, np.array([0.3]))
    check_virtual_work(driven, q, np.array([0.3]))


def test_what_takes_efforts_is_not_passed_on(driven):
    """Turning steps of the inner model know nothing of the input map: they cost 300 iterations on Python 3.11 only."""
    assert hasattr(driven.inner, "projected")
    assert not hasattr(driven, "projected")
    assert not hasattr(driven, "read")
    state = pl.equilibrium(driven, [0.1], strict=True)
    assert state.iterations < 40
    assert driven.displacement(state.q) == pytest.approx(driven._rows @ state.q)


def test_a_map_of_the_wrong_size_is_refused(driven):
    with pytest.raises(ArgumentError, match="inputs"):
        pl.Driven(driven.inner, np.zeros((3, 1)), [GeneralisedForce(name="pull")])
