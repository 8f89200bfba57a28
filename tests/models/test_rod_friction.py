"""Capstan friction of cables in rods."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import ArgumentError
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel
from pliant.models.rod_rollout import rollout

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
L, OFF = 0.3, 0.01
NO_GRAVITY = (0.0, 0.0, 0.0)


def arm(*paths, friction=0.3, basis=None, gravity=NO_GRAVITY, **options):
    cables = tuple(
        pl.Cable(name=f"c{i}", points=path, drive="effort", friction=friction, **options)
        for i, path in enumerate(paths)
    )
    body = pl.RodBody("arm", L, 0.015, SOFT, rest_curvature=(0.0, 0.0, 0.0))
    robot = pl.Robot("arm", (body,), actuators=cables, gravity=gravity)
    return RodModel(robot, basis=basis or bases.legendre(2))


STRAIGHT = [(0, 0, OFF), (L, 0, OFF)]
BACK = [(L, 0.003, OFF), (0.2 * L, -0.004, OFF)]
HELIX = [(L * s, OFF * np.cos(6 * s), OFF * np.sin(6 * s)) for s in np.linspace(0, 1, 121)]


def test_pull_is_that_of_the_capstan():
    """On a constant curvature: moment = T r integral of exp(-mu kappa s) over the length."""
    model = arm(STRAIGHT, basis=bases.legendre(0, strains=("bend_y", "stretch")))
    kappa = -7.0
    q = np.array([kappa, 0.0])
    mu = 0.3
    fall = (1 - np.exp(-mu * abs(kappa) * L)) / (mu * abs(kappa))
    column = model.actuation(q, np.ones(1))[:, 0]
    assert column == pytest.approx([-OFF * fall, -fall], rel=2e-3)
    smooth = arm(STRAIGHT, friction=0.0, basis=bases.legendre(0, strains=("bend_y", "stretch")))
    assert smooth.actuation(q, np.ones(1))[:, 0] == pytest.approx([-OFF * L, -L], rel=1e-9)
    assert model.displacement(q) == pytest.approx(smooth.displacement(q))


def test_helix_on_a_straight_rod_loses_at_its_kinks():
    """A helix of radius r and pitch p turns by the constant angle of its curvature per length."""
    model = arm(HELIX, friction=0.2)
    rate = 6.0 / L
    slope = OFF * rate
    turn = slope * rate / np.sqrt(1 + slope**2) * L  # angle of the tangent's turning along the rod
    fall = (1 - np.exp(-0.2 * turn)) / (0.2 * turn)
    stretch = np.flatnonzero(model.tables.comp == 3)[0]
    free = arm(HELIX, friction=0.0).actuation(model.rest, np.ones(1))[stretch, 0]
    assert model.actuation(model.rest, np.ones(1))[stretch, 0] / free == pytest.approx(fall, rel=5e-3)


@pytest.mark.parametrize("path", [STRAIGHT, BACK, HELIX[::30]], ids=["straight", "back", "helix"])
def test_derivatives_are_exact(path):
    model = arm(path, friction=0.4, gravity=(0, 0, -9.81))
    q = np.random.default_rng(5).standard_normal(model.nq) * np.where(model.tables.comp < 3, 3.0, 0.05)
    effort, h = np.array([3.0]), 1e-6
    K = -np.array([(model.force(q + d, effort) - model.force(q - d, effort)) / (2 * h) for d in h * np.eye(model.nq)]).T
    assert np.abs(K - model.stiffness(q, effort)).max() < 1e-7 * np.abs(K).max()
    assert np.abs(K - K.T).max() > 1e-5 * np.abs(K).max()  # friction has no potential


def test_equilibrium_bends_less_and_least_at_the_far_end():
    bend = bases.legendre(3, strains=("bend_y",))
    smooth, rough = (arm(STRAIGHT, friction=mu, basis=bend) for mu in (0.0, 0.5))
    at = [pl.equilibrium(m, {"c0": 8.0}).require() for m in (smooth, rough)]
    curvature = [abs(bend.scalar(np.array([0.02, 0.98])) @ s.q) for s in at]
    assert curvature[0][0] == pytest.approx(curvature[0][1], rel=1e-6)
    assert curvature[1][1] < 0.9 * curvature[1][0]
    # moment = EI kappa, and the tension is that of the capstan over the angle turned
    angle = 0.96 * L * abs(bend.scalar(np.linspace(0.02, 0.98, 99)) @ at[1].q).mean()
    assert curvature[1][1] / curvature[1][0] == pytest.approx(np.exp(-0.5 * angle), rel=0.02)


def test_driven_by_displacement_meets_its_length():
    body = pl.RodBody("arm", L, 0.015, SOFT)
    cable = pl.Cable(name="c", points=STRAIGHT, friction=0.4)
    model = RodModel(pl.Robot("arm", (body,), actuators=(cable,)), basis=bases.legendre(2))
    state = pl.equilibrium(model, {"c": 0.01}).require()
    assert state.displacement[0] == pytest.approx(0.01, abs=1e-9)
    free = RodModel(
        pl.Robot("arm", (body,), actuators=(pl.Cable(name="c", points=STRAIGHT),)), basis=bases.legendre(2)
    )
    assert state.effort[0] > 1.05 * pl.equilibrium(free, {"c": 0.01}).require().effort[0]


def test_what_is_not_modelled_is_refused():
    with pytest.raises(ArgumentError, match="leaves the body"):
        arm(STRAIGHT, pull_point=(-0.1, 0, 0.05))
    model = arm(STRAIGHT)
    with pytest.raises(ArgumentError, match="friction"):
        rollout(model, model.rest, duration=0.1)
