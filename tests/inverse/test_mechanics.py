"""The mechanics of an inverse step: a damped linearisation in one pass is the sum of its parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.inverse.mechanics import Implicit
from pliant.materials import Corotational, NeoHookean


def damped(material: type, element: str = "linear") -> pl.FemModel:
    robot = pl.robots.finger(size=0.012)
    soft = material(young=6e5, poisson=0.3, density=1080.0, rayleigh_mass=0.3, rayleigh_stiffness=0.02)
    return pl.FemModel(robot.but(bodies=tuple(replace(b, material=soft) for b in robot.bodies)), element=element)


def bent(model: pl.FemModel) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return model.rest + 2e-4 * rng.standard_normal(model.nv), rng.uniform(0.5, 1.0, model.nu)


@pytest.mark.parametrize("material", [Corotational, NeoHookean])
@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_damped_in_one_pass(material: type, element: str) -> None:
    model = damped(material, element)
    q, effort = bent(model)
    force, K = model.linearise(q, effort)
    same, matrix = model.linearise_damped(q, effort, 40.0)
    wanted = K.toarray() + 40.0 * model.damping(q, effort).toarray()
    assert np.array_equal(force, same)
    assert np.allclose(matrix.toarray(), wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())


def test_first_linearisation_is_that_of_the_parts() -> None:
    model = damped(Corotational)
    q, effort = bent(model)
    state = pl.State(q=q, v=0.1 * np.ones(model.nv), u=effort, effort=effort, displacement=model.displacement(q))
    step = Implicit(model, state, 0.02)
    force, matrix = step.linearise(q, effort)
    M, D = model.inertia(q), model.damping(q, effort)
    K = model.stiffness(q, effort).toarray() + M.toarray() / 0.02**2 + D.toarray() / 0.02
    assert np.allclose(matrix.toarray(), K, rtol=0.0, atol=1e-12 * np.abs(K).max())
    assert np.allclose(force, model.force(q, effort) + M.toarray() @ state.v / 0.02, rtol=1e-12)


def test_own_damping_is_not_passed_over() -> None:
    class Undamped(pl.FemModel):
        def damping(self, q: np.ndarray, effort: np.ndarray):  # type: ignore[no-untyped-def]
            return self.sparsity.zero()

    base = damped(Corotational)
    model = Undamped(base.robot)
    q, effort = bent(model)
    state = pl.State(q=q, v=np.zeros(model.nv), u=effort, effort=effort, displacement=model.displacement(q))
    _, matrix = Implicit(model, state, 0.02).linearise(q, effort)
    K = model.stiffness(q, effort).toarray() + model.inertia(q).toarray() / 0.02**2
    assert np.allclose(matrix.toarray(), K, rtol=0.0, atol=1e-12 * np.abs(K).max())


@pytest.mark.parametrize("away", [(4e-3, 1e-3, 0.0), (10e-3, 0.0, 0.0)])
def test_a_goal_that_one_step_cannot_reach_ends_at_the_nearest(away):
    """Efforts crept there by a hundredth of the way per linearisation, and after sixty it was given up."""
    model, dt = pl.FemModel(pl.robots.finger()), 0.02
    start = pl.equilibrium(model).require()
    goal = model.locate(start, "tip").position + away
    command = pl.invert(model, start, pl.PointTarget("tip", tuple(goal)), dynamic=True, dt=dt)
    assert command.status is pl.Status.UNREACHABLE
    pulled = pl.FemModel(model.robot.but(actuators=tuple(replace(a, drive="effort") for a in model.robot.actuators)))

    def missed(effort):
        there = pl.step(pulled, start, [effort], dt, scheme="euler").require()
        return float(np.linalg.norm(model.locate(there, "tip").position - goal))

    best = missed(command.effort[0])
    assert best == pytest.approx(float(np.linalg.norm(command.error)), rel=1e-6)
    assert best < min(missed(f * command.effort[0]) for f in (0.9, 0.97, 1.03, 1.1))
