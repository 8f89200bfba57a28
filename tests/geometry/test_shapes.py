"""Signed-distance shapes: exact gradients, unit slope, projection, booleans, transformations (A1)."""

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.geometry import (
    Bellow,
    Box,
    Capsule,
    Circle,
    Cone,
    Cylinder,
    Ellipsoid,
    Gyroid,
    HalfSpace,
    Helix,
    Polygon,
    Rectangle,
    Shape,
    Sphere,
    SurfaceShape,
    TetMesh,
    Torus,
)

BALL, BLOCK = Sphere((0, 0, 0), 0.5), Box((0, 0, 0), (1, 0.3, 0.3))
CUBE = TetMesh.box((1, 0.8, 0.6), (1, 1, 1), origin=(-0.5, -0.4, -0.3))
EXACT = {
    "sphere": Sphere((0.1, 0, 0), 0.5),
    "box": Box((-0.5, -0.4, -0.3), (0.5, 0.4, 0.3)),
    "cylinder": Cylinder((0, 0, -0.5), (0.1, 0.2, 0.5), 0.3),
    "capsule": Capsule((0, 0, -0.5), (0.1, 0.2, 0.5), 0.3),
    "torus": Torus((0, 0, 0), (1, 1, 0), 0.6, 0.2),
    "cone": Cone((0, 0, -0.5), (0.1, 0.2, 0.5), 0.3, 0.0),
    "frustum": Cone((0, 0, -0.5), (0.1, 0.2, 0.5), 0.1, 0.4),
    "half space": HalfSpace((0, 0, 0), (1, 2, 3)),
    "ellipsoid": Ellipsoid((0, 0, 0.1), (0.5, 0.3, 0.9)),
    "bellow": Bellow(1.0, 0.5, 0.2),
    "helix": Helix(0.5, 0.3, 3, 0.05),
    "extruded disc": Circle(0.4).extrude(0.6),
    "extruded rectangle": Rectangle((-0.3, -0.2), (0.1, 0.4)).extrude(0.5),
    "revolved triangle": Polygon([(0.1, 0), (0.5, 0), (0.3, 0.4)]).revolve(),
    "moved": Ellipsoid((0, 0, 0.1), (0.5, 0.3, 0.9)).rotate((1, 1, 1), 0.4).scale(1.3).translate((0.1, 0, 0)),
    "mirrored": Cone((0, 0, -0.5), (0.1, 0.2, 0.5), 0.3, 0.1).mirror((1, 1, 0), point=(0.1, 0, 0)),
    "shell": Sphere((0.1, 0, 0), 0.5).shell(0.1),
    "offset": Box((-0.5, -0.4, -0.3), (0.5, 0.4, 0.3)).offset(0.1),
    "repeated": Sphere((0, 0, 0), 0.2).repeat((0.3, 0.3, 0.3), (2, 2, 1)),
    "surface": SurfaceShape(CUBE.nodes, CUBE.boundary()),
}
BOUND = {
    "gyroid": Gyroid(1.0, 0.1),
    "twisted": Box((-0.5, -0.4, -0.3), (0.5, 0.4, 0.3)).twist(2.0),
    "smooth union": BALL.smooth_union(BLOCK, 0.2),
    "smooth difference": BALL.smooth_difference(BLOCK, 0.2),
    "smooth intersection": BALL.smooth_intersection(BLOCK, 0.1),
    "interpolated": BALL.interpolate(BLOCK, 0.4),
}
POINTS = np.random.default_rng(1).normal(0.0, 0.7, (400, 3))


def differences(shape, points, step=1e-6):
    return np.stack(
        [
            (shape.distance(points + step * e) - shape.distance(points - step * e)) / (2 * step)
            for e in np.eye(3)
        ],
        axis=1,
    )


@pytest.mark.parametrize("name", [*EXACT, *BOUND])
def test_gradient_is_exact(name):
    shape = (EXACT | BOUND)[name]
    error = np.abs(shape.gradient(POINTS) - differences(shape, POINTS)).max(axis=1)
    # A difference that straddles a crease is no derivative; there are few such points.
    assert (error > 1e-6).sum() <= 4
    assert np.median(error) < 1e-8


@pytest.mark.parametrize("name", EXACT)
def test_a1_unit_slope_away_from_edges(name):
    assert np.abs(np.linalg.norm(EXACT[name].gradient(POINTS), axis=1) - 1.0).max() < 1e-3


@pytest.mark.parametrize("name", [*EXACT, *BOUND])
def test_a1_projection_lands_on_the_zero_set(name):
    shape = (EXACT | BOUND)[name]
    near = POINTS[np.abs(shape.distance(POINTS)) < 0.2]
    assert np.abs(shape.distance(shape.project(near))).max() < 1e-8


