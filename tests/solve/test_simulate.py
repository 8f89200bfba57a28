"""simulate and sweep: constant commands, signals, controllers, recording, honest endings."""

import numpy as np
import pytest
from harness import box_robot, golden_beam, relative

from pliant.actuators import PointForce
from pliant.bodies import Point
from pliant.contact.primitives import Plane
from pliant.errors import ArgumentError
from pliant.inverse.invert import invert
from pliant.inverse.targets import PointTarget
from pliant.inverse.workspace import workspace
from pliant.materials import Corotational
from pliant.models.fem import FemModel
from pliant.solve.dynamics import step
from pliant.solve.equilibrium import equilibrium
from pliant.solve.sensitivity import sensitivity
from pliant.solve.simulate import simulate, sweep
from pliant.state import Status


@pytest.fixture(scope="module")
def model() -> FemModel:
    material = Corotational.from_young(1e5, 0.3, density=1000, rayleigh_mass=20.0)
    push = PointForce(name="push", point=(0.06, 0.01, 0.01), direction=(0, 0, 1))
    tip = Point("tip", (0.06, 0.01, 0.01))
    return FemModel(box_robot((0.06, 0.02, 0.02), (4, 1, 1), material, actuators=(push,), points=(tip,)))


def test_constant_command_settles_to_the_static_pose(model):
    run = simulate(model, {"push": 0.02}, duration=2.0, dt=0.02)
    assert run.ok
    assert len(run) == 101
    assert run.time[-1] == pytest.approx(2.0)
    static = equilibrium(model, 0.02, strict=True)
    assert np.abs(run.points["tip"][-1] - model.locate(static, "tip").position).max() < 1e-6
    assert run.speed > 0


def test_signals_and_controllers_agree(model):
    def push(t):
        return 0.02 * np.sin(20 * t)

    signal = simulate(model, {"push": push}, duration=0.2, dt=0.01)
    control = simulate(model, lambda t, state: [push(t)], duration=0.2, dt=0.01)
    assert relative(signal.q, control.q) < 1e-12
    assert signal.u[5, 0] == pytest.approx(push(0.04))


def test_a_controller_sees_the_state_and_names_its_targets(model):
    class Hold:
        targets = {"tip": lambda t: (0.06, 0.01, 0.01 + 0.01 * t)}  # noqa: RUF012

        def __call__(self, t, state):
            seen.append((t, state.time))
            return {"push": 0.0}

    seen: list = []
    run = simulate(model, Hold(), duration=0.05, dt=0.01)
    assert all(a == pytest.approx(b) for a, b in seen)
    assert run.targets["tip"][-1] == pytest.approx((0.06, 0.01, 0.0105))
    assert run.error("tip")[-1] == pytest.approx(0.0005, rel=1e-6)


def test_recording_every_nth_step_and_progress(model):
    done = []
    run = simulate(model, None, duration=0.1, dt=0.01, every=4, progress=done.append)
    assert run.time == pytest.approx([0, 0.04, 0.08, 0.1])
    assert done[-1] == pytest.approx(1.0)
    assert len(done) == 10


def test_a_run_goes_on_from_where_another_ended(model):
    whole = simulate(model, {"push": 0.02}, duration=0.2, dt=0.01)
    first = simulate(model, {"push": 0.02}, duration=0.1, dt=0.01)
    second = simulate(model, {"push": 0.02}, duration=0.1, dt=0.01, start=first[-1])
    assert second.time[-1] == pytest.approx(0.2)
    assert relative(second.q[-1], whole.q[-1]) < 1e-3


def test_a_step_that_fails_ends_the_run(model):
    def drive(t):
        return 0.0 if t < 0.025 else 1e9

    run = simulate(model, {"push": drive}, duration=0.2, dt=0.01)
    assert not run.ok
    assert len(run) < 12
    assert all(s.ok for s in run.status[:-1])


@pytest.mark.parametrize(
    "bad",
    [
        {"duration": 0.0},
        {"duration": np.nan},
        {"duration": -1.0},
        {"dt": 0.0},
        {"dt": np.nan},
        {"dt": -0.1},
        {"every": 0},
        {"scheme": "rk4"},
        {"drive": {"push": np.nan}},
        {"drive": lambda t, state: [np.nan]},
        {"drive": lambda t, state: [1.0, 2.0]},
    ],
)
def test_bad_arguments(model, bad):
    drive = bad.get("drive")
    options = {"duration": 0.1, "dt": 0.01, **{k: v for k, v in bad.items() if k != "drive"}}
    with pytest.raises(ArgumentError):
        simulate(model, drive, **options)


