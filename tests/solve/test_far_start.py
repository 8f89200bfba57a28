"""far_start: equilibrium of models with turning steps, at the commands of a viewer's sliders."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.models.contract import Turning
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.silicone_finger import silicone_finger
from pliant.solve.far_start import far_start
from pliant.solve.flex import flex
from pliant.solve.problem import Problem

GEOMETRIC = ("pneumatic_finger", "silicone_finger", "twister", "dielectric_crawler", "membrane", "mannequin")


@pytest.fixture(scope="module")
def finger() -> pl.GeometricModel:
    return pl.GeometricModel(pneumatic_finger(size=6e-3, layers=1))


def test_a_far_pose_is_found_at_once_and_is_that_of_plain_newton(finger: pl.GeometricModel) -> None:
    command = finger.command({"air": 2.4})
    found = pl.equilibrium(finger, command)
    assert found.status is pl.Status.CONVERGED and found.iterations <= 25
    assert found.residual < 1e-8 and found.factor is not None
    plain = pl.equilibrium(finger, command, turning=False)
    assert plain.ok and plain.iterations > 2 * found.iterations
    np.testing.assert_allclose(found.q, plain.q, atol=1e-7)
    np.testing.assert_allclose(found.effort, plain.effort, rtol=1e-6)


def test_it_is_a_start_and_nothing_more(finger: pl.GeometricModel) -> None:
    """Models without turning steps have none; the solves that it costs are counted."""
    problem = Problem(finger, ())
    near, spent = far_start(problem, np.array([1e-6]), None)
    assert near is not None and near.ok and spent == near.iterations
    assert far_start(problem, np.array([1e-6]), None, budget=0) == (None, 0)
    fem = pl.FemModel(finger.robot)
    assert not isinstance(fem, Turning) and far_start(Problem(fem, ()), np.array([1e-6]), None) == (None, 0)


def test_contacts_are_judged_by_equilibrium() -> None:
    model = pl.GeometricModel(silicone_finger(teeth=3, size=3.5e-3))
    own = [pl.SelfContact()]
    state = None
    for share in (0.5, 0.1):
        command = model.command({"air": 1.0 + share})
        state = pl.equilibrium(model, command, obstacles=own, start=state)
        assert state.ok and state.contacts.max_penetration < 1e-6 * 0.1
        assert state.iterations < 60
    np.testing.assert_allclose(model.ratios(state)["air"], 1.1, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", GEOMETRIC)
def test_ten_moves_of_the_sliders(name: str) -> None:
    """Random commands over the actuators' whole ranges, each from the pose before, as a viewer sends them."""
    entry = pl.robots.entry(name)
    # a chamber of the mannequin alone balloons at 10 kPa: no pressure holds it beyond, a volume does
    robot = entry.make(**({"drive": "displacement"} if name == "mannequin" else {}))
    model, around = entry.model(robot), entry.obstacles(robot)
    rng = np.random.default_rng(0)
    limits = np.array([a.limits for a in robot.actuators])
    state = None
    for _ in range(10):
        i = rng.integers(len(limits))
        u = np.zeros(len(limits)) if state is None else state.u.copy()
        u[i] = rng.uniform(*limits[i])
        state = pl.equilibrium(model, u, obstacles=around, start=state)
        assert state.ok, (name, u, state.status, state.notes)
        assert state.iterations <= 150
        same = flex(model, u, obstacles=around, start=state)
        # facets that lie on facets balance at several pairs (a silicone finger: 12 or 13 of them, 0.05 mm apart)
        assert same.ok and np.abs(same.q - state.q).max() < 1e-4
        again = pl.equilibrium(model, u, obstacles=around, start=same)
        assert again.ok and np.abs(again.q - same.q).max() < 1e-8


@pytest.mark.parametrize(
    ("argument", "options"),
    [("iterations", {"iterations": 0}), ("tolerance", {"tolerance": float("nan")}), ("stride", {"stride": -1.0}),
     ("start", {"start": 3})],
)  # fmt: skip
def test_flex_refuses_what_is_no_option(finger: pl.GeometricModel, argument: str, options: dict) -> None:
    with pytest.raises(pl.ArgumentError, match=argument):
        flex(finger, {"air": 1e-6}, **options)


def test_flex_and_ratios_refuse_strangers_by_name(finger: pl.GeometricModel) -> None:
    with pytest.raises(pl.ArgumentError, match="equilibrium"):
        flex(pl.FemModel(finger.robot), {"air": 1e-6})
    for ratio in (0.0, -1.0, float("nan"), "x", None):
        with pytest.raises(pl.ArgumentError, match=r"ratios\['air'\]"):
            finger.command({"air": ratio})
    with pytest.raises(pl.ArgumentError, match="ratios"):
        finger.command([2.0])
    with pytest.raises(pl.ArgumentError, match="another model"):
        finger.ratios(None)
