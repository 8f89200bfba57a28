"""PccModel: acceptance checks D1-D11 of the dossier, each test named after its check."""

import numpy as np
import pytest
from harness import check_derivatives, check_virtual_work
from scipy.optimize import least_squares

from pliant import lie
from pliant.control.loop import closed_loop
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.models.creep import Creep
from pliant.models.modal import Modal
from pliant.models.pcc import JointLaw, PccModel
from pliant.models.pcc_rollout import mde_rollout, mde_sweep, rollout_links
from pliant.robots.printed_link import AXIAL, BENDING, GAINS, LENGTH, MASS, link_creep, link_model, printed_link
from pliant.robots.six_link import six_link_input, six_link_model, six_link_start
from pliant.solve.equilibrium import equilibrium
from pliant.solve.simulate import simulate

X = np.array([3.5, 5.5, 7.1, 8.7, 11, 12.4, 13.8, 15.2, 16.8, 18.4, 20]) * 1e-3
F = np.array([1.7895, 2.9289, 3.9445, 5.0759, 6.8505, 8.1245, 9.5167, 11.0292, 12.9051, 14.9354, 17.1146])
BETA = np.array([0.1836, 0.2634, 0.3709, 0.4661, 0.551, 0.697, 0.7606, 0.8735, 0.948, 1.0157, 1.0776])
BETA = np.append(BETA, [1.1875, 1.2357])
MOMENT = np.array([0.0057, 0.0085, 0.0128, 0.017, 0.0213, 0.0298, 0.0341, 0.0426, 0.049, 0.0554, 0.0618])
MOMENT = np.append(MOMENT, [0.0746, 0.0808])


def bent(model, seed=0, size=20.0):
    return np.random.default_rng(seed).standard_normal(model.nq) * np.tile([0.05, size, size], model.links)


@pytest.mark.parametrize("hyperelastic", [False, True])
def test_contract(hyperelastic):
    model = link_model(hyperelastic=hyperelastic, payload=0.05)
    assert isinstance(model, Model)
    for q in (bent(model), np.zeros(3), np.array([0.01, 1e-7, 0.0])):
        check_derivatives(model, q, np.array([1e4, -5e3, 2e4]), tolerance=1e-5)
        check_virtual_work(model, q, np.zeros(3))


def test_contract_of_six_links():
    model = six_link_model()
    check_derivatives(model, bent(model), np.array([1e4, 0.0, 2e4]))


def closed_form(q, length):
    """Tip pose and body Jacobian of one link from exponentials."""

    def xi(c):
        return length * np.array([0, c[1], c[2], 1 + c[0], 0, 0])

    basis = np.zeros((6, 3))
    basis[3, 0] = basis[1, 1] = basis[2, 2] = length
    return lie.exp(xi(q)), lie.right_tangent(xi(q)) @ basis


def test_D1_sweep_converges_at_second_order():
    model = link_model()
    q = np.array([0.05, 8.0, -20.0])
    g, J = closed_form(q, LENGTH)
    R0 = lie.matrix_from_quaternion(model.robot.bodies[0].rotation)
    errors = []
    for n in (20, 40, 80):
        found = mde_sweep(model, q, np.zeros(3), elements=n)
        tip = R0 @ g[:3, 3]
        errors.append([np.abs(found.tip[:3, 3] - tip).max(), np.abs(found.jacobian - J).max()])
        assert np.abs(found.tip[:3, :3].T @ found.tip[:3, :3] - np.eye(3)).max() < 1e-14
    rate = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    assert (rate > 1.8).all()


def test_D2_velocities_are_smooth_through_straight():
    """Ex 3.1: J v against numerical differentiation, along a motion through zero curvature."""
    from scipy.special import erf

    model = link_model()

    def path(t):
        return erf(t) * np.array([0.1 * np.sin(np.pi * t), np.cos(np.pi * t), np.sin(1.5 * np.pi * t - np.pi / 4)])

    h, speeds = 1e-5, []
    for t in np.linspace(0.0, 2.0, 81):
        v = (path(t + h) - path(t - h)) / (2 * h)
        moved = (model.locate(path(t + h), "tip").position - model.locate(path(t - h), "tip").position) / (2 * h)
        speed = model.locate(path(t), "tip", jacobian=True).jacobian[3:] @ v
        assert np.abs(speed - moved).max() < 1e-9
        speeds.append(speed)
    assert np.abs(np.diff(speeds, 2, axis=0)).max() < 2e-3
    # at zero curvature the tip moves by half the length squared per curvature
    J = model.locate(np.zeros(3), "tip", jacobian=True).jacobian[3:]
    assert np.linalg.norm(J[:, 1]) == pytest.approx(0.5 * LENGTH**2, rel=1e-12)


