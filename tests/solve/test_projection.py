"""project: drives, soft control, rigid parts and sliding supports, honest statuses."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.actuators import Cable, Chamber, PointForce
from pliant.bodies import Fixation, Point, RigidRegion, SoftBody
from pliant.errors import ArgumentError, SolveError
from pliant.geometry import TetMesh
from pliant.materials import Corotational
from pliant.models.geometric import GeometricModel
from pliant.models.geometric_proxy import Proxy
from pliant.robot import Robot
from pliant.robots.finger import finger as slender
from pliant.solve.flex import flex
from pliant.solve.projection import Pace, project


@pytest.fixture(scope="module")
def block():
    """A box with a chamber, a rigid lid, a sliding side and a cable."""
    mask = np.ones((6, 4, 6), dtype=bool)
    mask[1:-1, 1:-1, 1:-1] = False
    mesh = TetMesh.voxels(mask, 4e-3).with_cavity("air")
    mesh = mesh.with_node_set("floor", lambda x: x[:, 2] < 1e-9)
    mesh = mesh.with_node_set("lid", lambda x: x[:, 2] > 0.024 - 1e-9)
    mesh = mesh.with_node_set("side", lambda x: (x[:, 0] < 1e-9) & (x[:, 2] > 1e-9) & (x[:, 2] < 0.024 - 1e-9))
    robot = Robot(
        "block", (SoftBody("body", mesh, Corotational.from_young(1e5, 0.3)),),
        (Fixation("floor"), Fixation("side", axes="x")), rigid=(RigidRegion("lid", "lid", mass=0.01),),
        actuators=(
            Chamber(name="air", drive="displacement"),
            Cable(name="cable", points=[(0.024, 0.008, 0.02)], pull_point=(0.05, 0.008, 0.02)),
            PointForce(name="push", point=(0.012, 0.008, 0.024), direction=(0, 1, 0)),
        ),
        points=(Point("lid", (0.012, 0.008, 0.024)),),
    )  # fmt: skip
    return GeometricModel(robot)


def test_all_kinds_of_drives_and_supports_agree_with_newton(block):
    u = {"air": 0.2 * block.rest_measures[0], "cable": 1e-3, "push": 0.05}
    exact = flex(block, u)
    found = project(block, u, tolerance=1e-9)
    assert exact.ok and found.ok
    assert np.abs(exact.q - found.q).max() < 1e-6
    assert found.effort == pytest.approx(exact.effort, rel=1e-3)
    assert found.displacement[:2] == pytest.approx([u["air"], u["cable"]], rel=1e-6)


def test_a_cable_that_cannot_push_goes_slack(block):
    state = project(block, {"air": 0.3 * block.rest_measures[0], "cable": -5e-3})
    assert state.ok and state.effort[1] == 0.0
    assert "slack" in " ".join(state.notes)


def test_soft_control_reports_what_it_reached_and_tends_to_the_command(block):
    command = {"air": 0.3 * block.rest_measures[0], "cable": 0.0}
    reached = [project(block, command, control="soft", weight=w).displacement[0] for w in (1.0, 5.0, 50.0)]
    assert 0 < reached[0] < reached[1] < reached[2] < command["air"]
    assert project(block, command).displacement[0] == pytest.approx(command["air"], rel=1e-6)
    assert reached[2] == pytest.approx(command["air"], rel=0.05)


def test_proxy_inverts_its_matrix_for_any_orientation_of_the_parts(block):
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    dq = 1e-3 * rng.standard_normal(block.nv)
    dq[-3:] = (0.3, -0.4, 0.5)
    q = block.retract(block.rest, dq)
    T = block.layout.tangent_map(q, block.positions(q))
    H = T.T @ sp.kron(Proxy(block).matrix, sp.eye(3)) @ T
    b = rng.standard_normal((block.nv, 2))
    assert np.abs(H @ block.proxy.at(q).solve(b) - b).max() < 1e-9


def test_honest_status_and_bad_arguments(block):
    u = {"air": 0.3 * block.rest_measures[0]}
    short = project(block, u, iterations=3)
    assert not short.ok and short.iterations == 3
    with pytest.raises(SolveError):
        project(block, u, iterations=3, strict=True)
    for wrong in ({"acceleration": "fast"}, {"control": "hard"}, {"weight": 0.0}, {"spring": -1.0}):
        with pytest.raises(ArgumentError):
            project(block, u, **wrong)


def test_newton_takes_over_where_the_pace_is_hopeless():
    """A slender finger that bends far: thousands of local/global iterations.

    Plain ones: how many Anderson's take here (1200 to 3000) hangs on the last bit of the command.
    """
    model = GeometricModel(slender(size=0.01))
    found = project(model, {"cable": 0.018}, acceleration="none")
    assert found.ok and found.iterations < 1000
    assert "flex took over" in found.notes[-1]
    exact = flex(model, {"cable": 0.018})
    assert np.abs(found.q - exact.q).max() < 1e-7
    alone = project(model, {"cable": 0.018}, acceleration="none", handover=False, iterations=600)
    assert not alone.ok and "slow here" in alone.notes[-1]


def test_pace_is_estimated_from_the_best_of_each_window():
    pace = Pace(1e-8, 2000)
    for used in range(1, 501):
        verdict = pace.hopeless(used, 1e-3 * 0.99**used * (3.0 if used % 2 else 1.0))
    assert pace.needed == pytest.approx(np.log(1e-3 * 0.99**500 / 1e-8) / -np.log(0.99), rel=0.02)
    assert not verdict
    assert Pace(1e-8, 600).hopeless(1, 1.0) is False
