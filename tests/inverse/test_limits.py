"""Every limit: rows against differences, held by invert, and bad input."""

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl
from pliant.inverse.limits import actuator_limits, excesses, hold_rates, split
from pliant.inverse.qpcc import QPCCStatus

GAUGE = pl.StrainGauge("gauge", ((0.02, 0.0, 0.0075), (0.06, 0.0, 0.0075)))
MODEL = pl.FemModel(golden_beam(sensors=(GAUGE,)))
BALL = pl.Sphere((0.1, 0.0, -0.045), 0.02)


@pytest.fixture(scope="module")
def bent():
    return pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], obstacles=[pl.Plane((0, 0, -0.012), (0, 0, 1))], strict=True)


LIMITS = {
    "effort": pl.EffortLimit("c1", 0.0, 1.0),
    "displacement": pl.DisplacementLimit("c2", -1e-3, 8e-3),
    "rate": pl.RateLimit("c3", 0.01),
    "rate of effort": pl.RateLimit("c3", 0.5, quantity="effort"),
    "grasp floor": pl.GraspFloor(0.2),
    "clearance": pl.ClearanceLimit(BALL, 2e-3, alarm=0.05),
    "strain": pl.StrainLimit("gauge", -0.1, 0.05),
}


@pytest.mark.parametrize("name", list(LIMITS))
def test_rows_are_the_derivative_of_the_value(name, bent):
    limit, rng, h = LIMITS[name], np.random.default_rng(2), 1e-7
    dq, de = rng.standard_normal(MODEL.nv), rng.standard_normal(MODEL.nu)

    def at(s):
        return limit.evaluate(MODEL, bent.q + s * dq, bent.effort + s * de, bent.contacts, bent, 0.1)

    rows = at(0.0)
    assert rows.low.shape == rows.high.shape == rows.value.shape
    change = (at(h).value - at(-h).value) / (2 * h)
    expected = np.zeros(len(rows.value))
    expected += 0 if rows.jacobian is None else rows.jacobian @ dq
    expected += 0 if rows.effort is None else rows.effort @ de
    assert np.abs(change - expected).max() < 2e-5 * max(np.abs(expected).max(), 1e-6)


TIP = (0.09, -0.009, -0.02)


@pytest.mark.parametrize("name", ["effort", "displacement", "clearance", "strain"])
def test_invert_holds_it(name):
    limit = LIMITS[name]
    free = pl.invert(MODEL, None, pl.PointTarget("tip", TIP))
    command = pl.invert(MODEL, None, pl.PointTarget("tip", TIP), limits=[limit])
    state = command.state
    broken = excesses([limit], MODEL, state.q, state.effort, state.contacts, None, np.inf)
    assert command.ok
    assert max((e.relative for e in broken.values()), default=0.0) < 1e-6
    assert np.linalg.norm(command.error) >= np.linalg.norm(free.error) - 1e-12


@pytest.mark.parametrize("quantity", ["effort", "displacement"])
def test_rates_of_either_quantity_hold(quantity):
    """Cables are driven by displacement here; the rate of their tension can be limited as well."""
    start = pl.equilibrium(MODEL, [1e-3, 2e-3, 3e-3], strict=True)
    fast = pl.invert(MODEL, start, pl.PointTarget("tip", TIP))
    change = np.abs(getattr(fast, quantity) - getattr(start, quantity))
    limits = [pl.RateLimit(f"c{i + 1}", 0.5 * c / 0.1, quantity=quantity) for i, c in enumerate(change)]
    slow = pl.invert(MODEL, start, pl.PointTarget("tip", TIP), limits=limits, dt=0.1)
    moved = np.abs(getattr(slow, quantity) - getattr(start, quantity))
    assert slow.ok
    assert (moved <= 0.5 * change * (1 + 1e-6)).all()
    assert moved.max() > 0.1 * change.max()
    assert np.linalg.norm(slow.error) > np.linalg.norm(fast.error)


