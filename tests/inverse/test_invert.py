"""invert over unrelated models, its modes, its honesty, and its bad input."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from harness import check_derivatives, golden_beam

import pliant as pl
from pliant.models.basis import legendre
from pliant.models.rod import RodModel
from pliant.solve.problem import Problem

sys.path.insert(0, str(Path(__file__).parent))
from point_robot import PointRobot


def rod_robot():
    """A silicone rod along x with three cables 6 mm off its axis."""
    material = pl.materials.Corotational.from_young(500e3, 0.45, density=1100)
    body = pl.RodBody("rod", 0.2, 0.01, material)
    cables = []
    for i in range(3):
        y, z = 0.006 * np.cos(2.1 * i), 0.006 * np.sin(2.1 * i)
        points = [(x, y, z) for x in np.linspace(0, 0.2, 11)]
        cables.append(pl.Cable(name=f"c{i + 1}", points=points, effort_limits=(0, 40)))
    return pl.Robot("rod", (body,), actuators=tuple(cables), points=(pl.Point("tip", (0.2, 0, 0)),))


MODELS = {
    "fem": (pl.FemModel, golden_beam, [3e-3, 6e-3, 8e-3], (0, 0, -0.0175)),
    "geometric": (pl.GeometricModel, golden_beam, [3e-3, 6e-3, 8e-3], (0, 0, -0.0175)),
    "rod": (partial(RodModel, basis=legendre(2)), rod_robot, [2e-3, 5e-3, 6e-3], (0, 0, -0.02)),
    "beam": (pl.BeamModel, rod_robot, [2e-3, 5e-3, 6e-3], (0, 0, -0.02)),
    "pcc": (partial(pl.PccModel, links=3), rod_robot, [2e-3, 5e-3, 6e-3], (0, 0, -0.02)),
    "link": (partial(pl.LinkModel, segments=4), rod_robot, [2e-3, 5e-3, 6e-3], (0, 0, -0.02)),
    "analytic": (PointRobot.like, lambda: PointRobot().robot, [0.02, 0.03, 0.01, 0.04], (0, 0, -0.015)),
}


@pytest.fixture(scope="module", params=list(MODELS))
def case(request):
    make, robot, u, below = MODELS[request.param]
    model = make(robot())
    model.make = make
    return model, np.array(u), below


def driven(model, drive):
    """The same model with every actuator driven otherwise."""
    return model.make(model.robot.but(actuators=tuple(replace(a, drive=drive) for a in model.robot.actuators)))


def feasible_state(model, u, obstacles=()):
    """A pose that some tensions within the limits produce."""
    force = driven(model, "effort")
    tension = {"golden-beam": 1.2, "rod": 2.0, "bead": 1.0}[model.robot.name] * (1 + u / u.max())
    return pl.equilibrium(force, tension, obstacles=obstacles, strict=True)


def test_the_analytic_model_is_consistent():
    check_derivatives(PointRobot(), np.array([0.02, -0.01, 0.03]), np.array([1.0, 2, 3, 4]))


def test_round_trip(case):
    model, u, _ = case
    state = feasible_state(model, u)
    tip = model.locate(state, "tip").position
    command = pl.invert(model, None, pl.PointTarget("tip", tip))
    assert command.status is pl.Status.CONVERGED
    assert np.abs(command.error).max() < 1e-9
    assert (command.effort >= -1e-12).all()
    if model.nu <= 3:
        assert np.allclose(command.effort, state.effort, rtol=1e-3, atol=1e-3 * state.effort.max())
    again = pl.equilibrium(driven(model, "effort"), command.effort, strict=True)
    assert np.allclose(model.locate(again, "tip").position, tip, atol=1e-7)
    same = pl.equilibrium(driven(model, "displacement"), command.displacement, strict=True)
    assert np.allclose(model.locate(same, "tip").position, tip, atol=1e-7)


def test_warm_start_takes_fewer_iterations(case):
    model, u, _ = case
    tip = model.locate(feasible_state(model, u), "tip").position
    first = pl.invert(model, None, pl.PointTarget("tip", tip))
    second = pl.invert(model, first.state, pl.PointTarget("tip", tip + 1e-5))
    assert second.status is pl.Status.CONVERGED
    assert second.iterations < first.iterations or second.iterations <= 3


def test_iterations_of_one_converge_over_a_loop(case):
    """Single linearisations, one after the other, reach the same pose; each says that it is single."""
    model, u, _ = case
    tip = model.locate(feasible_state(model, u), "tip").position
    state = pl.equilibrium(driven(model, "effort"))
    start = model.locate(state, "tip").position
    residuals = []
    for k in range(40):
        goal = start + (tip - start) * min(1.0, (k + 1) / 25)
        command = pl.invert(model, state, pl.PointTarget("tip", goal), iterations=1)
        assert command.status is pl.Status.SINGLE
        assert not command.ok
        state = command.state
        residuals.append(state.residual)
    # the size of the step taken: large while the goal moves, rounding where it is held
    assert min(residuals[:25]) > 1e-6
    assert residuals[-1] < 1e-9
    assert np.linalg.norm(model.locate(state, "tip").position - tip) < 1e-9
    assert np.abs(model.force(state.q, state.effort)).max() < 1e-6


def test_through_a_floor(case):
    """With a plane in the way the result keeps out of it and a forward solve with contact agrees."""
    model, u, below = case
    wide = PointRobot(radius=0.01) if isinstance(model, PointRobot) else model
    floor = pl.Plane(point=below, normal=(0, 0, 1))
    tip = model.locate(feasible_state(model, u), "tip").position
    target = pl.PointTarget("tip", (tip[0], tip[1], below[2] - 0.01))
    limits = [pl.EffortLimit(a.name, 0.0, 3.0) for a in model.robot.actuators]
    command = pl.invert(wide, None, target, obstacles=[floor], limits=limits)
    assert command.ok
    assert command.status is not pl.Status.CONVERGED  # the target is under the floor
    contacts = command.state.contacts
    assert contacts.gap.min() > -1e-8
    assert contacts.forces.min() >= 0
    assert np.abs(contacts.gap * contacts.forces).max() < 1e-8
    again = pl.equilibrium(
        driven(wide, "effort"), command.effort, obstacles=[floor], start=command.state, strict=True
    )
    assert np.allclose(model.locate(again, "tip").position, model.locate(command.state, "tip").position, atol=1e-6)


def test_limits_hold_and_are_reported(case):
    model, u, _ = case
    tip = model.locate(feasible_state(model, u), "tip").position
    free = pl.invert(model, None, pl.PointTarget("tip", tip))
    most = 0.6 * free.effort.max()
    limits = [pl.EffortLimit(a.name, 0.0, most) for a in model.robot.actuators]
    command = pl.invert(model, None, pl.PointTarget("tip", tip), limits=limits)
    assert command.effort.max() <= most * (1 + 1e-9)
    assert command.ok
    if command.status is pl.Status.UNREACHABLE:
        assert np.abs(command.error).max() > 1e-7


def test_infeasible_limits_are_dropped_with_notice(case):
    model, u, _ = case
    tip = model.locate(feasible_state(model, u), "tip").position
    name = model.robot.actuators[0].name
    impossible = [pl.EffortLimit(name, 0.0, 0.01), pl.DisplacementLimit(name, 0.08, 0.09)]
    command = pl.invert(model, None, pl.PointTarget("tip", tip), limits=impossible, iterations=8)
    assert not command.ok
    assert command.notes or command.status is not pl.Status.RELAXED
    with pytest.raises(pl.SolveError):
        pl.invert(model, None, pl.PointTarget("tip", tip), limits=impossible, iterations=8, strict=True)


def test_some_actuators_prescribed(case):
    model, u, _ = case
    state = feasible_state(model, u)
    tip = model.locate(state, "tip").position
    first = model.robot.actuators[0]
    value = float(state.displacement[0] if first.drive == "displacement" else state.effort[0])
    command = pl.invert(model, None, pl.PointTarget("tip", tip), prescribed={first.name: value})
    assert command.ok
    assert np.abs(command.error).max() < 1e-7
    assert abs(command.u[0] - value) < 1e-9


def test_what_is_prescribed_may_change_at_run_time(case):
    """One loop, one prepared problem: each actuator in turn is held where it is while the others follow the goal."""
    model, u, _ = case
    state = feasible_state(model, u)
    goal = model.locate(state, "tip").position
    problem = Problem(model)
    for k in range(2 * model.nu):
        held = k % model.nu
        name = model.robot.actuators[held].name
        driven_by_stroke = model.robot.actuators[held].drive == "displacement"
        value = float((state.displacement if driven_by_stroke else state.effort)[held])
        target = pl.PointTarget("tip", goal + 1e-4 * np.sin(k + 1.0), axes="z")
        command = pl.invert(model, state, target, prescribed={name: value}, problem=problem)
        assert command.status is pl.Status.CONVERGED
        assert abs(command.u[held] - value) < 1e-9
        assert np.abs(command.error).max() < 1e-8
        state = command.state


def test_dynamic_run_to_rest_is_static(case):
    model, u, _ = case
    tip = model.locate(feasible_state(model, u), "tip").position
    static = pl.invert(model, None, pl.PointTarget("tip", tip), redundancy="least effort")
    state = static.state.but(v=np.zeros(model.nv))
    for _ in range(5):
        command = pl.invert(model, state, pl.PointTarget("tip", tip), dynamic=True, dt=0.05)
        state = command.state
        assert np.abs(command.error).max() < 1e-7
    assert np.abs(state.v).max() < 1e-4


def test_a_real_dynamic_move(case):
    """The target moves a little every step; the dynamic inverse keeps the tip on it."""
    model, _, _ = case
    state = pl.equilibrium(driven(model, "effort"))
    start = model.locate(state, "tip").position
    for k in range(10):
        goal = start + [0, 0, 1e-4 * (k + 1)]
        command = pl.invert(
            model, state, pl.PointTarget("tip", goal, axes="z"), dynamic=True, dt=0.01, own_limits=False
        )
        state = command.state
        assert np.isfinite(state.q).all()
        assert np.abs(command.error).max() < 1e-8
    assert state.time == pytest.approx(0.1)


def test_rate_limit_bounds_each_step(case):
    model, u, _ = case
    tip = model.locate(feasible_state(model, u), "tip").position
    limits = [pl.RateLimit(a.name, 0.05) for a in model.robot.actuators]
    state = pl.equilibrium(driven(model, "displacement"))
    before = state.displacement
    command = pl.invert(driven(model, "displacement"), state, pl.PointTarget("tip", tip), limits=limits, dt=0.01)
    assert np.abs(command.displacement - before).max() <= 5e-4 + 1e-8


def test_timing_and_problem_are_public(case):
    model, u, _ = case
    # within reach: where it is not, rows that stand for the targets' curvature may join the problem
    command = pl.invert(model, None, pl.PointTarget("tip", model.locate(feasible_state(model, u), "tip").position))
    assert {"assembly", "factorisation", "condensation", "detection", "qp"} <= set(command.timing)
    assert command.problem.Wea.shape == (3, model.nu)
    assert command.solution.effort.shape == (model.nu,)
    assert command.elapsed > 0


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"targets": []}, "targets"),
        ({"targets": 3}, "targets"),
        ({"limits": 3}, "limits"),
        ({"obstacles": "floor"}, "obstacles"),
        ({"iterations": 0}, "iterations"),
        ({"iterations": "x"}, "iterations"),
        ({"alarm": np.nan}, "alarm"),
        ({"problem": "x"}, "problem"),
        ({"prescribed": 3}, "prescribed"),
        ({"dynamic": True}, "dt"),
        ({"redundancy": "most"}, "redundancy"),
        ({"friction": "some"}, "friction"),
        ({"search": "everywhere"}, "search"),
        ({"prescribed": {"c1": np.nan}}, "c1"),
        ({"prescribed": {"c9": 1.0}}, "c9"),
        ({"prescribed": {"c1": 0.0, "c2": 0.0, "c3": 0.0, "c4": 0.0}}, "prescribed"),
    ],
)
def test_bad_options(options, name):
    model = PointRobot()
    arguments = {"targets": pl.PointTarget("tip", (0, 0, 0)), **options}
    with pytest.raises(pl.PliantError, match=name):
        pl.invert(model, None, **arguments)


def test_a_state_that_is_not_finite_is_refused():
    model = PointRobot()
    state = pl.equilibrium(driven(model, "effort"))
    for bad in (state.but(q=np.full(3, np.nan)), state.but(q=np.zeros(5)), state.but(effort=np.full(4, np.inf))):
        with pytest.raises(pl.ArgumentError, match="state"):
            pl.invert(model, bad, pl.PointTarget("tip", (0, 0, 0)))


def test_no_actuators():
    with pytest.raises(pl.ArgumentError, match="model"):
        pl.invert(pl.FemModel(golden_beam(actuators=())), None, pl.PointTarget("tip", (0.1, 0, 0)))
