"""Pairs of boxes found in trees with clusters as leaves, against brute force."""

import numpy as np
import pytest

from pliant._kernels import bvh, clusters


def tree_of(low, high, built_at=None, groups=None):
    """low, high (n, 3) or (n, 6); normals are left open where there are none."""
    n = len(low)
    if low.shape[1] == 3:
        low, high = np.hstack([low, np.full((n, 3), -1.0)]), np.hstack([high, np.full((n, 3), 1.0)])
    groups = np.zeros(n, dtype=np.int64) if groups is None else groups
    centres = np.ascontiguousarray((0.5 * (low + high) if built_at is None else built_at)[:, :3])
    children, ranges, order = bvh.build(centres, groups)
    left, first, size, leaf, group = clusters.outline(children, ranges, groups, order)
    rows = np.zeros((len(left), 12), dtype=np.float32)
    lanes = np.zeros((leaf.max() + 1, 12, clusters.WIDTH), dtype=np.float32)
    order = order.astype(np.int32)
    clusters.pack(left, first, size, leaf, order, np.ascontiguousarray(low), np.ascontiguousarray(high), rows, lanes)
    return left, first, size, leaf, group, order, rows, lanes


def boxes(seed, n, at=0.0):
    rng = np.random.default_rng(seed)
    centre, half = at + rng.uniform(size=(n, 3)), 0.05 * rng.uniform(size=(n, 3))
    return centre - half, centre + half


def brute(low1, high1, low2, high2, margin):
    meet = (low1[:, None] <= high2[None] + margin).all(axis=2)
    meet &= (low2[None] <= high1[:, None] + margin).all(axis=2)
    return {(int(i), int(j)) for i, j in zip(*np.nonzero(meet), strict=True)}


def run(tree1, tree2, same, margin, turn=0.0, allowed=None, stop=0):
    allowed = np.ones((9, 9), dtype=bool) if allowed is None else allowed
    task = (tree1, tree2, same, margin, turn, allowed)
    work = np.zeros((1, 2), dtype=np.int32)
    if stop:
        work = clusters.pairs_between(*task, work, stop)
        assert len(work) > 10
        found = [clusters.pairs_between(*task, part, 0) for part in np.array_split(work, 7)]
        return [tuple(map(int, row)) for row in np.concatenate(found)]
    return [tuple(map(int, row)) for row in clusters.pairs_between(*task, work, 0)]


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 17, 300])
@pytest.mark.parametrize("margin", [0.0, 0.03])
def test_pairs_between_two_trees_equal_brute_force(n, margin):
    a, b = boxes(0, n), boxes(1, 2 * n)
    found = run(tree_of(*a), tree_of(*b), False, margin)
    assert len(found) == len(set(found))
    assert set(found) == brute(*a, *b, margin)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 17, 300])
def test_pairs_within_a_tree_are_ordered_once_and_complete(n):
    a = boxes(2, n)
    tree = tree_of(*a)
    found = run(tree, tree, True, 0.02)
    assert len(set(found)) == len(found)
    assert set(found) == {(i, j) for i, j in brute(*a, *a, 0.02) if i < j}


def test_the_pieces_of_work_change_nothing_not_even_the_order():
    tree, other = tree_of(*boxes(3, 400)), tree_of(*boxes(4, 150))
    for task in ((tree, tree, True, 0.03), (tree, other, False, 0.03)):
        assert run(*task, stop=25) == run(*task)


def test_nothing_is_lost_by_single_precision_far_from_the_origin():
    a = boxes(4, 200, at=1e3)
    tree = tree_of(*a)
    assert {(i, j) for i, j in brute(*a, *a, 1e-3) if i < j} <= set(run(tree, tree, True, 1e-3))


def test_refit_after_motion_finds_the_same_pairs_as_a_new_tree():
    old, new = boxes(3, 200), boxes(4, 200)
    refitted, rebuilt = tree_of(*new, built_at=old[0]), tree_of(*new)
    assert set(run(refitted, refitted, True, 0.01)) == set(run(rebuilt, rebuilt, True, 0.01))


def test_opposed_normals_are_needed_to_meet():
    low = np.array([[0.0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, -1]])
    tree = tree_of(low, low.copy())
    assert set(run(tree, tree, True, 0.1)) == {(0, 2), (1, 2)}


def test_normals_may_miss_each_other_by_the_turn():
    low = np.array([[0.0, 0, 0, 0, 0, 1.0], [0, 0, 0, 0, 0, -0.8]])
    tree = tree_of(low, low.copy())
    assert len(run(tree, tree, True, 0.1, 0.1)) == 0
    assert len(run(tree, tree, True, 0.1, 0.3)) == 1


def test_groups_that_may_not_meet_are_not_searched():
    low, high = boxes(5, 200)
    groups = np.random.default_rng(1).integers(0, 2, size=200)
    tree = tree_of(low, high, groups=groups)
    every = {(i, j) for i, j in brute(low, high, low, high, 0.02) if i < j}
    for allowed in (np.eye(2, dtype=bool), ~np.eye(2, dtype=bool)):
        found = set(run(tree, tree, True, 0.02, allowed=allowed))
        assert found == {(i, j) for i, j in every if allowed[groups[i], groups[j]]}


def test_equal_boxes_do_not_loop():
    low = np.zeros((50, 3))
    tree = tree_of(low, low + 1.0)
    assert len(run(tree, tree, True, 0.0)) == 50 * 49 // 2  # more than there is room for at first


def test_empty():
    tree = tree_of(np.zeros((0, 3)), np.zeros((0, 3)))
    assert run(tree, tree, True, 0.0) == []
