"""equilibrium: golden values of spec inverse-fem 17.2, drives, slack, hard loads, snap-through, honest endings."""

import numpy as np
import pytest
from harness import box_robot, golden_beam, relative

from pliant import robots
from pliant.actuators import Cable, Chamber, PointForce
from pliant.bodies import Fixation, Point, RigidRegion, SoftBody
from pliant.contact import Plane
from pliant.errors import ArgumentError, SolveError, UnknownNameError
from pliant.geometry import TetMesh
from pliant.materials import Corotational, NeoHookean
from pliant.models.fem import FemModel
from pliant.robot import Robot
from pliant.solve.equilibrium import equilibrium
from pliant.solve.problem import Problem
from pliant.solve.simulate import sweep
from pliant.state import State, Status

STROKES = {"c1": 5e-3, "c2": 10e-3, "c3": 15e-3}


@pytest.fixture(scope="module")
def beam() -> FemModel:
    return FemModel(golden_beam())


def by_effort(robot: Robot) -> Robot:
    """The same robot with every cable driven by its tension."""
    from dataclasses import replace

    return robot.but(actuators=tuple(replace(a, drive="effort") for a in robot.actuators))


def finger(material, cells=12, vias=1) -> Robot:
    """100 x 15 x 15 mm, one cable on its upper side through a few via points."""
    mesh = TetMesh.box((0.1, 0.015, 0.015), (cells, 2, 2), (0, -0.0075, -0.0075))
    mesh = mesh.with_node_set("base", np.flatnonzero(mesh.nodes[:, 0] < 1e-9))
    xs = np.linspace(0, 0.1, vias + 1)[1:]
    cable = Cable(name="c", points=[(x, 0, 0.0075) for x in xs], pull_point=(-0.005, 0, 0.0075))
    return Robot("finger", (SoftBody("body", mesh, material),), (Fixation("base"),), actuators=(cable,),
                 points=(Point("tip", (0.1, 0, 0)),))  # fmt: skip


def balloon(drive: str, material) -> FemModel:
    """A cube of 40 mm with a cubic cavity of 20 mm."""
    mask = np.ones((8, 8, 8), dtype=bool)
    mask[2:-2, 2:-2, 2:-2] = False
    mesh = TetMesh.voxels(mask, 0.005, (0, 0, 0))
    mesh = mesh.with_node_set("base", np.flatnonzero(mesh.nodes[:, 2] < 1e-9)).with_cavity("hole")
    return FemModel(Robot("balloon", (SoftBody("body", mesh, material),), (Fixation("base"),),
                          actuators=(Chamber(name="air", cavity="hole", drive=drive),)))  # fmt: skip


def arch(drive: str) -> FemModel:
    """A shallow arch, clamped at both ends, pushed down at its crown: it snaps through."""
    mesh = TetMesh.box((0.2, 0.01, 0.003), (16, 1, 1), (-0.1, 0, 0))
    nodes = mesh.nodes.copy()
    nodes[:, 2] += 0.015 * (1 - (nodes[:, 0] / 0.1) ** 2)
    ends = np.flatnonzero(np.abs(nodes[:, 0]) > 0.1 - 1e-9)
    mesh = TetMesh(nodes, mesh.tets).with_node_set("ends", ends)
    crown = (0.0, 0.005, 0.0165)
    push = PointForce(name="push", point=crown, direction=(0, 0, -1), drive=drive)
    robot = Robot("arch", (SoftBody("body", mesh, NeoHookean.from_young(1e6, 0.3, density=1000)),),
                  (Fixation("ends"),), actuators=(push,), points=(Point("crown", crown),),
                  gravity=(0, 0, 0))  # fmt: skip
    return FemModel(robot, element="quadratic")


