"""Prisms as body elements of thin shells: mesh, derivatives, bending strips against fine quadratic tets."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.actuators import DielectricLayer, PointForce
from pliant.algebra.factorisation import NotPositiveDefinite, factorise
from pliant.bodies import Fixation, Point, RigidRegion, SoftBody
from pliant.geometry import TetMesh, read_mesh, write_mesh
from pliant.materials import Corotational, MooneyRivlin, NeoHookean, StVenantKirchhoff
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.robot import Robot
from pliant.solve.equilibrium import equilibrium
from pliant.solve.flex import flex
from pliant.solve.projection import project
from pliant.state import Status

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness import check_derivatives, relative

L, W, H = 0.06, 0.02, 0.001
BEAM = 3.0 * 1e6 * (W * H**3 / 12.0) / L**3  # force per deflection of a slender beam of 1 MPa [N/m]


def strip(cells, material, *, rigid=True, **mesh_options) -> Robot:
    mesh = TetMesh.box((L, W, H), cells, (0, -W / 2, 0), **mesh_options)
    mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9).with_node_set("end", lambda x: x[:, 0] > L - 1e-9)
    return Robot(
        "strip", (SoftBody("strip", mesh, material),), (Fixation("base"),),
        rigid=(RigidRegion("end", "end"),) if rigid else (),
        actuators=(PointForce(name="lift", point=(L, 0, 0), direction=(0, 0, 1)),),
        points=(Point("tip", (L, 0, H / 2)),), gravity=(0, 0, 0),
    )  # fmt: skip


def _deflection(model, force) -> float:
    state = equilibrium(model, [force])
    assert state.ok
    return float(model.locate(state, "tip").position[2] - H / 2)


def test_prisms_of_a_box_fill_it_and_have_its_boundary(tmp_path):
    mesh = TetMesh.box((3.0, 2.0, 1.0), (3, 2, 2), prisms=True)
    assert mesh.hexes.shape == (24, 8)
    assert mesh.volume == pytest.approx(6.0)
    report = mesh.quality()
    assert report.usable and not len(report.bad_hexes) and report.parts == 1
    triangles = mesh.boundary()
    corners = mesh.nodes[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    assert area.sum() == pytest.approx(22.0) and area.min() > 0.1
    assert (mesh.edges()[:, 0] < mesh.edges()[:, 1]).all()
    again = read_mesh(write_mesh(mesh.with_region("one", [3]), tmp_path / "prisms.vtu"))
    assert np.array_equal(again.hexes, mesh.hexes) and again.regions["one"].tolist() == [3]
    turned = TetMesh(mesh.nodes, mesh.tets, mesh.hexes[:, [4, 5, 6, 7, 0, 1, 2, 3]])
    assert len(turned.quality().bad_hexes) == 24


@pytest.mark.parametrize("law", [Corotational, NeoHookean, MooneyRivlin])
@pytest.mark.parametrize("make", [FemModel, GeometricModel])
def test_derivatives(make, law):
    model = make(strip((4, 2, 1), law.from_young(1e6, 0.45), prisms=True))
    assert model.layout.groups[0].kind == "prism6"
    q = model.retract(model.rest, 1e-4 * np.random.default_rng(0).standard_normal(model.nv))
    check_derivatives(model, q, np.ones(1), h=1e-9)


def test_a_uniform_stretch_is_exact():
    """Patch test: every node on a linear field with free thickness; the energy is that of the material."""
    material = Corotational.from_young(1e6, 0.3)
    model = GeometricModel(strip((3, 2, 2), material, rigid=False, prisms=True))
    F = np.diag([1.02, 1.01, 0.99])
    x = model.layout.rest_nodes @ F.T
    energy = model._elastic_energy(x, [np.ones(len(m)) for m in model._material])
    assert energy == pytest.approx(float(material.energy(F)) * L * W * H, rel=1e-10)
    assert sum(s.value(x) for s in model._springs) == pytest.approx(0.0, abs=1e-15)
    # and a rigid motion costs nothing
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert model._elastic_energy(model.layout.rest_nodes @ turn.T, [np.ones(len(model._material[0]))]) < 1e-20


@pytest.mark.parametrize(("law", "poisson"), [(Corotational, 0.3), (NeoHookean, 0.45)])
def test_A_prisms_bend_a_strip_as_quadratic_tets_do(law, poisson):
    """Edges from 10 to 2.8 thicknesses: within 2 %; linear tets reach a fifth of the deflection."""
    material, force = law.from_young(1e6, poisson), 3e-3 * BEAM
    fine = _deflection(GeometricModel(strip((24, 6, 2), material), element="quadratic"), force)
    for cells in ((8, 3, 1), (12, 4, 1), (30, 10, 1)):
        assert _deflection(GeometricModel(strip(cells, material, prisms=True)), force) == pytest.approx(fine, rel=0.02)
    assert _deflection(GeometricModel(strip((24, 8, 1), material)), force) < 0.2 * fine


@pytest.mark.parametrize("law", [Corotational, StVenantKirchhoff])
def test_prisms_of_finite_elements_bend_as_those_of_the_geometric_model(law):
    """Laws of one piece have the modulus of plane stress at their points, too; without it they are 12 % too stiff."""
    robot, force = strip((12, 4, 1), law.from_young(1e6, 0.3), prisms=True), 3e-3 * BEAM
    fem, expected = FemModel(robot), _deflection(GeometricModel(robot), force)
    assert _deflection(fem, force) == pytest.approx(expected, rel=1e-3)
    fem._pointwise["prism6"][:] = 0.0
    assert _deflection(fem, force) < 0.95 * expected


def test_A_without_assumed_shear_prisms_lock():
    """What the treatment is for: with the shear of the isotropic body less than half of the deflection is left."""
    material, force = Corotational.from_young(1e6, 0.3), 3e-3 * BEAM
    model = GeometricModel(strip((12, 4, 1), material, prisms=True))
    found = _deflection(model, force)
    model._springs[0]._weights[:] = 0.0
    assert _deflection(model, force) < 0.5 * found


# ---- plates and strips against analytical solutions -------------------------------------------------------------
NARROW = 0.004  # [m] width: a beam, not a plate
BENDING = 1e6 * NARROW * H**3 / 12.0  # [N m^2] of that beam


def narrow(cells, *, poisson=0.3, law=Corotational, actuators=(), rigid=(), points=(), ends=("base",)) -> Robot:
    mesh = TetMesh.box((L, NARROW, H), (*cells, 1), (0, -NARROW / 2, -H / 2), prisms=True)
    mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9).with_node_set("end", lambda x: x[:, 0] > L - 1e-9)
    return Robot(
        "strip", (SoftBody("strip", mesh, law.from_young(1e6, poisson)),), tuple(Fixation(e) for e in ends),
        rigid=rigid, actuators=actuators, points=points, gravity=(0, 0, 0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "cells"), [(GeometricModel, (15, 1)), (GeometricModel, (60, 4)), (FemModel, (15, 1)), (FemModel, (30, 2))]
)
def test_A_cantilever_beam(make, cells):
    """Tip deflection P L^3 / (3 E I), edges of 5.7 to 1.4 thicknesses: within 2 %."""
    lift = PointForce(name="lift", point=(L, 0, 0), direction=(0, 0, 1))
    robot = narrow(cells, actuators=(lift,), rigid=(RigidRegion("end", "end"),), points=(Point("tip", (L, 0, 0)),))
    model = make(robot)
    force = 1e-4 * 3.0 * BENDING / L**3
    state = equilibrium(model, [force])
    assert model.locate(state, "tip").position[2] == pytest.approx(1e-4, rel=0.02)


@pytest.mark.parametrize("law", [Corotational, NeoHookean])
@pytest.mark.parametrize("cells", [(15, 1), (30, 2)])
def test_A_euler_buckling(cells, law):
    """A clamped-free column loses its stability at pi^2 E I / (4 L^2): within 2 %."""
    push = PointForce(name="push", point=(L, 0, 0), direction=(-1, 0, 0))
    model = GeometricModel(narrow(cells, law=law, actuators=(push,), rigid=(RigidRegion("end", "end"),)))
    critical = np.pi**2 * BENDING / (4.0 * L**2)

    def stable(force: float) -> bool:
        state = equilibrium(model, [force])
        straight = state.ok and np.abs(model.skin_positions(state.q)[:, 2]).max() < H
        try:
            factorise(model.stiffness(state.q, state.effort))
        except NotPositiveDefinite:
            return False
        return bool(straight)

    assert stable(0.98 * critical) and not stable(1.02 * critical)


@pytest.mark.parametrize("cells", [(16, 1), (30, 2)])
def test_A_pinched_strip(cells):
    """Clamped at both ends and loaded in its middle: P L^3 / (192 E I), within 3 %."""
    lift = PointForce(name="lift", point=(L / 2, 0, 0), direction=(0, 0, 1))
    middle = (Point("mid", (L / 2, 0, 0)),)
    model = GeometricModel(narrow(cells, actuators=(lift,), points=middle, ends=("base", "end")))
    state = equilibrium(model, [1e-5 * 192.0 * BENDING / L**3])
    assert model.locate(state, "mid").position[2] == pytest.approx(1e-5, rel=0.03)


@pytest.mark.parametrize("cells", [(20, 1), (40, 2)])
def test_A_a_strip_rolls_up_to_a_circle(cells):
    """A moment at its end bends a strip to a full circle: angle = M L / (E I), diameter 2 L / angle."""
    pairs = [((L, 0, H / 2), (-1, 0, 0)), ((L, 0, -H / 2), (1, 0, 0)), ((L, 0, H / 2), (0, 0, -1)),
             ((L, 0, -H / 2), (0, 0, 1))]  # fmt: skip
    forces = tuple(PointForce(name=f"f{i}", point=p, direction=d) for i, (p, d) in enumerate(pairs))
    robot = narrow(cells, poisson=0.0, actuators=forces, rigid=(RigidRegion("end", "end"),))
    # held in its plane: a couple of dead forces would let it twist out
    mesh = robot.soft_body().mesh.with_node_set("inner", lambda x: x[:, 0] < L - 1e-9)
    body = SoftBody("strip", mesh, robot.soft_body().material)
    model = GeometricModel(robot.but(bodies=(body,), fixations=(Fixation("base"), Fixation("inner", axes="y"))))
    state, lag = None, np.radians(30.0)  # forces that stay behind the end's turn: the couple is stable then
    for wanted in np.linspace(0.0, 2.0 * np.pi, 9)[1:]:
        size, turn = wanted * BENDING / L / H / np.cos(lag), wanted - lag
        along, up = size * np.cos(turn), size * np.sin(turn)
        state = equilibrium(model, [along, along, up, up], start=state)
        assert state.ok
    rest, now = model.layout.rest_nodes, model.positions(state.q)
    end = np.abs(rest[:, 0] - L) < 1e-9
    across = now[end & (rest[:, 2] > 0)].mean(axis=0) - now[end & (rest[:, 2] < 0)].mean(axis=0)
    angle = float(np.arctan2(-across[0], across[2])) + 2.0 * np.pi
    moment = size * H * np.cos(angle - turn)
    assert angle == pytest.approx(2.0 * np.pi, rel=0.03)
    assert angle == pytest.approx(moment * L / BENDING, rel=0.03)
    z = model.skin_positions(state.q)[:, 2]
    assert z.max() - z.min() == pytest.approx(2.0 * L / angle + H, rel=0.03)


@pytest.mark.parametrize("law", [NeoHookean, MooneyRivlin])
def test_rubber_prisms_under_prestretch_curl_without_rescue(law):
    """A film of rubber glued on under tension: the pose from rest, by turning steps alone."""
    tips = []
    for options, element, cells in (({"prisms": True}, "linear", (16, 4, 2)), ({}, "quadratic", (16, 4, 2))):
        mesh = TetMesh.box((0.04, 0.01, 0.001), cells, **options)
        mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9).with_region("film", lambda x: x[:, 2] > 5e-4)
        layer = DielectricLayer(name="film", thickness=5e-4, prestretch=0.95, normal=(0, 0, 1))
        robot = Robot("curl", (SoftBody("body", mesh, law.from_young(1e6, 0.45)),), (Fixation("base"),),
                      actuators=(layer,), points=(Point("tip", (0.04, 0.005, 5e-4)),), gravity=(0, 0, 0))  # fmt: skip
        model = GeometricModel(robot, element=element)
        state = flex(model, [0.0])
        assert state.status is Status.CONVERGED and not any("took over" in n for n in state.notes)
        tips.append(model.locate(state, "tip").position)
    assert tips[1][2] > 5e-3
    assert np.linalg.norm(tips[0] - tips[1]) < 0.03 * 0.04


def test_large_bending_of_prisms_by_three_solvers():
    model = GeometricModel(strip((12, 4, 1), Corotational.from_young(1e6, 0.3), prisms=True))
    force = 40e-3 * BEAM
    states = [equilibrium(model, [force]), flex(model, [force])]
    assert all(s.ok for s in states)
    assert np.abs(states[0].q - states[1].q).max() < 1e-7
    assert model.locate(states[0], "tip").position[2] > 0.02
    near = project(model, [1.02 * force], start=states[1], iterations=4000)
    assert near.ok
    assert np.abs(near.q - flex(model, [1.02 * force], start=states[1]).q).max() < 1e-5


def test_dielectric_layer_of_prisms_curls_as_tets_do():
    """Two layers, the upper one glued on under tension and under voltage: regions of prisms work."""
    tips = []
    for options, element, cells in (({"prisms": True}, "linear", (16, 5, 2)), ({}, "quadratic", (16, 4, 2))):
        mesh = TetMesh.box((0.04, 0.01, 0.001), cells, **options)
        mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9).with_region("film", lambda x: x[:, 2] > 5e-4)
        layer = DielectricLayer(name="film", thickness=5e-4, prestretch=0.95, normal=(0, 0, 1))
        body = SoftBody("body", mesh, Corotational.from_young(1e6, 0.45))
        robot = Robot("curl", (body,), (Fixation("base"),), actuators=(layer,),
                      points=(Point("tip", (0.04, 0.005, 5e-4)),), gravity=(0, 0, 0))  # fmt: skip
        model = GeometricModel(robot, element=element)
        state = flex(model, [1e6])
        assert state.ok
        tips.append(model.locate(state, "tip").position)
    assert tips[1][2] > 5e-3
    assert np.linalg.norm(tips[0] - tips[1]) < 0.03 * 0.04


def test_materials_by_region_of_prisms():
    mesh = TetMesh.box((L, W, H), (6, 2, 1), (0, -W / 2, 0), prisms=True)
    mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9).with_region("far", lambda x: x[:, 0] > L / 2)
    soft, stiff = Corotational.from_young(1e6, 0.3), Corotational.from_young(3e6, 0.3)
    model = GeometricModel(Robot("two", (SoftBody("b", mesh, soft, {"far": stiff}),), (Fixation("base"),)))
    assert sorted(np.bincount(model._material[0]).tolist()) == [12, 12]
    ratio = model._springs[0]._weights[:, 0] / model.layout.groups[0].weights.sum(axis=1)
    assert relative(ratio.min(), 3.0 * ratio.max()) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("law", [Corotational, NeoHookean])
def test_X4_a_film_at_prestretch_07_curls_from_the_flat_pose(law):
    """Quadratic tets in one go; prisms by steps of the pre-stretch, each pose the start of the next model."""

    def film(prestretch, element, **options):
        mesh = TetMesh.box((0.04, 0.01, 0.001), (16, 4, 2), **options)
        mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9).with_region("film", lambda x: x[:, 2] > 5e-4)
        layer = DielectricLayer(name="film", thickness=5e-4, prestretch=prestretch, normal=(0, 0, 1))
        robot = Robot("curl", (SoftBody("body", mesh, law.from_young(1e6, 0.45)),), (Fixation("base"),),
                      actuators=(layer,), points=(Point("tip", (0.04, 0.005, 5e-4)),), gravity=(0, 0, 0))  # fmt: skip
        return GeometricModel(robot, element=element)

    model = film(0.7, "quadratic")
    state = flex(model, [0.0])
    assert state.ok and model.inversions(state) == 0
    assert model.locate(state, "tip").position[0] < 0.01  # rolled up
    prisms, state = None, None
    for prestretch in (0.95, 0.9, 0.85, 0.8, 0.75, 0.7):
        prisms = film(prestretch, "linear", prisms=True)
        state = flex(prisms, [0.0], start=state)
        assert state.ok, prestretch
    assert prisms.locate(state, "tip").position[0] < 0.01
