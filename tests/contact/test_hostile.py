"""What scenes are like when nobody has tidied them up: copies that touch, triangles without area, nested bodies."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact import (
    BodyContact,
    Box,
    Capsule,
    Cylinder,
    Detector,
    MeshObstacle,
    Plane,
    SelfContact,
    Sphere,
)
from pliant.errors import MeshError


def sound(contacts):
    """Everything is finite and normals have length one."""
    for field in ("gap", "normal", "weights", "point", "tangents", "anchor"):
        assert np.isfinite(getattr(contacts, field)).all(), field
    assert np.allclose(np.linalg.norm(contacts.normal, axis=1), 1.0)
    return contacts


@pytest.mark.parametrize("cells", [(3, 3, 2), (4, 5, 1)], ids=["same mesh", "other mesh"])
def test_touching_copies_hold_each_other_along_the_whole_face(make, cells):
    lower, upper = make.box((0, 0, 0), (1, 1, 1), (3, 3, 2)), make.box((0, 0, 1), (1, 1, 2), cells)
    x, t, body = make.together(lower, upper)
    found = sound(Detector(make.model(x, t, body=body), [BodyContact(1, 0)], alarm=0.1).detect(x.ravel()))
    up = found.normal[:, 2] > 0.99
    assert np.allclose(found.gap, 0.0, atol=1e-12)
    assert up.any()
    for corner in ((0, 0), (0, 1), (1, 0), (1, 1)):  # held at its corners, the face cannot go down anywhere
        assert (np.linalg.norm(found.point[up][:, :2] - corner, axis=1) < 1e-9).any()


def test_a_body_laid_exactly_into_its_copy_gives_no_nonsense(make):
    one = make.box((0, 0, 0), (1, 1, 1), (2, 2, 2))
    x, t, body = make.together(one, one)
    sound(Detector(make.model(x, t, body=body), [BodyContact(0, 1)], alarm=0.1).detect(x.ravel()))


def test_triangles_without_area_do_no_harm(make):
    x, t = make.box((0, 0, 0), (1, 1, 0.2), (4, 4, 1))
    flat = x.copy()
    middle = int(np.argmin(np.linalg.norm(x - [0.5, 0.5, 0.2], axis=1)))
    ring = np.unique(t[(t == middle).any(axis=1)])
    flat[middle] = x[ring[ring != middle][0]]  # the triangles between the two have no area any more
    model = make.model(x, t)
    things = [Plane((0, 0, 0.21), (0, 0, -1)), Sphere((0.5, 0.5, 0.3), 0.11), SelfContact(),
              MeshObstacle(*make.ball(0.1, 2, (0.5, 0.5, 0.31)))]  # fmt: skip
    found = sound(Detector(model, things, alarm=0.05).detect(flat.ravel()))
    assert set(found.obstacle) >= {0, 1, 3}


def test_a_body_in_the_middle_of_another_is_too_deep_to_be_pushed_anywhere(make):
    inner = make.box((0.4, 0.4, 0.4), (0.6, 0.6, 0.6), (1, 1, 1))
    x, t, body = make.together(make.box((0, 0, 0), (1, 1, 1), (4, 4, 4)), inner)
    assert len(Detector(make.model(x, t, body=body), [BodyContact(0, 1)], alarm=0.1).detect(x.ravel())) == 0


def test_a_body_in_the_cavity_of_another_touches_its_wall_from_inside(make):
    outside, cavity = make.box((0, 0, 0), (1, 1, 1), (2, 2, 2)), make.box((0.2, 0.2, 0.2), (0.8, 0.8, 0.8), (2, 2, 2))
    hollow = make.together(outside, (cavity[0], cavity[1][:, ::-1]))[:2]
    x, t, body = make.together(hollow, make.box((0.3, 0.3, 0.22), (0.6, 0.6, 0.5), (1, 1, 1)))
    found = sound(Detector(make.model(x, t, body=body), [BodyContact(1, 0)], alarm=0.05).detect(x.ravel()))
    assert np.allclose(found.gap, 0.02)
    assert np.allclose(found.normal, [0, 0, 1])


@pytest.mark.parametrize("obstacle", [
    Plane((0, 0, 0), (0, 0, 1)), Sphere((0.5, 0.5, -1), 1.0), Capsule((0.5, 0, -0.5), (0.5, 1, -0.5), 0.5),
    Cylinder((0.5, 0, -0.5), (0.5, 1, -0.5), 0.5), Box((0.5, 0.5, -0.5), (0.5, 0.5, 0.5)),
    MeshObstacle(*Box((0.5, 0.5, -0.5), (0.5, 0.5, 0.5)).triangulation()),
], ids=lambda o: o.name)  # fmt: skip
def test_obstacles_at_distance_zero_push_straight_up(make, obstacle):
    x, t = make.box((0, 0, 0), (1, 1, 0.3), (4, 4, 1))
    found = sound(Detector(make.model(x, t), [obstacle], alarm=0.05).detect(x.ravel()))
    lowest = np.abs(found.gap) < 1e-12
    assert lowest.any()
    assert np.allclose(found.gap.min(), 0.0, atol=1e-12)
    assert (np.abs(found.normal[lowest] - [0, 0, 1]).max(axis=1) < 1e-6).any()


def test_an_open_mesh_is_refused_unless_it_is_meant_and_then_its_front_is_free(make):
    sheet = np.array([[-1.0, -1, 0], [2, -1, 0], [2, 2, 0], [-1, 2, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    with pytest.raises(MeshError, match="watertight"):
        MeshObstacle(*sheet)
    x, t = make.box((0, 0, 0), (1, 1, 0.3), (3, 3, 1))
    detector = Detector(make.model(x, t), [MeshObstacle(*sheet, open=True)], alarm=0.05)
    assert len(detector.detect((x + [0, 0, 0.1]).ravel())) == 0
    for height in (0.02, -0.02):
        found = sound(detector.detect((x + [0, 0, height]).ravel()))
        assert found.gap.min() == pytest.approx(height)
        assert np.allclose(found.normal[found.gap < 0.03], [0, 0, 1])


@pytest.mark.parametrize(
    "obstacle",
    [pl.Sphere((0.0, 0.0, -0.06), 0.5), pl.Plane(point=(0.0134, 0, -0.08), normal=(-0.87, 0, -0.49))],
    ids=["ball around everything", "plane over the held base"],
)
def test_a_start_that_nothing_can_free_is_refused_at_once(obstacle):
    found = pl.equilibrium(pl.FemModel(pl.robots.finger(size=0.01)), {"cable": 0.005}, obstacles=[obstacle])
    assert found.status is pl.Status.PENETRATING and found.iterations == 0
    assert any("deep in an obstacle" in note for note in found.notes)


def test_a_base_in_a_box_is_no_mistake():
    model = pl.FemModel(pl.robots.finger(size=0.01))
    base = pl.Box((0.0, 0.0, 0.02), (0.05, 0.05, 0.02))
    assert pl.equilibrium(model, {"cable": 0.005}, obstacles=[base]).ok
