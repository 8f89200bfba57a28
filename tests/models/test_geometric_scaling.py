"""Cost of the geometric model against the size of its mesh, by counting work instead of time."""

import numpy as np

from pliant.models.geometric import GeometricModel
from pliant.robots.pneumatic_finger import pneumatic_finger


def test_A14_work_of_an_iteration_grows_nearly_linearly():
    """An iteration visits every tet and every entry of the factor once: slope 0.9 to 1.3 in log-log (spec)."""
    nodes, work = [], []
    for size in (4e-3, 2.5e-3, 1.6e-3):
        model = GeometricModel(pneumatic_finger(size=size))
        nodes.append(len(model.layout.rest_nodes))
        work.append(sum(len(g.cells) for g in model.layout.groups) + model.proxy.factors[0].nnz)
    slope = np.polyfit(np.log(nodes), np.log(work), 1)[0]
    assert nodes[-1] > 4 * nodes[0]
    assert 0.9 < slope < 1.3
