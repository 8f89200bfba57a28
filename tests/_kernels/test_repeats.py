"""Contacts that repeat another one are recognised whatever the order of their vertices and their side."""

import numpy as np

from pliant._kernels.repeats import first_of_each


def build(*rows):
    obstacle, vertices, weights, normal = zip(*rows, strict=True)
    return np.array(obstacle), np.array(vertices), np.array(weights, dtype=float), np.array(normal, dtype=float)


def test_order_side_and_vertices_without_weight_do_not_matter():
    up, down = (0, 0, 1), (0, 0, -1)
    keep = first_of_each(*build(
        (0, (5, 1, 2, 3), (1, -0.5, -0.5, 0), up),
        (0, (2, 9, 5, 1), (-0.5, 0, 1, -0.5), up),  # another order, another vertex without weight
        (0, (1, 2, 5, 5), (0.5, 0.5, -1, 0), down),  # from the other side
        (0, (5, 1, 2, 3), (1, -0.5, -0.5, 0), (1, 0, 0)),  # pushed along another line
        (1, (5, 1, 2, 3), (1, -0.5, -0.5, 0), up),  # another obstacle
        (0, (5, 1, 2, 3), (1, -0.4, -0.6, 0), up),  # another point
        (0, (5, 1, 2, 3), (1, -0.50001, -0.49999, 0), (0.001, 0, 1)),  # the same, to rounding
    ))  # fmt: skip
    assert keep.tolist() == [True, False, False, True, True, True, False]


def test_against_the_plain_definition():
    rng = np.random.default_rng(0)
    m = 300
    vertices = rng.integers(0, 4, size=(m, 3))
    weights = rng.choice([0.0, 1.0, -1.0, 0.5], size=(m, 3))
    normal = np.eye(3)[rng.integers(0, 3, size=m)] * rng.choice([-1.0, 1.0], size=(m, 1))
    seen, expected = set(), []
    for v, w, n in zip(vertices, weights, normal, strict=True):
        pairs = sorted(zip(np.where(w == 0, -1, v), w, range(3), strict=True), key=lambda p: (p[0], p[2]))
        side = np.sign(pairs[-1][1])
        tag = (tuple(p[0] for p in pairs), tuple(side * p[1] for p in pairs), tuple(side * n))
        expected.append(tag not in seen)
        seen.add(tag)
    assert first_of_each(np.zeros(m, dtype=np.int64), vertices, weights, normal).tolist() == expected
