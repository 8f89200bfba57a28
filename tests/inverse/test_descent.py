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

LOW, HIGH = np.full(3, 1e-4), np.full(3, 6e-3)  # shortening of each knuckle
MIX = np.tril(np.ones((3, 3)))  # cable 2 passes knuckles 1 and 2, cable 3 all of them
BOUNDS = (LOW, HIGH)
PLANE = (0, 2)


@pytest.fixture(scope="module")
def model():
    return GeometricModel(notched_finger(size=0.02, notches=2).but(gravity=(0, 0, 0)))


@pytest.fixture(scope="module")
def workspace(model):
    return sample_workspace(model, "corner", BOUNDS, 5, mix=MIX)


def _objective(model, target):
    def objective(state):
        error = 1e3 * (model.locate(state, "corner").position - target)
        return float(error[0] ** 2 + error[2] ** 2)

    return objective


def _reachable(model, c=(3e-3, 4e-3, 2e-3)):
    return model.locate(flex(model, MIX @ c), "corner").position


def test_workspace_has_all_samples_and_is_wide(workspace):
    assert len(workspace.u) == 125
    assert workspace.width > 0.02
    order = np.array(boustrophedon((3, 3, 3)))
    assert (np.abs(np.diff(order, axis=0)).sum(axis=1) == 1).all()


def test_workspace_by_two_processes_is_the_same(model):
    one = sample_workspace(model, "corner", BOUNDS, 2, mix=MIX)
    two = sample_workspace(model, "corner", BOUNDS, 2, workers=2, mix=MIX)
    assert np.abs(one.points - two.points).max() < 1e-7


def test_E1_differences_agree_with_the_exact_gradient(model):
    target, u = _reachable(model), MIX @ [2e-3, 3e-3, 4e-3]
    state = flex(model, u)
    objective = _objective(model, target)
    J = 1e3 * sensitivity(model, state).of("corner")[3:][[0, 2]]
    error = 1e3 * (model.locate(state, "corner").position - target)[[0, 2]]
    exact = 2.0 * error @ J
    h = 1e-5
    for i in range(3):
        d = np.zeros(3)
        d[i] = h
        slope = (objective(flex(model, u + d, start=state)) - objective(flex(model, u - d, start=state))) / (2 * h)
        assert slope == pytest.approx(exact[i], rel=0.01, abs=0.01 * np.abs(exact).max())


def test_E2_E3_descent_is_monotone_and_reaches_the_target(model, workspace):
    target = _reachable(model)
    start = workspace.nearest(target)
    found = steepest_descent(
        forward_of(model, mix=MIX), _objective(model, target), workspace.u[start], BOUNDS, threshold=0.2**2,
        state=workspace.states[start], scale=0.1 * (HIGH - LOW),
    )  # fmt: skip
    assert all(np.diff(found.history) < 0)
    assert found.status is Status.CONVERGED and found.iterations <= 30
    assert np.sqrt(found.objective) <= 0.2


def test_gauss_newton_and_invert_reach_the_target_in_a_few_steps(model):
    target = _reachable(model)
    found = gauss_newton(model, "corner", target, [1e-3, 1e-3, 1e-3], BOUNDS, threshold=1e-6, axes=PLANE, mix=MIX)
    assert found.status is Status.CONVERGED and found.iterations <= 10
    command = invert(model, targets=[PointTarget("corner", target, axes="xz")])
    assert command.ok
    reached = model.locate(command.state, "corner").position
    assert np.abs((reached - target)[[0, 2]]).max() < 5e-4


def _arc(model, n=15):
    """A path through reachable points."""
    s = np.linspace(0, 1, n)
    c = LOW + (HIGH - LOW) * np.stack([0.3 + 0.2 * np.sin(2 * s), 0.5 + 0 * s, 0.6 + 0.2 * np.cos(2 * s)], axis=1)
    return np.array([model.locate(flex(model, MIX @ x), "corner").position for x in c])


def test_E4_E7_warm_starts_and_continuity(model, workspace):
    path = _arc(model)
    steps = follow_path(model, "corner", path, BOUNDS, workspace=workspace, threshold=1e-4, axes=PLANE, mix=MIX)
    assert all(s.status is Status.CONVERGED for s in steps)
    assert np.median([s.iterations for s in steps[1:]]) <= 2
    changes = np.linalg.norm(np.diff([s.u for s in steps[1:]], axis=0), axis=1)
    assert changes.max() <= 3 * max(np.median(changes), 1e-5)


def test_E5_the_nearest_sample_is_a_better_start(model, workspace):
    target = _reachable(model, (5e-3, 1e-3, 4e-3))
    near = workspace.nearest(target)
    far = int(np.argmax(((workspace.points - target) ** 2).sum(axis=1)))
    counts = []
    for i in (near, far):
        found = gauss_newton(
            model,
            "corner",
            target,
            workspace.u[i],
            BOUNDS,
            threshold=1e-5,
            state=workspace.states[i],
            axes=PLANE,
            mix=MIX,
        )
        counts.append(found.iterations if found.status is Status.CONVERGED else 99)
    assert counts[0] < counts[1]


def test_E6_unreachable_parts_of_a_path_end_at_the_boundary(model, workspace):
    path = np.linspace(_reachable(model), _reachable(model) + [0.05, 0, 0.0], 8)
    steps = follow_path(model, "corner", path, BOUNDS, workspace=workspace, threshold=1e-4, axes=PLANE, mix=MIX)
    assert steps[0].status is Status.CONVERGED
    assert steps[-1].status is Status.UNREACHABLE
    reached = np.array([model.locate(s.state, "corner").position for s in steps])
    assert np.isfinite(reached).all()
    assert np.linalg.norm(np.diff(reached, axis=0), axis=1).max() < 0.02


def test_E8_lookup_is_worse_than_inversion(model, workspace):
    path = _arc(model, 8)
    steps = follow_path(model, "corner", path, BOUNDS, workspace=workspace, threshold=1e-4, axes=PLANE, mix=MIX)
    ours = np.array(
        [np.linalg.norm((model.locate(s.state, "corner").position - p)[[0, 2]]) for s, p in zip(steps, path)]
    )
    lookup = np.array([np.linalg.norm((workspace.points[workspace.nearest(p)] - p)[[0, 2]]) for p in path])
    assert lookup.mean() > 5 * ours.mean()


def test_E9_nothing_outside_of_the_bounds_is_evaluated(model):
    seen = []
    inner = forward_of(model, mix=MIX)

    def forward(u, start):
        seen.append(np.array(u))
        return inner(u, start)

    target = _reachable(model) + [0.05, 0, 0]
    steepest_descent(forward, _objective(model, target), HIGH, BOUNDS, threshold=0.01, iterations=2)
    seen = np.array(seen)
    assert (seen >= LOW - 1e-12).all() and (seen <= HIGH + 1e-12).all()


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
        steepest_descent(forward_of(model, mix=MIX), lambda s: 0.0, LOW, (HIGH, LOW), threshold=1.0)
    with pytest.raises(ArgumentError, match="method"):
        follow_path(model, "corner", np.zeros((1, 3)), BOUNDS, method="newton")
