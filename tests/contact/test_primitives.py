"""Distances, gradients and curvatures of all obstacles against finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.contact.obstacles import Pose
from pliant.contact.primitives import Box, Capsule, Cylinder, Plane, Sphere
from pliant.contact.shapes import Pipe, ShapeObstacle
from pliant.errors import ArgumentError


class Ellipse:
    """A smooth implicit function that is not a distance: |Ax| - 1."""

    scale = np.array([1.0, 2.0, 3.0])
    bounds = ((-1, -1, -1), (1, 1, 1))

    def distance(self, p):
        return np.linalg.norm(p * self.scale, axis=1) - 1.0

    def gradient(self, p):
        return p * self.scale**2 / np.linalg.norm(p * self.scale, axis=1)[:, None]


FORK = [([[2, 0, 0], [3, 1, 0]], 0.3), ([[2, 0, 0], [3, -1, 0.1]], 0.2)]
PIPE = Pipe([[0, 0, 0], [1, 0, 0.2], [2, 0, 0]], 0.4, branches=FORK)
TURN = np.array([0.3, 0.5, -0.2, 0.7])
OBSTACLES = [
    Plane((0.1, 0, 0), (1, 2, 3)),
    Sphere((0.1, 0.2, 0.3), 0.5),
    Box((0.1, 0, 0), (0.5, 0.3, 0.8), rotation=TURN),
    Capsule((0, 0, 0), (0.5, 0.5, 0), 0.3),
    Cylinder((0, 0, -0.5), (0.2, 0, 0.5), 0.4),
    PIPE,
]
OBSTACLES += [o.moved((0.2, -0.1, 0.3), TURN) for o in OBSTACLES]
IDS = [f"{o.name}-{k}" for k, o in enumerate(OBSTACLES)]
POINT = st.tuples(*(st.floats(-1.5, 1.5) for _ in range(3)))


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=IDS)
@settings(max_examples=40, deadline=None)
@given(point=POINT)
def test_b1_gradient_is_unit_and_matches_finite_differences(obstacle, point):
    p = np.array([point])
    n = obstacle.normals(p)[0]
    assert abs(np.linalg.norm(n) - 1.0) < 1e-12
    h, here = 1e-7, obstacle.distance(p)[0]
    ahead = (obstacle.distance(p + h * np.eye(3)) - here) / h
    behind = (here - obstacle.distance(p - h * np.eye(3))) / h
    # next to a kink (medial axis, joints) the two sides disagree: differences tell nothing there
    if np.allclose(ahead, behind, atol=1e-5):
        assert np.allclose((ahead + behind) / 2, n, atol=2e-5)


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=IDS)
@settings(max_examples=40, deadline=None)
@given(point=POINT)
def test_b1_curvature_matches_finite_differences(obstacle, point):
    p = np.array(point)
    h = obstacle.curvature(p[None])[0]
    step = 1e-5
    stencil = np.concatenate([p + step * np.eye(3), p - step * np.eye(3)])
    around = obstacle.curvature(stencil)
    if not np.allclose(around, h, atol=1e-2 * (1 + np.abs(h).max())):
        return  # the stencil crosses a boundary between regions, where the curvature jumps
    n, here = obstacle.normals(stencil), obstacle.normals(p[None])[0]
    ahead, behind = (n[:3] - here).T / step, (here - n[3:]).T / step
    if not np.allclose(ahead, behind, atol=1e-3 * (1 + np.abs(h).max() ** 2)):
        return  # the same with equal curvatures on both sides: a kink between two pieces of one kind
    numeric = (ahead + behind) / 2
    assert np.allclose(numeric, h, atol=1e-3 * (1 + np.abs(h).max() ** 2))


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=IDS)
def test_closest_points_lie_on_the_surface(obstacle):
    p = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    d = obstacle.distance(p)
    if isinstance(obstacle, Pipe):  # a union of tubes: exact only up to the joints
        return
    assert np.allclose(obstacle.distance(obstacle.closest(p)), 0.0, atol=1e-12)
    assert np.allclose(np.linalg.norm(p - obstacle.closest(p), axis=1), np.abs(d))


@pytest.mark.parametrize("obstacle", [o for o in OBSTACLES if not isinstance(o, Plane | Pipe)], ids=str)
def test_surface_is_closed_outward_and_on_the_obstacle(obstacle):
    v, t = obstacle.surface()
    volume = np.einsum("ij,ij->i", v[t[:, 0]], np.cross(v[t[:, 1]], v[t[:, 2]])).sum() / 6
    assert volume > 0.0
    edges = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    assert set(map(tuple, edges)) == {(b, a) for a, b in edges}
    lids = 2 if isinstance(obstacle, Cylinder) else 0
    assert np.allclose(obstacle.distance(v)[lids:], 0.0, atol=1e-12)


def test_surface_of_pipe_and_plane():
    v, t = PIPE.surface()
    assert np.all(t < len(v))
    v, _ = Plane((0, 0, 1), (0, 0, 1), extent=2.0).surface()
    assert np.allclose(v[:, 2], 1.0)
    assert np.allclose(np.abs(v[:, :2]), 2.0)


def test_known_distances():
    box = Box(lengths=(2, 2, 2))
    assert np.allclose(box.distance([[3, 0, 0], [2, 2, 0], [0, 0, 0.5]]), [2, np.sqrt(2), -0.5])
    cylinder = Cylinder((0, 0, 0), (0, 0, 2), 1.0)
    points = [[2, 0, 1], [0, 0, 3], [2, 0, 3], [0, 0, 1]]
    assert np.allclose(cylinder.distance(points), [1, 1, np.sqrt(2), -1])
    assert np.allclose(Capsule((0, 0, 0), (0, 0, 2), 1.0).distance([[2, 0, 1], [0, 0, 4]]), [1, 1])
    assert np.allclose(Plane((0, 0, 1), (0, 0, 2)).distance([[0, 0, 0], [5, 5, 3]]), [-1, 2])


def test_pipe_is_open_at_free_ends_and_forks():
    assert np.allclose(PIPE.distance([[0, 0, 0], [2, 0, 0]]), 0.4)
    first = np.array([1, 0, 0.2])
    assert np.allclose(PIPE.distance([-10 * first]), 0.4)  # goes on before its start
    assert PIPE.distance([[3, 1, 0]])[0] > 0.29
    assert PIPE.distance([[3, 0, 0]])[0] < 0.0  # between the branches
    closed = Pipe([[0, 0, 0], [1, 0, 0]], 0.2, open_ends=False)
    assert closed.distance([[-1, 0, 0]])[0] == pytest.approx(-0.8)


def test_singular_points_have_some_unit_normal():
    for obstacle, point in [
        (Sphere((0, 0, 0), 1), (0, 0, 0)),
        (Capsule((0, 0, 0), (1, 0, 0), 1), (0.5, 0, 0)),
        (Cylinder((0, 0, 0), (1, 0, 0), 1), (0.5, 0, 0)),
        (Box(lengths=(1, 1, 1)), (0, 0, 0)),
        (Pipe([[0, 0, 0], [1, 0, 0]], 1), (0.5, 0, 0)),
    ]:
        assert np.linalg.norm(obstacle.normals([point])[0]) == pytest.approx(1.0)
        assert np.all(np.isfinite(obstacle.curvature([point])))


def test_moved_equals_moving_the_points_back():
    rng = np.random.default_rng(1)
    p = rng.normal(size=(50, 3))
    pose = Pose((0.1, 0.2, 0.3), TURN)
    for obstacle in OBSTACLES[:6]:
        moved = obstacle.moved(pose.translation, pose.rotation)
        assert np.allclose(moved.distance(pose.apply(p)), obstacle.distance(p))
        twice = moved.moved(pose.translation, pose.rotation)
        assert np.allclose(twice.distance(pose.apply(pose.apply(p))), obstacle.distance(p))
        assert np.allclose(pose.undo(pose.apply(p)), p)


def test_given_motion():
    ball = Sphere((0, 0, 0), 1.0, motion=lambda t: Pose((t, 0, 0)))
    assert ball.at(2.0).distance([[4, 0, 0]])[0] == pytest.approx(1.0)
    still = Sphere((0, 0, 0), 1.0)
    assert still.at(2.0) is still


def test_shape_obstacle_takes_any_signed_distance():
    obstacle = ShapeObstacle(Ellipse(), friction=0.3)
    assert np.allclose(obstacle.distance([[2, 0, 0]]), 1.0)
    assert np.allclose(obstacle.normals([[2, 0, 0]]), [[1, 0, 0]])
    assert obstacle.curvature([[2, 0, 0]]) is None
    v, t = obstacle.surface()
    volume = np.einsum("ij,ij->i", v[t[:, 0]], np.cross(v[t[:, 1]], v[t[:, 2]])).sum() / 6
    assert volume == pytest.approx(4 / 3 * np.pi / 6, rel=0.15)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: Plane((0, 0, 0), (0, 0, 0)), "normal"),
        (lambda: Plane((0, np.nan, 0), (0, 0, 1)), "point"),
        (lambda: Sphere((0, 0, 0), -1.0), "radius"),
        (lambda: Sphere((0, 0), 1.0), "centre"),
        (lambda: Sphere((0, 0, 0), np.nan), "radius"),
        (lambda: Sphere((0, 0, 0), "x"), "radius"),
        (lambda: Sphere((0, 0, 0), 1.0, friction=-0.1), "friction"),
        (lambda: Sphere((0, 0, 0), 1.0, motion=3), "motion"),
        (lambda: Box(), "half_lengths"),
        (lambda: Box(lengths=(1, 0, 1)), "lengths"),
        (lambda: Box(lengths=(1, 1, 1), rotation=2 * np.eye(3)), "rotation"),
        (lambda: Capsule((0, 0, 0), (0, 0, 0), 1), "b"),
        (lambda: Cylinder((0, 0, 0), (0, 0, 1), 0), "radius"),
        (lambda: Pipe([[0, 0, 0]], 1), "centreline"),
        (lambda: Pipe([[0, 0, 0], [0, 0, 0]], 1), "centreline"),
        (lambda: ShapeObstacle(object()), "shape"),
        (lambda: Sphere().distance([[0, 0, np.nan]]), "points"),
        (lambda: Sphere().distance([0, 0, 0]), "points"),
        (lambda: Sphere().moved((0, 0, 0), np.zeros((3, 3))), "rotation"),
    ],
)
def test_bad_input_names_the_argument(make, argument):
    with pytest.raises(ArgumentError) as error:
        make()
    assert error.value.argument == argument


@pytest.mark.parametrize("friction", ["x", None, -0.1, np.nan])
def test_friction_is_a_number(friction):
    with pytest.raises(ArgumentError, match="friction"):
        Plane(friction=friction)


def test_a_box_is_copied_with_a_field_changed():
    box = replace(Box((0, 0, 1), lengths=(1, 2, 3), name="crate"), friction=0.4)
    assert box.friction == 0.4 and box.name == "crate"
    np.testing.assert_array_equal(box.half_lengths, (0.5, 1.0, 1.5))
    with pytest.raises(ArgumentError, match="half_lengths"):
        replace(box, lengths=(1, 1, 1))


def test_a_motion_may_give_a_translation_alone():
    ball = Sphere((0.0, 0.0, 0.0), 0.01, motion=lambda t: (0.5 * t, 0.0, 0.0))
    assert ball.at(0.1).distance(np.array([[0.05, 0.0, 0.0]]))[0] == pytest.approx(-0.01)
    with pytest.raises(ArgumentError, match="motion"):
        Sphere((0.0, 0.0, 0.0), 0.01, motion=lambda t: "there").at(0.1)
    with pytest.raises(ArgumentError, match="motion"):
        Sphere((0.0, 0.0, 0.0), 0.01, motion=lambda t: (np.nan, 0.0, 0.0)).at(0.1)
