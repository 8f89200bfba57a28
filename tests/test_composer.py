"""Composer and fluidics: checks J1-J3, and every kind of part in one composition."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pliant.composer import Composer, FreeBody, ModelSystem, StateSpace
from pliant.errors import ArgumentError, UnknownNameError
from pliant.fluidics import ATMOSPHERE, GAS, Regulator, Reservoir, constant_volume, expanding_volume
from pliant.models.modal import Modal
from pliant.models.pcc import JointLaw, PccModel
from pliant.models.pcc_rollout import rollout_links
from pliant.robots.printed_link import link_creep, link_model, printed_link
from pliant.solve.simulate import simulate


def duffing(t, x, u):
    return np.array([x[1], x[0] - x[0] ** 3 - 0.5 * x[1] + 0.45 * np.cos(2 * t)])


def test_J1_duffing_is_that_of_a_high_order_solver():
    start = (0.5021, 0.17606)
    exact = solve_ivp(lambda t, x: duffing(t, x, None), (0, 20), start, method="DOP853", rtol=1e-12, atol=1e-13)
    high = Composer({"d": StateSpace(duffing, start)}).simulate(duration=20.0, dt=0.1, method="DOP853", tolerance=1e-11)
    assert np.abs(high["d"][-1] - exact.y[:, -1]).max() < 1e-6
    errors = []
    for dt in (0.02, 0.01):
        run = Composer({"d": StateSpace(duffing, start)}).simulate(duration=5.0, dt=dt)
        at = solve_ivp(lambda t, x: duffing(t, x, None), (0, 5), start, method="DOP853", rtol=1e-12, atol=1e-13)
        errors.append(np.abs(run["d"][-1] - at.y[:, -1]).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)  # second order


def test_J2_racket_theorem_flips():
    body = FreeBody(0.1, (18.36, 40.32, 44.517), rate=(1e-3, 5.0, 1e-3))
    run = Composer({"racket": body}).simulate(duration=40.0, dt=0.02, method="DOP853", tolerance=1e-10)["racket"]
    middle = run[:, 11]
    assert middle.max() > 4.9
    assert middle.min() < -4.9
    momentum = np.array(body.inertia) * run[:, 10:13]
    assert np.ptp(np.linalg.norm(momentum, axis=1)) < 1e-5 * np.linalg.norm(momentum[0])
    stable = FreeBody(0.1, (18.36, 40.32, 44.517), rate=(1e-3, 1e-3, 5.0))
    run = Composer({"racket": stable}).simulate(duration=40.0, dt=0.05, method="DOP853", tolerance=1e-9)["racket"]
    assert run[:, 12].min() > 4.9


def test_J3_reservoir_conserves_mass():
    still = Reservoir(expanding_volume(3.35e-5, 0.06), polytropic=1.0)
    moving = StateSpace(lambda t, x, u: [np.cos(3 * t) * 0.05], [0.0])
    parts = {"r": still, "x": moving}
    run = Composer(parts, lambda t, s: {"r": [ATMOSPHERE, s["x"][0], np.cos(3 * t) * 0.05]}).simulate(
        duration=2.0, dt=0.005, method="DOP853", tolerance=1e-10
    )
    p, mass = run["r"][:, 0], run["r"][:, 1]
    assert np.ptp(mass) == 0.0
    volume = np.array([still.volume(x)[0] for x in run["x"][:, 0]])
    assert np.abs(p * volume / (GAS * still.temperature) / mass - 1).max() < 1e-7
    assert np.ptp(p) > 1e4


def test_regulated_vessel_reaches_its_pressure():
    vessel = Reservoir(constant_volume(3.35e-5), kp=4e-9, ki=4e-9)
    run = Composer({"r": vessel}, lambda t, s: {"r": [ATMOSPHERE + 1e4]}).simulate(duration=2.0, dt=0.01)
    assert run["r"][-1, 0] - ATMOSPHERE == pytest.approx(1e4, rel=2e-2)
    leaky = Reservoir(constant_volume(3.35e-5), leak=5.0, pressure=2e5)
    run = Composer({"r": leaky}).simulate(duration=2.0, dt=0.01)
    assert run["r"][-1, 0] == pytest.approx(ATMOSPHERE, rel=1e-3)


def test_model_and_reservoir_as_one():
    """A printed link on a regulated source bends as under the pressure itself, later."""
    model = link_model()
    vessel = Reservoir(constant_volume(1e-5), kp=1e-8)
    parts = {"arm": ModelSystem(model), "source": vessel}

    def wiring(t, s):
        return {"arm": [s["source"][0] - ATMOSPHERE, 0.0, 0.0], "source": [ATMOSPHERE + 2e4]}

    run = Composer(parts, wiring).simulate(duration=0.4, dt=1e-3, tolerance=1e-8)
    direct = rollout_links(model, duration=0.4, dt=1e-3, effort=[2e4, 0, 0])
    assert run["source"][-1, 0] - ATMOSPHERE == pytest.approx(2e4, rel=1e-2)
    assert abs(run["arm"][20, 1]) < abs(direct.q[20, 1])
    assert run["arm"][-1, 1] == pytest.approx(direct.q[-1, 1], rel=0.3)


SOFT = JointLaw.hookean(50.6, 3.735e-5)


def free_link(damping=(0.0, 0.0)):
    """The printed link without weight, driven by generalised forces on stretch and curvatures."""
    robot = printed_link().but(gravity=(0.0, 0.0, 0.0), actuators=())
    return Modal(PccModel(robot, joints=SOFT, damping=damping, rotary=False))


def test_several_models_as_one():
    """Two equal links, a spring between their curvatures: in phase it does nothing, against each other they swing at
    sqrt((k + 2 k_s) / m)."""
    model, spring = free_link(), 3e-5
    m, k = model.inertia(model.rest)[1, 1], 3.735e-5
    for sign, stiffness in ((1.0, k), (-1.0, k + 2 * spring)):
        period = 2 * np.pi / np.sqrt(stiffness / m)
        parts = {"a": ModelSystem(model, [0, 0.1, 0]), "b": ModelSystem(model, [0, sign * 0.1, 0])}

        def wiring(t, s):
            pull = spring * (s["b"][1] - s["a"][1])
            return {"a": [0.0, pull, 0.0], "b": [0.0, -pull, 0.0]}

        run = Composer(parts, wiring).simulate(duration=period, dt=period / 20, method="DOP853", tolerance=1e-9)
        assert run["a"][-1, 1] == pytest.approx(0.1, rel=1e-3)  # back after one period
        assert run["a"][10, 1] == pytest.approx(-0.1, rel=1e-2)
        assert np.allclose(run["a"][:, 1], sign * run["b"][:, 1], atol=1e-6)


def test_rigid_body_on_a_model():
    """A body on a spring at the end of a link that only stretches: energy is kept, whatever flows between them."""
    model, spring = free_link(), 30.0
    length = 0.0644
    body = FreeBody(0.05, (1e-5, 1e-5, 1e-5), position=(length + 0.003, 0.0, 0.0))
    parts = {"arm": ModelSystem(model), "body": body}

    def stretched(s):
        return s["body"][0] - length * (1.0 + s["arm"][0])

    def wiring(t, s):
        pull = spring * stretched(s)
        return {"arm": [length * pull, 0.0, 0.0], "body": [0, 0, 0, -pull, 0, 0]}

    run = Composer(parts, wiring).simulate(duration=0.2, dt=2e-3, method="DOP853", tolerance=1e-9)
    energy = []
    for arm, rigid in zip(run["arm"], run["body"]):
        q, v = arm[:3], arm[3:]
        stored = model.energy(q, np.zeros(3)) + 0.5 * v @ model.inertia(q) @ v
        pulled = 0.5 * spring * stretched({"arm": arm, "body": rigid}) ** 2
        energy.append(stored + pulled + 0.5 * 0.05 * rigid[7:10] @ rigid[7:10])
    assert np.ptp(energy) < 1e-5 * max(energy)
    assert np.ptp(run["body"][:, 0]) > 4e-3  # it swings


def test_controllers_tick_and_their_commands_are_held():
    """A controller in a composition does what it does in `simulate`."""
    model = free_link(damping=(1e-2, 2.3e-7))
    seen = []

    def controller(t, state):
        seen.append(t)
        return np.array([0.0, 1e-3, 0.0]) - 2e-5 * state.q - 1e-6 * state.v

    composed = Composer({"arm": ModelSystem(model)}, controllers={"arm": controller}, period=0.01)
    run = composed.simulate(duration=0.2, dt=2.5e-3)
    assert np.allclose(seen, np.arange(20) * 0.01)
    assert len(np.unique(run.inputs["arm"][:, 1])) == 20

    class Held:
        last, until = None, -1.0

        def __call__(self, t, state):
            if t + 1e-9 >= self.until:
                self.last, self.until = controller(t, state), t + 0.01
            return self.last

    # fine steps: after a jump of the command the first step of `simulate` still has the old acceleration
    direct = simulate(model, Held(), duration=0.2, dt=2.5e-4, every=10)
    assert np.abs(run["arm"][:, 1] - direct.q[:, 1]).max() < 0.01 * np.abs(direct.q[:, 1]).max()


def test_arm_source_body_and_controller_as_one():
    """A controller asks a source for pressure, the source fills late, the link bends and carries a body along."""
    model = link_model(upright=False)
    vessel = Reservoir(constant_volume(1e-5), kp=1e-8)
    parts = {"arm": ModelSystem(model), "source": vessel, "body": FreeBody(0.01, (1e-6,) * 3)}

    def controller(t, state):
        return [2e4 + 500.0 * (8.0 + state.q[1]), 0.0, 0.0]  # bend of the first bellows is negative

    def wiring(t, s):
        return {
            "arm": [s["source"][0] - ATMOSPHERE, 0.0, 0.0],
            "source": [ATMOSPHERE + s["arm.command"][0]],
            "body": [0.0, 0.0, 0.0, 0.2 * (s["arm"][1] - 100.0 * s["body"][0]) * 1e-3, 0.0, 0.0],
        }

    composed = Composer(parts, wiring, controllers={"arm": controller}, period=0.02)
    run = composed.simulate(duration=0.4, dt=4e-3, tolerance=1e-7)
    wanted = run.inputs["arm"][-2, 0]
    assert run["source"][-1, 0] - ATMOSPHERE == pytest.approx(wanted, rel=0.05)
    assert run["arm"][-1, 1] < -3.0
    assert run["body"][-1, 0] < 0.0


def test_controllers_need_a_part_that_shows_its_state():
    with pytest.raises(ArgumentError, match="ModelSystem"):
        Composer({"d": StateSpace(duffing, (0, 0))}, controllers={"d": lambda t, s: 0.0})
    with pytest.raises(UnknownNameError):
        Composer({"d": StateSpace(duffing, (0, 0))}, controllers={"e": lambda t, s: 0.0})


def test_regulator_lags_a_command():
    model = link_model()
    run = simulate(model, Regulator([2e4, 0.0, 0.0], lag=0.05), duration=0.3, dt=5e-3)
    assert run.ok
    i = np.searchsorted(run.time, 0.05)
    assert run.u[i, 0] == pytest.approx(2e4 * (1 - np.exp(-1)), rel=0.1)


def test_names_and_numbers_are_checked():
    creeping = PccModel(printed_link(), gains=(1e-7, 1e-8), creep=link_creep())
    with pytest.raises(ArgumentError, match="memory"):
        ModelSystem(creeping)
    with pytest.raises(UnknownNameError):
        Composer({"a": StateSpace(duffing, (0, 0))}, lambda t, s: {"b": [1.0]}).flow(0.0, np.zeros(2))
    with pytest.raises(ArgumentError):
        Reservoir(constant_volume(1e-5), temperature=0.0)
