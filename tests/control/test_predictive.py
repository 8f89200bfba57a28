"""Model-predictive control: limits and rates hold, it beats PID where they bind, unknown loads leave no error."""

from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.control.loop import closed_loop
from pliant.control.observation import FrameSensor
from pliant.control.predictive import PredictiveControl
from pliant.control.pressures import PressureMap
from pliant.control.task_space_pid import TaskSpacePid
from pliant.errors import ArgumentError
from pliant.models import basis
from pliant.models.link import LinkModel
from pliant.models.modal import Modal
from pliant.models.rod import RodModel
from pliant.robots.four_segment_arm import AREA, LEVER, arm_channels, four_segment_arm
from pliant.robots.octopus_arm import octopus_arm
from pliant.robots.printed_link import link_model
from pliant.solve.equilibrium import equilibrium
from pliant.solve.simulate import simulate

HIGH, RATE = 2.5e5, 1e6


@cache
def arm(payload=0.0):
    robot = four_segment_arm(payload=payload)
    strains = ("twist", "bend_y", "bend_z", "stretch")
    return RodModel(robot, basis=basis.legendre(1, strains=strains), chambers=arm_channels(robot))


def star(t, duration=6.0, size=0.15):
    """The star of the rigid-link paper, four times as fast."""
    corner = np.exp(1j * (np.pi / 2 + 4 * np.pi / 5 * np.arange(6)))
    s = 5.0 * np.clip(t / duration, 0, 1 - 1e-12)
    k = int(s)
    z = size * ((1 - s + k) * corner[k] + (s - k) * corner[k + 1])
    return np.array([z.real, z.imag, -0.655 + 0.5 * abs(z) ** 2])


def error_of(run):
    return float(np.sqrt(np.mean(run.error("tip")[10:] ** 2)))


def pid_run(payload, gain):
    robot = four_segment_arm()
    link = LinkModel(robot, chambers=arm_channels(robot))
    see = FrameSensor(arm(payload), [f"frame{i}" for i in range(1, 5)], link.frames(link.rest)[0])
    control = TaskSpacePid(link, see, star, PressureMap(AREA, LEVER, LEVER), stiffness="tangent", kp=gain)
    start = equilibrium(arm(payload), np.full(16, 1e5))
    return closed_loop(arm(payload), control, duration=6.0, start=start, dt=0.01, lag=0.1)


def test_beats_pid_on_a_fast_path_with_limits_and_an_unknown_load():
    plant = arm(0.5)
    control = PredictiveControl(arm(0.0), star, limits=(0.0, HIGH), rate=RATE, lag=0.1, change=1e-7, effort=1e-9)
    run = closed_loop(
        plant, control, duration=6.0, start=equilibrium(plant, np.full(16, 1e5)), dt=0.01, lag=0.1
    )
    assert run.ok
    u = run.u[1:]
    assert u.min() >= 0.0
    assert u.max() <= HIGH
    assert np.isclose(u, HIGH).any()
    assert np.isclose(u, 0.0).any()  # the limits bind, on both sides
    change = np.abs(np.diff(u, axis=0)).max()
    assert change <= RATE * 0.05 * (1 + 1e-9)
    assert change > 0.99 * RATE * 0.05  # and so does the rate
    tracked = error_of(run)
    assert tracked < 2e-3
    assert min(error_of(pid_run(0.5, gain)) for gain in (3.0, 8.0)) > 8.0 * tracked


def test_unknown_payload_leaves_no_steady_error():
    goal = np.array([0.1, 0.05, -0.62])
    control = PredictiveControl(arm(0.0), goal, limits=(0.0, HIGH), change=1e-7, effort=0.0)
    start = equilibrium(arm(0.5), np.full(16, 1e5))
    run = closed_loop(arm(0.5), control, duration=3.0, start=start, dt=0.01)
    assert run.ok
    assert run.error("tip")[-1] < 2e-4
    blind = PredictiveControl(arm(0.0), goal, limits=(0.0, HIGH), change=1e-7, effort=0.0, correction=0.0)
    other = closed_loop(arm(0.5), blind, duration=3.0, start=start, dt=0.01)
    assert other.error("tip")[-1] > 5 * run.error("tip")[-1]


def test_constant_curvature_link_follows_a_circle():
    """The printed link in its own valves' range; the prediction has its stiffening joints."""
    model = link_model(hyperelastic=True, upright=False)

    def circle(t):
        return model.locate(np.array([0.0, 12 * np.cos(6 * t), 12 * np.sin(6 * t)]), "tip").position

    control = PredictiveControl(model, circle, period=0.02, horizon=8, change=1e-9)
    run = simulate(model, control, duration=1.5, dt=0.005)
    assert run.ok
    late = run.time > 0.5
    assert run.error("tip")[late].max() < 1e-4
    assert run.u.min() >= -2e4
    assert run.u.max() <= 8e4


def test_modes_of_a_rod():
    model = Modal(RodModel(octopus_arm(water=True), basis=basis.legendre(2, strains=("bend_y", "bend_z"))))
    control = PredictiveControl(model, pl.PointTarget("tip", (0.09, 0.02, 0.03)), scale=1e-3, change=1e-7)
    run = simulate(model, control, duration=2.0, dt=0.01)
    assert run.ok
    assert run.error("tip")[-1] < 1e-3


def test_bad_input():
    model = link_model()
    with pytest.raises(ArgumentError, match="moves"):
        PredictiveControl(model, (0.0, 0.0, 0.06), horizon=3, moves=5)
    with pytest.raises(ArgumentError, match="period"):
        PredictiveControl(model, (0.0, 0.0, 0.06), period=0.0)
    with pytest.raises(ArgumentError, match="at most 300"):
        PredictiveControl(pl.FemModel(pl.robots.finger()), (0.0, 0.0, 0.06))
    rod = pl.RodBody("rod", 0.2, 0.01, pl.materials.NeoHookean.from_young(8e5, 0.45, density=1000.0))
    cable = pl.Cable(name="c", points=[(0, 0.005, 0), (0.2, 0.005, 0)])
    pulled = RodModel(pl.Robot("arm", (rod,), actuators=(cable,), points=(pl.Point("tip", (0.2, 0, 0)),)))
    with pytest.raises(ArgumentError, match="displacement"):
        PredictiveControl(pulled, (0.2, 0.0, 0.0))
