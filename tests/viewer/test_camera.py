import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.viewer.camera import Camera, View


@pytest.mark.parametrize("azimuth", [-60.0, 0.0, 170.0])
@pytest.mark.parametrize("elevation", [-40.0, 10.0, 89.0])
def test_a_fitted_view_holds_all_points_and_wastes_little(azimuth, elevation):
    points = np.random.default_rng(1).uniform(-1, 1, (50, 3)) * [0.1, 0.02, 0.02]
    view = View.fit(Camera(azimuth, elevation), points, 400, 300, margin=1.1)
    pixels, depth = view.project(points)
    assert (depth > 0).all()
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    assert (low >= 0).all()
    assert (high <= [400, 300]).all()
    assert max((high - low) / [400, 300]) > 0.75


def test_the_x_axis_points_right_when_seen_from_the_front():
    view = View.fit(Camera(-90.0, 0.0), np.array([[0.0, 0, 0], [1, 0, 1]]), 100, 100)
    pixels, _ = view.project(np.array([[0.0, 0, 0], [1, 0, 1]]))
    assert pixels[1, 0] > pixels[0, 0]
    assert pixels[1, 1] < pixels[0, 1]


@pytest.mark.parametrize("bad", [{"elevation": 90}, {"azimuth": np.nan}, {"fov": 0}, {"distance": -1}])
def test_bad_cameras_are_refused(bad):
    with pytest.raises(ArgumentError, match="camera"):
        Camera(**bad)
