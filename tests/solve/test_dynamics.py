"""step: rest is static (A2), free vibration, order of the schemes, energy, lumped and consistent mass, contact."""

import numpy as np
import pytest
from harness import box_robot, golden_beam, relative

from pliant.actuators import PointForce
from pliant.bodies import Point
from pliant.contact import Plane
from pliant.errors import ArgumentError, SolveError
from pliant.materials import Corotational, StVenantKirchhoff
from pliant.models.fem import FemModel
from pliant.solve.dynamics import Stepper, scheme_named, step
from pliant.solve.equilibrium import equilibrium
from pliant.state import State, Status


def cantilever(**options) -> FemModel:
    """A slender clamped beam 200 x 8 x 4 mm without gravity."""
    material = Corotational.from_young(1e6, 0.0, density=1000)
    tip = (0.2, 0.004, 0.002)
    robot = box_robot((0.2, 0.008, 0.004), (20, 1, 1), material, points=(Point("tip", tip),),
                      actuators=(PointForce(name="pull", point=tip, direction=(0, 0, 1)),))  # fmt: skip
    return FemModel(robot, element="quadratic", **options)


def stubby(**options) -> FemModel:
    """A small soft block for long runs: few nodes, large motion."""
    material = StVenantKirchhoff.from_young(2e4, 0.3, density=1000)
    robot = box_robot((0.06, 0.02, 0.02), (4, 1, 1), material, points=(Point("tip", (0.06, 0.01, 0.01)),))
    return FemModel(robot, **options)


def plucked(model, direction=2, size=1e-4) -> State:
    """At rest in its first bending shape, let go."""
    zero = np.zeros(model.nu)
    x = model.layout.rest_nodes
    shape = np.zeros_like(x)
    shape[:, direction] = size * (x[:, 0] / x[:, 0].max()) ** 2
    q = model.rest + shape.ravel()[model.layout.flat_free]
    return State(q, np.zeros(model.nv), zero, zero, zero)


def energy(model, state) -> float:
    return model.energy(state.q, state.effort) + 0.5 * float(state.v @ (model.inertia(state.q) @ state.v))


def run(model, state, dt, steps, **options):
    stepper = Stepper(model, **options)
    states = [stepper.start(state)]
    for _ in range(steps):
        states.append(stepper.step(states[-1], None, dt))
        assert states[-1].status is Status.CONVERGED
    return states


# ---- statics ---------------------------------------------------------------------------------------------------
def test_A2_a_dynamic_run_to_rest_is_the_static_answer():
    """Spec 17.3: h = 0.01, alpha = beta = 0.1; same tensions and tip."""
    damped = Corotational.from_young(350e3, 0.45, density=1100, rayleigh_mass=0.1, rayleigh_stiffness=0.1)
    model = FemModel(golden_beam(damped))
    strokes = np.array([5e-3, 10e-3, 15e-3])
    stepper = Stepper(model, scheme="euler")
    state = stepper.start()
    for i in range(600):
        state = stepper.step(state, min(1.0, (i + 1) / 60) * strokes, 0.01)
        assert state.ok
    static = equilibrium(model, strokes, strict=True)
    assert state.effort == pytest.approx([1.71789, 1.15047, 3.27295], abs=1e-5)
    assert state.effort == pytest.approx(static.effort, rel=1e-6)
    assert np.abs(model.locate(state, "tip").position - model.locate(static, "tip").position).max() < 1e-9


def test_a_static_state_stays():
    model = FemModel(golden_beam())
    still = equilibrium(model, [5e-3, 10e-3, 15e-3], strict=True)
    for scheme in ("alpha", "trapezoidal", "euler"):
        state = still
        for _ in range(3):
            state = step(model, state, None, 0.01, scheme=scheme, strict=True)
        assert relative(state.q, still.q) < 1e-8
        assert state.effort == pytest.approx(still.effort, rel=1e-5)
        assert state.time == pytest.approx(0.03)


# ---- vibration -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_free_vibration_of_a_clamped_beam(mass):
    """f = (1.8751)^2 / (2 pi L^2) sqrt(E I / (rho A)), within 1 %."""
    model = cantilever(mass=mass)
    L, h = 0.2, 0.004
    expected = 1.875104**2 / (2 * np.pi * L**2) * np.sqrt(1e6 * h**2 / 12 / 1000)
    steps = 160
    plucked = equilibrium(model, 1e-5, strict=True)
    stepper = Stepper(model, scheme="trapezoidal")
    states = [plucked]
    for _ in range(steps):
        states.append(stepper.step(states[-1], 0.0, 1.0 / expected / 40))
        assert states[-1].ok
    z = np.array([model.locate(s, "tip").position[2] - 0.002 for s in states])
    t = np.array([s.time for s in states])
    crossings = [
        t[i] + (t[i + 1] - t[i]) * z[i] / (z[i] - z[i + 1]) for i in range(len(z) - 1) if z[i] * z[i + 1] < 0
    ]
    measured = 0.5 / np.mean(np.diff(crossings))
    assert measured == pytest.approx(expected, rel=0.01)


