"""Cost of the geometric model against the size of its mesh, by counting work instead of time."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.contact import SelfContact
from pliant.contact.detection import Detector
from pliant.contact.surface import Tree
from pliant.models.geometric import GeometricModel
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.state import Skin


@pytest.mark.parametrize(
    ("finest", "least"),
    [((2.9e-3, 2), 10000), pytest.param((1.0e-3, 2), 50000, marks=pytest.mark.slow)],
)
def test_A14_work_of_an_iteration_grows_nearly_linearly(finest, least):
    """An iteration visits every tet and every entry of the factor once: slope 0.9 to 1.3 in log-log (spec)."""
    nodes, work = [], []
    for size, layers in ((8e-3, 1), (4e-3, 1), finest):
        model = GeometricModel(pneumatic_finger(size=size, layers=layers))
        nodes.append(len(model.layout.rest_nodes))
        work.append(sum(len(g.cells) for g in model.layout.groups) + model.proxy.factors[0].nnz)
    slope = np.polyfit(np.log(nodes), np.log(work), 1)[0]
    assert nodes[0] < 2000 and nodes[-1] > least
    assert 0.9 < slope < 1.3


def test_C3_work_of_a_self_collision_query_grows_nearly_linearly():
    """Boxes of the refit, pairs of boxes and pairs of features that are tested: slope below 1.3 from 5k to 80k tets."""
    tets, work = [], []
    for size, layers in ((8e-3, 1), (4e-3, 1), (2.9e-3, 2), (1.9e-3, 2)):
        mesh = pneumatic_finger(size=size, layers=layers).soft_body().mesh
        used, triangles = np.unique(mesh.boundary(), return_inverse=True)
        n, x = len(used), mesh.nodes[used]
        skin = Skin(triangles.reshape(-1, 3), np.zeros((0, 2), int), np.zeros(n), np.zeros(n, int))
        model = SimpleNamespace(skin=skin, rest=x.ravel(), skin_positions=lambda q: q.reshape(-1, 3))
        detector = Detector(model, [SelfContact()], alarm=5e-4)
        found = detector.detect(_closed(x).ravel())
        tested = sum(len(pairs) for pairs in detector._near[0]._lists)
        tets.append(len(mesh.tets))
        work.append(len(detector.tree.children) + _box_tests(detector.tree, 5e-4) + tested)
        assert tested > 1000
    assert (found.gap < 0).any()
    assert tets[0] < 6500 and tets[-1] > 77000
    assert np.polyfit(np.log(tets), np.log(work), 1)[0] < 1.3


def _closed(x):
    """The teeth swollen into each other, on a finger that is bent backwards."""
    y = x.copy()
    y[:, 0] -= 2.2e-3 * np.sin(2 * np.pi * (x[:, 0] - 8.5e-3) / 10e-3) * (x[:, 2] / 0.02) ** 2
    radius = np.ptp(x[:, 0])
    turn = y[:, 0] / radius
    return np.stack([(radius + y[:, 2]) * np.sin(turn), y[:, 1], (radius + y[:, 2]) * np.cos(turn) - radius], axis=1)


def _box_tests(tree: Tree, margin: float) -> int:
    """How many pairs of boxes a search down the tree looks at."""
    low, high, size = tree.node_low, tree.node_high, tree.ranges[:, 1]
    left, right = tree.children.T
    count, i, j = 0, np.zeros(1, int), np.zeros(1, int)
    while len(i):
        count += len(i)
        meet = ((low[i, :3] <= high[j, :3] + margin) & (low[j, :3] <= high[i, :3] + margin)).all(axis=1)
        opposed = ((low[i, 3:] + low[j, 3:] <= 0.0) & (high[i, 3:] + high[j, 3:] >= 0.0)).all(axis=1)
        meet &= opposed | (i == j)
        i, j = i[meet], j[meet]
        both = (i == j) & (left[i] >= 0)
        first = (i != j) & (left[i] >= 0) & ((size[i] >= size[j]) | (left[j] < 0))
        second = (i != j) & ~first & (left[j] >= 0)
        b, f, s = i[both], (i[first], j[first]), (i[second], j[second])
        i, j = (
            np.concatenate([left[b], right[b], left[b], left[f[0]], right[f[0]], s[0], s[0]]),
            np.concatenate([left[b], right[b], right[b], f[1], f[1], left[s[1]], right[s[1]]]),
        )
    return count
