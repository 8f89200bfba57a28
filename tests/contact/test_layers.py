"""Volume contact: volumes and area vectors of overlaps that are known."""

import numpy as np
import pytest

from pliant.contact import BodyContact, Cylinder, Detector, Pipe, Plane, SelfContact, Sphere, detect
from pliant.contact.layers import VolumeGrid, volume_contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.primitives import Box
from pliant.contact.surface import Surface
from pliant.errors import ArgumentError


def overlap(model, q, obstacle, pixel, cell):
    """Contacts of the bare overlap, without inflation."""
    skin = model.skin
    surface = Surface(skin.triangles, skin.segments, skin.radius, skin.body)
    grid = VolumeGrid(pixel, cell, inflate=False)
    x = model.skin_positions(q)
    return volume_contacts(surface, x, obstacle, 0, grid, alarm=0.1, offset=0.0)


def dense(rows):
    return rows.toarray()


def test_overlap_of_two_boxes(make):
    a = make.box((0, 0, 0), (1, 1, 1), (4, 4, 4))
    b = make.box((0.2, 0.2, 0.9), (0.8, 0.8, 1.5), (3, 3, 3))
    x, t, body = make.together(a, b)
    model = make.model(x, t, body=body)
    contacts = overlap(model, model.rest, BodyContact(0, 1), 0.01, 10.0)
    assert len(contacts) == 1
    assert np.allclose(contacts.normal[0], [0, 0, -1], atol=1e-9)  # towards body 0
    assert contacts.gap[0] == pytest.approx(-0.1, rel=0.02)  # mean depth
    lift = np.zeros_like(x)
    lift[body == 1, 2] = 1.0
    slope = (contacts.rows(model, model.rest) @ lift.ravel())[0]
    assert slope == pytest.approx(1.0, rel=1e-6)
    sideways = np.zeros_like(x)
    sideways[body == 1, 0] = 1.0
    assert (contacts.rows(model, model.rest) @ sideways.ravel())[0] == pytest.approx(0.0, abs=1e-9)


def test_rigid_translation_of_everything_changes_no_gap(make):
    a, b = make.ball(1.0, 3), make.ball(0.8, 3, (1.6, 0.1, 0.2))
    x, t, body = make.together(a, b)
    model = make.model(x, t, body=body)
    contacts = overlap(model, model.rest, BodyContact(0, 1), 0.05, 0.3)
    rows = dense(contacts.rows(model, model.rest)).reshape(len(contacts), -1, 3)
    assert np.allclose(rows.sum(axis=1), 0.0, atol=1e-9)
    assert np.allclose(contacts.weights.sum(axis=1), 0.0, atol=1e-9)


def test_volume_of_a_lens_between_two_balls(make):
    a, b = make.ball(1.0, 5, (5, 5, 5)), make.ball(1.0, 5, (6.6, 5, 5))
    x, t, body = make.together(a, b)
    model = make.model(x, t, body=body)
    contacts = overlap(model, model.rest, BodyContact(0, 1), 0.02, 100.0)
    assert len(contacts) == 1
    volume = np.pi / 12 * (4 + 1.6) * (2 - 1.6) ** 2
    area = np.pi * (1 - 0.8**2)
    assert contacts.gap[0] == pytest.approx(-volume / area, rel=0.02)
    assert np.allclose(contacts.normal[0], [-1, 0, 0], atol=1e-2)


def test_b1_volume_rows_match_the_derivative_of_the_volume(make):
    """Overlap of two balls with one big cell: d V / d shift is the area of their common disc."""
    a, t = make.ball(1.0, 4, (5, 5, 5))
    model = make.model(a, t)
    ball = Sphere((6.7, 5, 5), 1.0)
    push = np.zeros_like(a)
    push[:, 0] = 1.0

    def volume_and_slope(shift):
        c = overlap(model, (a + shift * push).ravel(), ball, 0.01, 100.0)
        assert len(c) == 1
        area = np.pi * (1 - ((1.7 - shift) / 2) ** 2)
        return -c.gap[0] * area, -(c.rows(model, model.rest) @ push.ravel())[0] * area

    h = 0.02
    (more, _), (less, _), (middle, slope) = (volume_and_slope(s) for s in (h, -h, 0.0))
    assert middle == pytest.approx(np.pi / 12 * (4 + 1.7) * (2 - 1.7) ** 2, rel=0.03)
    assert slope == pytest.approx((more - less) / (2 * h), rel=0.03)