def test_sweep_starts_each_from_the_one_before():
    beam = FemModel(golden_beam())
    commands = [{"c1": 1e-3 * i, "c2": 0.0, "c3": 0.0} for i in range(6)]
    done: list = []
    run = sweep(beam, commands, progress=done.append)
    assert run.ok
    assert run.time == pytest.approx(np.arange(6))
    assert done[-1] == 1.0
    assert set(run.status) <= {Status.CONVERGED, Status.SLACK}
    alone = equilibrium(beam, commands[-1], strict=True)
    assert relative(run.q[-1], alone.q) < 1e-8
    assert run.iterations[-1] <= alone.iterations
    with pytest.raises(ArgumentError):
        sweep(beam, [])


@pytest.mark.parametrize(
    ("duration", "dt", "steps"), [(0.025, 0.01, 3), (0.1, 0.03, 4), (0.3, 0.1, 3), (0.02, 0.02, 1)]
)
def test_a_run_ends_when_it_was_asked_to(model, duration, dt, steps):
    run = simulate(model, 0.01, duration=duration, dt=dt)
    assert run.time[-1] == duration
    assert len(run) == steps + 1
    assert np.ptp(np.diff(run.time)) < 1e-12
    assert np.diff(run.time).max() <= dt * (1 + 1e-9)


def test_a_later_start_ends_later(model):
    start = simulate(model, 0.01, duration=0.02, dt=0.01)
    state = equilibrium(model, 0.0).but(time=float(start.time[-1]))
    assert simulate(model, 0.01, duration=0.025, dt=0.01, start=state).time[-1] == 0.02 + 0.025


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"duration": 0.02, "dt": 1.0}, "dt"),
        ({"duration": "a"}, "duration"),
        ({"dt": "x"}, "dt"),
        ({"every": 1.5}, "every"),
        ({"drive": lambda t: 0.0}, "drive"),
        ({"drive": {"push": lambda t: "x"}}, "push"),
        ({"obstacles": 3}, "obstacles"),
        ({"start": 3}, "start"),
    ],
)
def test_input_of_a_wrong_kind_is_refused_by_name(model, options, name):
    given = {"duration": 0.02, "dt": 0.01, "drive": 0.0, **options}
    with pytest.raises(ArgumentError, match=name):
        simulate(model, given.pop("drive"), **given)


@pytest.mark.parametrize("commands", [None, 3, "push", {"push": 1.0}])
def test_a_sweep_goes_through_a_list(model, commands):
    with pytest.raises(ArgumentError, match="commands"):
        sweep(model, commands)


def test_a_state_of_another_model_is_refused(model):
    other = equilibrium(FemModel(golden_beam()))
    for verb in (
        lambda: equilibrium(model, 0.0, start=other),
        lambda: sweep(model, [0.0], start=other),
        lambda: simulate(model, 0.0, duration=0.02, dt=0.01, start=other),
        lambda: step(model, other, 0.0, 0.01),
        lambda: sensitivity(model, other),
        lambda: invert(model, other, PointTarget("tip", (0.06, 0.01, 0.012))),
        lambda: workspace(model, ranges={"push": (0.0, 0.01)}, samples=2, start=other),
    ):
        with pytest.raises(ArgumentError, match="another model"):
            verb()


@pytest.mark.parametrize("state", [None, 3])
def test_sensitivity_needs_a_state(model, state):
    with pytest.raises(ArgumentError, match="state"):
        sensitivity(model, state)


def test_one_obstacle_needs_no_list(model):
    floor = Plane((0, 0, -0.001), (0, 0, 1))
    one, many = equilibrium(model, -0.2, obstacles=floor), equilibrium(model, -0.2, obstacles=[floor])
    assert one.contacts.forces.sum() > 0
    assert relative(one.q, many.q) < 1e-12
    assert simulate(model, 0.0, duration=0.02, dt=0.01, obstacles=floor).ok


@pytest.mark.parametrize(
    "options",
    [
        {"alarm": "x"}, {"alarm": -1.0}, {"alarm": np.nan}, {"contact_distance": -1.0}, {"contact_distance": np.nan},
        {"gap_tolerance": np.nan}, {"gap_tolerance": -1.0}, {"max_iterations": 1.5}, {"max_iterations": "x"},
        {"obstacles": ["floor"]},
    ],
)  # fmt: skip
def test_options_of_an_equilibrium_are_checked(model, options):
    with pytest.raises(ArgumentError, match=next(iter(options))):
        equilibrium(model, 0.0, **options)
