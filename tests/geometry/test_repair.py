"""Chips that hang by a node are removed, sound meshes stay as they are."""

import numpy as np

from pliant.geometry import TetMesh, topology
from pliant.geometry.repair import without_chips


def test_sound_mesh_is_untouched():
    mesh = TetMesh.box((1, 1, 1), (3, 3, 3))
    nodes, tets, kept = without_chips(mesh.nodes, mesh.tets)
    np.testing.assert_array_equal(nodes, mesh.nodes)
    np.testing.assert_array_equal(tets, mesh.tets)
    assert kept.all()


def test_a_cell_that_touches_in_a_node_goes():
    mask = np.zeros((4, 4, 4), dtype=bool)
    mask[:3, :3, :3] = True
    mask[3, 3, 3] = True
    mesh = TetMesh.voxels(mask, 1.0)
    assert len(topology.pinched_nodes(mesh.boundary())) == 1
    nodes, tets, kept = without_chips(mesh.nodes, mesh.tets)
    assert (~kept).sum() == 7
    repaired = TetMesh(nodes, tets)
    assert repaired.volume == 27.0
    assert len(topology.pinched_nodes(repaired.boundary())) == 0