def test_masses_agree_in_total_and_in_slow_motion():
    lumped, consistent = cantilever(mass="lumped"), cantilever(mass="consistent")
    up = np.zeros(lumped.nv)
    up[2::3] = 1.0
    a, b = (float(up @ (m.inertia(m.rest) @ up)) for m in (lumped, consistent))
    assert a == pytest.approx(b, rel=0.02)  # what differs is the share of the clamped nodes
    diagonal = lumped.inertia(lumped.rest).toarray()
    assert np.abs(diagonal - np.diag(np.diagonal(diagonal))).max() == 0.0
    assert np.diagonal(diagonal).min() > 0


# ---- order and energy ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("scheme", "order"), [("euler", 1), ("trapezoidal", 2), ("alpha", 2)])
def test_order_of_convergence(scheme, order):
    model = stubby()
    start = plucked(model, size=4e-3)
    duration = 0.04
    reference = run(model, start, duration / 1280, 1280, scheme="trapezoidal")[-1].q
    errors = []
    for n in (40, 80, 160) if order == 2 else (640, 1280, 2560):
        errors.append(np.abs(run(model, start, duration / n, n, scheme=scheme)[-1].q - reference).max())
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert rates[-1] == pytest.approx(order, abs=0.3)


def test_energy_drift_of_the_second_order_schemes():
    """Over about a hundred periods of large motion: no growth, and little loss of the resolved motion."""
    model = stubby()
    start = plucked(model, size=6e-3)
    drift = {}
    for scheme, damping in (("trapezoidal", 1.0), ("alpha", 0.8), ("euler", 1.0)):
        states = run(model, start, 2e-3, 1000, scheme=scheme, damping=damping)
        values = np.array([energy(model, s) for s in states])
        drift[scheme] = values / values[0] - 1
    assert np.abs(drift["trapezoidal"]).max() < 0.05
    assert drift["alpha"].max() < 0.02
    assert drift["alpha"][-1] > -0.6
    assert drift["euler"][-1] < -0.99


def test_rayleigh_damping_dissipates():
    material = Corotational.from_young(1e5, 0.3, density=1000, rayleigh_mass=2.0, rayleigh_stiffness=0.01)
    model = FemModel(box_robot((0.06, 0.02, 0.02), (4, 1, 1), material))
    states = run(model, plucked(model, size=3e-3), 2e-3, 100, scheme="trapezoidal")
    values = np.array([energy(model, s) for s in states])
    assert (np.diff(values) < 1e-9 * values[0]).all()
    assert values[-1] < 0.1 * values[0]


def test_free_fall_is_exact():
    material = Corotational.from_young(1e5, 0.3, density=1000)
    robot = box_robot((0.03, 0.02, 0.02), (2, 1, 1), material, fixations=(), gravity=(0, 0, -9.81))
    model = FemModel(robot)
    for scheme in ("trapezoidal", "alpha"):
        states = run(model, None, 0.01, 20, scheme=scheme)
        fallen = (model.positions(states[-1].q) - model.layout.rest_nodes)[:, 2]
        assert fallen == pytest.approx(np.full(len(fallen), -0.5 * 9.81 * 0.2**2), rel=1e-8)


# ---- drives and contact ------------------------------------------------------------------------------------------
def test_prescribed_strokes_are_met_at_every_step():
    model = FemModel(golden_beam())
    stepper = Stepper(model)
    state = stepper.start()
    for i in range(10):
        u = np.array([1e-3 * (i + 1), 0.0, 0.0])
        state = stepper.step(state, u, 5e-3)
        assert state.displacement[0] == pytest.approx(u[0], abs=1e-9)
        assert state.effort[0] > 0
        assert state.effort.min() >= 0  # cables never push


@pytest.mark.parametrize("scheme", ["euler", "alpha"])
def test_a_falling_block_lands_and_rests(scheme):
    material = Corotational.from_young(1e5, 0.3, density=1000, rayleigh_mass=5.0, rayleigh_stiffness=0.002)
    robot = box_robot((0.02, 0.02, 0.02), (2, 2, 2), material, fixations=(), gravity=(0, 0, -9.81), origin=(0, 0, 0.01))
    model = FemModel(robot)
    stepper = Stepper(model, obstacles=[Plane(point=(0, 0, 0), normal=(0, 0, 1))], scheme=scheme)
    state = stepper.start()
    for _ in range(150):
        state = stepper.step(state, None, 5e-3)
        assert state.ok
    weight = model.mass_total * 9.81
    assert state.contacts.forces.sum() == pytest.approx(weight, rel=1e-3)
    assert model.positions(state.q)[:, 2].min() > -1e-6


# ---- bad input -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dt", [0.0, -1e-3, np.nan, np.inf])
def test_bad_time_steps(dt):
    with pytest.raises(ArgumentError, match="dt"):
        step(stubby(), None, None, dt)


def test_bad_schemes():
    with pytest.raises(ArgumentError, match="euler"):
        step(stubby(), None, None, 1e-3, scheme="rk4")
    for damping in (-0.1, 1.1, "x", None):
        with pytest.raises(ArgumentError, match="damping"):
            scheme_named("alpha", damping)


def test_a_step_that_cannot_converge_says_so():
    model = stubby()
    stepper = Stepper(model, iterations=1)
    state = stepper.step(plucked(model, size=6e-3), None, 0.05)
    assert state.status is Status.MAX_ITERATIONS
    with pytest.raises(SolveError):
        state.require()