def test_D3_structure_of_the_dynamics():
    model = six_link_model()
    q, v, h = bent(model, 1), bent(model, 2), 1e-6
    M, C = model.inertia(q), model.coriolis(q, v)
    assert np.abs(M - M.T).max() < 1e-18
    assert np.linalg.eigvalsh(M).min() > 0
    rate = (model.inertia(q + h * v) - model.inertia(q - h * v)) / (2 * h)
    skew = rate - 2 * C
    assert np.abs(skew + skew.T).max() < 1e-6 * np.abs(rate).max()
    assert np.allclose(C @ v, model.bias(q, v), atol=1e-10 * np.abs(C @ v).max())
    weight = [
        (model.rod.energy(q + h * e, np.zeros(0)) - model.rod.energy(q - h * e, np.zeros(0))) / (2 * h)
        for e in np.eye(18)
    ]
    assert np.allclose(model.gravity(q), -np.array(weight), atol=1e-7)
    # the swept quantities are the same ones, with the errata repaired
    found = mde_sweep(model, q, v, elements=1200)
    assert np.abs(found.inertia - M).max() < 1e-3 * np.abs(M).max()
    assert np.abs(found.coriolis @ v - C @ v).max() < 5e-3 * np.abs(C @ v).max()
    assert np.abs(found.weight + model.gravity(q)).max() < 1e-3 * np.abs(found.weight).max()
    skew = rate - 2 * found.coriolis
    assert np.abs(skew + skew.T).max() < 5e-3 * np.abs(rate).max()


def test_D4_energy_is_kept_without_damping():
    robot = printed_link()
    model = PccModel(robot, joints=JointLaw.hookean(50.6, 3.735e-5), damping=(0.0, 0.0), gains=GAINS, rotary=False)
    run = rollout_links(model, [0.0, 10.0, 5.0], [0.0, 0.0, 300.0], duration=1.0, dt=1e-3)
    assert run.ok
    energy = [model.energy(q, np.zeros(3)) + 0.5 * v @ model.inertia(q) @ v for q, v in zip(run.q, run.v)]
    assert np.ptp(energy) < 1e-3 * energy[0]


def test_D5_frequencies_and_sag_of_the_printed_link():
    model = link_model()
    M, K = model.inertia(np.zeros(3)), model.elastic(np.zeros(3))[2]
    assert np.sqrt(K[1, 1] / M[1, 1]) / (2 * np.pi) == pytest.approx(7.97, abs=0.01)
    assert np.sqrt(K[0, 0] / M[0, 0]) / (2 * np.pi) == pytest.approx(231, rel=5e-3)
    rho = MASS / LENGTH
    assert M[0, 0] == pytest.approx(rho * LENGTH**3 / 3, rel=1e-9)
    assert M[1, 1] == pytest.approx(rho * LENGTH**5 / 20, rel=1e-9)
    state = equilibrium(model)
    assert state.q[0] == pytest.approx(-1.080e-4, abs=2e-7)
    assert 7.0 < 0.5 * model.viscous[1] / M[1, 1] < 10.0
    run = rollout_links(model, [0.0, 4.75, 0.0], duration=1.0, dt=1e-3)
    crossings = np.flatnonzero(np.diff(np.sign(run.q[:, 1])))
    assert 0.5 / np.mean(np.diff(run.time[crossings])) == pytest.approx(7.7, abs=0.4)  # gravity softens


def test_D6_stiffness_fit_reproduces_the_fem_tables():
    law = JointLaw.fit(X, F, BETA, MOMENT, LENGTH)
    assert np.abs(law.response(X / LENGTH, "axial") / LENGTH - F).max() < 0.1
    assert np.abs(law.response(BETA / LENGTH, "bending") / LENGTH - MOMENT).max() < 3e-4