# ---- golden values ---------------------------------------------------------------------------------------------
def test_golden_values_17_2(beam):
    state = equilibrium(beam, STROKES, strict=True)
    assert state.status is Status.CONVERGED
    assert state.effort == pytest.approx([1.71789, 1.15047, 3.27295], abs=6e-6)
    assert beam.locate(state, "tip").position * 1e3 == pytest.approx([89.4445, -9.0660, -20.7812], abs=6e-5)
    assert state.displacement == pytest.approx([5e-3, 10e-3, 15e-3], abs=1e-12)
    assert state.residual < 1e-10
    assert 0 < state.iterations < 20
    assert state.elapsed > 0
    assert state.factor is not None


def test_effort_and_displacement_drive_agree(beam):
    pulled = equilibrium(beam, STROKES, strict=True)
    loaded = equilibrium(FemModel(by_effort(beam.robot)), pulled.effort, strict=True)
    assert relative(loaded.q, pulled.q) < 1e-9
    assert loaded.displacement == pytest.approx(pulled.displacement, abs=1e-10)


def test_gravity_alone_sags():
    model = FemModel(golden_beam(actuators=()))
    state = equilibrium(model, strict=True)
    assert model.locate(state, "tip").position[2] < -1e-3
    assert equilibrium(FemModel(golden_beam(actuators=(), gravity=(0, 0, 0))), strict=True).iterations <= 1


# ---- slack -----------------------------------------------------------------------------------------------------
def test_slack_cables_carry_nothing_and_are_named(beam):
    state = equilibrium(beam, {"c1": 10e-3, "c2": -5e-3, "c3": -5e-3}, strict=True)
    assert state.status is Status.SLACK
    assert "c2" in state.notes[0]
    assert state.effort[1:] == pytest.approx([0, 0])
    assert (state.displacement[1:] > -5e-3).all()
    alone = equilibrium(FemModel(beam.robot.but(actuators=beam.robot.actuators[:1])), 10e-3, strict=True)
    assert relative(state.q, alone.q) < 1e-9


def test_a_rod_that_is_not_slackable_pushes(beam):
    from dataclasses import replace

    rods = tuple(replace(a, slackable=False) for a in beam.robot.actuators)
    state = equilibrium(FemModel(beam.robot.but(actuators=rods)), {"c1": 2e-3, "c2": -3e-3, "c3": -3e-3}, strict=True)
    assert state.status is Status.CONVERGED
    assert state.displacement == pytest.approx([2e-3, -3e-3, -3e-3], abs=1e-12)
    assert state.effort.min() < 0


# ---- warm start ------------------------------------------------------------------------------------------------
def test_warm_start_is_cheap_and_keeps_commands(beam):
    first = equilibrium(beam, STROKES, strict=True)
    again = equilibrium(beam, None, start=first, strict=True)
    assert again.u == pytest.approx(first.u)
    assert again.iterations <= 2
    assert relative(again.q, first.q) < 1e-9
    near = equilibrium(beam, {"c1": 5.2e-3}, start=first.but(time=3.0), strict=True)
    assert near.u == pytest.approx([5.2e-3, 10e-3, 15e-3])
    assert near.iterations < first.iterations
    assert near.time == 3.0
    cold = equilibrium(beam, [5.2e-3, 10e-3, 15e-3], strict=True)
    assert relative(near.q, cold.q) < 1e-8


def test_the_answer_does_not_depend_on_the_path(beam):
    path = sweep(beam, [{k: t * v for k, v in STROKES.items()} for t in (0.25, 0.5, 0.75, 1.0)])
    assert path.ok
    assert relative(path.q[-1], equilibrium(beam, STROKES).q) < 1e-8


# ---- bad input ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"u": {"cable": 1.0}}, UnknownNameError),
        ({"u": {"c1": np.nan}}, ArgumentError),
        ({"u": [0.0]}, ArgumentError),
        ({"max_iterations": 0}, ArgumentError),
        ({"start": State(np.zeros(3), np.zeros(3), *(np.zeros(3) for _ in range(3)))}, ArgumentError),
        ({"obstacles": ["wall"]}, ArgumentError),
    ],
)
def test_bad_arguments(beam, arguments, error):
    with pytest.raises(error):
        equilibrium(beam, **arguments)


