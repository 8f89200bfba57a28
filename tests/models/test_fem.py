"""FemModel: derivatives, invariances and the checks A1, A4, B1, B4 of the specs."""

import numpy as np
import pytest
from harness import box_robot, check_derivatives, check_virtual_work, golden_beam, relative
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.actuators import Cable, Chamber, PatchForce, PointForce, Slide, Stiffness
from pliant.bodies import Fixation, Point, RigidBody, RigidRegion, SoftBody, StrainGauge
from pliant.errors import ArgumentError, UnknownNameError
from pliant.geometry import TetMesh
from pliant.lie import exp
from pliant.materials import (
    Corotational,
    Linear,
    MooneyRivlin,
    NeoHookean,
    Ogden,
    StVenantKirchhoff,
    Yeoh,
)
from pliant.models.fem import FemModel
from pliant.robot import Robot
from pliant.solve.equilibrium import equilibrium

LAWS = [Linear, Corotational, StVenantKirchhoff, NeoHookean, MooneyRivlin, Yeoh, Ogden]


def noise(model, size, seed=0):
    rng = np.random.default_rng(seed)
    return model.retract(model.rest, size * rng.standard_normal(model.nv))


def hollow_box(size=0.04, cells=4) -> TetMesh:
    """A cube with a closed cubic cavity."""
    mask = np.ones((cells, cells, cells), dtype=bool)
    mask[1:-1, 1:-1, 1:-1] = False
    mesh = TetMesh.voxels(mask, size / cells, (0, 0, 0))
    mesh = mesh.with_node_set("base", np.flatnonzero(mesh.nodes[:, 2] < 1e-9))
    return mesh.with_cavity("hole")


def all_actuators_robot(material=None) -> Robot:
    mesh = hollow_box()
    mesh = mesh.with_region("top", np.flatnonzero(mesh.nodes[mesh.tets].mean(axis=1)[:, 2] > 0.03))
    mesh = mesh.with_node_set("lid", np.flatnonzero(mesh.nodes[:, 2] > 0.04 - 1e-9))
    material = material or NeoHookean.from_young(100e3, 0.4, density=1000)
    return Robot(
        "everything",
        (SoftBody("body", mesh, material),),
        (Fixation("base"),),
        rigid=(RigidRegion("plate", "lid", mass=0.01),),
        actuators=(
            Cable(name="cable", points=[(0.005, 0.005, 0.01), (0.006, 0.004, 0.02), (0.005, 0.005, 0.035)],
                  pull_point=(0.0, 0.0, -0.01), tube_stiffness=2.0),
            Chamber(name="chamber", cavity="hole", fluid_density=1000.0),
            PointForce(name="push", point=(0.04, 0.02, 0.02), direction=(-1, 0.5, 0)),
            PatchForce(name="patch", centre=(0.04, 0.02, 0.02), radius=0.012, direction=(-1, 0, 0)),
            Stiffness(name="jam", region="top"),
            Slide(name="lift", part="plate", axis=(0, 0, 1)),
        ),
        points=(Point("side", (0.04, 0.02, 0.015)), Point("top", (0.02, 0.02, 0.04))),
        sensors=(StrainGauge("gauge", ((0.005, 0.005, 0.005), (0.005, 0.005, 0.035))),),
    )  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_derivatives_of_every_law(law):
    model = FemModel(golden_beam(law.from_young(350e3, 0.4, density=1100)))
    check_derivatives(model, noise(model, 2e-4), np.array([1.0, 2.0, 3.0]))
    check_virtual_work(model, noise(model, 2e-4), np.zeros(3))


@pytest.mark.parametrize("law", [Corotational, NeoHookean, MooneyRivlin])
def test_derivatives_of_quadratic_elements(law):
    robot = box_robot((0.03, 0.01, 0.01), (3, 1, 1), law.from_young(1e5, 0.45), points=(Point("end", (0.03, 0, 0)),),
                      gravity=(0, 0, -9.81))  # fmt: skip
    for projected in (True, False):
        model = FemModel(robot, element="quadratic", projected=projected)
        check_derivatives(model, noise(model, 1e-4), np.zeros(0))


