"""Every target: its value where it is met, its derivatives against differences, and bad input."""

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl

MODEL = pl.FemModel(golden_beam())


@pytest.fixture(scope="module")
def bent():
    return pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], obstacles=[pl.Plane((0, 0, -0.012), (0, 0, 1))], strict=True)


def targets():
    skin = MODEL.skin_positions(MODEL.rest)
    turn = (0.96, 0.1, -0.2, 0.15)
    return {
        "point": pl.PointTarget("tip", (0.09, 0.01, -0.02)),
        "point, one axis": pl.PointTarget("tip", (0.09, 0.01, -0.02), axes="z", weight=3.0),
        "points": pl.PointsTarget(("tip", "middle"), ((0.09, 0, 0), (0.04, 0, 0.01))),
        "direction": pl.DirectionTarget("tip", (1, 0.2, 0.3)),
        "direction as an equality": pl.DirectionTarget("tip", (1, 0.2, 0.3), exact=True),
        "frame": pl.FrameTarget("tip", (0.09, 0, 0), tuple(np.array(turn) / np.linalg.norm(turn))),
        "barycentre": pl.BarycentreTarget((0.05, 0, 0)),
        "barycentre of a body": pl.BarycentreTarget((0.05, 0, 0), body="body", axes="xz"),
        "centre of mass": pl.CentreOfMassTarget((0.05, 0, 0), axes="yz"),
        "shape": pl.ShapeTarget(positions=skin + 1e-3),
        "part of a shape": pl.ShapeTarget(positions=skin[:7] + 1e-3, vertices=np.arange(7)),
        "cloud": pl.ShapeTarget(cloud=skin[::3] + [0.0, 1e-4, 2e-4]),
        "displacement": pl.DisplacementTarget("c2", 4e-3),
        "effort": pl.EffortTarget("c2", 1.5),
        "contact force": pl.ContactForceTarget(0.3),
    }


@pytest.mark.parametrize("name", list(targets()))
def test_rows_are_the_derivative_of_the_value(name, bent):
    target = targets()[name]
    rng = np.random.default_rng(1)
    dq, de, h = rng.standard_normal(MODEL.nv), rng.standard_normal(MODEL.nu), 1e-7
    rows = target.evaluate(MODEL, bent.q, bent.effort, bent.contacts)
    assert rows.value.shape == rows.weight.shape
    assert rows.jacobian.shape == (len(rows.value), MODEL.nv)
    plus = target.evaluate(MODEL, bent.q + h * dq, bent.effort + h * de, bent.contacts).value
    minus = target.evaluate(MODEL, bent.q - h * dq, bent.effort - h * de, bent.contacts).value
    expected = rows.jacobian @ dq + (0 if rows.effort is None else rows.effort @ de)
    scale = max(np.abs(expected).max(), 1e-6)
    assert np.abs((plus - minus) / (2 * h) - expected).max() < 2e-5 * scale
    if rows.contact is not None:
        n = len(bent.contacts)
        more = bent.contacts.with_forces(bent.contacts.forces + h * np.arange(n))
        change = target.evaluate(MODEL, bent.q, bent.effort, more).value - rows.value
        assert np.allclose(change / h, rows.contact @ np.arange(n), rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "tolerance"),
    [
        (lambda p: pl.PointTarget("tip", tuple(p("tip")[0])), 1e-9),
        (lambda p: pl.PointTarget("tip", tuple(p("tip")[0]), exact=True), 1e-7),
        (lambda p: pl.FrameTarget("tip", tuple(p("tip")[0]), quaternion(p("tip")[1])), 1e-6),
        (lambda p: pl.DirectionTarget("tip", tuple(p("tip")[1][:, 0]), (1, 0, 0)), 1e-6),
        (lambda p: pl.CentreOfMassTarget(tuple(MODEL.centre_of_mass(p.q)[0])), 1e-8),
        (lambda p: pl.BarycentreTarget(tuple(MODEL.skin_positions(p.q).mean(axis=0))), 1e-8),
        (lambda p: pl.ShapeTarget(positions=MODEL.skin_positions(p.q)), 1e-8),
    ],
)
def test_each_target_is_reached_by_invert(make, tolerance):
    state = pl.equilibrium(MODEL, [2e-3, 4e-3, 6e-3], strict=True)

    def place(name):
        found = MODEL.locate(state, name)
        return found.position, found.rotation

    place.q = state.q
    command = pl.invert(MODEL, None, make(place))
    assert command.status is pl.Status.CONVERGED
    assert np.abs(command.error).max() < tolerance


def quaternion(R):
    w = 0.5 * np.sqrt(1 + np.trace(R))
    return (w, (R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w))