def oscillator(creep):
    """m = 0.1 kg, k = 10 N/m, c = 0.1 N s/m: the stretch of a link is made to be that oscillator, times a scale."""
    robot = printed_link().but(gravity=(0.0, 0.0, 0.0))
    scale = link_model().inertia(np.zeros(3))[0, 0] / 0.1
    joints = JointLaw.hookean(10.0 * scale, 1.0)
    creep = Creep((2.0, 1.0, 1.0), (5.0, 0.0, 0.0), (2.0 * scale, 0.0, 0.0)) if creep else None
    model = PccModel(robot, joints=joints, damping=(0.1 * scale, 1.0), gains=GAINS, rotary=False, creep=creep)
    return model, scale


TABLE_TIME = np.array([0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 4.9])
HOOKEAN = np.array([6.675, 19.999, 27.681, 12.318, 22.938, 12.374, 14.775, 16.198, 14.750])
VOIGT = np.array([6.153, 14.354, 12.669, 6.730, 11.753, 14.979, 14.711, 14.729, 14.888])


@pytest.mark.parametrize(("creep", "expected"), [(False, HOOKEAN), (True, VOIGT)])
def test_D7_creep_table(creep, expected):
    model, scale = oscillator(creep)
    run = rollout_links(model, duration=4.9, dt=5e-4, force=[0.15 * scale, 0, 0], every=10, tolerance=1e-13)
    found = 1e3 * run.q[np.searchsorted(run.time, TABLE_TIME - 1e-9), 0]
    assert np.abs(found / expected - 1).max() < 1e-3


@pytest.mark.parametrize("scheme", ["alpha", "trapezoidal"])
def test_D7_creep_acts_in_simulate(scheme):
    model, scale = oscillator(True)
    driven = Modal(model, [0])
    run = simulate(driven, [0.15 * scale], duration=2.0, dt=5e-3, scheme=scheme, damping=1.0)
    assert run.ok
    keep = TABLE_TIME <= 2.0
    found = 1e3 * run.q[np.searchsorted(run.time, TABLE_TIME[keep] - 1e-9), 0]
    assert np.abs(found / VOIGT[keep] - 1).max() < 1e-2


def test_creep_is_of_second_order_in_steps_and_survives_ticks():
    model = PccModel(
        printed_link(), joints=JointLaw.hookean(50.6, 3.7e-5), damping=(1e-2, 2.3e-7), gains=GAINS, rotary=False,
        creep=Creep((3.0, 6.0, 6.0), (1.0, 1.0, 1.0), (20.0, 2e-5, 2e-5)),
    )  # fmt: skip
    u = np.array([1.5e4, 0.0, 0.0])
    exact = rollout_links(model, duration=0.4, dt=2.5e-4, effort=u).q[-1]
    free = PccModel(printed_link(), joints=model.laws, damping=(1e-2, 2.3e-7), gains=GAINS, rotary=False)
    without = rollout_links(free, duration=0.4, dt=2.5e-4, effort=u).q[-1]
    errors = []
    for dt in (8e-3, 4e-3):
        run = simulate(model, u, duration=0.4, dt=dt, scheme="trapezoidal")
        assert run.ok
        errors.append(abs(run.q[-1, 1] - exact[1]))
    assert errors[0] < 0.3 * abs(without[1] - exact[1])
    assert errors[1] < 0.4 * errors[0]
    # a controller that ticks does not forget the creep states between ticks
    ticked = closed_loop(model, lambda t, state: u, duration=0.4, period=0.02, dt=2.5e-4)
    assert np.abs(ticked.q[-1] - exact).max() < 1e-6 * np.abs(exact).max()
    # equilibria carry no creep
    assert np.allclose(equilibrium(model, u).q, equilibrium(free, u).q, atol=1e-9)


def test_creep_of_the_printed_link_returns_to_zero():
    model = link_model()
    run = rollout_links(model, [0.0, 10.0, 0.0], duration=2.0, dt=1e-3, creep=link_creep())
    assert run.ok
    assert np.abs(run.creep).max() > 0
    assert np.abs(run.creep[-1]).max() < 1e-3 * np.abs(run.creep).max()


@pytest.fixture(scope="module")
def reference():
    model = six_link_model()
    run = rollout_links(model, six_link_start(), duration=4.0, dt=1e-3, effort=six_link_input, every=20)
    return model, run, np.array([model.locate(q, "tip").position for q in run.q])


