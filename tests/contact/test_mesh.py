"""MeshObstacle: signed distance, files, bad meshes."""

import numpy as np
import pytest

from pliant.contact import Box, MeshObstacle, Sphere
from pliant.errors import ArgumentError, FileError, MeshError


def test_distance_of_a_box_mesh_equals_the_box():
    box = Box((0.1, 0.2, 0.3), (0.5, 0.3, 0.2), rotation=(0.9, 0.1, 0.2, 0.3))
    mesh = MeshObstacle(*box.surface())
    p = np.random.default_rng(0).uniform(-1, 1, (2000, 3))
    assert mesh.watertight
    assert np.allclose(mesh.distance(p), box.distance(p), atol=1e-12)
    assert np.allclose(mesh.closest(p), p - mesh.distance(p)[:, None] * mesh.normals(p))
    outside = box.distance(p) > 1e-3
    assert np.allclose(mesh.normals(p)[outside], box.normals(p)[outside], atol=1e-9)
    pose = ((0.3, 0.1, -0.2), (0.5, 0.5, 0.1, 0.2))
    assert np.allclose(mesh.moved(*pose).distance(p), box.moved(*pose).distance(p), atol=1e-12)


def test_b1_normals_match_finite_differences(make):
    x, t = make.ball(1.0, 2)
    mesh = MeshObstacle(x * [1, 0.5, 0.8], t)
    p = np.random.default_rng(1).uniform(-1.5, 1.5, (200, 3))
    h = 1e-6
    numeric = [(mesh.distance(p + h * e) - mesh.distance(p - h * e)) / (2 * h) for e in np.eye(3)]
    numeric = np.stack(numeric, axis=1)
    smooth = np.abs(np.linalg.norm(numeric, axis=1) - 1.0) < 1e-6
    assert smooth.sum() > 150
    assert np.allclose(numeric[smooth], mesh.normals(p)[smooth], atol=1e-5)


def test_non_convex_sign_at_sharp_features(make):
    x, t = make.ball(1.0, 3)
    x = x * (1.0 + 0.3 * np.sign(np.sin(5 * x[:, :1])))  # spikes and dents
    mesh = MeshObstacle(x, t)
    p = np.random.default_rng(2).uniform(-1.4, 1.4, (500, 3))
    a, b, c = (x[t[:, k]][None] - p[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    up = np.einsum("pti,pti->pt", a, np.cross(b, c))
    down = la * lb * lc + np.einsum("pti,pti->pt", a, b) * lc
    down += np.einsum("pti,pti->pt", b, c) * la + np.einsum("pti,pti->pt", c, a) * lb
    winding = 2 * np.arctan2(up, down).sum(axis=1) / (4 * np.pi)
    assert np.array_equal(mesh.distance(p) < 0, winding > 0.5)


def test_far_points_and_single_points(make):
    mesh = MeshObstacle(*make.ball(1.0, 2))
    assert mesh.distance([[100.0, 0, 0]])[0] == pytest.approx(99.0)
    assert mesh.distance([[0.0, 0, 0]])[0] < -0.8
    assert mesh.distance(np.zeros((0, 3))).shape == (0,)


@pytest.mark.filterwarnings("ignore:overflow")
def test_stl_round_trip(tmp_path):
    meshio = pytest.importorskip("meshio")
    v, t = Sphere((0, 0, 0), 10.0).surface()
    path = tmp_path / "ball.stl"
    meshio.write_points_cells(path, v[t].reshape(-1, 3), [("triangle", np.arange(3 * len(t)).reshape(-1, 3))])
    mesh = MeshObstacle(path, scale=1e-3, friction=0.4)
    assert mesh.watertight
    assert mesh.friction == 0.4
    assert mesh.distance([[0.02, 0, 0]])[0] == pytest.approx(0.01, rel=0.01)
    moved = mesh.moved((1, 0, 0))
    assert moved.distance([[1.02, 0, 0]])[0] == pytest.approx(0.01, rel=0.01)


def test_broken_files(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        MeshObstacle(tmp_path / "missing.stl")
    rubbish = tmp_path / "rubbish.stl"
    rubbish.write_bytes(b"not a mesh at all")
    with pytest.raises(FileError):
        MeshObstacle(rubbish)


def test_bad_meshes_are_refused(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (1, 1, 1))
    with pytest.raises(MeshError, match="watertight"):
        MeshObstacle(x, t[:-1])
    flagged = MeshObstacle(x, t[:-1], open=True)
    assert not flagged.watertight
    with pytest.raises(MeshError, match="inside out"):
        MeshObstacle(x, t[:, ::-1])
    with pytest.raises(MeshError, match="without area"):
        MeshObstacle(x * [1, 1, 0], t)
    with pytest.raises(MeshError, match="repeated"):
        MeshObstacle(x, np.concatenate([t, [[0, 0, 1]]]))
    with pytest.raises(ArgumentError, match="out of range"):
        MeshObstacle(x, t + 5)
    with pytest.raises(ArgumentError, match="vertices"):
        MeshObstacle(x * np.nan, t)
    with pytest.raises(ArgumentError, match="triangles"):
        MeshObstacle(x, t.astype(float))
    with pytest.raises(ArgumentError, match="vertices"):
        MeshObstacle(x)
