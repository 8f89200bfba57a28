"""Local minimum distance: trees against brute force, refit against rebuild."""

import numpy as np
import pytest

from pliant.contact import BodyContact, Detector, MeshObstacle, SelfContact
from pliant.contact.candidates import Candidates
from pliant.contact.proximity import behind_at_rest, feature_pairs, local_minima
from pliant.contact.surface import Surface, Tree


class EveryPair(Tree):
    """A tree that prunes nothing."""

    def pairs(self, other, search, pieces=None):
        n, m = len(self.order), len(other.order)
        i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
        keep = i < j if other is self else np.ones_like(i, dtype=bool)
        return np.stack([i[keep], j[keep]], axis=1).astype(np.int32)


class EveryFeature(Candidates):
    """Candidates that only topology has sorted out."""

    def refresh(self, tree1, first, tree2, second):
        def all_pairs(n, m, keep):
            i, j = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
            if tree1 is tree2:
                chosen = np.array([keep(a, b) for a, b in zip(i, j, strict=True)])
                i, j = i[chosen], j[chosen]
            return np.stack([i, j], axis=1).astype(np.int32)

        ring = [set(first.ring[a:b]) | {k} for k, (a, b) in enumerate(zip(first.ring_start[:-1], first.ring_start[1:]))]

        def apart(some, others):
            return not any(v in ring[w] for v in some for w in others)

        prims, edges = first.prims, first.edges
        one = all_pairs(len(first.x), len(second.prims), lambda v, p: apart([v], prims[p]))
        two = one[:0] if tree1 is tree2 else all_pairs(len(second.x), len(first.prims), None)
        return one, two, all_pairs(len(edges), len(second.edges), lambda e, h: e < h and apart(edges[e], edges[h]))


def unordered(ids):
    """Kind and features of the contacts, whichever side they came from."""
    found = set()
    for kind, a, b in ids[:, :3].tolist():
        swapped = {2: 1, 5: 4}.get(kind, kind)
        found.add((swapped, frozenset((a, b)) if kind in (3, 6) else (b, a) if swapped != kind else (a, b)))
    return found


def blob(make, seed, level=2, noise=0.15):
    rng = np.random.default_rng(seed)
    x, t = make.ball(1.0, level)
    return x * (1.0 + noise * rng.normal(size=(len(x), 1))) + 0.02 * rng.normal(size=x.shape), t


def surface_of(x, t, body=None):
    body = np.zeros(len(x), dtype=int) if body is None else body
    return Surface(t, np.zeros((0, 2), dtype=int), np.zeros(len(x)), body)


def as_set(ids):
    return {tuple(row) for row in ids[:, :3]}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noise", [0.02, 0.15, 0.35])
def test_c1_tree_equals_brute_force_within_one_body(make, seed, noise):
    x, t = blob(make, seed, noise=noise)
    squeezed = x * [1.0, 1.0, 0.12]  # opposite sides come close
    surface = surface_of(x, t)
    faces = surface.faces(squeezed)
    allowed = np.ones((1, 1), dtype=bool)
    found = []
    for kind in (Tree, EveryPair):
        tree = kind(surface, x)
        tree.refit(faces, slack=0.1)
        near = Candidates(alarm=0.2, allowed=allowed, rest=x)
        found.append(local_minima(tree, faces, tree, faces, near, tolerance=0.05)[1])
    assert as_set(found[0]) == as_set(found[1])
    assert len(found[1]) == len(as_set(found[1]))  # nothing twice


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noise", [0.02, 0.15, 0.35])
def test_c1_tree_equals_brute_force_between_bodies(make, seed, noise):
    a, b = blob(make, seed, noise=noise), blob(make, seed + 50, noise=noise)
    first, second = surface_of(*a), surface_of(*b)
    moved = b[0] + np.array([2.0, 0.1, 0.0])
    f, g = first.faces(a[0]), second.faces(moved)
    allowed = np.ones((1, 1), dtype=bool)
    found = []
    for kind in (Tree, EveryPair):
        tree1, tree2 = kind(first, a[0]), kind(second, moved)
        tree1.refit(f, slack=0.1)
        tree2.refit(g, slack=0.1)
        near = Candidates(alarm=0.5, allowed=allowed, rest=a[0])
        found.append(feature_pairs(tree1, f, tree2, g, near, tolerance=0.05))
    assert as_set(found[0][1]) == as_set(found[1][1])
    assert len(found[0][0]) > 0