def test_clearance_avoids_what_contact_would_use():
    ball = pl.Sphere((0.095, -0.006, -0.043), 0.02)
    near = pl.invert(MODEL, None, pl.PointTarget("tip", TIP), limits=[pl.ClearanceLimit(ball, 3e-3, alarm=0.05)])
    assert near.ok
    assert ball.distance(MODEL.skin_positions(near.state.q)).min() > 3e-3 - 1e-7


def test_grasp_floor_keeps_a_contact_closed():
    """Lifting the tip would open the contact with the pad; the floor keeps it pressed."""
    pad = pl.Plane((0, 0, -0.012), (0, 0, 1))
    start = pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], obstacles=[pad], strict=True)
    total = start.contacts.forces.sum()
    target = pl.PointTarget("tip", tuple(MODEL.locate(start, "tip").position + [0, 0, 0.006]))
    loose = pl.invert(MODEL, start, target, obstacles=[pad])
    held = pl.invert(MODEL, start, target, obstacles=[pad], limits=[pl.GraspFloor(0.8 * total)])
    assert held.state.contacts.forces.sum() >= 0.8 * total * (1 - 1e-6)
    assert loose.state.contacts.forces.sum() < 0.8 * total


def test_bounds_are_split_from_rows(bent):
    bounds, rest = split(list(LIMITS.values()), MODEL.robot, bent, 0.1)
    assert not hold_rates(bounds, list(LIMITS.values()), MODEL.robot, bent, 0.1, own=True)
    assert [type(x).__name__ for x in rest] == ["GraspFloor", "ClearanceLimit", "StrainLimit"]
    assert bounds["effort"][1][0] == 1.0
    assert bounds["displacement"][1][1] == 8e-3
    assert bounds["displacement"][0][2] == pytest.approx(bent.displacement[2] - 1e-3)
    assert np.isinf(bounds["effort"][1][1])


def test_rates_hold_before_other_limits():
    """Beyond a limit, above or below, a motor comes back as fast as it may; limits that exclude each other are told."""
    robot = MODEL.robot
    name = robot.actuators[0].name
    at = pl.equilibrium(MODEL, {name: 5e-3}).require()
    now, rates = float(at.displacement[0]), [pl.RateLimit(name, 1e-2), pl.RateLimit(name, 3e-2)]
    below, above = pl.DisplacementLimit(name, high=now - 3e-3), pl.DisplacementLimit(name, now + 3e-3)
    for limit, end in ((below, -1e-3), (above, 1e-3)):
        bounds, _ = split([*rates, limit], robot, at, 0.1)
        told = hold_rates(bounds, [*rates, limit], robot, at, 0.1, own=True)
        assert [b[0] - now for b in bounds["displacement"]] == pytest.approx([end, end])
        assert len(told) == 1 and "by 0.002: its rate holds first" in told[0]
    apart = [pl.EffortLimit(name, high=1.0), pl.EffortLimit(name, 2.0)]
    bounds, _ = split(apart, robot, at, 0.1)
    assert "exclude each other" in hold_rates(bounds, apart, robot, at, 0.1, own=True)[0]


