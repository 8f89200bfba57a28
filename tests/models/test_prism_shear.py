"""Prisms as body elements of thin shells: mesh, derivatives, bending strips against fine quadratic tets."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.actuators import DielectricLayer, PointForce
from pliant.bodies import Fixation, Point, RigidRegion, SoftBody
from pliant.geometry import TetMesh, read_mesh, write_mesh
from pliant.materials import Corotational, MooneyRivlin, NeoHookean
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.robot import Robot
from pliant.solve.equilibrium import equilibrium
from pliant.solve.flex import flex
from pliant.solve.projection import project

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
    """Edges of three thicknesses: within 10 %; of seven: within 30 %; linear tets reach a fifth of the deflection."""
    material, force = law.from_young(1e6, poisson), 3e-3 * BEAM
    fine = _deflection(GeometricModel(strip((24, 6, 2), material), element="quadratic"), force)
    found = [_deflection(GeometricModel(strip(c, material, prisms=True)), force) for c in ((30, 10, 1), (12, 4, 1))]
    assert found[0] == pytest.approx(fine, rel=0.10)
    assert found[1] == pytest.approx(fine, rel=0.30)
    assert _deflection(GeometricModel(strip((24, 8, 1), material)), force) < 0.2 * fine


def test_A_error_falls_with_the_mesh_without_relief_and_stays_small_with_it(monkeypatch):
    material, force = Corotational.from_young(1e6, 0.3), 3e-3 * BEAM
    fine = _deflection(GeometricModel(strip((24, 6, 1), material), element="quadratic"), force)
    meshes = ((12, 4, 1), (30, 10, 1))
    errors = [abs(_deflection(GeometricModel(strip(m, material, prisms=True)), force) / fine - 1) for m in meshes]
    monkeypatch.setattr("pliant.models.prism_shear.FLOOR", 1.0)
    locked = [abs(_deflection(GeometricModel(strip(m, material, prisms=True)), force) / fine - 1) for m in meshes]
    assert errors[0] < 0.30 and errors[1] < 0.10
    assert locked[1] < 0.6 * locked[0]
    assert all(e < 0.6 * b for e, b in zip(errors, locked))


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
    ratio = model._springs[0]._weights / model.layout.groups[0].weights
    assert relative(ratio.min(), 3.0 * ratio.max()) < 1e-9