def test_derivatives_of_hexahedra():
    robot = box_robot((0.03, 0.01, 0.01), (3, 1, 1), NeoHookean.from_young(1e5, 0.45), hexes=True,
                      points=(Point("end", (0.03, 0.002, 0.004)),))  # fmt: skip
    model = FemModel(robot)
    assert model.layout.groups[0].kind == "hex8"
    check_derivatives(model, noise(model, 2e-4), np.zeros(0))


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_derivatives_of_all_actuators_and_rigid_parts(element):
    """B1: finite differences of every H; rigid parts, tubes and fluid weight included."""
    model = FemModel(all_actuators_robot(), element=element)
    effort = np.array([1.0, 2000.0, 0.3, 0.2, 0.1, 0.5])
    # Away from equilibrium the stiffness of a rotating part is symmetrised, so only its symmetric part is checked.
    check_derivatives(model, noise(model, 3e-5), effort, symmetric_only=True)
    check_virtual_work(model, noise(model, 3e-5), effort)
    gauge, row = model.gauge(model.rest, "gauge")
    d = np.random.default_rng(1).standard_normal(model.nv)
    h = 1e-7
    fd = (model.gauge(model.retract(model.rest, h * d), "gauge")[0] - gauge) / h
    assert abs(fd - row @ d) < 1e-4 * abs(fd)


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_stiffness_with_rotating_part_is_exact_at_equilibrium(element):
    model = FemModel(all_actuators_robot(), element=element)
    robot_effort = {"push": 0.3, "patch": 0.2, "chamber": 2000.0, "jam": 0.1}
    state = equilibrium(model, {**robot_effort, "cable": 1e-3, "lift": 1e-3}, strict=True)
    check_derivatives(model, state.q, state.effort, tolerance=1e-5)


def test_A1_rigid_rotation_gives_no_force_unless_linear():
    robot = box_robot((0.03, 0.01, 0.01), (3, 1, 1), Corotational.from_young(1e5, 0.45), fixations=())
    turn = exp(np.array([0.3, 1.1, -0.7]))
    for law in LAWS:
        body = SoftBody("body", robot.soft_body().mesh, law.from_young(1e5, 0.45))
        model = FemModel(robot.but(bodies=(body,)))
        x = model.layout.rest_nodes @ turn.T + 0.1
        force = np.abs(model.force(x.ravel(), np.zeros(0))).max()
        if law is Linear:
            assert force > 1e-3
        else:
            assert force < 1e-12 * 1e5 * 0.01


def test_B1_patch_test():
    """A linear displacement field is reproduced exactly by every element, on a distorted mesh."""
    rng = np.random.default_rng(3)
    for law in (Linear, Corotational, NeoHookean):
        for element in ("linear", "quadratic"):
            mesh = TetMesh.box((1, 1, 1), (3, 3, 3), (0, 0, 0))
            inner = np.all((mesh.nodes > 1e-9) & (mesh.nodes < 1 - 1e-9), axis=1)
            nodes = mesh.nodes.copy()
            nodes[inner] += 0.08 * rng.uniform(-1, 1, (int(inner.sum()), 3))
            mesh = TetMesh(nodes, mesh.tets).with_node_set("outer", np.flatnonzero(~inner))
            material = law.from_young(1.0, 0.3)
            robot = Robot("patch", (SoftBody("b", mesh, material),), (Fixation("outer"),), gravity=(0, 0, 0))
            model = FemModel(robot, element=element)
            G = np.eye(3) + 0.05 * rng.standard_normal((3, 3))
            model.layout.rest_nodes.setflags(write=True)
            deformed = model.layout.rest_nodes @ G.T
            reference = model.layout.rest_nodes.copy()
            held = (model.layout.dof < 0).all(axis=1)
            # Move the held boundary with the field; the free interior must follow it.
            model.layout.rest_nodes[held] = deformed[held]
            start = model.rest.copy()
            model.layout.rest_nodes[~held] = reference[~held]
            from pliant.state import State

            zero = np.zeros(0)
            state = equilibrium(model, start=State(start, np.zeros(model.nv), zero, zero, zero), strict=True)
            x = model.positions(state.q)
            assert np.abs(x - deformed).max() < 1e-12


