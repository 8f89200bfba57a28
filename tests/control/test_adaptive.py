"""Passivity-based adaptive tracking: checks E1, E2, E4.

E3 (estimates within 5 % by 30 s) is not met: with this parameter set and path the payload and the bending
stiffness are hardly told apart, and the estimates settle elsewhere while the tip tracks.
"""

from functools import cache

import numpy as np
import pytest

from pliant.actuators import Chamber
from pliant.control.adaptive import AdaptiveTracking
from pliant.control.loop import closed_loop
from pliant.errors import ArgumentError
from pliant.models.pcc import JointLaw, PccModel
from pliant.robots.printed_link import GAINS, LENGTH, printed_link
from pliant.state import State

LAW = JointLaw((223.0, 172.4, 455 * LENGTH), (1.31e-3 * LENGTH, 0.73e-3 * LENGTH, 0.229 * LENGTH), "secant")
TRUTH = np.array([223.0, 172.4, 1.31e-3 * LENGTH, 0.73e-3 * LENGTH, 0.1])
WRONG = TRUTH * [0.75, 0.75, 0.45, 0.45, 0.65]


@cache
def link(payload):
    bellows = tuple(Chamber(name=f"b{i}") for i in (1, 2, 3))
    robot = printed_link(payload=payload, upright=False).but(actuators=bellows)
    return PccModel(robot, joints=LAW, damping=(1e-2, 2.3e-7), gains=GAINS, rotary=False)


def path(t):
    s, c = np.sin(t), np.cos(t)
    size = np.array([0.01, 30.0, 30.0])
    return size * [1 + s, s, c], size * [c, c, -s], -size * [s, s, c]


def run(duration, period, start=WRONG, gain=1.0, **options):
    settings = {"kp": (5, 5e-5, 5e-5), "kd": (0.3, 1e-5, 1e-5)} | options
    control = AdaptiveTracking(
        link(0.0), path, start, adaptation=gain * np.array([5e3, 5e3, 2e-8, 2e-8, 0.01]), **settings
    )
    q, v, _ = path(0.0)
    state = State(q, v, np.zeros(3), np.zeros(3), np.zeros(3))
    record = max(1, round(0.05 / period))
    found = closed_loop(link(0.1), control, duration=duration, period=period, dt=period, start=state, record=record)
    assert found.ok
    wanted = np.array([link(0.1).locate(path(t)[0], "tip").position for t in found.time])
    return control, found, np.linalg.norm(found.points["tip"] - wanted, axis=1)


def test_regressor_is_the_derivative_of_the_law():
    control = AdaptiveTracking(link(0.0), path, TRUTH, kp=(1, 1, 1), kd=(1, 1, 1), adaptation=np.zeros(5))
    rng = np.random.default_rng(0)
    q, v, vr, ar = rng.standard_normal((4, 3)) * [0.02, 20, 20]
    plant = link(0.1)
    full = plant.inertia(q) @ ar + plant.coriolis(q, v) @ vr - plant.gravity(q) + plant.elastic(q)[1]
    free = link(0.0)
    known = free.inertia(q) @ ar + free.coriolis(q, v) @ vr - free.gravity(q)
    assert np.allclose(known + control.regressor(q, v, vr, ar) @ TRUTH, full, rtol=1e-9)


def test_E1_lyapunov_function_falls():
    control = AdaptiveTracking(
        link(0.0), path, WRONG, kp=(5, 5e-5, 5e-5), kd=(0.3, 1e-5, 1e-5), adaptation=[5e3, 5e3, 2e-8, 2e-8, 0.01]
    )
    q, v, _ = path(0.0)
    values = []

    def watched(t, state):
        u = control(t, state)
        values.append(control.lyapunov(t, state, TRUTH, link(0.1)))
        return u

    state = State(q, v, np.zeros(3), np.zeros(3), np.zeros(3))
    assert closed_loop(link(0.1), watched, duration=1.0, period=5e-4, dt=5e-4, start=state, record=100).ok
    rise = np.diff(values)
    assert values[-1] < values[0]
    assert rise.max() < 2e-3 * values[0]  # sampling, not the law


def test_E2_tip_error_with_wrong_parameters_and_payload():
    _, _, error = run(15.0, 1e-3)
    assert np.sqrt(np.mean(error[-20:] ** 2)) < 0.013 * LENGTH  # published: 1.22 % after 30 s
    _, _, stuck = run(1.0, 1e-3, gain=0.0)
    assert stuck[-1] > 5 * error[-1]


def test_desired_compensation_works_at_low_rates():
    _, _, error = run(4.0, 1e-2, compensation="desired", kd=(0.02, 1e-5, 1e-5))
    assert error[-1] < 0.5 * error[:20].max()


def test_E4_large_adaptation_gains_make_the_estimates_oscillate():
    def wiggle(gain):
        control, _, _ = run(0.6, 1e-3, gain=gain)
        mass = np.array([p[4] for _, p in control.history]) / TRUTH[4]
        return np.abs(np.diff(mass)).sum() - abs(mass[-1] - mass[0])

    assert wiggle(30.0) > 3.0 * wiggle(1.0)


def test_bad_input():
    with pytest.raises(ArgumentError, match="estimate"):
        AdaptiveTracking(link(0.0), path, [1.0], kp=(1,) * 3, kd=(1,) * 3, adaptation=np.zeros(5))
