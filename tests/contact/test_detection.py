"""Detection against obstacles, meshes, bodies and itself (checks B1, D7 of the inverse spec)."""

import numpy as np
import pytest

from pliant.contact import (
    BodyContact,
    Box,
    Capsule,
    Contacts,
    Cylinder,
    Detector,
    MeshObstacle,
    Pipe,
    Plane,
    SelfContact,
    Sphere,
    detect,
)
from pliant.contact.contacts import OPEN, STICK
from pliant.errors import ArgumentError


def turned(x, seed):
    q = np.random.default_rng(seed).normal(size=4)
    q /= np.linalg.norm(q)
    r = Box(lengths=(1, 1, 1), rotation=q).rotation
    return x @ r.T


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def check_rows(model, q, detector, *, h=1e-6, atol=1e-5):
    """Finite differences of gaps, contact by contact (matched by key)."""
    contacts = detector.detect(q)
    rows = dense(contacts.rows(model, q))
    rng = np.random.default_rng(5)
    tested = 0
    for _ in range(4):
        dq = rng.normal(size=len(q))
        plus, minus = detector.detect(q + h * dq), detector.detect(q - h * dq)
        for i, key in enumerate(contacts.key):
            a, b = np.flatnonzero(plus.key == key), np.flatnonzero(minus.key == key)
            if len(a) == 1 and len(b) == 1:
                slope = (plus.gap[a[0]] - minus.gap[b[0]]) / (2 * h)
                assert slope == pytest.approx(rows[i] @ dq, abs=atol)
                tested += 1
    assert tested > 0
    return contacts


def test_d7_one_contact_for_two_convex_bodies(make):
    for seed in range(12):
        a, t = make.ball(1.0, 2)
        b, s = make.ball(0.7, 2)
        a = turned(a, seed) * [1.0, 0.8, 0.9]
        b = turned(b, seed + 100)
        direction = turned(np.array([[1.0, 0, 0]]), seed + 7)[0]
        gap = (a @ direction).max() - (b @ direction).min() + 0.02
        x, tri, body = make.together((a, t), (b + gap * direction, s))
        model = make.model(x, tri, body=body)
        contacts = detect(model, model.rest, [BodyContact(0, 1)], alarm=0.5, angle_tolerance=0.0)
        assert len(contacts) == 1
        # it is the distance of the two: sample both surfaces densely to compare
        fine = MeshObstacle(b + gap * direction, s)
        u = np.random.default_rng(0).dirichlet(np.ones(3), 40)
        samples = np.einsum("sk,tki->tsi", u, a[t]).reshape(-1, 3)
        assert contacts.gap[0] <= fine.distance(samples).min() + 1e-12
        assert contacts.gap[0] >= fine.distance(samples).min() - 0.02
        assert contacts.gap[0] >= 0.0199


def test_d7_number_of_volume_contacts_changes_with_pixel_size(make):
    x, t = make.box((-0.5, -0.1, 0), (0.5, 0.1, 0.1), (20, 4, 2))
    model = make.model(x, t)
    ball = Sphere((0, 0, -0.195), 0.2)
    counts = [
        len(detect(model, model.rest, [ball], alarm=0.01, method="volume", pixel=p)) for p in (0.02, 0.005)
    ]
    assert 1 <= counts[0] < counts[1]


@pytest.mark.parametrize(
    "obstacle",
    [
        Plane((0, 0, -0.05), (0.1, 0, 1)),
        Sphere((0.5, 0.45, 1.2), 0.25),
        Box((1.5, 0.5, 0.5), (0.25, 0.3, 0.3), rotation=(0.9, 0.2, 0.1, 0.3)),
        Capsule((0.3, -0.2, -0.1), (0.6, 0.1, -0.2), 0.1),
        Cylinder((-0.2, 0.2, 0), (-0.2, 0.3, 1), 0.1).moved((0, 0, 0.01)),
    ],
    ids=lambda o: o.name,
)
def test_b1_rows_of_obstacle_contacts(make, obstacle):
    x, t = make.box((0, 0, 0), (1, 1, 1), (3, 3, 3))
    x = x + 0.03 * np.random.default_rng(0).normal(size=x.shape)
    model = make.model(x, t)
    detector = Detector(model, [obstacle], alarm=0.2)
    contacts = check_rows(model, model.rest, detector, atol=2e-4)
    n = contacts.normal
    assert np.allclose(np.linalg.norm(n, axis=1), 1.0)
    assert np.allclose(np.einsum("mi,mai->ma", n, contacts.tangents), 0.0, atol=1e-12)
    assert np.allclose(np.cross(contacts.tangents[:, 0], contacts.tangents[:, 1]), n)


