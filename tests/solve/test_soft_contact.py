"""Soft bodies against soft bodies and themselves: flat, crossed, stacked, round, held by contact alone."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.actuators import Slide
from pliant.bodies import Fixation, RigidRegion, SoftBody
from pliant.contact import BodyContact, ContactState, SelfContact
from pliant.geometry import TetMesh
from pliant.geometry.meshing import mesh_shape
from pliant.geometry.primitives import Sphere
from pliant.materials import Corotational
from pliant.robot import Robot
from pliant.solve.problem import Problem
from pliant.state import Status

E = 1e5
SMOOTH = (Status.CONVERGED, Status.CONTINUED)


def block(name, size, cells, low, nu=0.3):
    mesh = TetMesh.box(size, cells, low)
    z = mesh.nodes[:, 2] - low[2]
    mesh = mesh.with_node_set("bottom", np.flatnonzero(z < 1e-9))
    mesh = mesh.with_node_set("top", np.flatnonzero(z > size[2] - 1e-9))
    return SoftBody(name, mesh, Corotational.from_young(E, nu, density=1000))


def press(*bodies, nodes="top", hold="bottom"):
    """The first body is held, a plate on the second one is driven down."""
    plate = RigidRegion("plate", nodes, bodies[1].name, axes=((0, 0, 1),), rotates=False)
    drive = Slide(name="press", part="plate", axis=(0, 0, -1))
    return pl.FemModel(
        Robot("press", bodies, (Fixation(hold, bodies[0].name),), rigid=(plate,), actuators=(drive,), gravity=(0, 0, 0))
    )


def pressure(contacts):
    """Normal force per vertex of the first body's skin that carries it [N]: sums to the total."""
    return contacts.forces @ np.abs(contacts.normal[:, 2])


# ---- flat on flat ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mu", [0.0, 0.5])
@pytest.mark.parametrize("cells", [(3, 3, 2), (4, 4, 2)], ids=["same mesh", "other mesh"])
def test_block_on_block_is_compressed_uniformly(cells, mu):
    """Without lateral strain the force is E A d / h exactly, whatever the two meshes are."""
    model = press(block("a", (0.04, 0.04, 0.02), cells, (0, 0, 0), 0.0),
                  block("b", (0.04, 0.04, 0.02), (3, 3, 2), (0, 0, 0.021), 0.0))  # fmt: skip
    for depth in (2e-3, 4e-3) if mu == 0.0 else (2e-3,):
        state = pl.equilibrium(model, depth, obstacles=[BodyContact(0, 1, friction=mu)])
        expected = E * 0.04**2 * (depth - 1e-3) / 0.04
        assert state.status in SMOOTH
        assert state.effort[0] == pytest.approx(expected, rel=0.01)
        assert pressure(state.contacts) == pytest.approx(expected, rel=0.01)
        assert state.residual < 1e-7
        x = model.skin_positions(state.q)
        face = np.flatnonzero(np.abs(model.skin_positions(model.rest)[:, 2] - 0.02) < 1e-9)
        assert np.allclose(x[face, 2], 0.02 - 0.5 * (depth - 1e-3), atol=1e-2 * depth)
        assert state.contacts.max_penetration < 1e-9


@pytest.mark.parametrize("mu", [0.0, 0.5])
@pytest.mark.parametrize(
    ("size", "corner"), [((0.03, 0.03, 0.02), (0.005, 0.005)), ((0.04, 0.04, 0.02), (0.007, 0.003))],
    ids=["smaller", "shifted"],
)  # fmt: skip
def test_block_on_a_part_of_a_block(size, corner, mu):
    model = press(block("a", (0.04, 0.04, 0.02), (4, 4, 2), (0, 0, 0)),
                  block("b", size, (3, 3, 2), (*corner, 0.021)))  # fmt: skip
    for depth in (2e-3, 4e-3):
        state = pl.equilibrium(model, depth, obstacles=[BodyContact(0, 1, friction=mu)])
        assert state.status in SMOOTH
        assert np.abs(state.contacts.wrench()[5]) == pytest.approx(state.effort[0], rel=1e-6)
        assert state.contacts.max_penetration < 1e-9
    weak = pl.equilibrium(model, 2e-3, obstacles=[BodyContact(0, 1, friction=mu)]).effort[0]
    assert state.effort[0] == pytest.approx(3 * weak, rel=0.02)


