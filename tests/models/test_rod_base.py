"""Rods whose base moves: flying rods conserve what they must, a catheter is pushed in, bases hang on other rods."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import ArgumentError
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel
from pliant.models.rod_rollout import rollout

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
NONE = np.zeros(0)
WORLD = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
L = 0.3


def robot(*actuators, gravity=(0, 0, -9.81), **options):
    rod = {"length": L, "radius": 0.02, "material": SOFT} | options
    return pl.Robot("arm", (pl.RodBody("arm", **rod),), actuators=actuators, gravity=gravity)


def flying(basis=None, **options):
    free = {"axes": WORLD, "rotates": True, "tip_mass": 0.02}
    return RodModel(robot(**(free | options)), basis=basis or bases.legendre(1, strains=bases.INEXTENSIBLE))


def thrown(model, seed=0):
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(model.nv) * np.concatenate([np.full(3, 0.5), np.full(3, 6.0), np.full(model.nv - 6, 10.0)])
    q = model.retract(model.rest, 0.1 * rng.standard_normal(model.nv))
    return q, v


def momentum(model, q, v):
    """Linear and angular momentum about the origin, from the definition: points of the rod and their velocities."""
    t = model.layout.tables
    model.bias(q, v)  # leaves poses, inertias and twists of all nodes
    from pliant._kernels.rod_dynamics import momentum as of

    total = np.zeros(6)
    for m in range(len(t.h)):
        if t.mass[m] > 0:
            total += of(model._work.W, m, model._work.V[m])
    return total


def test_sizes_and_derivatives():
    model = flying(rest_curvature=(0.5, 1.0, -2.0), rotation=(0.8, 0.6, 0, 0), position=(0.1, 0.2, 0.3))
    assert (model.nq, model.nv) == (13, 12)
    q, _ = thrown(model, 1)
    h = 1e-6

    def along(f):
        return np.array(
            [(f(model.retract(q, h * e)) - f(model.retract(q, -h * e))) / (2 * h) for e in np.eye(model.nv)]
        ).T

    f, K = model.linearise(q, NONE)
    assert np.allclose(f, -along(lambda x: model.energy(x, NONE)), atol=1e-8 * np.abs(f).max())
    place = model.locate(q, "tip", jacobian=True)
    assert np.allclose(place.jacobian[3:], along(lambda x: model.locate(x, "tip").position), atol=1e-8)
    # the tangent is the Hessian of the energy along the retraction: of force in the chart of q
    eye, E = np.eye(model.nv), lambda d: model.energy(model.retract(q, d), NONE)
    h = 1e-4
    for i, j in ((0, 0), (3, 3), (3, 4), (4, 7), (5, 11), (2, 8)):
        a, b = h * eye[i], h * eye[j]
        second = (E(a + b) - E(a - b) - E(b - a) + E(-a - b)) / (4 * h * h)
        assert K[i, j] == pytest.approx(second, abs=1e-5 * np.abs(K).max())
    assert np.allclose(model.configuration.difference(q, model.retract(q, 0.3 * eye[4])), 0.3 * eye[4])


def test_velocities_are_rates_of_the_configuration():
    """T = 1/2 v M v equals the energy of the points' velocities along retract(q, t v)."""
    model = flying(gravity=(0, 0, 0))
    q, v = thrown(model, 2)
    h = 1e-6
    ahead, back = (model.locate(model.retract(q, s * h * v), "tip").position for s in (1, -1))
    place = model.locate(q, "tip", jacobian=True)
    assert np.allclose(place.jacobian[3:] @ v, (ahead - back) / (2 * h), atol=1e-7)