def test_D8_six_links_error_falls_with_elements(reference):
    model, _, tips = reference
    error = []
    for elements in (24, 48):
        run, found = mde_rollout(
            model, six_link_start(), duration=4.0, dt=0.02, elements=elements, effort=six_link_input
        )
        assert run.ok
        error.append(np.linalg.norm(found - tips, axis=1)[100:].mean() / 0.15)
    assert error[1] < error[0] / 2.5
    assert error[0] < 0.01


def test_D8_curvatures_have_a_period_of_two_seconds_and_the_published_sizes(reference):
    _, run, _ = reference
    k = run.q.reshape(-1, 6, 3)[:, :, 1]
    size = np.abs(k[100:]).max(axis=0)
    assert size[0] == pytest.approx(35, rel=0.05)
    published = np.array([35.5, 18.7, 14.5, 8.0, 2.9, 0.43])
    assert np.all(size / published > 0.4)
    assert np.all(size / published < 2.0)
    assert np.abs(k[160:] + np.roll(k, 50, axis=0)[160:]).max() < 0.5  # half a period later: mirrored


def test_D9_fifty_hertz_is_accurate(reference):
    model, _, tips = reference
    run = rollout_links(model, six_link_start(), duration=4.0, dt=0.02, effort=six_link_input)
    assert run.ok
    found = np.array([model.locate(q, "tip").position for q in run.q])
    assert np.linalg.norm(found - tips, axis=1).mean() / 0.15 < 0.005  # published: 4.33 %


def test_D10_hyperelastic_against_hookean_on_large_amplitudes():
    """Curvature from moment over the whole table: Hooke fitted to curvatures up to 3 1/m.

    And the tanh law.
    """
    law = JointLaw.from_curves(AXIAL, BENDING, LENGTH)
    kappa = BETA / LENGTH
    small = BETA < 0.27
    hooke = (MOMENT[small] @ BETA[small]) / (BETA[small] @ BETA[small])
    predicted = MOMENT / hooke / LENGTH
    solved = [least_squares(lambda k, m=m: law.response(k, "bending") / LENGTH - m, 10.0).x[0] for m in MOMENT]
    ratio = np.sqrt(np.mean((predicted - kappa) ** 2)) / np.sqrt(np.mean((np.array(solved) - kappa) ** 2))
    assert ratio >= 5.0


def test_D11_payload_error_grows_against_a_rod_of_variable_strain():
    """One arc against four on the same section, the load pulling sideways.

    The bias grows with the payload.
    """
    from pliant.models import basis
    from pliant.models.rod import RodModel

    errors = []
    for grams in (50, 100, 150):
        robot = printed_link(payload=1e-3 * grams).but(gravity=(1.2, 0.0, 0.0), actuators=())
        one = PccModel(robot, rotary=False)
        many = RodModel(robot, basis=basis.legendre(4, strains=("stretch", "bend_y", "bend_z")))
        a = one.locate(equilibrium(one), "tip").position
        errors.append(np.linalg.norm(a - many.locate(equilibrium(many), "tip").position))
    assert errors[0] < errors[1] < errors[2]
    assert errors[2] < 0.15 * LENGTH


def test_simulate_and_rollout_agree():
    model = link_model(hyperelastic=True)
    start = equilibrium(model).but(q=np.array([0.0, 5.0, -3.0]))
    u = np.array([2e3, 0.0, 0.0])
    run = simulate(model, u, duration=0.1, dt=1e-3, start=start, scheme="trapezoidal")
    fast = rollout_links(model, [0.0, 5.0, -3.0], duration=0.1, dt=1e-3, effort=u)
    assert run.ok
    assert np.abs(run.q[-1, 1:] - fast.q[-1, 1:]).max() < 0.02


def test_bad_input():
    with pytest.raises(ArgumentError, match="bending"):
        JointLaw((1.0, 0.0, 0.0), (1.0, 2.0, 0.1))
    with pytest.raises(ArgumentError, match="gains"):
        PccModel(printed_link(), gains=GAINS, bellows=2)
    with pytest.raises(ArgumentError, match="effort"):
        rollout_links(link_model(), duration=0.1, dt=0.01, effort=[np.nan] * 3)
