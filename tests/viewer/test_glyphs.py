import numpy as np
import pytest

from pliant.viewer.glyphs import arrows, balls, merged, unit_ball


def test_a_ball_is_closed_and_round():
    points, triangles = unit_ball()
    assert len(triangles) == 80
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1.0)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(3.66, abs=0.05)


def test_balls_and_arrows_sit_where_they_should():
    points, _ = balls(np.array([[1.0, 2, 3], [4, 5, 6]]), 0.1)
    np.testing.assert_allclose(points.max(axis=0), [4.1, 5.1, 6.1], atol=0.02)
    points, _ = arrows(np.array([[[0.0, 0, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 0]]]), 0.01)
    assert points[:, 2].min() == pytest.approx(0.0)
    assert points[:, 2].max() == pytest.approx(1.0)
    assert merged([])[0].shape == (0, 3)
