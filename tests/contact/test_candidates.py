"""Candidates: lists that are kept answer exactly as lists that are made anew."""

from pathlib import Path

import numpy as np
import pytest

from pliant._kernels import clusters
from pliant.algebra.threads import use_threads
from pliant.contact import BodyContact, Detector, MeshObstacle, SelfContact
from pliant.contact.candidates import Candidates
from pliant.contact.proximity import local_minima
from pliant.contact.surface import Surface, Tree


def approach(make, seed):
    """Two lumps of one body, and a path along which one rolls on the other, in small and in large steps."""
    rng = np.random.default_rng(seed)
    x, t, part = make.together(make.ball(1.0, 3), make.ball(0.5, 3, (1.6, 0, 0)))
    x = x * (1.0 + 0.02 * rng.normal(size=(len(x), 1)))
    path = []
    for s in (0.0, 0.01, 0.02, 0.04, 0.3, 0.31, 0.5, 0.9, 0.91, 0.911):
        turn = np.array([[np.cos(s), -np.sin(s), 0], [np.sin(s), np.cos(s), 0], [0, 0, 1.0]])
        y = np.where(part[:, None] == 1, (x - [0.15 * s, 0, 0]) @ turn.T, x)
        path.append(y + 0.001 * rng.normal(size=x.shape))
    return x, t, path


@pytest.fixture
def slab(make):
    """Positions and model of a flat box."""
    x, triangles = make.box((0, 0, 0), (1, 1, 0.2), (6, 6, 2))
    return x, make.model(x, triangles)


@pytest.fixture
def calls(monkeypatch):
    """Grows by one entry whenever a list of pairs is made."""
    seen, pairs_between = [], clusters.pairs_between
    monkeypatch.setattr(clusters, "pairs_between", lambda *a: seen.append(1) or pairs_between(*a))
    return seen


@pytest.mark.parametrize("seed", range(4))
def test_c1_lists_that_are_kept_find_what_fresh_lists_find_in_the_same_order(make, seed):
    x, t, path = approach(make, seed)
    surface = Surface(t, np.zeros((0, 2), dtype=int), np.zeros(len(x)), np.zeros(len(x), dtype=int))
    tree = Tree(surface, x)
    allowed = np.ones((1, 1), dtype=bool)
    kept = Candidates(alarm=0.2, allowed=allowed, rest=x)
    found = 0
    for y in path:
        faces = surface.faces(y)
        tree.refit(faces, slack=0.1)
        fresh = Candidates(alarm=0.2, allowed=allowed, rest=x, span=0.0)
        one = local_minima(tree, faces, tree, faces, kept, tolerance=0.05)
        two = local_minima(tree, faces, tree, faces, fresh, tolerance=0.05)
        assert np.array_equal(one[0], two[0])
        assert np.array_equal(one[1], two[1])
        found += len(one[0])
    assert found > 20


def test_a_small_motion_keeps_the_list_and_a_large_one_does_not(slab, calls):
    x, model = slab
    detector = Detector(model, [SelfContact()], alarm=0.05)
    calls.clear()  # the thin walls of the rest shape
    for k in range(4):  # until it is known that motions are small
        detector.detect((x * [1.0, 1.0, 1.0 + 1e-3 * k]).ravel())
    assert len(calls) == 4
    detector.detect((x * [1.0, 1.0, 1.004]).ravel())
    detector.detect((x + 5.0).ravel())  # nothing has moved relative to anything else
    assert len(calls) == 4
    detector.detect((x * [1.0, 1.2, 1.0]).ravel())
    assert len(calls) == 5


def test_the_list_at_rest_is_made_once_for_all_detectors_of_a_skin(slab, calls):
    x, model = slab
    found = [Detector(model, [SelfContact()], alarm=a, angle_tolerance=w).detect(x.ravel())
             for a, w in ((0.3, 0.05), (0.3, 0.05), (0.1, 0.05), (0.3, 0.2))]  # fmt: skip
    assert len(calls) == 2 + 1 + 2  # thin walls and pairs; the same again for nothing; another alarm, another tolerance
    assert np.array_equal(found[0].key, found[1].key)
    assert np.array_equal(found[0].gap, found[1].gap)


def test_an_iteration_that_converges_keeps_its_list_at_the_end(slab, calls):
    x, model = slab
    detector = Detector(model, [SelfContact()], alarm=0.05)
    calls.clear()  # the thin walls of the rest shape
    poses = [(x * [1.0, 1.0, 1.0 + stretch]).ravel() for stretch in (0.0, 1.0, 1.1, 1.101, 1.1012)]
    found = [detector.detect(q) for q in poses]
    assert len(calls) == 3
    for contacts, q in zip(found, poses, strict=True):
        assert np.array_equal(contacts.key, Detector(model, [SelfContact()], alarm=0.05).detect(q).key)


def test_soft_bodies_and_rigid_meshes_have_their_own_lists(make):
    a, b = make.ball(1.0, 2), make.ball(1.0, 2, (2.05, 0, 0))
    x, t, body = make.together(a, b)
    model = make.model(x, t, body=body)
    stone = MeshObstacle(*make.ball(1.0, 2, (0, 2.05, 0)))
    detector = Detector(model, [BodyContact(0, 1), stone, SelfContact()], alarm=0.2)
    for shift in (0.0, 0.01, 0.4, 0.0):
        moved = x + np.where(body[:, None] == 1, [shift, 0, 0], 0.0)
        found = detector.detect(moved.ravel())
        fresh = Detector(model, [BodyContact(0, 1), stone, SelfContact()], alarm=0.2).detect(moved.ravel())
        assert np.array_equal(found.key, fresh.key)
        assert np.array_equal(found.gap, fresh.gap)
        assert (found.obstacle == 0).any() == (shift < 0.2)
        assert (found.obstacle == 1).any()


def test_threads_change_nothing_not_even_the_order(make, monkeypatch):
    monkeypatch.setattr("pliant.contact.candidates._MANY", 100)
    x, t, path = approach(make, 0)
    surface = Surface(t, np.zeros((0, 2), dtype=int), np.zeros(len(x)), np.zeros(len(x), dtype=int))
    tree, allowed = Tree(surface, x), np.ones((1, 1), dtype=bool)
    for y in path[:3]:
        faces = surface.faces(y)
        tree.refit(faces, slack=0.1)
        lists = []
        for threads in (1, 2, 3):
            with use_threads(threads):
                near = Candidates(alarm=0.2, allowed=allowed, rest=x)
                lists.append(near.refresh(tree, faces, tree, faces))
        assert len(lists[0][0]) > 20
        for other in lists[1:]:
            assert all(np.array_equal(a, b) for a, b in zip(lists[0], other, strict=True))


def test_one_package_searches_for_pairs():
    """There is one detection code: nobody else uses its kernels."""
    source = Path(clusters.__file__).parent.parent
    own = ("clusters", "facing", "proximity", "sight", "crossing")
    for file in source.rglob("*.py"):
        if file.parent.name not in ("contact", "_kernels"):
            text = file.read_text()
            assert not any(f"_kernels.{name}" in text for name in own), file
