"""Acceptance checks E1-E10 of spec geometric-computing 3.7 on the cable finger and the three-segment manipulator."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.inverse.descent import (
    boustrophedon,
    follow_path,
    forward_of,
    gauss_newton,
    sample_workspace,
    steepest_descent,
)
from pliant.inverse.invert import invert
from pliant.inverse.pick_place import PickAndPlace, fit_circle
from pliant.inverse.targets import PointTarget
from pliant.models.geometric import GeometricModel
from pliant.robots.notched_finger import notched_finger
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.solve.flex import flex
from pliant.solve.sensitivity import sensitivity
from pliant.state import Status

LOW, HIGH = np.full(3, 1e-4), np.full(3, 20e-3)  # shortening of each knuckle
BOUNDS = (LOW, HIGH)
PLANE = (0, 2)
NOTCHES = {"pitch": 0.0115, "opening": 0.0100, "root": 0.0055, "depth": 0.0222, "cable_depth": 0.0235}


@pytest.fixture(scope="module")
def model():
    """One tendon per knuckle (spec 3.4.1), the notches of `examples/27_paths.py`."""
    return GeometricModel(notched_finger(size=0.02, sheathed=True, **NOTCHES).but(gravity=(0, 0, 0)))


@pytest.fixture(scope="module")
def workspace(model):
    return sample_workspace(model, "corner", BOUNDS, 5)


def _objective(model, target):
    def objective(state):
        error = 1e3 * (model.locate(state, "corner").position - target)
        return float(error[0] ** 2 + error[2] ** 2)

    return objective


def _reachable(model, u=(10e-3, 13e-3, 7e-3)):
    return model.locate(flex(model, u), "corner").position


def test_workspace_has_all_samples_and_is_wide(workspace):
    assert len(workspace.u) == 125
    assert workspace.width > 0.02
    order = np.array(boustrophedon((3, 3, 3)))
    assert (np.abs(np.diff(order, axis=0)).sum(axis=1) == 1).all()


def test_workspace_by_two_processes_is_the_same(model):
    one = sample_workspace(model, "corner", BOUNDS, 2)
    two = sample_workspace(model, "corner", BOUNDS, 2, workers=2)
    assert np.abs(one.points - two.points).max() < 1e-7


def test_commands_may_be_mixed_from_coordinates(model):
    """Tendons that pass several knuckles: coordinates per knuckle, commands are their sums."""
    mix = np.tril(np.ones((3, 3)))
    passing = GeometricModel(notched_finger(size=0.02, **NOTCHES).but(gravity=(0, 0, 0)))
    c = np.array([12e-3, 9e-3, 6e-3])  # falling: none is slack
    target = passing.locate(flex(passing, mix @ c), "corner").position
    found = gauss_newton(passing, "corner", target, 0.95 * c, BOUNDS, threshold=1e-5, axes=PLANE, mix=mix)
    assert found.status is Status.CONVERGED
    assert np.array_equal(found.state.u, mix @ found.u)
    assert np.linalg.norm((passing.locate(found.state, "corner").position - target)[[0, 2]]) < 1e-5


def _recorded(model):
    """A forward solver, and the commands that it was asked for."""
    seen, solve = [], forward_of(model)

    def forward(u, start):
        seen.append(np.array(u))
        return solve(u, start)

    return forward, seen


def test_E1_differences_agree_with_the_exact_gradient(model):
    """The descent's first trial is where its central differences lead: 2 (p - target) J to 1 %."""
    target, u, unit = _reachable(model), np.array([8e-3, 10e-3, 13e-3]), 1e-4
    forward, seen = _recorded(model)
    steepest_descent(forward, _objective(model, target), u, BOUNDS, threshold=0.0, scale=unit, difference=0.1,
                     iterations=1, expansions=0)  # fmt: skip
    state = flex(model, u)
    J = 1e3 * sensitivity(model, state).of("corner")[3:][[0, 2]]
    exact = 2.0 * 1e3 * (model.locate(state, "corner").position - target)[[0, 2]] @ J
    gradient = (u - seen[7]) / unit**2  # after the start and two commands per actuator
    assert gradient == pytest.approx(exact, rel=0.01)


