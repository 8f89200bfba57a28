"""Skin against signed distances: a stable set of contacts where an obstacle lies flat on the skin."""

import numpy as np

from pliant.contact import Cylinder
from pliant.contact.detection import Detector


def test_a_line_contact_keeps_its_features_under_rounding(make):
    """A cylinder along a row of triangles: a tilt decides which point is lowest, but not which edges are candidates."""
    x, t = make.box((0, 0, 0), (1, 1, 0.2), (5, 4, 1))
    lying = Cylinder(a=(0.47, -1, 0.305), b=(0.47, 2, 0.305), radius=0.1)
    rng = np.random.default_rng(0)
    detector = Detector(make.model(x, t), [lying], alarm=0.03, sag=3e-6)
    keys = []
    for size in (0.0, 1e-12, 1e-9, 1e-7, 1e-6):
        detector.model = make.model(x + size * rng.normal(size=x.shape), t)
        found = detector.detect(detector.model.rest)
        across = np.abs(found.gap - 0.005) < 1e-4
        keys.append(frozenset(found.key[across].tolist()))
        crossed = {round(float(y), 6) for y in found.point[across, 1]}
        assert min(crossed) < 1e-5
        assert max(crossed) > 1 - 1e-5
    assert len(set(keys)) == 1
    assert len(keys[0]) >= 5  # every edge that runs along the bar: held across its whole width


def test_an_edge_counts_only_while_it_is_nearly_lowest(make):
    """Tilted by more than the tolerance of angles, only the lowest side is left."""
    x, t = make.box((0, 0, 0), (1, 1, 0.2), (5, 4, 1))
    counts = []
    for tilt in (0.0, 0.02, 0.2):
        lying = Cylinder(a=(0.47, -1, 0.305 - tilt), b=(0.47, 2, 0.305 + 2 * tilt), radius=0.1)
        model = make.model(x, t)
        found = Detector(model, [lying], alarm=0.03, sag=3e-6).detect(model.rest)
        counts.append(int((np.count_nonzero(found.weights, axis=1) == 2).sum()))
    assert counts[0] >= counts[1] >= counts[2]
    assert counts[2] < counts[0]