def test_a_start_that_is_not_finite_is_refused(beam):
    broken = State(np.full(beam.nq, np.nan), np.zeros(beam.nv), *(np.zeros(3) for _ in range(3)))
    with pytest.raises(ArgumentError, match="start"):
        equilibrium(beam, start=broken)


# ---- honest endings --------------------------------------------------------------------------------------------
def test_an_unheld_body_is_singular():
    robot = box_robot((0.03, 0.01, 0.01), (3, 1, 1), Corotational.from_young(1e5, 0.4, density=1000), fixations=(),
                      gravity=(0, 0, -9.81))  # fmt: skip
    state = equilibrium(FemModel(robot), max_iterations=60)
    assert not state.ok
    with pytest.raises(SolveError) as caught:
        equilibrium(FemModel(robot), max_iterations=60, strict=True)
    assert not caught.value.result.ok


def test_too_few_iterations_are_not_called_converged(beam):
    state = equilibrium(beam, STROKES, max_iterations=2)
    assert state.status is Status.MAX_ITERATIONS
    assert state.factor is None
    assert state.residual > 1e-6
    assert state.iterations <= 8


def test_pressure_beyond_the_maximum_has_no_equilibrium():
    """A neo-Hookean balloon has a largest pressure (about 32 kPa here); beyond it nothing is converged."""
    model = balloon("effort", NeoHookean.from_young(100e3, 0.45, density=1000))
    assert equilibrium(model, 25e3).status is Status.CONVERGED
    assert not equilibrium(model, 60e3, max_iterations=80).ok


def test_a_body_pushed_inside_out_is_no_equilibrium():
    """The co-rotational law balances any force: by elements turned inside out, if nothing else does."""
    mesh = TetMesh.box((0.02, 0.02, 0.02), (2, 2, 2), (0, 0, 0)).with_node_set("base", lambda x: x[:, 2] < 1e-9)
    push = PointForce(name="push", point=(0.01, 0.01, 0.02), direction=(0, 0, -1))
    body = SoftBody("body", mesh, Corotational.from_young(1e5, 0.3))
    model = FemModel(Robot("cube", (body,), (Fixation("base"),), actuators=(push,), gravity=(0, 0, 0)))
    assert equilibrium(model, 8.0).ok
    state = equilibrium(model, 40.0)
    assert model.inverted(state.q)
    assert state.status is Status.INVERTED and not state.ok
    assert any("inside out" in note for note in state.notes)


# ---- hard loads ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("vias", [1, 2])
def test_eighty_millimetres_of_a_hundred_millimetre_finger(vias):
    """The finger winds itself up: by half a turn with one via point, by most of a turn with two."""
    model = FemModel(finger(NeoHookean.from_young(350e3, 0.45, density=1100), vias=vias))
    state = equilibrium(model, 0.08, strict=True)
    assert state.status in (Status.CONVERGED, Status.CONTINUED)
    assert state.displacement[0] == pytest.approx(0.08, abs=1e-10)
    assert state.residual < 1e-9
    tip = model.locate(state, "tip").rotation[:, 0]
    turned = np.degrees(np.arctan2(tip[2], tip[0])) % 360
    assert turned > (170 if vias == 1 else 240)


def test_bend_of_240_degrees_by_a_cable_past_its_largest_tension():
    """With displacement drive the finger is held where no constant tension could hold it."""
    model = FemModel(finger(NeoHookean.from_young(350e3, 0.45, density=1100), vias=12))
    strokes = np.linspace(0.01, 0.066, 6)
    run = sweep(model, strokes[:, None])
    assert run.ok
    direct = equilibrium(model, 0.066, strict=True)
    assert relative(direct.q, run.q[-1]) < 1e-7
    tip = model.locate(direct, "tip").rotation[:, 0]
    assert np.degrees(np.arctan2(tip[2], tip[0])) % 360 > 240


