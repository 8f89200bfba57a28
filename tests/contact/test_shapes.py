"""ShapeObstacle with the signed-distance shapes of pliant.geometry."""

import numpy as np
import pytest

from pliant.contact import Detector, ShapeObstacle, Sphere
from pliant.errors import ArgumentError

shapes = pytest.importorskip("pliant.geometry.primitives")


def test_a_geometry_ball_is_a_sphere_obstacle(make):
    ball = ShapeObstacle(shapes.Sphere(centre=(0.5, 0.4, 1.15), radius=0.1))
    sphere = Sphere((0.5, 0.4, 1.15), 0.1)
    p = np.random.default_rng(0).uniform(-1, 2, (50, 3))
    assert np.allclose(ball.distance(p), sphere.distance(p))
    assert np.allclose(ball.normals(p), sphere.normals(p))
    x, t = make.box((0, 0, 0), (1, 1, 1), (2, 2, 2))
    model = make.model(x, t)
    one = Detector(model, [ball], alarm=0.1).detect(model.rest)
    two = Detector(model, [sphere], alarm=0.1).detect(model.rest)
    assert one.gap.min() == pytest.approx(two.gap.min(), abs=1e-9)
    v, faces = ball.surface()
    volume = np.einsum("ij,ij->i", v[faces[:, 0]], np.cross(v[faces[:, 1]], v[faces[:, 2]])).sum() / 6
    assert volume == pytest.approx(4 / 3 * np.pi * 0.1**3, rel=0.1)


def test_interiors_against_a_non_convex_shape(make):
    left, right = (shapes.Sphere(centre=(c, 0.4, 1.06), radius=0.05) for c in (0.3, 0.7))
    two = left | right
    x, t = make.box((0, 0, 0), (1, 1, 1), (2, 2, 2))
    model = make.model(x, t)
    contacts = Detector(model, [ShapeObstacle(two)], alarm=0.05).detect(model.rest)
    assert len(contacts) == 2
    assert np.allclose(contacts.gap, 0.01, atol=1e-6)


def test_surface_of_an_unbounded_shape_needs_bounds():
    half = shapes.HalfSpace(point=(0, 0, 0), normal=(0, 0, 1))
    with pytest.raises(ArgumentError, match="bounds"):
        ShapeObstacle(half).surface()
    v, _ = ShapeObstacle(half, bounds=((-1, -1, -1), (1, 1, 1))).surface()
    assert np.all(np.isfinite(v))