def _motion(model, q, v, duration, steps):
    """Runge-Kutta-Munthe-Kaas of order four on the model's acceleration."""
    h = duration / steps
    dexp = model.configuration

    def rate(q0, d, v):
        # d/dt of the increment d with q = retract(q0, d): body velocities mapped back by the inverse tangent
        out = v.copy()
        w = d[3:6]
        from pliant import lie

        out[3:6] = lie.right_tangent_inverse(w) @ v[3:6]
        return out, model.acceleration(dexp.retract(q0, d), v, NONE)

    for _ in range(steps):
        zero = np.zeros(model.nv)
        k1, a1 = rate(q, zero, v)
        k2, a2 = rate(q, 0.5 * h * k1, v + 0.5 * h * a1)
        k3, a3 = rate(q, 0.5 * h * k2, v + 0.5 * h * a2)
        k4, a4 = rate(q, h * k3, v + h * a3)
        q = model.retract(q, h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q, v


def test_flying_rod_conserves_momentum_and_energy():
    """No gravity, no support: linear and angular momentum and energy stay, by the equations themselves."""
    model = flying(gravity=(0, 0, 0))
    q, v = thrown(model)
    before, energy = momentum(model, q, v), model.energy(q, NONE) + model.kinetic_energy(q, v)
    errors = []
    for steps in (400, 800):
        qe, ve = _motion(model, q, v, 0.2, steps)
        errors.append(
            [
                np.abs(momentum(model, qe, ve) - before).max() / np.abs(before).max(),
                abs(model.energy(qe, NONE) + model.kinetic_energy(qe, ve) - energy) / energy,
            ]
        )
    assert np.max(errors[1]) < 1e-8
    assert errors[0][1] > 8 * errors[1][1]  # what is left is the integrator's, of fourth order
    assert np.linalg.norm(qe[:3] - q[:3]) > 0.05


def test_flying_rod_under_the_general_stepper():
    """The trapezoidal step: second order; energy and momentum drift vanish with it."""
    model = flying(gravity=(0, 0, 0))
    q, v = thrown(model)
    exact = model.locate(_motion(model, q, v, 0.1, 400)[0], "tip").position
    before, energy = momentum(model, q, v), model.energy(q, NONE) + model.kinetic_energy(q, v)
    errors, drift = [], []
    for steps in (50, 100):
        stepper = pl.Stepper(model, scheme="trapezoidal")
        state = stepper.start(pl.State(q, v, NONE, NONE, NONE))
        for _ in range(steps):
            state = stepper.step(state, NONE, 0.1 / steps)
            assert state.ok, state.status
        errors.append(np.linalg.norm(model.locate(state, "tip").position - exact))
        after = model.energy(state.q, NONE) + model.kinetic_energy(state.q, state.v)
        change = np.abs(momentum(model, state.q, state.v) - before).max() / np.abs(before).max()
        drift.append(max(abs(after - energy) / energy, change))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.25)
    assert drift[1] < 2e-3
    assert drift[0] > 3 * drift[1]


def test_free_fall_is_that_of_a_point():
    model = flying()
    state = pl.Stepper(model, scheme="trapezoidal").start(None)
    stepper = pl.Stepper(model, scheme="trapezoidal")
    for _ in range(20):
        state = stepper.step(state, NONE, 5e-3)
    assert state.q[2] == pytest.approx(-0.5 * 9.81 * 0.1**2, rel=1e-9)
    assert np.allclose(state.q[7:], 0.0, atol=1e-9)
    assert np.allclose(state.q[3:7], (1, 0, 0, 0))


def test_catheter_is_pushed_in_along_its_axis():
    """Slide moves the base; its displacement is the insertion, its effort the force of pushing."""
    push = pl.Slide(name="insert", part="arm", axis=(1, 0, 0))
    model = RodModel(
        robot(push, gravity=(0, 0, 0), axes=((1, 0, 0),), radius=0.002, length=0.2),
        basis=bases.legendre(4, strains=bases.BENDING),
    )
    assert (model.nq, model.nv) == (11, 11)
    state = pl.equilibrium(model, {"insert": 0.05}).require()
    assert state.displacement[0] == pytest.approx(0.05)
    assert np.allclose(model.locate(state, "tip").position, (0.25, 0, 0), atol=1e-12)
    assert state.effort[0] == pytest.approx(0.0, abs=1e-12)
    wall = pl.Plane(point=(0.24, 0, 0), normal=(-1, 0, 0.4))
    bent = pl.equilibrium(model, {"insert": 0.05}, obstacles=[wall]).require()
    assert bent.effort[0] > 0
    assert bent.contacts.forces.sum() > 0
    assert model.skin_positions(bent.q)[:, 0].max() < 0.24 + 0.05


def test_ball_joint_between_rods():
    """A rod on the tip of another by a ball joint: the joint holds, the energy stays, the derivatives are exact."""
    first = pl.RodBody("first", 0.2, 0.01, SOFT)
    second = pl.RodBody("second", 0.1, 0.01, SOFT, parent="first", rotates=True, position=(0.01, 0, 0))
    model = RodModel(pl.Robot("pair", (first, second)), basis=bases.constant(strains=bases.BENDING))
    assert (model.nq, model.nv) == (8, 7)
    q = model.retract(model.rest, np.array([1.0, -2.0, 0.3, 1.2, -0.4, 2.0, 1.0]))
    tip = model.locate(q, "first.tip")
    base = model.skin_positions(q)[25]
    assert np.allclose(base, tip.position + tip.rotation @ (0.01, 0, 0))
    stepper = pl.Stepper(model, scheme="trapezoidal")
    state = stepper.start(pl.State(q, np.zeros(7), NONE, NONE, NONE))
    start = model.energy(q, NONE)
    for _ in range(100):
        state = stepper.step(state, NONE, 5e-4)
    kinetic = model.kinetic_energy(state.q, state.v)
    assert abs(model.energy(state.q, NONE) + kinetic - start) < 1e-2 * kinetic


def test_bad_bases_are_named():
    with pytest.raises(ArgumentError, match="held"):
        RodModel(robot(pl.Slide(name="s", part="arm", axis=(1, 0, 0))))
    with pytest.raises(ArgumentError, match="along"):
        RodModel(robot(pl.Slide(name="s", part="arm", axis=(1, 0, 0)), axes=((0, 0, 1),)))
    with pytest.raises(ArgumentError, match="moving bases"):
        rollout(flying(), np.zeros(12), duration=0.1)