@pytest.mark.parametrize("growth", [3.0, 15.0])
def test_chamber_far_beyond_its_rest_volume(growth):
    """Driven by volume, past the largest pressure."""
    model = balloon("displacement", NeoHookean.from_young(100e3, 0.45, density=1000))
    state = equilibrium(model, growth * 0.02**3, strict=True)
    assert state.displacement[0] == pytest.approx(growth * 0.02**3, rel=1e-9)
    assert state.residual < 1e-9
    if growth == 15.0:
        less = equilibrium(model, 7.0 * 0.02**3, strict=True)
        assert less.effort[0] > state.effort[0] > 20e3  # the pressure falls with volume: stable only by volume


def test_pneumatic_bend_to_large_angles():
    """A finger of bellows bends by more than half a turn, at once."""
    model = FemModel(robots.pneunet())
    state = equilibrium(model, 90e3, strict=True)
    assert state.status in (Status.CONVERGED, Status.CONTINUED)
    tip = model.locate(state, "tip").rotation[:, 0]
    assert np.degrees(np.arctan2(tip[2], tip[0])) % 360 > 180
    assert state.residual < 1e-9


def test_arch_under_displacement_passes_its_limit_point():
    """Stable all the way: first the push grows, then it falls to a third, then the arch carries by tension."""
    path = sweep(arch("displacement"), np.linspace(0, 0.03, 16)[:, None])
    assert path.ok
    push = path.effort[:, 0]
    top = int(push[:6].argmax())
    assert 0 < top < 5
    assert push[top:12].min() < 0.5 * push[top]
    assert push[-1] > 3 * push[top]


def test_arch_snaps_through_under_force_and_says_so():
    """Beyond its limit load the crown jumps below the supports; the status says that the path was not continuous."""
    model, held = arch("effort"), arch("displacement")
    limit = max(equilibrium(held, d, strict=True).effort[0] for d in (4e-3, 5e-3, 6e-3))
    below = equilibrium(model, 0.9 * limit)
    assert below.status in (Status.CONVERGED, Status.CONTINUED)
    assert model.locate(below, "crown").position[2] > 0.01
    above = equilibrium(model, 1.15 * limit, start=below)
    assert above.status is Status.SNAPPED
    assert any("snapped" in note for note in above.notes)
    assert above.residual < 1e-8
    assert model.locate(above, "crown").position[2] < 0.0
    # The state that it fell to is one that displacement drive holds with the same force.
    again = equilibrium(held, above.displacement, start=above.but(u=above.displacement), strict=True)
    assert again.effort[0] == pytest.approx(1.15 * limit, rel=1e-6)


# ---- parts and contact ---------------------------------------------------------------------------------------------
def test_rigid_end_with_contact_balances():
    material = Corotational.from_young(200e3, 0.4, density=1000)
    robot = box_robot((0.06, 0.01, 0.01), (8, 2, 2), material, gravity=(0, 0, -9.81),
                      rigid=(RigidRegion("plate", "end", mass=0.02),),
                      points=(Point("end", (0.06, 0.005, 0.005)),))  # fmt: skip
    model = FemModel(robot)
    free = equilibrium(model, strict=True)
    floor = model.locate(free, "end").position[2] - 0.005 + 1e-3
    state = equilibrium(model, obstacles=[Plane(point=(0, 0, floor), normal=(0, 0, 1))], strict=True)
    assert state.contacts.forces.sum() > 0
    assert state.contacts.max_penetration < 1e-6 * 0.06
    assert state.residual < 1e-8


def test_a_prepared_problem_takes_the_place_of_obstacles():
    model, other = FemModel(golden_beam()), FemModel(golden_beam())
    floor = Plane(point=(0.0, 0.0, -0.012))
    u = {"c1": 0.005}
    given = equilibrium(model, u, problem=Problem(model, [floor]))
    np.testing.assert_array_equal(given.q, equilibrium(model, u, obstacles=[floor]).q)
    with pytest.raises(ArgumentError, match="problem"):
        equilibrium(model, problem=Problem(other))
