"""Pairs of features looked at again without a search, against what a detection finds."""

import numpy as np
import pytest

from pliant.contact import Capsule, ContactPairs, MeshObstacle, SelfContact, Sphere
from pliant.contact.detection import Detector
from pliant.contact.retention import followable, looked_at_again
from pliant.models.geometric import GeometricModel
from pliant.robots.silicone_finger import silicone_finger

_FACE, _EDGE_EDGE = (1, 2), 3


@pytest.fixture(scope="module")
def finger():
    return GeometricModel(silicone_finger(teeth=3, size=5e-3))


def _moved(model, amplitude):
    """Skin positions after smooth random motions, the second one longer by a tenth [m]."""
    x = model.skin_positions(model.rest)
    way = amplitude * (np.sin(300.0 * x) @ np.random.default_rng(3).normal(size=(3, 3)).T)
    return x + way, x + 1.1 * way


def test_pairs_of_features_are_where_a_detection_finds_them(finger):
    x, y = _moved(finger, 2e-4)
    detector = Detector(finger, [SelfContact()], alarm=1e-3, contact_distance=1e-4)
    before = detector.detect(finger.rest, positions=x)
    after = Detector(finger, [SelfContact()], alarm=1e-3, contact_distance=1e-4).detect(finger.rest, positions=y)
    again = looked_at_again(before, y, finger.skin.radius, offset=1e-4, obstacles=[SelfContact()])
    same = np.isin(again.key, after.key)
    kind = (again.key >> 50) & 31
    same &= np.isin(kind, _FACE) | (kind == _EDGE_EDGE)
    assert same.sum() > 20 and {*kind[same]} >= {1, 3}
    place = np.array([np.flatnonzero(after.key == k)[0] for k in again.key[same]])
    assert again.gap[same] == pytest.approx(after.gap[place], abs=1e-14)
    assert again.normal[same] == pytest.approx(after.normal[place], abs=1e-9)
    assert again.weights[same] == pytest.approx(after.weights[place], abs=1e-9)
    assert np.abs(again.gap - before.gap)[same].max() > 1e-5  # they did move


SOLIDS = [Sphere((0.03, 0.0, -0.02), 0.02), Capsule((0.02, -0.1, -0.012), (0.02, 0.1, -0.012), 0.01)]


@pytest.mark.parametrize("obstacle", SOLIDS, ids=["sphere", "capsule"])
def test_points_at_a_solid_are_looked_at_where_it_is(finger, obstacle):
    x, y = _moved(finger, 1e-4)
    found = Detector(finger, [obstacle], alarm=5e-3).detect(finger.rest, positions=x)
    assert len(found) > 3 and followable(found, [obstacle])
    placed = obstacle.moved((0.0, 0.0, -1e-3))
    again = looked_at_again(found, y, finger.skin.radius, offset=0.0, obstacles=[placed])
    points = np.einsum("mk,mki->mi", found.weights, y[found.vertices])
    distance, normal = placed.distance_and_normals(points)
    assert again.gap == pytest.approx(distance, abs=1e-15) and again.normal == pytest.approx(normal)


def test_given_pairs_keep_their_normals(finger):
    x, y = _moved(finger, 1e-4)
    marker = ContactPairs(pairs=np.array([[0, 9], [3, 12]]), normals=(0, 0, 1))
    found = Detector(finger, [marker], alarm=1.0).detect(finger.rest, positions=x)
    again = looked_at_again(found, y, finger.skin.radius, offset=0.0, obstacles=[marker])
    assert again.gap == pytest.approx((y[[0, 3]] - y[[9, 12]])[:, 2])
    assert (again.normal == found.normal).all()


def test_edges_of_rigid_meshes_are_left_to_the_detection(finger):
    x = finger.skin_positions(finger.rest)
    box = MeshObstacle(x + [0.0, 0.0, x[:, 2].min() - x[:, 2].max() - 1e-4], finger.skin.triangles)
    found = Detector(finger, [box], alarm=1e-3).detect(finger.rest)
    assert len(found) and not followable(found, [box])