def test_b1_rows_between_soft_bodies(make):
    a, t = make.ball(1.0, 2)
    b, s = make.box((-1, -1, -1), (1, 1, 1), (3, 3, 3))
    b = turned(b * 0.5, 3) + np.array([1.75, 0.05, 0.1])
    x, tri, body = make.together((a, t), (b, s))
    x = x + 0.01 * np.random.default_rng(0).normal(size=x.shape)
    model = make.model(x, tri, body=body)
    detector = Detector(model, [BodyContact(0, 1, friction=0.3)], alarm=0.5)
    contacts = check_rows(model, model.rest, detector)
    assert np.allclose(contacts.weights.sum(axis=1), 0.0)
    lead = contacts.vertices[np.arange(len(contacts)), np.argmax(contacts.weights, axis=1)]
    assert np.all(body[lead] == 0)  # normals point towards body_a
    turned_round = detect(model, model.rest, [BodyContact(1, 0)], alarm=0.5)
    assert np.allclose(turned_round.normal, -contacts.normal)
    rows = dense(contacts.frictional_rows(model, model.rest))
    assert np.allclose(rows[::3], dense(contacts.rows(model, model.rest)))
    assert rows.shape == (3 * len(contacts), model.nv)


def test_b1_rows_against_a_mesh_obstacle_in_motion(make):
    a, t = make.ball(1.0, 2)
    wedge = np.array([[0, 0, 0], [2, -1, -1], [2, 1, -1], [2, 0, 1]], float)
    faces = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]])
    obstacle = MeshObstacle(wedge, faces).moved((1.03, 0.05, 0.02), (0.9, 0.1, 0.05, 0.1))
    model = make.model(a, t)
    detector = Detector(model, [obstacle], alarm=0.3)
    contacts = check_rows(model, model.rest, detector)
    # the tip of the wedge meets a face between the vertices of the ball
    assert np.sum(contacts.weights[:, 1:] > 0.0) > 0
    reference = MeshObstacle(a, t)
    tip = obstacle.pose.apply(wedge[:1])
    assert contacts.gap.min() == pytest.approx(reference.distance(tip)[0], abs=1e-9)


@pytest.mark.parametrize("depth", [-0.02, 0.02])
def test_vertex_over_face_has_the_signed_gap(make, depth):
    b, s = make.box((-1, -1, -1), (1, 1, 0), (2, 2, 2))
    pyramid = np.array([[0.1, 0.2, 0], [1, 0, 1], [-0.5, 0.9, 1], [-0.5, -0.9, 1]], float)
    faces = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]])
    x, tri, body = make.together((pyramid + np.array([0, 0, depth]), faces), (b, s))
    model = make.model(x, tri, body=body)
    contacts = detect(model, model.rest, [BodyContact(0, 1)], alarm=0.1)
    assert len(contacts) == 1
    assert contacts.gap[0] == pytest.approx(depth)
    assert np.allclose(contacts.normal[0], [0, 0, 1])
    assert contacts.max_penetration == pytest.approx(max(0.0, -depth))


@pytest.mark.parametrize("depth", [-0.02, 0.02])
def test_crossed_edges_have_the_signed_gap(make, depth):
    roof = np.array([[-1, 0, 0], [1, 0, 0], [-1, 1, -1], [1, 1, -1], [-1, -1, -1], [1, -1, -1]], float)
    faces = np.array([[0, 1, 3], [0, 3, 2], [0, 4, 5], [0, 5, 1], [2, 3, 5], [2, 5, 4], [0, 2, 4], [1, 5, 3]])
    upper = roof @ np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1.0]])  # turned upside down and by 90 degrees
    x, tri, body = make.together((upper + np.array([0, 0, depth]), faces), (roof, faces))
    model = make.model(x, tri, body=body)
    contacts = detect(model, model.rest, [BodyContact(0, 1)], alarm=0.1)
    assert len(contacts) == 1
    assert contacts.gap[0] == pytest.approx(depth)
    assert np.allclose(contacts.normal[0], [0, 0, 1])


