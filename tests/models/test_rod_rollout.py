"""Compiled rollouts: their order, the same motion as the equations of the model, honest about failure."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.errors import ArgumentError
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel
from pliant.models.rod_rollout import rollout

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
L = 0.3


def arm(*, young=0.6e6, damping=5e-4, basis=None, actuators=()):
    body = pl.RodBody("arm", L, 0.02, NeoHookean.from_young(young, 0.45, density=1050.0), damping=damping)
    robot = pl.Robot("arm", (body,), actuators=actuators)
    return RodModel(robot, basis=basis or bases.legendre(1, strains=bases.INEXTENSIBLE))


def cable(name, z):
    return pl.Cable(name=name, points=[(0, 0.003, z), (L, 0.003, z)], drive="effort")


def test_matches_an_adaptive_solver_at_second_order():
    model = arm(actuators=(cable("a", 0.015), cable("b", -0.012)))
    effort, n = np.array([4.0, 1.0]), model.nv

    def rhs(t, y):
        return np.concatenate([y[n:], model.acceleration(y[:n], y[n:], effort)])

    exact = solve_ivp(rhs, (0, 0.2), np.zeros(2 * n), rtol=1e-9, atol=1e-9).y[:n, -1]
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        run = rollout(model, model.rest, duration=0.2, dt=dt, effort=effort, tolerance=1e-10)
        assert run.ok
        errors.append(np.abs(run.q[-1] - exact).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.15)


def test_gauss_is_fourth_order_and_agrees_with_explicit_steps():
    model = arm(actuators=(cable("a", 0.015), cable("b", -0.012)))
    options = {"duration": 0.2, "effort": np.array([4.0, 1.0])}
    exact = rollout(model, model.rest, scheme="explicit", dt=2e-2, tolerance=1e-13, **options)
    assert exact.ok
    assert exact.tangents == 0
    errors = []
    for dt in (8e-3, 4e-3, 2e-3):
        run = rollout(model, model.rest, dt=dt, scheme="gauss", tolerance=1e-12, **options)
        assert run.ok
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.3)
    assert errors[1] / errors[2] == pytest.approx(16, rel=0.2)


@pytest.mark.parametrize("scheme", ["gauss", "explicit"])
def test_schemes_follow_efforts_that_jump(scheme):
    """Efforts that change from step to step act from the right step on."""
    model = arm(actuators=(cable("a", 0.015),))
    effort = np.where(np.arange(20) < 7, 5.0, 0.0)[:, None]
    fine = rollout(model, model.rest, duration=0.1, dt=1e-4, effort=np.repeat(effort, 50, axis=0), tolerance=1e-10)
    run = rollout(model, model.rest, duration=0.1, dt=5e-3, effort=effort, scheme=scheme, tolerance=1e-9)
    assert run.ok
    assert np.abs(run.q - fine.q[::50]).max() < 2e-3 * np.abs(fine.q).max()


def test_explicit_error_follows_its_tolerance():
    model = arm(young=6e6, basis=bases.constant(segments=2))
    force = np.zeros(model.nv)
    force[1::6] = 0.1

    def tip(tolerance):
        run = rollout(
            model, model.rest, duration=0.05, dt=1e-2, force=force, scheme="explicit", tolerance=tolerance
        )
        assert run.ok
        return model.locate(run.q[-1], "tip").position, run.sweeps

    exact, many = tip(1e-13)
    rough, few = tip(1e-6)
    assert np.linalg.norm(rough - exact) < 1e-5
    assert few < 0.5 * many


def test_gauss_keeps_the_energy_of_an_undamped_stiff_rod():
    model = arm(young=60e6, damping=0.0)
    q = np.array([0.5, 0.2, 1.0, -0.5, 0.8, 0.3])
    run = rollout(model, q, duration=0.5, dt=1e-3, scheme="gauss")
    assert run.ok
    energy = np.array([model.energy(a, np.zeros(0)) + model.kinetic_energy(a, b) for a, b in zip(run.q, run.v)])
    assert np.ptp(energy) < 2e-3 * (energy[0] - model.energy(pl.equilibrium(model).require().q, np.zeros(0)))


def test_exact_tangent_takes_over_at_large_steps():
    """A fast spin at a step far too long for the cheap iteration still converges, with the exact tangent."""
    model = arm(damping=0.0, basis=bases.constant(segments=2))
    v = np.zeros(model.nv)
    v[[0, 1, 2, 7, 8]] = [60.0, 150.0, -200.0, 250.0, 150.0]
    run = rollout(model, model.rest, v, duration=0.3, dt=2e-2, tolerance=1e-9, max_iterations=60)
    assert run.ok
    assert run.tangents > 0


def test_stiff_light_rod_is_stable_at_5_ms():
    """100 times stiffer, lightly damped: no blow-up at any step, the energy stays bounded."""
    model = arm(young=60e6, damping=1e-6)
    q = np.array([0.5, 0.2, 1.0, -0.5, 0.8, 0.3])
    start = model.energy(q, np.zeros(0))
    run = rollout(model, q, duration=1.0, dt=5e-3)
    assert run.ok
    energy = [model.energy(a, np.zeros(0)) + model.kinetic_energy(a, b) for a, b in zip(run.q, run.v)]
    rest = model.energy(pl.equilibrium(model).require().q, np.zeros(0))
    assert max(energy) - rest < 1.2 * (start - rest)


def test_settles_to_the_equilibrium():
    model = arm(damping=0.05)
    run = rollout(model, model.rest, duration=4.0, dt=1e-2, every=10)
    assert np.allclose(run.q[-1], pl.equilibrium(model).require().q, atol=1e-3)
    assert len(run.time) == 41
    assert run.time[-1] == pytest.approx(4.0)


@pytest.mark.parametrize("scheme", ["midpoint", "gauss", "explicit"])
def test_failure_is_reported(scheme):
    run = rollout(arm(), np.zeros(6), np.full(6, 1e9), duration=0.1, dt=5e-2, max_iterations=3, scheme=scheme)
    assert not run.ok
    assert len(run.q) == 1


def test_bad_input_is_named():
    model = arm()
    with pytest.raises(ArgumentError, match="dt"):
        rollout(model, model.rest, duration=1.0, dt=0.0)
    with pytest.raises(ArgumentError, match="scheme"):
        rollout(model, model.rest, duration=1.0, scheme="euler")
    with pytest.raises(ArgumentError, match="force"):
        rollout(model, model.rest, duration=1.0, force=np.zeros(3))
    with pytest.raises(ArgumentError, match="every"):
        rollout(model, model.rest, duration=1.0, dt=0.1, every=3)
    pushed = arm(actuators=(pl.PointForce(name="f", point=(L, 0, 0), direction=(0, 0, 1)),))
    with pytest.raises(ArgumentError, match="simulate"):
        rollout(pushed, pushed.rest, duration=1.0)