def test_a1_boolean_signs():
    a, b = BALL.contains(POINTS), BLOCK.contains(POINTS)
    np.testing.assert_array_equal((BALL | BLOCK).contains(POINTS), a | b)
    np.testing.assert_array_equal((BALL & BLOCK).contains(POINTS), a & b)
    np.testing.assert_array_equal((BALL - BLOCK).contains(POINTS), a & ~b)
    assert (BALL.smooth_union(BLOCK, 0.1).distance(POINTS) <= (BALL | BLOCK).distance(POINTS)).all()
    assert (BALL.smooth_difference(BLOCK, 0.1).distance(POINTS) >= (BALL - BLOCK).distance(POINTS)).all()


@pytest.mark.parametrize("name", [*EXACT, *BOUND])
def test_bounds_hold_the_body(name):
    shape = (EXACT | BOUND)[name]
    inside = POINTS[shape.contains(POINTS)]
    low, high = shape.bounds
    assert (inside >= low - 1e-12).all()
    assert (inside <= high + 1e-12).all()


def test_known_distances():
    np.testing.assert_allclose(
        EXACT["ellipsoid"].distance([[0, 0, 2.0], [1.5, 0, 0.1], [0, 0.1, 0.1]]), [1, 1, -0.2]
    )
    np.testing.assert_allclose(
        Cylinder((0, 0, 0), (0, 0, 1), 0.5).distance([[0.8, 0, 1.4], [0, 0, 0.5]]), [0.5, -0.5]
    )
    np.testing.assert_allclose(
        Cone((0, 0, 0), (0, 0, 1), 1.0, 0.0).distance([[0, 0, 1.5], [1, 0, 1]]), [0.5, 0.5**0.5]
    )
    helix = Helix(0.5, 0.0, 1, 0.05)
    np.testing.assert_allclose(helix.distance([[0, 0, 0], [1, 0, 0]]), [0.45, 0.45])


def test_profiles_have_section_properties():
    area, centre, second = Rectangle((0, 0), (0.2, 0.1)).section()
    assert area == pytest.approx(0.02)
    np.testing.assert_allclose(centre, (0.1, 0.05))
    np.testing.assert_allclose(second, np.diag([0.1 * 0.2**3, 0.2 * 0.1**3]) / 12, rtol=1e-3, atol=1e-12)
    area, _, second = (Circle(1.0) - Circle(0.5)).section(resolution=400)
    assert area == pytest.approx(np.pi * 0.75, rel=1e-3)
    assert second[0, 0] == pytest.approx(np.pi / 4 * (1 - 0.5**4), rel=2e-3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sphere((0, 0), 1),
        lambda: Sphere((0, 0, np.nan), 1),
        lambda: Sphere((0, 0, 0), 0),
        lambda: Sphere((0, 0, 0), "big"),
        lambda: Box((0, 0, 0), (1, 1, 0)),
        lambda: HalfSpace((0, 0, 0), (0, 0, 0)),
        lambda: Capsule((0, 0, 0), (1, 0, 0), -1),
        lambda: Cone((0, 0, 0), (0, 0, 0), 1, 1),
        lambda: Cone((0, 0, 0), (1, 0, 0), 0, 0),
        lambda: Cylinder((0, 0, 0), (1, 0, 0), 0),
        lambda: Torus((0, 0, 0), (0, 0, 1), 1, np.inf),
        lambda: Ellipsoid((0, 0, 0), (1, 1, -1)),
        lambda: Gyroid(0, 1),
        lambda: Bellow(1, 0.1, 0.5),
        lambda: Bellow(1, 1, 0.5, waves=0),
        lambda: Helix(1, np.nan, 1, 0.1),
        lambda: Polygon([(0, 0), (1, 0)]),
        lambda: Polygon([(0, 0), (1, 0), (2, 0)]),
        lambda: Rectangle((0, 0), (0, 1)),
        lambda: Circle(1.0).extrude(0),
        lambda: BALL | 3,
        lambda: BALL.smooth_union(BLOCK, 0),
        lambda: BALL.scale(-1),
        lambda: BALL.shell(0),
        lambda: BALL.offset(np.nan),
        lambda: BALL.twist(np.inf),
        lambda: BALL.repeat((1, 0, 0), (0, 1, 1)),
        lambda: BALL.repeat((1, 0, 0), (10**6, 1, 1)),
        lambda: BALL.rotate((0, 0, 0), 1),
        lambda: BALL.transform(np.ones((3, 3))),
        lambda: BALL.interpolate(BLOCK, 2),
        lambda: BALL.distance([0, 0, 0]),
        lambda: BALL.distance([[0, 0, np.nan]]),
        lambda: BALL.distance("points"),
    ],
)
def test_bad_input(make):
    with pytest.raises(ArgumentError):
        make()


def test_base_shape_is_abstract():
    with pytest.raises(NotImplementedError):
        Shape().distance([[0, 0, 0]])
