"""Lowest points of tapered segments and triangles, to rounding."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.lowering import lowered


@pytest.mark.parametrize("obstacle", [pl.Sphere((0, 0, 0), 1.0), pl.Capsule((0, -2, 0), (0.2, 2, 0.1), 1.0)])
def test_the_slope_vanishes_at_the_lowest_point(obstacle):
    corners = np.array([[[-0.4, 0.1, 1.2], [0.5, -0.1, 1.25]]])
    thickness = np.array([[0.05, 0.08]])
    t = np.linspace(0, 1, 20001)
    points = corners[0, 0] + t[:, None] * (corners[0, 1] - corners[0, 0])
    gap = obstacle.distance(points) - thickness[0, 0] - t * (thickness[0, 1] - thickness[0, 0])
    rough = t[np.argmin(gap)] + 3e-4
    found = lowered(corners, thickness, np.array([[1.0 - rough, rough]]), obstacle)
    p = found[0] @ corners[0]
    slope = obstacle.normals(p[None])[0] @ (corners[0, 1] - corners[0, 0]) - (thickness[0, 1] - thickness[0, 0])
    assert abs(slope) < 1e-12
    assert abs(found[0, 1] - t[np.argmin(gap)]) < 1e-4


def test_ends_stay_ends():
    corners = np.array([[[0.0, 0.0, 1.2], [0.5, 0.0, 1.9]]])
    weights = np.array([[1.0, 0.0]])
    assert np.array_equal(lowered(corners, np.zeros((1, 2)), weights, pl.Sphere((0, 0, 0), 1.0)), weights)
