"""The compiled inverse: bounded, honest, and as good as a reference optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from pliant.errors import ArgumentError, UnknownNameError
from pliant.learn import follow_path, reach, simulator_in_loop
from pliant.learn.paths import arm_flower
from pliant.state import Status


def test_reachable_targets_are_met(arm, middle):
    u = np.random.default_rng(0).uniform(2e4, 8e4, (50, 3))
    targets = arm.position(u, "tip")[0]
    found = follow_path(arm, targets, start=middle)
    assert found.ok
    assert found.error.max() < 1e-6 * arm.width
    assert np.allclose(arm.position(found.u, "tip")[0], found.position, atol=1e-12)


@pytest.mark.parametrize("method", ["gauss-newton", "gradient", "gradient-kinematics"])
def test_unreachable_targets_end_in_the_nearest_point(arm, middle, method):
    targets = np.array([[0.2, 0.0, 0.1], [0.0, 0.0, 0.3], [-0.05, 0.05, 0.2]])
    found = follow_path(arm, targets, start=middle, restart=True, method=method)
    half, mid = 0.5 * np.ptp(arm.ranges, axis=1), arm.ranges.mean(axis=1)
    for target, u, error, status in zip(targets, found.u, found.error, found.status):
        assert status in (Status.UNREACHABLE, Status.STALLED, Status.MAX_ITERATIONS)
        best = min(
            least_squares(lambda v, t=target: arm.position(mid + half * v, "tip")[0] - t, s, bounds=(-1, 1)).cost
            for s in (np.zeros(3), [0.8, 0.8, -0.8], [0.9, 0.9, 0.9], [-0.8, 0.8, 0.8])
        )
        slack = 1e-5 if method == "gauss-newton" else 0.02
        assert error <= np.sqrt(2 * best) * (1 + slack) + 1e-9
        assert (u >= arm.ranges[:, 0]).all()
        assert (u <= arm.ranges[:, 1]).all()


def test_redundancy_goes_to_the_preferred_command_without_leaving_the_target(finger):
    target = finger.position(np.array([-1.2e5, -0.5e5, -1.5e5]), "tip")[0]
    plain = follow_path(finger, target[None], start=np.array([-2e5, 0.5e5, -1e5]), axes="xy")
    tidy = follow_path(finger, target[None], start=np.array([-2e5, 0.5e5, -1e5]), axes="xy", prefer=np.zeros(3))
    assert plain.ok
    assert tidy.ok
    assert np.linalg.norm(tidy.u) < 0.999 * np.linalg.norm(plain.u)


def test_axes_that_do_not_count_are_free(arm, middle):
    target = arm_flower()[10] + [0, 0, 0.05]
    found = follow_path(arm, target[None], start=middle, axes="xy")
    assert found.ok
    assert np.abs(found.position[0] - target)[:2].max() < 1e-6


def test_narrower_ranges_are_held(arm, middle):
    ranges = np.array([[4e4, 6e4]] * 3)
    found = follow_path(arm, arm_flower(), start=middle, ranges=ranges)
    assert (found.u >= 4e4 - 1e-6).all()
    assert (found.u <= 6e4 + 1e-6).all()
    assert Status.UNREACHABLE in found.status


def test_reach_gives_a_command(arm, middle):
    command = reach(arm, arm_flower()[0], start=middle)
    assert command.ok
    assert command.status is Status.CONVERGED
    assert np.allclose(arm.locate(command.state, "tip").position, arm_flower()[0], atol=1e-7)


def test_outside_of_the_learned_range_is_flagged(arm):
    wide = np.array([[0.0, 2e5]] * 3)
    u = np.array([1.4e5, 0.5e5, 0.5e5])
    found = follow_path(arm, arm.position(u, "tip")[0][None], start=u, ranges=wide)
    assert found.status[0] is Status.EXTRAPOLATED
    assert any("chamber1" in n for n in found.notes)


def test_simulator_in_the_loop_agrees(arm, middle):
    from pliant.learn import chamber_arm

    targets = arm_flower()[:3]
    slow = simulator_in_loop(chamber_arm(), targets, ranges=arm.ranges, start=middle, width=arm.width)
    assert all(s is Status.CONVERGED for s in slow.status)
    assert slow.error.max() < 1e-3 * arm.width
    assert "simulations" in slow.notes[0]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"targets": [[0, 0]]}, ArgumentError),
        ({"targets": [[0, 0, np.nan]]}, ArgumentError),
        ({"method": "magic"}, ArgumentError),
        ({"axes": "ab"}, ArgumentError),
        ({"start": [1, 2]}, (ArgumentError, ValueError)),
        ({"start": [np.nan] * 3}, ArgumentError),
        ({"ranges": [[1, 0]] * 3}, ArgumentError),
        ({"point": "nose"}, UnknownNameError),
    ],
)
def test_bad_arguments_are_named(arm, change, error):
    options = {"targets": [[0, 0, 0.13]]} | change
    with pytest.raises(error):
        follow_path(arm, options.pop("targets"), **options)