# ---- other shapes ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_beams_pressed_crosswise(mu):
    """Both beams bend alike: the middle of each goes half of the way."""
    material = Corotational.from_young(1e6, 0.3, density=1000)
    lower = TetMesh.box((0.1, 0.01, 0.01), (16, 2, 2), (-0.05, -0.005, -0.01))
    lower = lower.with_node_set("ends", np.flatnonzero(np.abs(lower.nodes[:, 0]) > 0.05 - 1e-9))
    upper = TetMesh.box((0.01, 0.1, 0.01), (2, 16, 2), (-0.005, -0.05, 0.0005))
    upper = upper.with_node_set("ends", np.flatnonzero(np.abs(upper.nodes[:, 1]) > 0.05 - 1e-9))
    model = press(SoftBody("a", lower, material), SoftBody("b", upper, material), nodes="ends", hold="ends")
    force = []
    for depth in (2e-3, 6e-3, 12e-3):
        state = pl.equilibrium(model, depth, obstacles=[BodyContact(0, 1, friction=mu)])
        assert state.status in SMOOTH
        assert state.contacts.max_penetration < 1e-9
        x, rest = model.skin_positions(state.q), model.skin_positions(model.rest)
        middle = int(np.argmin(np.linalg.norm(rest - [0, 0, 0], axis=1)))
        assert x[middle, 2] == pytest.approx(-0.5 * (depth - 5e-4), rel=0.06)
        force.append(state.effort[0])
    assert 0 < force[0] < force[1] < force[2]


def test_ball_on_block_follows_hertz():
    """F = 4/3 E* sqrt(R) d^1.5: the power to 5 %, the size to what a coarse mesh of finite bodies gives."""
    R, gap = 0.01, 1e-4
    ball = mesh_shape(Sphere((0, 0, 0), R), 0.0035).transformed(translation=(0, 0, 0.02 + R + gap))
    ball = ball.with_node_set("top", np.flatnonzero(ball.nodes[:, 2] > 0.02 + 1.3 * R + gap))
    bed = block("bed", (0.04, 0.04, 0.02), (10, 10, 5), (-0.02, -0.02, 0))
    model = press(bed, SoftBody("ball", ball, bed.material))
    depth, force = np.array([1e-3, 2e-3]), []
    for d in depth:
        state = pl.equilibrium(model, d + gap, obstacles=[BodyContact(0, 1)])
        assert state.status in SMOOTH
        assert state.contacts.max_penetration < 1e-9
        force.append(state.effort[0])
    hertz = 4 / 3 * E / (1 - 0.3**2) / 2 * np.sqrt(R) * depth**1.5
    assert force[1] / force[0] == pytest.approx(2**1.5, rel=0.05)
    assert np.all((force > hertz) & (force < 1.4 * hertz))  # linear tets and a block of twice the radius are stiffer


@pytest.mark.parametrize("gap", [0.0, 5e-4])
def test_stack_of_three_under_gravity(gap):
    """Only the lowest block is held; every joint carries what lies on it, sticking."""
    sides, blocks = (0.04, 0.034, 0.028), []
    for i, side in enumerate(sides):
        low = (0.003 * i, 0.003 * i, i * (0.02 + gap))
        blocks.append(block(f"b{i}", (side, side, 0.02), (3, 3, 2) if i != 1 else (2, 2, 2), low))
    model = pl.FemModel(Robot("stack", tuple(blocks), (Fixation("bottom", "b0"),)))
    joints = [BodyContact(0, 1, friction=0.3), BodyContact(1, 2, friction=0.3)]
    state = pl.equilibrium(model, obstacles=joints)
    assert state.status in SMOOTH
    weight = 9.81 * 1000 * 0.02 * np.array(sides) ** 2
    for joint, expected in enumerate((weight[1:].sum(), weight[2])):
        carried = state.contacts.forces[state.contacts.obstacle == joint].sum()
        assert carried == pytest.approx(expected, rel=1e-4)
    assert state.contacts.max_penetration < 1e-9