def test_small_sphere_between_vertices_is_found(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (1, 1, 1))
    model = make.model(x, t)
    contacts = detect(model, model.rest, [Sphere((0.55, 0.3, 1.06), 0.05)], alarm=0.05)
    assert len(contacts) == 1
    assert contacts.gap[0] == pytest.approx(0.01, abs=1e-9)
    assert np.allclose(contacts.weights.sum(), 1.0)
    on_edge = detect(model, model.rest, [Sphere((0.5, 1.04, 1.03), 0.04)], alarm=0.05)
    assert len(on_edge) == 1
    assert on_edge.gap[0] == pytest.approx(0.01, abs=1e-9)
    assert not len(detect(model, model.rest, [Sphere((0.5, 0.3, 1.06), 0.05)], alarm=0.05, interiors=False))


def test_rod_touches_with_its_radius_and_between_nodes(make):
    x = np.stack([np.linspace(0, 1, 6), np.zeros(6), np.zeros(6)], axis=1)
    segments = np.stack([np.arange(5), np.arange(1, 6)], axis=1)
    model = make.model(x, segments=segments, radius=0.01)
    contacts = detect(model, model.rest, [Plane((0, 0, -0.02), (0, 0, 1))], alarm=0.05)
    assert np.allclose(contacts.gap, 0.01)
    assert len(contacts) == 6
    between = detect(model, model.rest, [Sphere((0.3, 0, 0.035), 0.02)], alarm=0.03)
    assert between.gap.min() == pytest.approx(0.005)
    assert np.allclose(between.normal[np.argmin(between.gap)], [0, 0, -1])


def test_rod_in_a_pipe(make):
    x = np.stack([np.linspace(0.1, 1.9, 11), np.zeros(11), np.zeros(11)], axis=1)
    segments = np.stack([np.arange(10), np.arange(1, 11)], axis=1)
    model = make.model(x, segments=segments, radius=0.02)
    pipe = Pipe([[0, 0, 0], [2, 0, 0]], 0.1)
    detector = Detector(model, [pipe], alarm=0.2)
    q = (x + np.array([0, 0.03, 0])).ravel()
    contacts = check_rows(model, q, detector)
    assert np.allclose(contacts.gap, 0.05)
    assert np.allclose(contacts.normal, [0, -1, 0])


def test_two_rods_cross(make):
    a = np.array([[-1, 0, 0], [1, 0, 0], [0.1, -1, 0.1], [0.1, 1, 0.1]], float)
    model = make.model(a, segments=[[0, 1], [2, 3]], radius=0.03, body=[0, 0, 1, 1])
    contacts = detect(model, model.rest, [BodyContact(0, 1)], alarm=0.1)
    assert len(contacts) == 1
    assert contacts.gap[0] == pytest.approx(0.04)
    assert np.allclose(contacts.normal[0], [0, 0, -1])


def folded(make, gap):
    """A U: two plates joined at one end; the slot between them is `gap` high."""
    x, t = make.box((0, 0, 0), (1, 0.3, 0.3), (20, 3, 3))
    rest = x.copy()
    # cut a slot: bend the bar by 180 degrees about the y axis
    radius = (gap + 0.3) / 2
    s = x[:, 0] - 0.5
    arc = np.pi * radius
    angle = np.clip((s + arc / 2) / radius, 0, np.pi)
    straight = s - np.clip(s, -arc / 2, arc / 2)
    z = 0.15 - x[:, 2]  # the top becomes the inner side; the map keeps the orientation
    bent = np.stack(
        [
            (radius + z) * np.sin(angle) + straight * np.cos(angle),
            x[:, 1],
            -(radius + z) * np.cos(angle),
        ],
        axis=1,
    )
    return rest, bent, t