def test_E2_E3_descent_is_monotone_and_reaches_the_target(model, workspace):
    target = _reachable(model)
    start = workspace.nearest(target)
    found = steepest_descent(
        forward_of(model), _objective(model, target), workspace.u[start], BOUNDS, threshold=0.2**2,
        state=workspace.states[start], scale=0.1 * (HIGH - LOW),
    )  # fmt: skip
    assert all(np.diff(found.history) < 0)
    assert found.status is Status.CONVERGED and found.iterations <= 30
    assert np.sqrt(found.objective) <= 0.2


def test_gauss_newton_and_invert_reach_the_target_in_a_few_steps(model):
    target = _reachable(model, (3e-3, 4e-3, 2e-3))
    found = gauss_newton(model, "corner", target, [1e-3, 1e-3, 1e-3], BOUNDS, threshold=1e-6, axes=PLANE)
    assert found.status is Status.CONVERGED and found.iterations <= 10
    command = invert(model, targets=[PointTarget("corner", target, axes="xz")])
    assert command.ok
    reached = model.locate(command.state, "corner").position
    assert np.abs((reached - target)[[0, 2]]).max() < 5e-4


def _arc(model, n=15):
    """A path through reachable points."""
    s = np.linspace(0, 1, n)
    c = LOW + (HIGH - LOW) * np.stack([0.3 + 0.2 * np.sin(2 * s), 0.5 + 0 * s, 0.6 + 0.2 * np.cos(2 * s)], axis=1)
    return np.array([model.locate(flex(model, x), "corner").position for x in c])


def test_E4_E7_warm_starts_and_continuity(model, workspace):
    path = _arc(model)
    steps = follow_path(model, "corner", path, BOUNDS, workspace=workspace, threshold=1e-4, axes=PLANE)
    assert all(s.status is Status.CONVERGED for s in steps)
    assert np.median([s.iterations for s in steps[1:]]) <= 2
    changes = np.linalg.norm(np.diff([s.u for s in steps[1:]], axis=0), axis=1)
    assert changes.max() <= 3 * max(np.median(changes), 1e-5)


def test_E5_the_nearest_sample_is_a_better_start(model, workspace):
    target = _reachable(model, (16e-3, 3e-3, 12e-3))
    near = workspace.nearest(target)
    far = int(np.argmax(((workspace.points - target) ** 2).sum(axis=1)))
    counts = []
    for u, state in (
        (workspace.u[near], workspace.states[near]),
        (LOW, None),
        (workspace.u[far], workspace.states[far]),
    ):
        found = gauss_newton(model, "corner", target, u, BOUNDS, threshold=1e-5, state=state, axes=PLANE)
        counts.append(found.iterations if found.status is Status.CONVERGED else 99)
    assert counts[0] < min(counts[1:])


def test_E6_unreachable_parts_of_a_path_end_at_the_boundary(model, workspace):
    """No command within the bounds comes nearer (to a degree), and neighbours are as close as the path's waypoints."""
    path = np.linspace(_reachable(model), _reachable(model) + [0.05, 0, 0.0], 15)
    steps = follow_path(model, "corner", path, BOUNDS, workspace=workspace, threshold=1e-4, axes=PLANE)
    beyond = [i for i, s in enumerate(steps) if s.status is Status.UNREACHABLE]
    assert all(s.status is Status.CONVERGED for s in steps[: beyond[0]])
    assert 1 <= beyond[0] <= 8 and beyond == list(range(beyond[0], 15))
    reached = np.array([model.locate(s.state, "corner").position for s in steps])[:, [0, 2]]
    assert np.linalg.norm(np.diff(reached, axis=0), axis=1).max() < 1.2 * 0.05 / 14
    for i in beyond:
        u = steps[i].u
        J = sensitivity(model, flex(model, u, start=steps[i].state)).of("corner")[3:][[0, 2]]
        error = path[i, [0, 2]] - reached[i]
        gain = error @ J / (np.linalg.norm(error) * np.linalg.norm(J))  # by how much a longer pull comes nearer
        assert (gain[u < HIGH - 1e-9] < 0.02).all() and (gain[u > LOW + 1e-9] > -0.02).all()