def test_block_inside_of_a_cup():
    mask = np.ones((6, 6, 4), dtype=bool)
    mask[1:-1, 1:-1, 1:] = False
    mesh = TetMesh.voxels(mask, 0.01, (0, 0, 0))
    mesh = mesh.with_node_set("bottom", np.flatnonzero(mesh.nodes[:, 2] < 1e-9))
    inner = block("b", (0.034, 0.034, 0.02), (3, 3, 2), (0.013, 0.013, 0.0103))
    cup = SoftBody("cup", mesh, inner.material)
    model = pl.FemModel(Robot("cup", (cup, inner), (Fixation("bottom", "cup"),)))
    state = pl.equilibrium(model, obstacles=[BodyContact(0, 1, friction=0.3)])
    assert state.status in SMOOTH
    assert state.contacts.forces.sum() == pytest.approx(9.81 * 1000 * 0.02 * 0.034**2, rel=1e-4)
    x = model.skin_positions(state.q)[model.skin.body == 1]
    assert x[:, 2].min() > 0.0097
    assert x[:, :2].min() > 0.01
    assert x[:, :2].max() < 0.05


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_strip_shaped_like_a_c_closes_on_itself(mu):
    """One end is driven past the other, which gives way by as much as it is pushed."""
    radius, thick, width = 0.02, 0.003, 0.006
    flat = TetMesh.box((1, thick, width), (24, 2, 2), (0, -thick / 2, -width / 2))
    s, r = flat.nodes[:, 0], radius + flat.nodes[:, 1]
    angle = np.deg2rad(330 - 300 * s)
    mesh = TetMesh(np.stack([r * np.cos(angle), r * np.sin(angle), flat.nodes[:, 2]], axis=1), flat.tets)
    mesh = mesh.with_node_set("back", np.flatnonzero(np.abs(s - 0.5) < 0.05))
    mesh = mesh.with_node_set("end", np.flatnonzero(s > 1 - 1e-9))
    strip = SoftBody("strip", mesh, Corotational.from_young(1e6, 0.3, density=1000))
    tip = RigidRegion("tip", "end", axes=((0, 1, 0),), rotates=False)
    drive = Slide(name="close", part="tip", axis=(0, -1, 0))
    robot = Robot("strip", (strip,), (Fixation("back"),), rigid=(tip,), actuators=(drive,), gravity=(0, 0, 0))
    model = pl.FemModel(robot)
    start = model.skin_positions(model.rest)[s_of(model, mesh, s < 1e-9)]
    for depth, touches in ((0.015, False), (0.022, True), (0.026, True)):
        state = pl.equilibrium(model, depth, obstacles=[SelfContact(friction=mu)])
        assert state.status in SMOOTH
        assert (state.contacts.forces.sum() > 0) == touches
        assert state.contacts.max_penetration < 1e-9
    moved = model.skin_positions(state.q)[s_of(model, mesh, s < 1e-9)] - start
    assert moved[:, 1].mean() < -2e-3


def s_of(model, mesh, chosen):
    """Skin vertices at chosen nodes of the mesh."""
    x = model.skin_positions(model.rest)
    near = np.linalg.norm(x[:, None] - mesh.nodes[None, chosen], axis=2).min(axis=1)
    return np.flatnonzero(near < 1e-9)


# ---- friction --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mu", [0.2, 0.3, 0.4, 0.6])
def test_block_on_a_slope_sticks_if_friction_exceeds_the_slope(mu):
    """tan(angle) = 0.35: with less friction there is no equilibrium, and none is claimed."""
    slope = 0.35
    g = 9.81 / np.hypot(1.0, slope)
    soft = block("b", (0.04, 0.04, 0.02), (3, 3, 2), (0, 0, 0))
    model = pl.FemModel(Robot("slope", (soft,), (), gravity=(slope * g, 0, -g)))
    floor = pl.Plane(point=(0, 0, 0), normal=(0, 0, 1), friction=mu)
    state = pl.equilibrium(model, obstacles=[floor], max_iterations=60)
    assert state.ok == (mu > slope)
    if state.ok:
        weight = 1000 * 0.04**2 * 0.02 * g
        assert state.contacts.wrench()[3:] == pytest.approx([-slope * weight, 0, weight], abs=1e-5 * weight)
        assert (state.contacts.states == ContactState.STICK).any()


