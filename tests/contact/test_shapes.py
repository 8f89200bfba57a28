"""ShapeObstacle with the signed-distance shapes of pliant.geometry."""

import numpy as np
import pytest

from pliant.contact import Detector, Pipe, ShapeObstacle, Sphere
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


def test_lowest_points_of_segments_in_a_fork_are_found_to_rounding():
    """Against a fine look along every segment; the lowest points lie at kinks, where an error counts to first order."""
    axis = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)]
    branch = [(0.1, 0.0, 0.0), (0.12, 0.0, 0.02), (0.14, 0.0, 0.05)]
    pipe = Pipe(centreline=axis, radius=0.005, branches=((branch, 0.004),))
    pipe = pipe.moved((0.01, -0.02, 0.03), (0.9, 0.1, 0.3, 0.2))
    rng = np.random.default_rng(3)
    inside = np.array([[(0.094, 0.0, 0.003), (0.102, 0.0, 0.006)], [(0.114, 0.0, 0.016), (0.1215, 0.0, 0.026)]])
    corners = inside[rng.integers(0, 2, 200)] + 0.0005 * rng.standard_normal((200, 2, 3))
    corners = pipe.pose.apply(corners.reshape(-1, 3)).reshape(200, 2, 3)
    thickness = np.tile([0.001, 0.0005], (200, 1))
    weights = pipe.lowest_on_segments(corners, thickness)

    def gap(w):
        return pipe.distance(np.einsum("mk,mki->mi", w, corners)) - np.einsum("mk,mk->m", w, thickness)

    t = np.linspace(0.0, 1.0, 4001)
    every = np.array([gap(np.tile([1.0 - s, s], (200, 1))) for s in t])
    found = gap(weights)
    assert (found <= every.min(axis=0) + 1e-15).all()
    assert ((weights > 0.0).all(axis=1)).sum() > 10  # kinks were there to be found
