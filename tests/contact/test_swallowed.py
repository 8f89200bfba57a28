"""Obstacles that stand in the material of a body, where its skin has no vertex inside of them."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.obstacles import Pose
from pliant.contact.swallowed import swallowed
from pliant.materials import NeoHookean


@pytest.fixture(scope="module")
def block() -> pl.FemModel:
    """A coarse block, held at its top: its facets are 20 mm wide."""
    mesh = pl.TetMesh.box((0.04, 0.04, 0.02), (2, 2, 1), (-0.02, -0.02, 0.001))
    mesh = mesh.with_node_set("top", lambda x: x[:, 2] > 0.0209)
    body = pl.SoftBody("block", mesh, NeoHookean.from_young(1e5, 0.3))
    return pl.FemModel(pl.Robot("block", (body,), (pl.Fixation("top"),), gravity=(0, 0, 0)))


def seen(model, *obstacles):
    free = np.zeros(model.skin.size, dtype=bool)
    return swallowed(obstacles, model.skin_positions(model.rest), model.skin.triangles, free)


TOOLS = {
    "ball": lambda z: pl.Sphere((0.011, 0.007, z - 0.001), 0.001),
    "large ball": lambda z: pl.Sphere((0.011, 0.007, z - 0.003), 0.003),
    "post": lambda z: pl.Cylinder(a=(0.011, 0.007, -0.02), b=(0.011, 0.007, z), radius=0.0015),
    "rod": lambda z: pl.Capsule(a=(0.011, 0.007, -0.02), b=(0.011, 0.007, z - 0.0015), radius=0.0015),
    "bar": lambda z: pl.Box((0.011, 0.007, z - 0.01), half_lengths=(0.002, 0.002, 0.01)),
}


@pytest.mark.parametrize("name", TOOLS)
def test_what_stands_in_the_material_is_seen_from_the_obstacle(block, name):
    tool = TOOLS[name]
    assert seen(block, tool(0.001 - 1e-4)) == (0.0, ())  # below the face
    depth, names = seen(block, tool(0.006))
    assert 1e-3 < depth <= 5e-3 + 1e-9 and len(names) == 1
    assert seen(block, tool(0.006).moved((0.1, 0, 0))) == (0.0, ())
    assert seen(block, tool(0.001 - 1e-4).moved((0, 0, 5.1e-3)))[0] == pytest.approx(depth, abs=1e-4)


def test_neither_planes_nor_what_holds_the_body_count(block):
    x, triangles = block.skin_positions(block.rest), block.skin.triangles
    ball = TOOLS["ball"](0.006)
    assert swallowed([ball], x, triangles, np.ones(len(x), dtype=bool)) == (0.0, ())
    assert seen(block, pl.Plane((0, 0, 0.01), (0, 0, 1))) == (0.0, ())


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("height", [3e-4, 3e-3])
def test_no_equilibrium_is_claimed_with_a_tool_in_the_body(block, name, height):
    """Before, most of these were CONVERGED, with forces of zero or with the tool 2 mm deep in the block."""
    tool = TOOLS[name](0.001 + height)
    state = pl.equilibrium(block, {}, obstacles=[tool], max_iterations=150)
    depth, _ = swallowed([tool], block.skin_positions(state.q), block.skin.triangles, np.zeros(18, dtype=bool))
    if state.ok:
        assert depth == 0.0 and state.contacts.forces.sum() > 0.1
    else:
        assert state.status is pl.Status.PENETRATING
        assert any("inside of the body" in note for note in state.notes)


def test_a_tool_that_is_pushed_through_a_facet_ends_a_motion_penetrating(block):
    """It pressed with 12 N, then with none, 1.4 mm inside: every step was CONVERGED."""
    tool = pl.Capsule(
        (0.011, 0.007, -0.03), (0.011, 0.007, -0.0015), 0.0015, motion=lambda t: Pose((0, 0, min(0.005, 0.2 * t)))
    )
    states = pl.simulate(block, None, duration=0.0375, dt=0.00625, obstacles=[tool])
    last = states[len(states) - 1]
    assert states.contact_force.max() > 5.0 and states.contact_force[-1] == 0.0
    assert last.status is pl.Status.PENETRATING
    assert states.status[1] is pl.Status.CONVERGED