def test_clearance_is_that_of_facets_not_of_their_corners():
    """A ball smaller than a facet, in front of its middle: its corners kept their distance, it stood in the body."""
    model = pl.FemModel(pl.robots.finger())
    bent = pl.equilibrium(model, {"cable": 0.015}).require()
    x, faces = model.skin_positions(bent.q), model.skin.triangles
    normals = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
    largest = np.argmax(np.linalg.norm(normals, axis=1))
    n = normals[largest] / np.linalg.norm(normals[largest])
    ball = pl.Sphere(tuple(x[faces[largest]].mean(axis=0) + 0.5e-3 * n), 1e-3)
    limit = pl.ClearanceLimit(ball, 1e-3)
    rows = limit.evaluate(model, bent.q, bent.effort, None, None, np.inf)
    assert rows.value.min() == pytest.approx(-0.5e-3, rel=1e-6)
    step = 1e-7 * np.random.default_rng(0).standard_normal(model.nv)
    ahead = limit.evaluate(model, model.retract(bent.q, step), bent.effort, None, None, np.inf)
    at = int(np.argmin(rows.value))
    assert ahead.value.min() - rows.value.min() == pytest.approx(float(rows.jacobian[at] @ step), rel=1e-3)
    target = pl.PointTarget("tip", tuple(model.locate(bent, "tip").position))
    command = pl.invert(model, targets=target, limits=[limit])
    assert command.ok
    y = model.skin_positions(command.state.q)
    inside = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    surface = np.einsum("sk,tki->tsi", inside, y[faces]).reshape(-1, 3)
    assert ball.distance(surface).min() >= 1e-3 * (1 - 1e-4)


@pytest.mark.parametrize("iterations", [1, 60])
def test_a_clearance_that_cannot_hold_is_named(iterations):
    """A ball in which the clamped end sits: many rows that contradict each other. It was STALLED, without a word."""
    limit = pl.ClearanceLimit(pl.Sphere((0.01, 0.0, 0.0), 0.011), 1e-3, alarm=1e-4)
    target = pl.PointTarget("tip", TIP)
    limits = [limit, *(pl.EffortLimit(name, 0.0, 2.0) for name in MODEL.robot.actuator_names)]
    command = pl.invert(MODEL, None, target, limits=limits, search="local", iterations=iterations)
    assert command.status is pl.Status.RELAXED
    assert len([note for note in command.notes if "clearance" in note]) == 1


def test_two_hundred_rows_that_meet_in_a_point_are_relaxed():
    """Rows that are relaxed as little as possible leave a point; rounding made it empty, and there was no answer."""
    model = pl.FemModel(pl.robots.finger())
    limit = pl.ClearanceLimit(pl.Sphere((0.0, 0.0, -0.02), 0.01), 2e-3)
    command = pl.invert(model, targets=pl.PointTarget("tip", (0.02, 0.0, -0.08)), limits=[limit], iterations=1)
    assert len(command.problem.d) > 150
    assert command.solution.status is QPCCStatus.RELAXED
    assert command.status is pl.Status.RELAXED
    assert any("clearance" in note for note in command.notes)


def test_actuators_carry_their_own():
    robot = pl.robots.trunk()
    assert len(actuator_limits(robot)) == 16
    free = pl.invert(pl.FemModel(robot), None, pl.PointTarget("tip", (0.05, 0, 0.15)), own_limits=False, iterations=1)
    assert np.isinf(free.problem.effort_max).all()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: pl.EffortLimit("c1", 1.0, 0.0), "EffortLimit"),
        (lambda: pl.EffortLimit("c1", np.nan, 0.0), "EffortLimit"),
        (lambda: pl.DisplacementLimit("c1", 1.0, 0.0), "DisplacementLimit"),
        (lambda: pl.RateLimit("c1", 0.0), "rate"),
        (lambda: pl.RateLimit("c1", 1.0, quantity="speed"), "quantity"),
        (lambda: pl.GraspFloor(-1.0), "force"),
        (lambda: pl.ClearanceLimit(BALL, -1.0), "distance"),
        (lambda: pl.ClearanceLimit(BALL, 1e-3, alarm=-1.0), "alarm"),
        (lambda: pl.ClearanceLimit("ball", 1e-3), "obstacle"),
        (lambda: pl.StrainLimit(["gauge"]), "sensor"),
        (lambda: pl.StrainLimit("gauge", 1.0, 0.0), "StrainLimit"),
    ],
)
def test_bad_input(make, name):
    with pytest.raises(pl.PliantError, match=name):
        make()


