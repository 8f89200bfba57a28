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


def test_pieces_of_a_tree_cover_it_once():
    rng = np.random.default_rng(1)
    children, ranges, order = bvh.build(rng.uniform(size=(130, 3)))
    for most in (1, 7, 40, 130):
        pieces = bvh.blocks(children, ranges, most)
        taken = np.concatenate([order[a : a + n] for a, n in pieces])
        assert sorted(taken) == list(range(130))
        assert pieces[:, 1].max() <= max(most, bvh.LEAF)


def moved_rows(x, old, low, high, normals=np.zeros((2, 0, 3))):
    """Motions of four single points, each a piece of its own."""
    prims = np.column_stack([np.arange(4), np.full((4, 2), -1)])
    pieces = np.column_stack([np.arange(4), np.ones(4, dtype=int)])
    return bvh.motions(pieces, np.arange(4), prims, x, old, low, high, normals)


def test_relative_motion_counts_only_what_is_near():
    x = np.array([[0.0, 0, 0], [1.0, 0, 0], [1.3, 0, 0], [9.0, 0, 0]])
    old = x.copy()
    old[2], old[3] = [1.3, -0.25, 0.0], [9.0, 5.0, 0.0]
    boxes = np.hstack([x, np.zeros((4, 3))])
    rows = moved_rows(x, old, boxes, boxes)
    assert bvh.relative_motion(rows, rows, True, 0.5) == (0.25, 0.0)  # the last one moved far, and far away
    assert bvh.relative_motion(rows, rows, True, 20.0)[0] == 5.25
    assert bvh.relative_motion(rows[:2], rows[3:], False, 0.5) == (0.0, 0.0)


def test_turns_are_the_largest_changes_of_bounds_of_normals_near_each_other():
    x = np.array([[0.0, 0, 0], [1.0, 0, 0], [1.3, 0, 0], [9.0, 0, 0]])
    low, high = np.hstack([x, np.zeros((4, 3))]), np.hstack([x, np.ones((4, 3))])
    old = np.stack([low[:, 3:], high[:, 3:]]).copy()
    low[1, 4], high[2, 5], low[3, 3] = -0.5, 1.25, -9.0
    rows = moved_rows(x, x, low, high, old)
    assert bvh.relative_motion(rows, rows, True, 0.5)[1] == 18.0  # of the far one with itself
    assert bvh.relative_motion(rows[:3], rows[:3], True, 0.5)[1] == 1.0  # of the second with itself
    assert bvh.relative_motion(rows[1:2], rows[2:3], False, 0.5)[1] == 0.75
