"""Box trees against brute force."""

import numpy as np
import pytest

from pliant._kernels import bvh


def tree_of(low, high, built_at=None):
    centres = 0.5 * (low + high) if built_at is None else built_at
    children, ranges, order = bvh.build(np.ascontiguousarray(centres[:, :3]))
    node_low, node_high = np.zeros((len(children), low.shape[1])), np.zeros((len(children), low.shape[1]))
    bvh.refit(children, ranges, order, low, high, node_low, node_high)
    return children, ranges, order, node_low, node_high, low, high


def boxes(seed, n):
    rng = np.random.default_rng(seed)
    centre, half = rng.uniform(size=(n, 3)), 0.05 * rng.uniform(size=(n, 3))
    return centre - half, centre + half


def brute(low1, high1, low2, high2, margin):
    meet = (low1[:, None] <= high2[None] + margin).all(axis=2)
    meet &= (low2[None] <= high1[:, None] + margin).all(axis=2)
    return set(zip(*np.nonzero(meet), strict=True))


def run(tree1, tree2, same, margin):
    return [tuple(map(int, row)) for row in bvh.pairs_between(tree1, tree2, same, margin, 0.0)]


@pytest.mark.parametrize("n", [1, 2, 3, 17, 300])
@pytest.mark.parametrize("margin", [0.0, 0.03])
def test_pairs_between_two_trees_equal_brute_force(n, margin):
    a, b = boxes(0, n), boxes(1, 2 * n)
    found = run(tree_of(*a), tree_of(*b), False, margin)
    assert len(found) == len(set(found))
    assert set(found) == {(int(i), int(j)) for i, j in brute(*a, *b, margin)}


@pytest.mark.parametrize("n", [1, 2, 3, 17, 300])
def test_pairs_within_a_tree_are_unordered_and_complete(n):
    a = boxes(2, n)
    tree = tree_of(*a)
    found = run(tree, tree, True, 0.02)
    unordered = {tuple(sorted(p)) for p in found}
    assert len(unordered) == len(found)
    assert unordered == {(int(i), int(j)) for i, j in brute(*a, *a, 0.02) if i < j}


def test_refit_after_motion_finds_the_same_pairs_as_a_new_tree():
    old, new = boxes(3, 200), boxes(4, 200)
    refitted = tree_of(*new, built_at=old[0])
    rebuilt = tree_of(*new)
    one = {tuple(sorted(p)) for p in run(refitted, refitted, True, 0.01)}
    two = {tuple(sorted(p)) for p in run(rebuilt, rebuilt, True, 0.01)}
    assert one == two


def test_every_node_contains_its_primitives_and_children_follow_parents():
    low, high = boxes(5, 100)
    children, ranges, order, node_low, node_high, _, _ = tree_of(low, high)
    assert sorted(order) == list(range(100))
    for node, (first, size) in enumerate(ranges):
        inside = order[first : first + size]
        assert np.all(low[inside] >= node_low[node])
        assert np.all(high[inside] <= node_high[node])
        if children[node, 0] >= 0:
            assert children[node].min() > node


def test_opposed_normals_are_needed_to_meet():
    low = np.array([[0.0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, -1]])
    tree = tree_of(low, low.copy())
    assert {tuple(sorted(p)) for p in run(tree, tree, True, 0.1)} == {(0, 2), (1, 2)}


def test_normals_may_miss_each_other_by_the_turn():
    low = np.array([[0.0, 0, 0, 0, 0, 1.0], [0, 0, 0, 0, 0, -0.8]])
    tree = tree_of(low, low.copy())
    assert len(bvh.pairs_between(tree, tree, True, 0.1, 0.1)) == 0
    assert len(bvh.pairs_between(tree, tree, True, 0.1, 0.3)) == 1


def test_changes_are_the_largest_of_any_bound():
    low, high = np.zeros((5, 6)), np.ones((5, 6))
    moved, turned = low.copy(), high.copy()
    moved[3, 1], turned[2, 4] = -0.25, 1.5
    assert bvh.changes(moved, turned, low, high) == (0.25, 0.5)


def test_equal_centres_do_not_loop():
    low = np.zeros((50, 3))
    tree = tree_of(low, low + 1.0)
    assert len(run(tree, tree, True, 0.0)) == 50 * 49 // 2  # more than there is room for at first


def test_empty():
    tree = tree_of(np.zeros((0, 3)), np.zeros((0, 3)))
    assert run(tree, tree, True, 0.0) == []