def test_unknown_names():
    for limit in (pl.EffortLimit("c9"), pl.StrainLimit("nose"), pl.DisplacementLimit("c9")):
        with pytest.raises(pl.UnknownNameError):
            pl.invert(MODEL, None, pl.PointTarget("tip", TIP), limits=[limit])


def test_a_floor_that_nothing_bears_is_broken():
    """Without a contact the force is zero: an answer that ignores the floor must not pass for converged."""
    target = pl.PointTarget("tip", tuple(MODEL.locate(pl.equilibrium(MODEL, [1e-3, 2e-3, 3e-3]), "tip").position))
    far = pl.Plane((0, 0, -1.0), (0, 0, 1), name="floor")
    assert pl.invert(MODEL, None, target, limits=pl.GraspFloor(0.0)).status is pl.Status.CONVERGED
    for obstacles in ([], [far]):
        for iterations in (1, 60):
            command = pl.invert(
                MODEL, None, target, limits=[pl.GraspFloor(5.0)], obstacles=obstacles, iterations=iterations
            )
            assert command.status is pl.Status.RELAXED
            assert any("grasp floor" in note for note in command.notes)
    with pytest.raises(pl.UnknownNameError, match="floor"):
        pl.invert(MODEL, None, target, limits=[pl.GraspFloor(5.0, "cup")], obstacles=[far])
    with pytest.raises(pl.UnknownNameError):
        pl.invert(MODEL, None, target, limits=[pl.GraspFloor(5.0, "cup")])


def test_a_rate_needs_a_state_and_a_time():
    start, target = pl.equilibrium(MODEL), pl.PointTarget("tip", TIP)
    for state, dt in ((None, 0.1), (start, np.inf), (None, np.inf)):
        with pytest.raises(pl.ArgumentError, match=r"RateLimit\('c1'\)"):
            pl.invert(MODEL, state, target, limits=[pl.RateLimit("c1", 1e-3)], dt=dt)
    with pytest.raises(pl.UnknownNameError):
        pl.invert(MODEL, start, target, limits=[pl.RateLimit("nope", 1.0)], dt=0.1)
    path = pl.follow(MODEL, [TIP], limits=[pl.RateLimit("c1", 1e-3)], dt=0.1)  # counted from the equilibrium at rest
    assert abs(path.displacement[0][0] - start.displacement[0]) <= 1e-4 * (1 + 1e-6)
    slow = pl.invert(MODEL, start, target, limits=pl.RateLimit("c1", 1e-3), dt=0.1)
    assert abs(slow.displacement[0] - start.displacement[0]) <= 1e-4 * (1 + 1e-6)


@pytest.mark.parametrize("dt", [np.nan, -1.0, 0.0, "x", None])
def test_a_time_since_the_state_is_positive(dt):
    with pytest.raises(pl.ArgumentError, match="dt"):
        pl.invert(MODEL, None, pl.PointTarget("tip", TIP), dt=dt)


def test_equalities_out_of_reach_do_not_cost_the_limits():
    model = pl.FemModel(pl.robots.golden_beam())
    names = model.robot.actuator_names
    position = tuple(model.locate(model.rest, "tip").position + np.array([0.0, 0.03, 0.01]))
    limits = [pl.EffortLimit(names[0], 0.0, 0.8), pl.DisplacementLimit(names[1], -0.003, 0.004)]
    exact = pl.invert(model, targets=pl.PointTarget("tip", position, exact=True), limits=limits)
    near = pl.invert(model, targets=pl.PointTarget("tip", position), limits=limits)
    assert exact.status is near.status is pl.Status.UNREACHABLE
    assert np.linalg.norm(exact.error) == pytest.approx(np.linalg.norm(near.error), rel=1e-6)
    assert exact.effort[0] <= 0.8 * (1 + 1e-6) and exact.displacement[1] <= 0.004 * (1 + 1e-6)
    assert any("equalities" in note for note in exact.notes)