def chambered():
    """The small tower: four chambers driven by pressure."""
    return pl.FemModel(pl.robots.tower())


def test_volume_effort_and_points_are_reached():
    """Cavity volume (the displacement of a chamber), actuator force, and several points, from a forward solve."""
    model = chambered()
    reached = pl.equilibrium(model, [4e3, 6e3, 3e3, 5e3], strict=True)
    names = model.robot.actuator_names
    volumes = [pl.DisplacementTarget(n, v, weight=1e4) for n, v in zip(names, reached.displacement)]
    command = pl.invert(model, None, volumes)
    assert command.status is pl.Status.CONVERGED
    assert np.allclose(command.effort, reached.effort, rtol=1e-3)
    command = pl.invert(model, None, [pl.EffortTarget(n, p, weight=1e-6) for n, p in zip(names, reached.effort)])
    assert command.status is pl.Status.CONVERGED
    assert np.allclose(command.displacement, reached.displacement, rtol=1e-3)
    goal = model.locate(reached, ("tip", "middle")).position
    command = pl.invert(model, None, pl.PointsTarget(("tip", "middle"), goal))
    assert command.status is pl.Status.CONVERGED
    assert np.allclose(command.effort, reached.effort, rtol=1e-3)


@pytest.mark.parametrize("exact", [False, True])
def test_contact_force_is_reached(exact):
    """The beam presses on a pad with a wanted total force; a forward solve under the same strokes agrees."""
    pad = pl.Plane((0, 0, -0.012), (0, 0, 1))
    start = pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], obstacles=[pad], strict=True)
    wanted = 1.3 * start.contacts.forces.sum()
    goals = [pl.ContactForceTarget(wanted, weight=1.0, exact=exact)]
    if exact:  # an equality alone leaves nothing to minimise
        goals.append(pl.PointTarget("tip", tuple(MODEL.locate(start, "tip").position), axes="x"))
    command = pl.invert(MODEL, start, goals, obstacles=[pad])
    assert command.ok
    assert command.state.contacts.forces.sum() == pytest.approx(wanted, rel=1e-6)
    again = pl.equilibrium(MODEL, command.displacement, obstacles=[pad], start=command.state, strict=True)
    assert again.contacts.forces.sum() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: pl.DirectionTarget("tip", tuple(p("tip")[1][:, 0]), exact=True),
        lambda p: pl.DisplacementTarget("c2", p.displacement[1], exact=True),
        lambda p: pl.CentreOfMassTarget(tuple(MODEL.centre_of_mass(p.q)[0]), axes="yz", exact=True),
        lambda p: pl.BarycentreTarget(tuple(MODEL.skin_positions(p.q).mean(axis=0)), axes="yz", exact=True),
        lambda p: pl.PointsTarget(("tip",), (tuple(p("tip")[0]),), exact=True),
        lambda p: pl.EffortTarget("c2", p.effort[1], exact=True),
    ],
)
def test_each_target_can_be_an_equality(make):
    """Beside an objective that pulls elsewhere, the equality holds to rounding."""
    state = pl.equilibrium(MODEL, [2e-3, 4e-3, 6e-3], strict=True)

    def place(name):
        found = MODEL.locate(state, name)
        return found.position, found.rotation

    place.q, place.effort, place.displacement = state.q, state.effort, state.displacement
    must = make(place)
    pull = pl.PointTarget("middle", tuple(MODEL.locate(state, "middle").position + [0, 0, 1e-3]), axes="z")
    command = pl.invert(MODEL, None, [must, pull])
    assert command.ok
    assert np.abs(must.evaluate(MODEL, command.state.q, command.effort, None).value).max() < 1e-7


def test_direction_held_while_a_point_is_pulled_as_far_as_that_allows():
    """Two pulls beyond reach end at the same point: the equality curves, and a step along it must not be cut short."""
    state = pl.equilibrium(MODEL, [2e-3, 4e-3, 6e-3], strict=True)
    must = pl.DirectionTarget("tip", tuple(MODEL.locate(state, "tip").rotation[:, 0]), exact=True)
    middle = MODEL.locate(state, "middle").position
    heights = []
    for up in (1e-3, 5e-3):
        command = pl.invert(MODEL, None, [must, pl.PointTarget("middle", tuple(middle + [0, 0, up]), axes="z")])
        assert command.status is pl.Status.UNREACHABLE
        assert np.abs(must.evaluate(MODEL, command.state.q, command.effort, None).value).max() < 1e-9
        heights.append(MODEL.locate(command.state, "middle").position[2] - middle[2])
    assert heights[0] == pytest.approx(heights[1], rel=1e-4)
    assert heights[0] > 7e-4  # a fifth-millimetre pull is met, so this is no early stop


