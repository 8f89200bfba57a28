"""TetMesh: construction, structured boxes, queries, labels, combination."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pliant.errors import ArgumentError, MeshError, UnknownNameError
from pliant.geometry import Box, Sphere, TetMesh, topology


def interior_faces_shared_by_two(mesh):
    keys = topology.face_keys(topology.tet_faces(mesh.tets), len(mesh.nodes))
    occurrences = np.unique(keys, return_counts=True)[1]
    return occurrences.max() <= 2 and (occurrences == 1).sum() == len(mesh.boundary())


def test_box_numbering_and_split():
    mesh = TetMesh.box((1.0, 2.0, 3.0), (2, 3, 4), origin=(1.0, 0.0, -1.0))
    assert len(mesh.nodes) == 3 * 4 * 5
    assert len(mesh.tets) == 6 * 24
    i, j, k = 1, 2, 3
    np.testing.assert_allclose(mesh.nodes[(i * 4 + j) * 5 + k], (1.5, 2 * 2 / 3, -1 + 3 * 3 / 4))
    # First cell: corners 4a + 2b + c, tets around the diagonal 0-7.
    corner = np.array([(a * 4 + b) * 5 + c for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    wanted = [(0, 4, 6, 7), (0, 6, 2, 7), (0, 2, 3, 7), (0, 3, 1, 7), (0, 1, 5, 7), (0, 5, 4, 7)]
    assert [set(t) for t in mesh.tets[:6].tolist()] == [set(corner[list(w)].tolist()) for w in wanted]
    assert mesh.volumes().min() > 0.0
    assert mesh.volume == pytest.approx(6.0)
    assert interior_faces_shared_by_two(mesh)
    assert topology.enclosed_volume(mesh.nodes, mesh.boundary()) == pytest.approx(6.0)
    assert len(topology.open_edges(mesh.boundary())) == 0


def test_hexahedra_have_the_same_boundary_and_volume():
    mesh = TetMesh.box((1.0, 2.0, 3.0), (2, 3, 4), hexes=True)
    assert len(mesh.tets) == 0
    assert mesh.hexes.shape == (24, 8)
    assert mesh.volume == pytest.approx(6.0)
    assert topology.enclosed_volume(mesh.nodes, mesh.boundary()) == pytest.approx(6.0)
    assert mesh.quality().usable
    with pytest.raises(MeshError, match="hexahedra"):
        mesh.locate([[0.1, 0.1, 0.1]])


def test_voxels_conform_and_enclose():
    mask = np.ones((5, 4, 4), dtype=bool)
    mask[2, 1:3, 1:3] = False
    mask[4, 0, 0] = False
    mesh = TetMesh.voxels(mask, 0.1, origin=(1, 0, 0))
    assert mesh.volume == pytest.approx(mask.sum() * 1e-3)
    assert interior_faces_shared_by_two(mesh)
    assert mesh.quality().usable
    (cavity,) = mesh.find_cavities()
    named = mesh.with_cavity("hole", cavity)
    assert named.cavity_volume("hole") == pytest.approx(4e-3)
    assert len(topology.open_edges(cavity)) == 0
    with pytest.raises(UnknownNameError, match="hole"):
        named.cavity_volume("other")


def test_two_cavities_are_found_in_a_fixed_order():
    mask = np.ones((9, 3, 3), dtype=bool)
    mask[1, 1, 1] = mask[4:6, 1, 1] = mask[7, 1, 1] = False
    mesh = TetMesh.voxels(mask, 1.0)
    found = mesh.find_cavities()
    assert [round(topology.enclosed_volume(mesh.nodes, c)) for c in found] == [2, 1, 1]
    centres = [mesh.nodes[c].mean(axis=(0, 1))[0] for c in found]
    assert centres[1] < centres[2]
    with pytest.raises(MeshError, match="3 cavities"):
        mesh.with_cavity("which")
    with pytest.raises(MeshError, match="inside out"):
        mesh.with_cavity("turned", found[0][:, ::-1])
    with pytest.raises(MeshError, match="closed"):
        mesh.with_cavity("open", found[0][1:])


BOX = TetMesh.box((1.0, 2.0, 0.5), (3, 4, 2)).transformed(
    np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]), (0.3, -0.2, 0.1)
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(BOX.tets) - 1), *[st.floats(0.0, 1.0)] * 3), min_size=1))
def test_locate_round_trip(picks):
    weights = np.array([[1.0 + a, b, c, a * b + 0.1] for _, a, b, c in picks])
    weights /= weights.sum(axis=1, keepdims=True)
    cells = np.array([p[0] for p in picks])
    points = np.einsum("pi,pij->pj", weights, BOX.nodes[BOX.tets[cells]])
    found, back, outside = BOX.locate(points)
    np.testing.assert_allclose(np.einsum("pi,pij->pj", back, BOX.nodes[BOX.tets[found]]), points, atol=1e-12)
    assert (outside == 0.0).all()
    assert (back >= 0.0).all()
    strict = weights.min(axis=1) > 1e-9
    assert (found[strict] == cells[strict]).all()


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.floats(-5.0, 5.0)] * 3))
@example((0.0, 1e-11, -1.0))
def test_locate_outside_gives_the_closest_point(point):
    mesh = TetMesh.box((1.0, 2.0, 3.0), (2, 2, 2))
    cells, weights, outside = mesh.locate([point])
    nearest = np.clip(point, 0.0, (1.0, 2.0, 3.0))
    distance = np.linalg.norm(np.asarray(point) - nearest)
    assert outside[0] == pytest.approx(distance, abs=1e-12)
    # Points closer together than this have equal distances in double precision: hypot(far, shift) == far.
    shift = 2e-8 * distance
    np.testing.assert_allclose(weights @ mesh.nodes[mesh.tets[cells[0]]], [nearest], rtol=0.0, atol=1e-12 + shift)


def test_locate_tolerance_names_the_point():
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1))
    mesh.locate([[1.05, 0.5, 0.5]], tolerance=0.1)
    with pytest.raises(ArgumentError, match="point 1"):
        mesh.locate([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]], tolerance=0.1)


def test_labels_by_shape_predicate_and_indices():
    mesh = TetMesh.box((1, 1, 1), (4, 4, 4))
    mesh = mesh.with_region("left", Box((-1, -1, -1), (0.5, 2, 2)))
    mesh = mesh.with_node_set("base", lambda x: x[:, 2] == 0.0).with_node_set("two", [3, 4])
    mesh = mesh.with_surface("top", lambda x: x[:, 2] == 1.0)
    assert len(mesh.regions["left"]) == len(mesh.tets) // 2
    assert len(mesh.node_sets["base"]) == 25
    x = mesh.nodes[mesh.surfaces["top"]]
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    np.testing.assert_allclose(normals / 2, np.tile((0, 0, 1 / 32), (32, 1)), atol=1e-15)
    assert set(mesh.nodes_where(Sphere((0, 0, 0), 0.3))) == set(
        np.flatnonzero(np.linalg.norm(mesh.nodes, axis=1) <= 0.3)
    )
    with pytest.raises(MeshError, match="empty"):
        mesh.with_node_set("none", Sphere((9, 9, 9), 1.0))
    with pytest.raises(ArgumentError, match="returned"):
        mesh.nodes_where(lambda x: x[:, 0])


def test_merged_keeps_labels_apart():
    one = TetMesh.box((1, 1, 1), (2, 2, 2)).with_node_set("base", [0]).with_region("all", [0, 1])
    hexes = TetMesh.box((1, 1, 1), (1, 1, 1), hexes=True).with_region("all", [0])
    both = one.merged(one.transformed(translation=(3, 0, 0)), hexes)
    assert both.volume == pytest.approx(3.0)
    assert both.quality().parts == 3
    assert both.node_sets["base"].tolist() == [0, 27]
    assert both.regions["all"].tolist() == [0, 1, 48, 49, 96]
    mask = np.ones((3, 3, 3), dtype=bool)
    mask[1, 1, 1] = False
    hollow = TetMesh.voxels(mask, 1.0).with_cavity("c")
    with pytest.raises(ArgumentError, match="cavity named 'c'"):
        hollow.merged(hollow)


def test_scaled_transformed_and_components():
    mesh = TetMesh.box((1, 1, 1), (2, 1, 1))
    assert mesh.scaled(2.0).volume == pytest.approx(8.0)
    assert len(np.unique(mesh.components())) == 1
    assert len(mesh.edges()) == len({tuple(e) for e in mesh.edges().tolist()})
    with pytest.raises(ArgumentError, match="factor"):
        mesh.scaled(-1.0)
    with pytest.raises(ArgumentError, match="rotation"):
        mesh.transformed(np.diag([1.0, 1.0, -1.0]))


def test_arrays_are_read_only_and_meshes_pickle():
    mesh = TetMesh.box((1, 1, 1), (1, 1, 1)).with_node_set("a", [1])
    for array in (mesh.nodes, mesh.tets, mesh.boundary(), mesh.edges(), mesh.node_sets["a"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    mesh.locate([[0.5, 0.5, 0.5]])
    again = pickle.loads(pickle.dumps(mesh))
    np.testing.assert_array_equal(again.tets, mesh.tets)


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"nodes": np.zeros((4, 2))}, "nodes"),
        ({"nodes": np.full((4, 3), np.nan)}, "nodes"),
        ({"nodes": "text"}, "nodes"),
        ({"tets": [[0, 1, 2, 4]]}, "tets"),
        ({"tets": [[0, 1, 2, -1]]}, "tets"),
        ({"tets": [[0, 1, 2]]}, "tets"),
        ({"tets": [[0.0, 1.0, 2.0, 3.0]]}, "tets"),
        ({"hexes": [[0, 1, 2, 3]]}, "hexes"),
        ({"regions": {"a": [1]}}, "regions"),
        ({"regions": {1: [0]}}, "regions"),
        ({"node_sets": {"a": [4]}}, "node_sets"),
        ({"surfaces": {"a": [[0, 1]]}}, "surfaces"),
        ({"cavities": [1]}, "cavities"),
    ],
)
def test_bad_input_names_the_argument(change, argument):
    good = {"nodes": np.vstack([np.zeros(3), np.eye(3)]), "tets": [[0, 1, 2, 3]]}
    with pytest.raises(ArgumentError) as caught:
        TetMesh(**(good | change))
    assert caught.value.argument.startswith(argument)


@pytest.mark.parametrize(
    ("lengths", "cells"),
    [((1, 1), (1, 1, 1)), ((1, 1, 0), (1, 1, 1)), ((1, 1, 1), (0, 1, 1)), ((1, 1, 1), (1.5, 1, 1))],
)
def test_bad_boxes(lengths, cells):
    with pytest.raises(ArgumentError):
        TetMesh.box(lengths, cells)
    with pytest.raises(ArgumentError):
        TetMesh.voxels(np.zeros((2, 2, 2), dtype=bool), 1.0)
    with pytest.raises(ArgumentError):
        TetMesh.voxels(np.ones((2, 2)), 1.0)


def test_a_mesh_needs_nodes():
    with pytest.raises(ArgumentError, match="nodes: there are none"):
        TetMesh(np.zeros((0, 3)), np.zeros((0, 4), int))
