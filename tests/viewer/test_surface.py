import itertools

import numpy as np
import pytest

from pliant.state import Skin
from pliant.viewer.surface import (
    SIDES,
    BodySurface,
    chains,
    skin_strain,
    split_creases,
    tube,
    tube_frames,
    vertex_normals,
)


def volume(vertices, triangles):
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def test_creases_split_a_box_into_its_six_faces(box):
    rest = box.skin_positions(box.rest)
    source, triangles = split_creases(rest, box.skin.triangles)
    np.testing.assert_array_equal(source[triangles], box.skin.triangles)
    normals = vertex_normals(rest[source], triangles)
    assert np.allclose(np.abs(normals).max(axis=1), 1.0)  # every vertex has the normal of one face
    edges, corners = len(source) - len(rest), 8
    assert edges > corners


def test_creases_leave_a_smooth_ball_alone(ball):
    vertices, triangles = ball.surface()
    source, _ = split_creases(vertices, triangles)
    assert len(source) == len(vertices)


def test_tube_is_closed_outward_and_has_the_volume_of_a_prism():
    line = np.stack([np.linspace(0, 1, 5), np.zeros(5), np.zeros(5)], axis=1)
    vertices, triangles = tube(line, np.full(5, 0.1))
    polygon = SIDES / 2 * 0.01 * np.sin(2 * np.pi / SIDES)
    assert volume(vertices, triangles) == pytest.approx(polygon, rel=1e-12)


def test_tube_frames_do_not_twist_on_a_planar_curve():
    t = np.linspace(0, np.pi, 30)
    curve = np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)
    first, second = tube_frames(curve)
    out_of_plane = np.abs(np.stack([first[:, 2], second[:, 2]], 1)).max(axis=1)
    np.testing.assert_allclose(out_of_plane, 1.0, atol=1e-9)
    np.testing.assert_allclose(np.einsum("ij,ij->i", first, second), 0.0, atol=1e-12)


def test_chains_cover_branches_and_loops_once():
    segments = np.array([[0, 1], [1, 2], [2, 3], [2, 4], [5, 6], [6, 7], [7, 5]])
    found = chains(segments)
    covered = sorted(tuple(sorted(pair)) for c in found for pair in itertools.pairwise(c))
    assert covered == sorted(tuple(sorted(s)) for s in segments.tolist())


def test_body_surface_of_a_curve_is_a_tube():
    skin = Skin(np.zeros((0, 3), int), np.array([[0, 1], [1, 2]]), np.full(3, 0.01), np.zeros(3, int))
    rest = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]])
    surface = BodySurface.of(skin, rest)
    vertices = surface.vertices(rest)
    assert len(surface.source) == len(vertices)
    assert np.allclose(np.hypot(vertices[:SIDES, 1], vertices[:SIDES, 2]), 0.01)
    assert volume(vertices, surface.triangles) > 0


def test_strain_of_the_skin_is_exact_for_a_stretch_and_zero_for_a_rotation(box):
    rest = box.skin_positions(box.rest)
    stretched = skin_strain(box.skin, rest, rest * [1.2, 1.0, 1.0])
    inside = np.abs(rest[:, 0] - 0.05) < 0.02
    np.testing.assert_allclose(stretched[inside], 0.2, atol=1e-12)
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    np.testing.assert_allclose(skin_strain(box.skin, rest, rest @ turn.T), 0.0, atol=1e-7)


def test_strain_of_a_curve():
    skin = Skin(np.zeros((0, 3), int), np.array([[0, 1]]), np.full(2, 0.01), np.zeros(2, int))
    rest = np.array([[0.0, 0, 0], [0.1, 0, 0]])
    np.testing.assert_allclose(skin_strain(skin, rest, rest * 1.5), 0.5)