def test_A4_laws_agree_on_a_finger_under_gravity_and_cable():
    tips = {}
    for law in (Corotational, StVenantKirchhoff, NeoHookean):
        model = FemModel(golden_beam(law.from_young(350e3, 0.45, density=1100)))
        state = equilibrium(model, {"c1": 4e-3}, strict=True)
        tips[law] = model.locate(state, "tip").position
    for law in (StVenantKirchhoff, NeoHookean):
        assert np.linalg.norm(tips[law] - tips[Corotational]) < 0.01 * 0.1


def test_total_force_and_moment_balance():
    """Internal forces have no resultant; reactions carry weight and actuation."""
    model = FemModel(all_actuators_robot())
    effort = np.array([0.0, 3000.0, 0.0, 0.0, 0.0, 0.0])
    q = noise(model, 3e-5)
    x = model.positions(q)
    g = np.zeros_like(x)
    model._elastic_force(x, model._scale(effort), g)
    chamber = model._bound[1][1]
    chamber.add_gradient(x, 3000.0, g)  # B5: live pressure on a closed cavity has no resultant
    size = np.abs(g).sum()
    assert np.abs(g.sum(axis=0)).max() < 1e-12 * size
    assert np.abs(np.cross(x, g).sum(axis=0)).max() < 1e-12 * size


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.floats(-3, 3))
def test_energy_is_invariant_under_rigid_motion(seed, angle, shift):
    robot = box_robot((0.03, 0.01, 0.01), (2, 1, 1), NeoHookean.from_young(1e5, 0.45), fixations=())
    model = FemModel(robot)
    rng = np.random.default_rng(seed)
    x = model.layout.rest_nodes + 5e-4 * rng.standard_normal(model.layout.rest_nodes.shape)
    turn = exp(angle * rng.standard_normal(3))
    zero = np.zeros(0)
    before, after = model.energy(x.ravel(), zero), model.energy((x @ turn.T + shift).ravel(), zero)
    assert abs(before - after) < 1e-9 * abs(before)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_permutation_of_nodes_and_tets_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    mesh = TetMesh.box((0.03, 0.01, 0.01), (3, 1, 1))
    nodes, tets = rng.permutation(len(mesh.nodes)), rng.permutation(len(mesh.tets))
    back = np.argsort(nodes)
    other = TetMesh(mesh.nodes[nodes], back[mesh.tets[tets]])
    material = NeoHookean.from_young(1e5, 0.45, density=1000)
    tips = []
    for m in (mesh, other):
        m = m.with_node_set("base", np.flatnonzero(m.nodes[:, 0] < 1e-9))
        robot = Robot(
            "p", (SoftBody("b", m, material),), (Fixation("base"),), points=(Point("tip", (0.03, 0.01, 0.01)),)
        )
        model = FemModel(robot)
        tips.append(model.locate(equilibrium(model, strict=True), "tip").position)
    assert np.abs(tips[0] - tips[1]).max() < 1e-12


def test_rigid_body_carries_its_points():
    vertices = np.array([[0, 0, 0], [0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]], float)
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    body = RigidBody("tool", vertices, triangles, mass=0.1)
    base = box_robot((0.03, 0.01, 0.01), (2, 1, 1), NeoHookean.from_young(1e5, 0.45))
    robot = base.but(bodies=(*base.bodies, body), points=(Point("p", (0.01, 0.002, 0.0), body="tool"),))
    model = FemModel(robot)
    check_derivatives(model, noise(model, 1e-4), np.zeros(0), symmetric_only=True)


def test_bad_input_is_refused():
    robot = golden_beam()
    with pytest.raises(ArgumentError, match="element"):
        FemModel(robot, element="cubic")
    with pytest.raises(ArgumentError, match="mass"):
        FemModel(robot, mass="none")
    model = FemModel(robot)
    with pytest.raises(UnknownNameError, match="tip"):
        model.locate(model.rest, "nose")
    with pytest.raises(ArgumentError, match="outside of body"):
        FemModel(robot.but(points=(Point("far", (1.0, 0, 0)),)))
    assert relative(model.locate(model.rest, ["tip"]).position, [[0.1, 0, 0]]) < 1e-9
