import numpy as np
import pytest

from pliant._kernels.raster import fill_triangles


def buffers(height, width):
    return (
        np.full((height, width), np.inf, np.float32),
        np.zeros((height, width, 3), np.float32),
        np.zeros((height, width), np.float32),
        np.full((height, width), -1, np.int16),
    )


def fill(screen, depth, values, triangles, *, perspective=True, size=(40, 60)):
    out = buffers(*size)
    weight = 1 / depth if perspective else np.ones_like(depth)
    normals = np.tile([0.0, 0.0, 1.0], (len(screen), 1))
    kind = np.arange(len(triangles), dtype=np.int16)
    fill_triangles(screen, depth, weight, normals, values, triangles, kind, *out)
    return out


@pytest.mark.parametrize("turned", [False, True])
def test_a_square_of_two_triangles_covers_each_pixel(turned):
    screen = np.array([[10.0, 5], [50, 5], [50, 35], [10, 35]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    if turned:
        triangles = triangles[:, ::-1].copy()
    z, _, _, material = fill(screen, np.ones(4), np.zeros(4), triangles)
    assert (material >= 0).sum() == 40 * 30
    assert np.isfinite(z[5:35, 10:50]).all()


def test_values_are_interpolated_in_perspective():
    # A strip from depth 1 to depth 3: the middle pixel lies at depth 1.5, a quarter of the way.
    screen = np.array([[0.0, 0], [60, 0], [60, 40], [0, 40]])
    depth = np.array([1.0, 3, 3, 1])
    z, _, value, _ = fill(screen, depth, np.array([0.0, 1, 1, 0]), np.array([[0, 1, 2], [0, 2, 3]]))
    middle = (value[20, 29] + value[20, 30]) / 2
    assert middle == pytest.approx(0.25, abs=2e-3)
    assert (z[20, 29] + z[20, 30]) / 2 == pytest.approx(1.5, abs=5e-3)
    _, _, value, _ = fill(
        screen, depth, np.array([0.0, 1, 1, 0]), np.array([[0, 1, 2], [0, 2, 3]]), perspective=False
    )
    assert (value[20, 29] + value[20, 30]) / 2 == pytest.approx(0.5, abs=1e-6)


def test_the_nearest_wins_and_what_lies_behind_the_camera_is_left_out():
    square = np.array([[10.0, 5], [50, 5], [50, 35], [10, 35]])
    screen = np.concatenate([square, square, square])
    depth = np.repeat([2.0, 1.0, -1.0], 4)
    triangles = np.array([[0, 1, 2], [4, 5, 6], [8, 9, 10]])
    material = fill(screen, depth, np.zeros(12), triangles)[3]
    assert set(np.unique(material)) == {-1, 1}


def test_triangles_outside_of_the_picture_or_without_area_draw_nothing():
    screen = np.array([[-100.0, -100], [-90, -100], [-90, -90], [10, 10], [20, 20], [30, 30]])
    material = fill(screen, np.ones(6), np.zeros(6), np.array([[0, 1, 2], [3, 4, 5]]))[3]
    assert (material < 0).all()