@pytest.mark.parametrize(
    "obstacle",
    [
        Plane((0, 0, -0.03), (0, 0, 1)),
        Plane((0, 0, 0), (0, 0, 1)).moved((0.1, 0.2, -0.03)),
        Box((0.5, 0.5, -0.13), (0.3, 0.3, 0.1)),
    ],
    ids=["plane", "moved plane", "box"],
)
def test_inflated_skin_gives_the_gap_before_contact(make, obstacle: Obstacle):
    x, t = make.box((0, 0, 0), (1, 1, 1), (6, 6, 6))
    model = make.model(x, t)
    contacts = detect(model, model.rest, [obstacle], alarm=0.05, method="volume", pixel=0.02, cell=0.5)
    flat = contacts.normal[:, 2] > 0.999
    assert flat.sum() >= 1
    # edges and corners of the skin are inflated along slanted normals, hence the tolerance
    assert np.allclose(contacts.gap[flat].min(), 0.03, atol=5e-3)


def test_volume_keys_persist_and_count_hardly_depends_on_the_mesh(make):
    ball = Sphere((0, 0, -0.195), 0.2)
    counts = []
    for cells in ((10, 2, 1), (40, 8, 4)):
        x, t = make.box((-0.5, -0.1, 0), (0.5, 0.1, 0.1), cells)
        model = make.model(x, t)
        detector = Detector(model, [ball], alarm=0.01, method="volume", pixel=0.01)
        one = detector.detect(model.rest)
        two = detector.detect((x + np.array([0, 0, 1e-4])).ravel(), one.with_forces(np.ones(len(one))))
        assert set(one.key) & set(two.key)
        assert two.forces.sum() > 0
        counts.append(len(one))
    assert abs(counts[0] - counts[1]) <= 2


def test_self_overlap(make):
    # a C: one closed surface made of two overlapping boxes' union is not closed; use two boxes as one body
    a = make.box((0, 0, 0), (1, 1, 1), (4, 4, 4))
    b = make.box((0.2, 0.2, 0.9), (0.8, 0.8, 1.5), (3, 3, 3))
    x, t, _ = make.together(a, b)
    model = make.model(x, t)
    contacts = overlap(model, model.rest, SelfContact(), 0.01, 10.0)
    assert len(contacts) == 1
    assert abs(contacts.normal[0, 2]) == pytest.approx(1.0, abs=1e-6)
    assert contacts.gap[0] == pytest.approx(-0.1, rel=0.05)


def test_nothing_overlaps(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (2, 2, 2))
    model = make.model(x, t)
    far = Cylinder((5, 0, 0), (5, 0, 1), 0.1)
    assert not len(detect(model, model.rest, [far], alarm=0.1, method="volume"))
    assert not len(detect(model, model.rest, [SelfContact()], alarm=0.1, method="volume"))


def test_frictional_rows_of_volume_contacts(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (3, 3, 3))
    model = make.model(x, t)
    plane = Plane((0, 0, 0.01), (0, 0, 1), friction=0.3)
    contacts = detect(model, model.rest, [plane], alarm=0.05, method="volume", pixel=0.05, cell=0.5)
    rows = dense(contacts.frictional_rows(model, model.rest))
    assert np.allclose(rows[::3], dense(contacts.rows(model, model.rest)))
    slide = np.zeros_like(x)
    slide[:, 0] = 1.0
    shift = (rows @ slide.ravel()).reshape(-1, 3)[:, 1:]
    flat = contacts.normal[:, 2] > 0.999
    assert np.allclose(np.linalg.norm(shift[flat], axis=1), 1.0, atol=0.05)


def test_bad_input(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (1, 1, 1))
    model = make.model(x, t)
    with pytest.raises(ArgumentError, match="Pipe"):
        detect(model, model.rest, [Pipe([[0, 0, 0], [1, 0, 0]], 1.0)], alarm=0.1, method="volume")
    rod = make.model(x[:2], segments=[[0, 1]], radius=0.1)
    with pytest.raises(ArgumentError, match="closed triangles"):
        detect(rod, rod.rest, [Plane()], alarm=0.1, method="volume")
    with pytest.raises(ArgumentError, match="pixel"):
        detect(model, model.rest, [Plane((0, 0, 0.5))], alarm=0.1, method="volume", pixel=1e-5)
