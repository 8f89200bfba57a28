"""dq/du from the factorisation against re-solved finite differences to 1e-6, with every drive and with contacts."""

from dataclasses import replace

import numpy as np
import pytest
from harness import golden_beam, relative

from pliant.actuators import PointForce
from pliant.contact import Plane
from pliant.errors import ArgumentError
from pliant.models.fem import FemModel
from pliant.solve.equilibrium import equilibrium
from pliant.solve.sensitivity import sensitivity
from pliant.state import Status

U = np.array([5e-3, 10e-3, 15e-3])


def driven(drives: str) -> FemModel:
    """The golden beam; one letter per cable, d for displacement and e for effort."""
    names = {"d": "displacement", "e": "effort"}
    robot = golden_beam()
    return FemModel(robot.but(actuators=tuple(replace(a, drive=names[d]) for a, d in zip(robot.actuators, drives))))


def check(model, u, h, *, obstacles=(), tolerance=1e-6, alarm=None):
    state = equilibrium(model, u, obstacles=obstacles, strict=True, alarm=alarm)
    exact = sensitivity(model, state)
    for i in range(model.nu):
        e = np.zeros(model.nu)
        e[i] = h[i]
        plus, minus = (
            equilibrium(model, u + s * e, obstacles=obstacles, start=state, strict=True, alarm=alarm) for s in (1, -1)
        )
        for name in ("effort", "displacement"):
            change = (getattr(plus, name) - getattr(minus, name)) / (2 * h[i])
            assert relative(getattr(exact, name)[:, i], change) < tolerance, name
        change = (plus.q - minus.q) / (2 * h[i])
        assert relative(exact.configuration[:, i], change) < tolerance
        moved = (model.locate(plus, "tip").position - model.locate(minus, "tip").position) / (2 * h[i])
        assert relative(exact.of("tip")[3:, i], moved) < tolerance
    return state, exact


@pytest.mark.parametrize("drives", ["ddd", "eee", "ded"])
def test_against_solved_differences(drives):
    efforts = np.array([1.71789, 1.15047, 3.27295])
    mask = np.array([d == "d" for d in drives])
    check(driven(drives), np.where(mask, U, efforts), np.where(mask, 2e-6, 2e-4))


@pytest.mark.parametrize("drives", ["ddd", "eee"])
def test_with_closed_contacts(drives):
    """Pad of spec 17.5 as a plane: closed contacts stay closed, so the body turns about them."""
    wall = [Plane(point=(0, 0, -0.012), normal=(0, 0, 1))]
    u = U if drives == "ddd" else equilibrium(driven("ddd"), U, obstacles=wall, strict=True).effort
    h = np.full(3, 2e-7) if drives == "ddd" else np.full(3, 2e-5)
    model = driven(drives)
    state, exact = check(model, u, h, obstacles=wall, tolerance=1e-5)
    closed = state.contacts.selected(state.contacts.forces > 0)
    assert len(closed) > 0
    rows = np.asarray(closed.rows(model, state.q) @ exact.configuration)
    assert np.abs(rows).max() < 1e-9 * np.abs(exact.configuration).max()


def test_slack_cables_stay_slack():
    model = driven("ddd")
    state = equilibrium(model, {"c1": 10e-3, "c2": -5e-3, "c3": -5e-3})
    assert state.status is Status.SLACK
    found = sensitivity(model, state)
    assert np.abs(found.configuration[:, 1:]).max() == 0.0
    assert np.abs(found.effort[1:]).max() == 0.0
    assert found.displacement[0, 0] == pytest.approx(1.0)


def test_commands_are_met_exactly():
    found = sensitivity(driven("ddd"), equilibrium(driven("ddd"), U, strict=True))
    assert found.displacement == pytest.approx(np.eye(3), abs=1e-9)
    found = sensitivity(driven("eee"), equilibrium(driven("eee"), [1.0, 1.0, 1.0], strict=True))
    assert found.effort == pytest.approx(np.eye(3), abs=1e-12)
    assert relative(found.displacement, found.displacement.T) < 1e-9  # Maxwell-Betti


def test_the_kept_factorisation_is_not_needed():
    model = driven("ddd")
    state = equilibrium(model, U, strict=True)
    kept, fresh = sensitivity(model, state), sensitivity(model, state.but(factor=None))
    assert relative(kept.configuration, fresh.configuration) < 1e-6


def test_shapes():
    push = PointForce(name="push", point=(0.1, 0, 0), direction=(0, 1, 0))
    model = FemModel(golden_beam(actuators=(push,)))
    found = sensitivity(model, equilibrium(model, 0.01, strict=True))
    assert found.configuration.shape == (model.nv, 1)
    assert found.of("tip").shape == (6, 1)
    assert found.of(["tip", "middle"]).shape == (2, 6, 1)


def test_an_unconverged_state_has_no_sensitivity():
    model = driven("ddd")
    state = equilibrium(model, U, max_iterations=2)
    with pytest.raises(ArgumentError, match="not an equilibrium"):
        sensitivity(model, state)
