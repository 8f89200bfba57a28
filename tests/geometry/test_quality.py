"""The quality report refuses what cannot be simulated and names the elements."""

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry import TetMesh
from pliant.geometry.quality import dihedral_angles, volume_length_quality

REGULAR = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)


def test_regular_tet():
    mesh = TetMesh(REGULAR, [[0, 1, 2, 3]] if np.linalg.det(REGULAR[1:] - REGULAR[0]) > 0 else [[0, 1, 3, 2]])
    assert volume_length_quality(mesh.nodes, mesh.tets)[0] == pytest.approx(1.0)
    np.testing.assert_allclose(dihedral_angles(mesh.nodes, mesh.tets), np.degrees(np.arccos(1 / 3)))
    report = mesh.quality()
    assert report.usable
    assert report.problems == ()
    assert mesh.validate() is mesh


def cube():
    return TetMesh.box((1, 1, 1), (2, 2, 2))


def test_inverted_and_flat_are_refused_with_their_numbers():
    mesh = cube()
    tets = mesh.tets.copy()
    tets[7] = tets[7][[1, 0, 2, 3]]
    tets[9, 1] = tets[9, 0]
    bad = TetMesh(mesh.nodes, tets)
    report = bad.quality()
    assert report.inverted.tolist() == [7]
    assert report.flat.tolist() == [9]
    assert not report.usable
    with pytest.raises(MeshError, match="inverted") as caught:
        bad.validate()
    assert set(caught.value.elements) == {7, 9}


def test_unreferenced_nonmanifold_and_parts():
    mesh = cube()
    loose = TetMesh(np.vstack([mesh.nodes, [[5, 5, 5]]]), mesh.tets)
    assert loose.quality().unreferenced.tolist() == [27]
    assert "27" in loose.quality().problems[0]
    nodes = np.vstack([np.zeros(3), np.eye(3), [[1, 1, 1]], [[2, 2, 2]]])
    triple = TetMesh(nodes, [[0, 1, 2, 3], [1, 3, 2, 4], [1, 3, 2, 5]])
    assert len(triple.quality().nonmanifold_faces) == 1
    with pytest.raises(MeshError, match="more than two"):
        triple.validate()
    two = mesh.merged(mesh.transformed(translation=(2, 0, 0))).quality()
    assert two.parts == 2
    assert two.usable
    assert "2 disconnected" in two.problems[0]


def test_slivers_and_pinched_nodes_are_warnings():
    nodes = np.vstack([np.zeros(3), np.eye(3)])
    nodes[3] = (0.3, 0.3, 1e-3)
    report = TetMesh(nodes, [[0, 1, 2, 3]]).quality()
    assert report.slivers.tolist() == [0]
    assert report.usable
    mask = np.zeros((2, 2, 2), dtype=bool)
    mask[0, 0, 0] = mask[1, 1, 1] = True
    pinched = TetMesh.voxels(mask, 1.0).quality()
    assert len(pinched.pinched_nodes) == 1
    assert pinched.usable


def test_foreign_surface_and_open_cavity_are_refused():
    mesh = cube()
    centre = 13  # the only node that no boundary triangle has
    face = [[*[n for n in mesh.tets[0] if n != centre][:2], centre]]
    inside = TetMesh(mesh.nodes, mesh.tets, surfaces={"s": face}, cavities={"c": mesh.boundary()[:3]})
    report = inside.quality()
    assert report.foreign_surfaces == ("s",)
    assert report.open_cavities == ("c",)
    assert not report.usable


def test_empty_mesh_is_refused():
    with pytest.raises(MeshError, match="no cells"):
        TetMesh(np.zeros((1, 3)), np.zeros((0, 4), dtype=int)).validate()


def test_inverted_hexahedron():
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1), hexes=True)
    turned = TetMesh(mesh.nodes, np.zeros((0, 4), dtype=int), mesh.hexes[:, [4, 5, 6, 7, 0, 1, 2, 3]])
    assert turned.quality().bad_hexes.tolist() == [0]
