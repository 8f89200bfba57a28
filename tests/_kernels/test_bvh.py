"""Box trees: what holds of every tree."""

import numpy as np

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


def test_groups_are_divided_before_anything_else():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, size=120)
    children, ranges, order = bvh.build(rng.uniform(size=(120, 3)), groups)
    assert sorted(order) == list(range(120))
    mixed = 0
    for node, (first, size) in enumerate(ranges):
        inside = groups[order[first : first + size]]
        assert np.all(np.diff(inside) >= 0)
        if inside[0] != inside[-1]:
            mixed += 1
            assert children[node, 0] >= 0
    assert mixed == 2


def test_drift_is_the_range_of_displacements():
    old = np.zeros((4, 3))
    x = old.copy()
    x[1], x[3] = [0.5, -1.0, 0.0], [-0.25, 2.0, 0.0]
    assert np.array_equal(bvh.drift(x, old), [[-0.25, -1.0, 0.0], [0.5, 2.0, 0.0]])


def test_turning_is_the_largest_change_of_a_bound_of_normals():
    low, high = np.zeros((5, 6)), np.ones((5, 6))
    old = np.stack([low[:, 3:], high[:, 3:]])
    moved, turned = low.copy(), high.copy()
    moved[3, 1], turned[2, 4] = -9.0, 1.5  # positions do not count
    assert bvh.turning(moved, turned, old) == 0.5
