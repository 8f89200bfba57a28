"""Internal damping: it resists strain rates and nothing else, so bodies that fly and turn keep their momentum."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import Corotational, NeoHookean

LAWS = {"neo-hookean": NeoHookean, "co-rotational": Corotational}


def block(law: str = "neo-hookean", element: str = "linear", model: type = pl.FemModel, **mesh):
    """A free block of 100 x 20 x 20 mm, strongly damped, in empty space."""
    material = LAWS[law].from_young(1e5, 0.4, density=1000.0, rayleigh_stiffness=0.02)
    shape = pl.TetMesh.box((0.1, 0.02, 0.02), (5, 1, 1), origin=(-0.05, -0.01, -0.01), **mesh)
    robot = pl.Robot("block", pl.SoftBody("body", shape, material), gravity=(0, 0, 0))
    return model(robot, element=element) if model is pl.FemModel else model(robot)


def strained(model):
    """A pose with strains of some ten per cent, turned by 50 degrees about an axis."""
    rng = np.random.default_rng(2)
    x = model.rest.reshape(-1, 3)
    x = x @ (np.eye(3) + 0.15 * rng.standard_normal((3, 3))).T + 5e-4 * rng.standard_normal(x.shape)
    axis = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0)
    K = np.cross(np.eye(3), -axis)
    turn = np.eye(3) + np.sin(0.9) * K + (1 - np.cos(0.9)) * K @ K
    return (x @ turn.T).ravel()


@pytest.mark.parametrize(
    ("law", "element", "mesh"),
    [("neo-hookean", "linear", {}), ("co-rotational", "linear", {}), ("neo-hookean", "quadratic", {}),
     ("co-rotational", "linear", {"prisms": True})],
)  # fmt: skip
def test_rigid_motions_of_a_strained_body_are_not_damped(law, element, mesh):
    model = block(law, element, **mesh)
    q = strained(model)
    D = model.damping(q, np.zeros(0)).toarray()
    assert np.allclose(D, D.T, atol=1e-14 * np.abs(D).max())
    spectrum = np.linalg.eigvalsh(D)
    assert spectrum[0] > -1e-12 * spectrum[-1]
    assert (spectrum < 1e-10 * spectrum[-1]).sum() == 6  # three translations and three rotations
    for axis in np.eye(3):
        spin = np.cross(axis, q.reshape(-1, 3)).ravel()
        assert np.abs(D @ spin).max() < 1e-12 * np.abs(D).max() * np.abs(spin).max()


def test_damping_is_that_of_kelvin_and_voigt_on_greens_strain():
    """Power = integral of lambda (tr E')^2 + 2 mu E':E', E' by finite differences of Green's strain."""
    model = block()
    q = strained(model)
    v = np.random.default_rng(5).standard_normal(model.nv)
    material, h = model.materials[0], 1e-6

    def green(p):
        group = model.layout.groups[0]
        F = np.einsum("eai,egaj->egij", model.positions(p)[group.cells], group.grads)
        return 0.5 * (np.swapaxes(F, -1, -2) @ F), group.weights

    (late, weights), (early, _) = green(q + h * v), green(q - h * v)
    rate = (late - early) / (2 * h)
    trace = np.trace(rate, axis1=-2, axis2=-1)
    lam, mu = material.bulk - 2.0 / 3.0 * material.shear, material.shear
    power = 0.02 * (weights * (lam * trace**2 + 2 * mu * (rate**2).sum(axis=(-1, -2)))).sum()
    assert v @ (model.damping(q, np.zeros(0)) @ v) == pytest.approx(power, rel=1e-7)


@pytest.mark.parametrize("scheme", ["alpha", "trapezoidal"])
@pytest.mark.parametrize("kind", [pl.FemModel, pl.GeometricModel])
def test_a_damped_body_that_spins_keeps_its_angular_momentum(scheme, kind):
    """60 rad/s, 3.4 degrees per step. With the damping of the old pose 85 % was gone after 0.1 s."""
    model = block(model=kind)
    x = model.rest.reshape(-1, 3)
    none = np.zeros(0)
    state = pl.State(model.rest.copy(), np.cross([0, 0, 60.0], x).ravel(), none, none, none)
    mass = model.inertia(model.rest)

    def momentum(s):
        return np.cross(s.q.reshape(-1, 3), (mass @ s.v).reshape(-1, 3)).sum(axis=0)[2]

    stepper, before = pl.Stepper(model, scheme=scheme), momentum(state)
    for _ in range(100):
        state = stepper.step(state, None, 1e-3).require()
    assert momentum(state) == pytest.approx(before, rel=2e-3)


def test_backward_euler_brakes_by_itself_and_damping_adds_nothing():
    momenta = []
    for beta in (0.0, 0.02):
        model = block()
        body = model.robot.bodies[0]
        material = NeoHookean.from_young(1e5, 0.4, density=1000.0, rayleigh_stiffness=beta)
        model = pl.FemModel(model.robot.but(bodies=(pl.SoftBody("body", body.mesh, material),)))
        x, none = model.rest.reshape(-1, 3), np.zeros(0)
        state = pl.State(model.rest.copy(), np.cross([0, 0, 20.0], x).ravel(), none, none, none)
        mass, stepper = model.inertia(model.rest), pl.Stepper(model, scheme="euler")
        for _ in range(50):
            state = stepper.step(state, None, 1e-3).require()
        momenta.append(np.cross(state.q.reshape(-1, 3), (mass @ state.v).reshape(-1, 3)).sum(axis=0)[2])
    assert momenta[1] > 0.998 * momenta[0]