@pytest.mark.parametrize("seed", range(5))
def test_the_smallest_distance_is_among_the_contacts(make, seed):
    a, b = blob(make, seed), blob(make, seed + 20)
    moved = b[0] + np.array([2.0 * 1.5, 0.1, 0.0])
    x, t, body = make.together(a, (moved, b[1]))
    model = make.model(x, t, body=body)
    contacts = Detector(model, [BodyContact(0, 1)], alarm=2.0, angle_tolerance=0.0).detect(model.rest)
    u = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    on_a = np.einsum("sk,tki->tsi", u, a[0][a[1]]).reshape(-1, 3)
    on_b = np.einsum("sk,tki->tsi", u, moved[b[1]]).reshape(-1, 3)
    mesh_a, mesh_b = MeshObstacle(*a), MeshObstacle(moved, b[1])
    sampled = min(mesh_b.distance(on_a).min(), mesh_a.distance(on_b).min(), mesh_a.distance(moved).min())
    assert contacts.gap.min() <= sampled + 1e-12
    assert contacts.gap.min() >= sampled - 0.05


def test_c2_refit_equals_rebuild(make):
    x, t = blob(make, 3, level=3)
    squeezed = x * [1.0, 1.0, 0.1]
    surface = surface_of(x, t)
    faces = surface.faces(squeezed)
    allowed = np.ones((1, 1), dtype=bool)
    sets = []
    for built_at in (x, squeezed):
        tree = Tree(surface, built_at)
        tree.refit(faces, slack=0.1)
        near = Candidates(alarm=0.1, allowed=allowed, rest=x)
        sets.append(feature_pairs(tree, faces, tree, faces, near, tolerance=0.05))
    for one, two in zip(*sets, strict=True):  # not even their order depends on the tree
        assert np.array_equal(one, two)
    assert len(sets[0][0])


def test_self_contact_is_translation_and_rotation_invariant(make):
    x, t = blob(make, 1, noise=0.05)
    squeezed = x * [1.0, 1.0, 0.12]
    model = make.model(x, t)
    detector = Detector(model, [SelfContact()], alarm=0.3)
    angle = 0.7
    r = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    one = detector.detect(squeezed.ravel())
    two = detector.detect((squeezed @ r.T + np.array([3.0, 1.0, 2.0])).ravel())
    assert set(one.key) == set(two.key)
    order1, order2 = np.argsort(one.key), np.argsort(two.key)
    assert np.allclose(one.gap[order1], two.gap[order2])
    assert np.allclose(one.normal[order1] @ r.T, two.normal[order2])


def test_thin_walls_are_listed_at_rest(make):
    x, t = make.box((0, 0, 0), (1, 1, 0.02), (6, 6, 1))
    surface = surface_of(x, t)
    allowed = np.ones((1, 1), dtype=bool)
    skip = behind_at_rest(Tree(surface, x), surface.faces(x), allowed, depth=0.05)
    assert len(skip)
    assert np.all(np.diff(skip) > 0)
    thick, t = make.box((0, 0, 0), (1, 1, 0.2), (6, 6, 1))
    surface = surface_of(thick, t)
    assert not len(behind_at_rest(Tree(surface, thick), surface.faces(thick), allowed, depth=0.05))


@pytest.mark.parametrize("seed", range(3))
def test_c1_nothing_is_sorted_out_that_all_features_would_find(make, seed):
    rng = np.random.default_rng(seed)
    slabs = make.box((0, 0, 0), (1, 1, 0.3), (4, 4, 1)), make.box((0.1, 0.05, 0.35), (1.2, 0.9, 0.7), (3, 4, 1))
    x, t, part = make.together(*slabs)
    x = x + 0.02 * rng.normal(size=x.shape)
    surface = surface_of(x, t)
    tree, allowed = Tree(surface, x), np.ones((1, 1), dtype=bool)
    found = 0
    kept = Candidates(alarm=0.1, allowed=allowed, rest=x)
    for lower in (0.0, 0.002, 0.01, 0.06):
        faces = surface.faces(x - np.outer(part, [0.3 * lower, 0.0, lower]))
        tree.refit(faces, slack=0.1)
        sets = []
        for near in (kept, EveryFeature(alarm=0.1, allowed=allowed, rest=x)):
            sets.append(unordered(local_minima(tree, faces, tree, faces, near, tolerance=0.05)[1]))
        assert sets[0] == sets[1]
        found += len(sets[0])
    assert found > 20