# ---- what is claimed ---------------------------------------------------------------------------------------------
def test_penetration_that_was_not_solved_for_is_never_called_converged():
    """A state that starts with one block deep inside of the other is freed, or called by its name."""
    model = press(block("a", (0.04, 0.04, 0.02), (3, 3, 2), (0, 0, 0)),
                  block("b", (0.03, 0.03, 0.02), (3, 3, 2), (0.005, 0.005, 0.021)))  # fmt: skip
    contact = [BodyContact(0, 1)]
    through = pl.equilibrium(model, 6e-3)  # nobody looks for contact here
    state = pl.equilibrium(model, 6e-3, start=through, obstacles=contact, max_iterations=120)
    direct = pl.equilibrium(model, 6e-3, obstacles=contact)
    assert direct.status in SMOOTH
    if state.ok:
        assert state.effort[0] == pytest.approx(direct.effort[0], rel=0.02)
    else:
        assert state.status in (Status.PENETRATING, Status.MAX_ITERATIONS, Status.STALLED)


def test_a_pair_overlooked_among_repeated_ones_is_solved_for():
    """A vertex over a vertex: joining the missing pair to those solved with drops repeated ones, so counts mislead."""
    entry = pl.robots.entry("membrane")
    robot = entry.make(size=0.04)
    model = entry.model(robot)
    command = np.random.default_rng(0).uniform(0.0, [a.limits[1] for a in robot.actuators])  # ended PENETRATING before
    state = pl.equilibrium(model, command, obstacles=entry.obstacles(robot))
    assert state.status is pl.Status.CONVERGED
    assert state.contacts.max_penetration < 1e-9


def organs(cells):
    """The two bodies of example 16."""
    path = Path(__file__).parents[2] / "examples" / "16_two_bodies.py"
    return pl.FemModel(runpy.run_path(str(path))["robot"](cells))


@pytest.mark.parametrize("cells", [5, 6])
def test_a_skin_on_a_round_organ_converges_quadratically(cells):
    """Normals turn with both bodies; without that in the tangent these took 262 iterations, or more than 600."""
    model = organs(cells)
    for press_ in (0.4, 0.5):
        state = pl.equilibrium(model, {"press": press_}, obstacles=[BodyContact(0, 1)])
        assert state.status is Status.CONVERGED
        assert state.iterations <= 15
        assert state.residual < 1e-6


def test_starts_a_micrometre_away_lead_to_the_same_rest():
    model = organs(6)
    state = pl.equilibrium(model, {"press": 0.4}, obstacles=[BodyContact(0, 1)], strict=True)
    random = np.random.default_rng(0)
    for _ in range(20):
        start = state.but(q=state.q + 1e-6 * random.uniform(-1.0, 1.0, model.nv))
        again = pl.equilibrium(model, {"press": 0.4}, obstacles=[BodyContact(0, 1)], start=start)
        assert again.status is Status.CONVERGED and again.iterations <= 10
        assert np.abs(again.q - state.q).max() < 1e-7 * 0.1  # of its size


def test_a_body_at_rest_on_an_edge_stays_there():
    """A fresh look at such a pose sees only some of the pairs that carry it; solving it again took 17 iterations."""
    model = organs(5)
    state = pl.equilibrium(model, {"press": 0.3}, obstacles=[BodyContact(0, 1)], strict=True)
    again = pl.equilibrium(model, {"press": 0.3}, obstacles=[BodyContact(0, 1)], start=state, strict=True)
    assert again.iterations == 1
    assert np.abs(again.q - state.q).max() < 1e-8


def test_volume_contacts_carry_a_block():
    """The second method of detection, in a solve: as many contacts for every mesh, their sum is the weight."""
    counts = []
    for n in (3, 5):
        mesh = pl.TetMesh.box((0.04, 0.04, 0.02), (n, n, 2), origin=(-0.02, -0.02, -1e-4))
        body = pl.SoftBody("block", mesh, Corotational.from_young(1e5, 0.3, density=1000.0))
        model = pl.FemModel(pl.Robot("block", body))
        problem = Problem(model, [pl.Plane(friction=0.4)], method="volume")
        state = pl.equilibrium(model, {}, problem=problem)
        assert state.status is pl.Status.CONVERGED
        assert state.contacts.forces.sum() == pytest.approx(9.81 * model.mass_total, rel=1e-5)
        counts.append(len(state.contacts))
    assert counts[0] == counts[1]
