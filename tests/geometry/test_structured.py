"""Structured generators: volumes, cavities, surfaces, node sets."""

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.geometry import (
    cylinder_mesh,
    cylinder_shell_mesh,
    extruded_mesh,
    sphere_shell_mesh,
    topology,
    tube_mesh,
)


def assert_sound(mesh):
    assert mesh.quality().usable
    assert len(topology.open_edges(mesh.boundary())) == 0
    keys = topology.face_keys(topology.tet_faces(mesh.tets), len(mesh.nodes))
    assert np.unique(keys, return_counts=True)[1].max() == 2


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_cylinder(axis):
    mesh = cylinder_mesh(0.1, 0.5, n_radial=6, n_length=8, axis=axis)
    assert_sound(mesh)
    assert mesh.volume == pytest.approx(np.pi * 0.01 * 0.5, rel=0.01)
    along = mesh.nodes[:, "xyz".index(axis)]
    assert np.ptp(along[mesh.node_sets["start"]]) == 0.0
    np.testing.assert_allclose(along[mesh.node_sets["end"]], 0.5)
    x = mesh.nodes[mesh.surfaces["side"]]
    area = np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(2 * np.pi * 0.1 * 0.5, rel=0.01)


def test_capped_tube_has_a_cavity():
    mesh = tube_mesh(0.1, 0.15, 1.0, cap=0.1, n_bore=5, axis="x")
    assert_sound(mesh)
    assert mesh.cavity_volume("inner") == pytest.approx(np.pi * 0.01 * 0.8, rel=0.01)
    assert "inner" in tube_mesh(0.1, 0.15, 1.0).surfaces


def test_thick_cylinder_and_its_quarter():
    full = cylinder_shell_mesh(1.0, 2.0, 0.5, n_around=48)
    assert_sound(full)
    assert full.volume == pytest.approx(np.pi * 3 * 0.5, rel=0.01)
    quarter = cylinder_shell_mesh(1.0, 2.0, 0.5, n_around=12, angle=np.pi / 2)
    assert quarter.volume == pytest.approx(full.volume / 4)
    np.testing.assert_allclose(quarter.nodes[quarter.node_sets["first"], 1], 0.0, atol=1e-15)
    np.testing.assert_allclose(quarter.nodes[quarter.node_sets["last"], 0], 0.0, atol=1e-15)
    radius = np.linalg.norm(quarter.nodes[np.unique(quarter.surfaces["inner"])][:, :2], axis=1)
    np.testing.assert_allclose(radius, 1.0)


def test_thick_sphere_and_its_octant():
    full = sphere_shell_mesh(1.0, 2.0, 4, 16)
    assert_sound(full)
    assert full.volume == pytest.approx(4 / 3 * np.pi * 7, rel=0.01)
    assert full.cavity_volume("inner") == pytest.approx(4 / 3 * np.pi, rel=0.02)
    octant = sphere_shell_mesh(1.0, 2.0, 4, 16, octant=True)
    assert octant.volume == pytest.approx(full.volume / 8)
    for i, name in enumerate(("x0", "y0", "z0")):
        assert np.abs(octant.nodes[octant.node_sets[name], i]).max() < 1e-15
    x = octant.nodes[octant.surfaces["inner"]]
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    assert (np.einsum("ki,ki->k", normals, x.mean(axis=1)) < 0.0).all()  # out of the body, into the hole


def test_errors_fall_with_refinement():
    errors = [abs(sphere_shell_mesh(1, 2, 2, n).volume - 28 / 3 * np.pi) for n in (4, 8, 16)]
    assert np.log2(errors[0] / errors[1]) > 1.8
    assert np.log2(errors[1] / errors[2]) > 1.8


@pytest.mark.parametrize(
    "make",
    [
        lambda: cylinder_mesh(0, 1),
        lambda: cylinder_mesh(1, 1, n_radial=0),
        lambda: cylinder_mesh(1, 1, axis="w"),
        lambda: tube_mesh(2, 1, 1),
        lambda: tube_mesh(1, 2, 1, cap=0.6),
        lambda: cylinder_shell_mesh(1, 2, 1, angle=0),
        lambda: cylinder_shell_mesh(1, 2, 1, n_around=2),
        lambda: sphere_shell_mesh(1, 1),
        lambda: sphere_shell_mesh(1, 2, 1.5),
        lambda: extruded_mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 3]], [0, 1]),
        lambda: extruded_mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], [1, 0]),
        lambda: extruded_mesh([[0, 0, 0]], [[0, 1, 2]], [0, 1]),
    ],
)
def test_bad_input(make):
    with pytest.raises(ArgumentError):
        make()