def test_equality_and_objective_together():
    """The stroke is exact; the tip comes as near as that allows."""
    tip = MODEL.locate(pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2]), "tip").position
    goals = [pl.PointTarget("tip", tuple(tip)), pl.DisplacementTarget("c1", 4e-3, exact=True)]
    command = pl.invert(MODEL, None, goals)
    assert command.ok
    assert abs(command.displacement[0] - 4e-3) < 1e-8
    assert 0 < np.abs(command.error[:3]).max() < 5e-3


def test_a_small_weight_is_a_preference_and_no_tolerance():
    """Out of reach stays out of reach however little it weighs."""
    far = MODEL.locate(MODEL.rest, "tip").position + [0.0, 0.0, 0.05]
    for weight in (1.0, 1e-6):
        command = pl.invert(MODEL, None, [pl.PointTarget("tip", tuple(far), weight=weight)])
        assert command.status is pl.Status.UNREACHABLE
        assert np.abs(command.error).max() > 1e-3


def test_weights_choose_between_targets():
    heavy = [
        pl.PointTarget("tip", (0.0, 0.0, -0.02), axes="z", weight=10),
        pl.PointTarget("middle", (0, 0, 0.01), axes="z"),
    ]
    light = [
        pl.PointTarget("tip", (0.0, 0.0, -0.02), axes="z"),
        pl.PointTarget("middle", (0, 0, 0.01), axes="z", weight=10),
    ]
    robot = golden_beam(actuators=golden_beam().actuators[:1])
    model = pl.FemModel(robot)
    a, b = pl.invert(model, None, heavy), pl.invert(model, None, light)
    assert abs(a.error[0]) < abs(b.error[0])
    assert abs(a.error[1]) > abs(b.error[1])


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: pl.PointTarget("tip", (0, np.nan, 0)), "position"),
        (lambda: pl.PointTarget("tip", (0, 0)), "position"),
        (lambda: pl.PointTarget("tip", (0, 0, 0), axes="w"), "axes"),
        (lambda: pl.PointTarget("tip", (0, 0, 0), weight=-1), "weight"),
        (lambda: pl.PointsTarget(("tip",), ((0, 0, 0), (1, 1, 1))), "positions"),
        (lambda: pl.DirectionTarget("tip", (0, 0, 0)), "direction"),
        (lambda: pl.FrameTarget("tip", (0, 0, 0), (0, 0, 0, 0)), "quaternion"),
        (lambda: pl.ShapeTarget(), "positions"),
        (lambda: pl.ShapeTarget(positions=np.zeros((3, 2))), "positions"),
        (lambda: pl.EffortTarget("c1", 1.0, weight=np.inf), "weight"),
        (lambda: pl.EffortTarget("c1", "x"), "value"),
        (lambda: pl.PointTarget("tip", (0, 0, 0), weight="x"), "weight"),
        (lambda: pl.PointTarget("tip", (0, 0, 0), axes=3), "axes"),
        (lambda: pl.PointsTarget(3, [(0, 0, 0)]), "points"),
    ],
)
def test_bad_input(make, name):
    with pytest.raises(pl.PliantError, match=name):
        make()


def test_unknown_names():
    for target, name in (
        (pl.PointTarget("nose", (0, 0, 0)), "nose"),
        (pl.DisplacementTarget("c9", 0.0), "c9"),
        (pl.BarycentreTarget((0, 0, 0), body="arm"), "arm"),
        (pl.ContactForceTarget(1.0, "cup"), "cup"),
    ):
        with pytest.raises(pl.UnknownNameError, match=name):
            pl.invert(MODEL, None, target)


@pytest.mark.parametrize(
    "make", [lambda v: pl.DisplacementTarget("c1", v), lambda v: pl.EffortTarget("c1", v), pl.ContactForceTarget]
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_wanted_values_must_be_finite(make, value):
    with pytest.raises(pl.ArgumentError, match="value"):
        make(value)


def test_an_equality_out_of_reach_comes_as_near_as_an_objective():
    model = pl.FemModel(pl.robots.finger())
    away = (0.005113, -0.0025085, -0.1032573)  # off the plane in which it bends, beyond its length
    must, wish = (pl.invert(model, None, pl.PointTarget("tip", away, exact=exact)) for exact in (True, False))
    assert must.status is wish.status is pl.Status.UNREACHABLE
    assert np.linalg.norm(must.error) == pytest.approx(np.linalg.norm(wish.error), rel=1e-6)
    assert any("equalities" in note for note in must.notes)
