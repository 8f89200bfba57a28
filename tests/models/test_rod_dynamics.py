"""RodModel in motion: structure of the equations, energy, frequencies (checks D3, D4, F1, F2)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import pliant as pl
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel
from pliant.models.rod_drives import Fluid

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
NONE = np.zeros(0)


def arm(*, gravity=(0, 0, -9.81), **options):
    return pl.Robot(
        "arm",
        (pl.RodBody("arm", **({"length": 0.3, "radius": 0.02, "material": SOFT} | options)),),
        gravity=gravity,
    )


def state_of(model, seed=0):
    rng = np.random.default_rng(seed)
    scale = np.where(model.tables.comp < 3, 4.0, 0.1)
    return rng.standard_normal(model.nv) * scale, rng.standard_normal(model.nv) * scale * 10


@pytest.mark.parametrize("basis", [bases.constant(segments=3), bases.legendre(2), bases.piecewise_linear(2)])
def test_d3_structure(basis):
    """D3: M positive definite, Mdot - 2C skew, C by Christoffel symbols."""
    model = RodModel(arm(rest_curvature=(0.3, 1.0, 0.0), tip_mass=0.05), basis=basis)
    q, v = state_of(model)
    M = model.inertia(q)
    assert np.allclose(M, M.T, atol=0)
    assert np.linalg.eigvalsh(M)[0] > 0
    C, h, n = model.coriolis(q, v), 1e-5, model.nv
    dM = np.array(
        [(model.inertia(q + h * e) - model.inertia(q - h * e)) / (2 * h) for e in np.eye(n)]
    )  # (k, i, j)
    christoffel = 0.5 * (
        np.einsum("kij,k->ij", dM, v) + np.einsum("jik,k->ij", dM, v) - np.einsum("ijk,k->ij", dM, v)
    )
    assert np.allclose(C, christoffel, atol=1e-7 * np.abs(C).max())
    assert np.allclose(C @ v, model.bias(q, v), atol=1e-13 * np.abs(C @ v).max())
    skew = np.einsum("kij,k->ij", dM, v) - 2 * C
    assert np.abs(skew + skew.T).max() < 1e-7 * np.abs(C).max()


def test_mdot_minus_2c_is_skew_to_machine_precision():
    """Mdot without differences, from the exact derivatives of inverse dynamics."""
    model = RodModel(arm(gravity=(0, 0, 0)), basis=bases.legendre(2))
    q, v = state_of(model)
    # d/dq of (M a) at v = 0 in direction v is dM[v] a; columns of dM[v] from unit accelerations.
    zero = np.zeros(model.nv)
    Mdot = np.array([model._derivatives(q, zero, e, np.zeros(6))[1] @ v for e in np.eye(model.nv)]).T
    S = Mdot - 2 * model.coriolis(q, v)
    assert np.abs(S + S.T).max() < 1e-13 * np.abs(Mdot).max()


@pytest.mark.parametrize("basis", [bases.constant(segments=2), bases.legendre(1)])
def test_acceleration_and_derivatives_of_inverse_dynamics(basis):
    model = RodModel(arm(damping=0.01), basis=basis)
    q, v = state_of(model)
    a = model.acceleration(q, v, NONE)
    residual = model.inertia(q) @ a + model.bias(q, v) + model.damping(q, NONE) @ v - model.force(q, NONE)
    assert np.abs(residual).max() < 1e-10 * np.abs(model.force(q, NONE)).max()
    tau, dq, dv = model.inverse_dynamics(q, v, a)
    assert np.abs(tau).max() < 1e-10 * np.abs(model.force(q, NONE)).max()
    h = 1e-6
    for j, e in enumerate(np.eye(model.nv)):
        by_q = (model.inverse_dynamics(q + h * e, v, a)[0] - model.inverse_dynamics(q - h * e, v, a)[0]) / (
            2 * h
        )
        by_v = (model.inverse_dynamics(q, v + h * e, a)[0] - model.inverse_dynamics(q, v - h * e, a)[0]) / (
            2 * h
        )
        assert np.allclose(dq[:, j], by_q, atol=1e-6 * np.abs(dq).max())
        assert np.allclose(dv[:, j], by_v, atol=1e-6 * np.abs(dv).max())


def test_f1_order_zero_is_constant_strain():
    """F1: one mode per strain reproduces piecewise constant strain exactly."""
    one = RodModel(arm(), basis=bases.constant(points=6))
    other = RodModel(arm(), basis=bases.legendre(0, points=6))
    q, v = state_of(one)
    assert np.allclose(one.inertia(q), other.inertia(q), rtol=1e-12)
    assert np.allclose(one.force(q, NONE), other.force(q, NONE), rtol=1e-12)
    assert np.allclose(one.bias(q, v), other.bias(q, v), rtol=1e-9)


def test_f2_clamped_free_frequencies():
    """F2: octopus arm, 2.267 Hz with EI; the first three Euler-Bernoulli frequencies."""
    octopus = NeoHookean.from_young(0.25e6, 0.45, density=1250.0)
    r, length = 8.25e-3, 0.12
    exact = (
        np.array([1.875104, 4.694091, 7.854757]) ** 2
        * np.sqrt(0.25e6 * r**2 / 4 / 1250.0)
        / length**2
        / 2
        / np.pi
    )
    assert exact[0] == pytest.approx(2.267, abs=5e-4)
    # a thin rod of the same frequency has no rotary inertia to speak of: scale the radius down, E up
    thin = NeoHookean.from_young(0.25e6 * 1e4, 0.45, density=1250.0)
    found = []
    for order in (2, 7):
        model = RodModel(
            arm(length=length, radius=r / 100, material=thin, gravity=(0, 0, 0)),
            basis=bases.legendre(order, strains=("bend_y",), points=20),
        )
        w2 = eigh(model.stiffness(model.rest, NONE), model.inertia(model.rest), eigvals_only=True)
        found.append(np.sqrt(w2[:3]) / 2 / np.pi)
    assert np.allclose(found[1], exact, rtol=2e-4)
    assert np.all(found[0] > found[1] * (1 - 1e-9))
    thick = RodModel(
        arm(length=length, radius=r, material=octopus, gravity=(0, 0, 0)),
        basis=bases.legendre(5, strains=("bend_y",)),
    )
    f = (
        np.sqrt(eigh(thick.stiffness(thick.rest, NONE), thick.inertia(thick.rest), eigvals_only=True)[0])
        / 2
        / np.pi
    )
    assert f == pytest.approx(2.267, rel=6e-3)  # rotary inertia lowers it a little


def total_energy(model, q, v):
    return model.kinetic_energy(q, v) + model.energy(q, NONE)


def test_undamped_motion_conserves_energy():
    """Adaptive Runge-Kutta on `acceleration`: the equations themselves conserve energy."""
    model = RodModel(arm(), basis=bases.legendre(1, strains=bases.INEXTENSIBLE))
    n = model.nv
    q0 = np.array([2.0, 0.5, 4.0, -2.0, 3.0, 1.0])

    def rhs(t, y):
        return np.concatenate([y[n:], model.acceleration(y[:n], y[n:], NONE)])

    run = solve_ivp(rhs, (0, 0.1), np.concatenate([q0, np.zeros(n)]), rtol=1e-9, atol=1e-9)
    energies = [total_energy(model, y[:n], y[n:]) for y in run.y.T]
    scale = max(model.kinetic_energy(y[:n], y[n:]) for y in run.y.T)
    assert np.ptp(energies) < 1e-6 * scale


def test_d4_trapezoidal_step_keeps_the_energy():
    """D4: no damping, no input, trapezoid, dt 1 ms, 1 s: drift below 0.1 % of the energy in motion."""
    model = RodModel(arm(), basis=bases.constant(strains=bases.BENDING))
    stepper = pl.Stepper(model, scheme="trapezoidal")
    q0 = np.array([0.0, 4.0])
    zero = np.zeros(0)
    state = stepper.start(pl.State(q0, np.zeros(2), zero, zero, zero))
    rest = pl.equilibrium(model).require()
    scale = total_energy(model, q0, np.zeros(2)) - total_energy(model, rest.q, np.zeros(2))
    energies = [total_energy(model, state.q, state.v)]
    for _ in range(1000):
        state = stepper.step(state, zero, 1e-3)
        assert state.ok, state.status
        energies.append(total_energy(model, state.q, state.v))
    assert abs(np.mean(energies[-100:]) - np.mean(energies[:100])) < 1e-3 * scale


def test_drag_resists_and_is_the_integral_along_the_rod():
    """-1/2 rho c A |v| v along and across the rod, projected: checked with velocities of points."""
    fluid = Fluid(density=1000.0, across=0.8, along=0.02)
    basis = bases.constant(segments=2, points=5)
    wet, dry = RodModel(arm(), basis=basis, fluid=fluid), RodModel(arm(), basis=basis)
    q, v = state_of(wet)
    drag = wet.bias(q, v) - dry.bias(q, v)
    assert v @ drag > 0
    assert np.allclose(wet.bias(q, 2 * v) - dry.bias(q, 2 * v), 4 * drag)
    x, w = np.polynomial.legendre.leggauss(5)
    stations = np.concatenate([0.075 + 0.075 * x, 0.225 + 0.075 * x])
    named = RodModel(
        arm().but(points=[pl.Point(f"p{i}", (s, 0, 0)) for i, s in enumerate(stations)]), basis=basis
    )
    place = named.locate(q, [f"p{i}" for i in range(10)], jacobian=True)
    expected = np.zeros(wet.nv)
    for i in range(10):
        J, t = place.jacobian[i, 3:], place.rotation[i][:, 0]
        u = J @ v
        s, ds = u @ t, 0.075 * w[i % 5]
        n = u - s * t
        f = 1000 * 0.02 * ds * (0.02 * np.pi * abs(s) * s * t + 0.8 * np.linalg.norm(n) * n)
        expected += J.T @ f
    assert np.allclose(drag, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
    residual = wet.inertia(q) @ wet.acceleration(q, v, NONE) + wet.bias(q, v) - wet.force(q, NONE)
    assert np.abs(residual).max() < 1e-9 * np.abs(drag).max()