def test_self_contact_of_a_bent_bar(make):
    rest, bent, t = folded(make, -0.02)
    model = make.model(rest, t)
    detector = Detector(model, [SelfContact()], alarm=0.05)
    assert not len(detector.detect(rest.ravel()))
    contacts = detector.detect(bent.ravel())
    _, apart, _ = folded(make, 0.03)
    near = detector.detect(apart.ravel())
    _, far, _ = folded(make, 0.1)
    assert not len(detector.detect(far.ravel()))
    flat = np.abs(near.normal[:, 2]) > 0.999
    assert flat.sum() >= 4
    assert np.allclose(near.gap[flat], 0.03, atol=2e-3)
    assert contacts.max_penetration == pytest.approx(0.02, abs=2e-3)
    check_rows(model, apart.ravel() + 1e-4 * np.random.default_rng(0).normal(size=apart.size), detector)


def test_self_contact_ignores_thin_walls(make):
    x, t = make.box((0, 0, 0), (1, 1, 0.02), (8, 8, 1))
    model = make.model(x, t)
    detector = Detector(model, [SelfContact()], alarm=0.05)
    assert not len(detector.detect(model.rest))
    bent = x.copy()
    bent[:, 2] += 0.1 * x[:, 0] ** 2
    assert not len(detector.detect(bent.ravel()))


def test_self_contact_separation_excludes_near_pairs(make):
    rest, bent, t = folded(make, 0.03)
    model = make.model(rest, t)
    assert len(detect(model, bent.ravel(), [SelfContact()], alarm=0.05))
    assert not len(detect(model, bent.ravel(), [SelfContact(separation=2.0)], alarm=0.05))


def test_stacked_thin_plates_do_not_penetrate_through_each_other(make):
    a = make.box((0, 0, 0), (1, 1, 0.02), (4, 4, 1))
    b = make.box((0.1, 0.1, 0.03), (0.9, 0.9, 0.05), (4, 4, 1))
    x, t, body = make.together(a, b)
    model = make.model(x, t, body=body)
    contacts = detect(model, model.rest, [BodyContact(0, 1)], alarm=0.2)
    assert len(contacts)
    assert np.allclose(contacts.gap, 0.01)


def test_minimum_keeps_fewer_vertices_than_all(make):
    x, t = make.ball(1.0, 3)
    model = make.model(x, t)
    plane = Plane((0, 0, -1.01), (0, 0, 1))
    everything = detect(model, model.rest, [plane], alarm=0.2)
    few = detect(model, model.rest, [plane], alarm=0.2, vertices="minimum", angle_tolerance=0.0)
    assert len(few) == 1
    assert len(everything) > 10
    assert few.gap[0] == pytest.approx(everything.gap.min())


def test_keys_persist_and_forces_are_warm_started(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (3, 3, 3))
    model = make.model(x, t)
    plane = Plane((0, 0, -0.01), (0, 0, 1), friction=0.5)
    detector = Detector(model, [plane], alarm=0.05)
    first = detector.detect(model.rest)
    m = len(first)
    solved = first.with_forces(np.arange(1.0, m + 1), np.tile([0.1, 0.0], (m, 1)))
    assert np.all(solved.states == STICK)
    shift = (x + np.array([0.01, 0, -0.005])).ravel()
    second = detector.detect(shift, solved)
    assert np.array_equal(np.sort(second.key), np.sort(first.key))
    assert np.allclose(second.forces, solved.forces)
    assert np.allclose(second.tangential, solved.tangential)
    slip = second.slip(model.skin_positions(shift))
    world = np.einsum("ma,mai->mi", slip, second.tangents)
    assert np.allclose(world, [0.01, 0, 0])
    fresh = detector.detect(shift)
    assert np.allclose(fresh.slip(model.skin_positions(shift)), 0.0)
    assert np.all(fresh.states == OPEN)


def test_anchors_travel_with_a_moving_obstacle(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (2, 2, 2))
    model = make.model(x, t)
    plane = Plane((0, 0, 0), (0, 0, 1), friction=0.5)
    detector = Detector(model, [plane], alarm=0.05)
    held = detector.detect(model.rest)
    held = held.with_forces(np.ones(len(held)))
    moved = plane.moved((0.1, 0, 0))
    carried = detector.detect((x + np.array([0.1, 0, 0])).ravel(), held, obstacles=[moved])
    assert np.allclose(carried.slip(x + np.array([0.1, 0, 0])), 0.0)
    stayed = detector.detect(model.rest, held, obstacles=[moved])
    assert np.allclose(np.linalg.norm(stayed.slip(x), axis=1), 0.1)