@pytest.mark.parametrize("count", [5, pytest.param(15, marks=pytest.mark.slow)])
def test_E8_lookup_is_worse_than_inversion(model, workspace, count):
    """Nearest of 125 samples: far worse; of 3375 (slow): still worse."""
    samples = workspace if count == 5 else sample_workspace(model, "corner", BOUNDS, count, workers=2)
    assert len(samples.u) == count**3
    path = _arc(model, 8)
    steps = follow_path(model, "corner", path, BOUNDS, workspace=workspace, threshold=1e-4, axes=PLANE)
    ours = [np.linalg.norm((model.locate(s.state, "corner").position - p)[[0, 2]]) for s, p in zip(steps, path)]
    lookup = [np.linalg.norm((samples.points[samples.nearest(p)] - p)[[0, 2]]) for p in path]
    assert np.mean(lookup) > (20 if count == 5 else 3) * np.mean(ours)


def test_E9_nothing_outside_of_the_bounds_is_evaluated(model):
    target = _reachable(model) + [0.05, 0, 0]
    forward, seen = _recorded(model)
    steepest_descent(forward, _objective(model, target), HIGH, BOUNDS, threshold=0.01, iterations=2)
    tried = np.array(seen)
    assert (tried >= LOW).all() and (tried <= HIGH).all()
    # at the upper bounds differences are one-sided: one command per actuator, each from below
    assert np.array_equal(tried[0], HIGH)
    assert np.array_equal(tried[1:4] < HIGH, np.eye(3, dtype=bool))
    assert (tried[4] < HIGH).sum() != 1


def test_E10_pick_and_place_in_three_stages():
    model = GeometricModel(pneumatic_finger(teeth=12, segments=3, size=8e-3))
    nodes = model.robot.soft_body().mesh.nodes
    layer = np.flatnonzero((nodes[:, 0] > 2 / 3 * nodes[:, 0].max()) & (nodes[:, 2] < 1e-9))
    high, radius, offset = 1.6 * model.rest_measures, 0.035, 0.0025
    task = PickAndPlace(
        model, joint="joint2", layer=layer, position=(0, 1), grip=2, bounds=(np.zeros(3), high),
        radius=radius, offset=offset,
    )  # fmt: skip
    start, end = (
        p.position - (radius + offset) * p.rotation[:, 2]
        for p in (model.locate(flex(model, s * high), "joint2") for s in ([0.2, 0.35, 0], [0.5, 0.25, 0]))
    )
    picked = task.pick(start, samples=3)
    grasped = task.grasp(picked, start)
    seated = task.pick(start, start=grasped)
    placed = task.place(seated, end)
    for stage in (picked, grasped, seated, placed):
        assert stage.status is Status.CONVERGED, stage.name
        assert (stage.u >= 0).all() and (stage.u <= high).all()
    for stage in (picked, seated):
        assert abs(stage.distance) < 5e-4
        assert abs(stage.angle - 90.0) < 5.0
    assert grasped.radius == pytest.approx(radius, rel=0.05)
    assert seated.radius == pytest.approx(radius, rel=0.05)
    assert abs(placed.distance) < 5e-4
    far = task.place(seated, end + [1.0, 0.0, 0.0])
    assert far.status is Status.UNREACHABLE
    tight = PickAndPlace(
        model, joint="joint2", layer=layer, position=(0, 1), grip=2, bounds=(np.zeros(3), 0.1 * high), radius=radius
    )  # fmt: skip
    assert tight.grasp(picked, start).status is Status.UNREACHABLE


def test_circle_fit():
    turn = np.linspace(0.2, 1.1, 9)
    centre, radius = fit_circle(np.column_stack([0.3 + 0.05 * np.cos(turn), -0.1 + 0.05 * np.sin(turn)]))
    np.testing.assert_allclose([*centre, radius], [0.3, -0.1, 0.05], atol=1e-10)
    assert fit_circle(np.column_stack([turn, 2 * turn]))[1] == np.inf
    with pytest.raises(ArgumentError, match="points"):
        fit_circle(np.zeros((2, 2)))


def test_bad_arguments(model):
    with pytest.raises(ArgumentError, match="bounds"):
        steepest_descent(forward_of(model), lambda s: 0.0, LOW, (HIGH, LOW), threshold=1.0)
    with pytest.raises(ArgumentError, match="method"):
        follow_path(model, "corner", np.zeros((1, 3)), BOUNDS, method="newton")