def test_contact_distance_is_subtracted(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (1, 1, 1))
    model = make.model(x, t)
    contacts = detect(model, model.rest, [Plane((0, 0, -0.05), (0, 0, 1))], alarm=0.1, contact_distance=0.02)
    assert np.allclose(contacts.gap, 0.03)


def test_no_obstacles_and_nothing_near(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (1, 1, 1))
    model = make.model(x, t)
    assert len(detect(model, model.rest, [], alarm=0.1)) == 0
    away = detect(model, model.rest, [Plane((0, 0, -5), (0, 0, 1))], alarm=0.1)
    assert len(away) == 0
    assert away.max_penetration == 0.0
    assert away.rows(model, model.rest).shape == (0, model.nv)
    assert isinstance(away.matched(away), Contacts)


def test_bad_input(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (1, 1, 1))
    model = make.model(x, t)
    plane = Plane()
    for options, argument in [
        ({"alarm": 0.0}, "alarm"),
        ({"alarm": np.nan}, "alarm"),
        ({"alarm": 1.0, "method": "magic"}, "method"),
        ({"alarm": 1.0, "vertices": "some"}, "vertices"),
        ({"alarm": 1.0, "contact_distance": -1.0}, "contact_distance"),
        ({"alarm": 1.0, "angle_tolerance": 2.0}, "angle_tolerance"),
    ]:
        with pytest.raises(ArgumentError) as error:
            detect(model, model.rest, [plane], **options)
        assert error.value.argument == argument
    with pytest.raises(ArgumentError, match="finite"):
        detect(model, model.rest * np.nan, [plane], alarm=1.0)
    with pytest.raises(ArgumentError, match="obstacles"):
        detect(model, model.rest, [3], alarm=1.0)
    with pytest.raises(ArgumentError, match="body_b"):
        detect(model, model.rest, [BodyContact(0, 1)], alarm=1.0)
    with pytest.raises(ArgumentError, match="obstacles"):
        Detector(model, [plane], alarm=1.0).detect(model.rest, obstacles=[Sphere()])


def test_the_order_of_obstacles_does_not_matter(make):
    a, b = make.ball(1.0, 2), make.box((1.05, -0.5, -0.5), (2, 0.5, 0.5), (3, 3, 3))
    x, t, body = make.together(a, b)
    model = make.model(x, t, body=body)
    mesh = MeshObstacle(*make.box((-2, -1, -1), (-1.03, 1, 1), (2, 2, 2))).moved((0, 0, 0), (0.99, 0, 0, 0.1))
    soft = BodyContact(0, 1)
    alone = detect(model, model.rest, [soft], alarm=0.2)
    mixed = detect(model, model.rest, [SelfContact(), mesh, soft, Plane((0, 0, -1.1))], alarm=0.2)
    assert np.allclose(np.sort(mixed.gap[mixed.obstacle == 2]), np.sort(alone.gap))
    assert np.any(mixed.obstacle == 1)
    assert np.any(mixed.obstacle == 3)
    assert mixed.rows(model, model.rest).shape == (len(mixed), model.nv)


def test_random_states_stay_finite_and_consistent(make):
    rng = np.random.default_rng(0)
    a, b = make.ball(0.5, 2), make.box((0.4, -0.3, -0.3), (1.2, 0.3, 0.3), (3, 2, 2))
    x, t, body = make.together(a, b)
    model = make.model(x, t, body=body)
    obstacles = [Plane((0, 0, -0.45)), Sphere((0.9, 0, 0.45), 0.2), SelfContact(), BodyContact(0, 1)]
    detector = Detector(model, obstacles, alarm=0.1)
    previous = None
    for _ in range(100):
        q = (x + 0.05 * rng.normal(size=x.shape) + 0.2 * rng.normal(size=3) * (body == 1)[:, None]).ravel()
        previous = detector.detect(q, previous)
        assert np.all(np.isfinite(previous.gap))
        assert np.all(previous.gap < 0.1)
        assert np.allclose(np.linalg.norm(previous.normal, axis=1), 1.0)
        assert len(np.unique(previous.key)) == len(previous)
        previous = previous.with_forces(rng.uniform(size=len(previous)))
