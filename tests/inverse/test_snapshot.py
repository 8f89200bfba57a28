"""Snapshots: the same answers as the model, asked once; values alone without derivatives."""

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl
from pliant.inverse.snapshot import Snapshot, Values

MODEL = pl.FemModel(golden_beam())
TARGETS = (
    pl.PointTarget("tip", (0.09, 0.01, 0.0), axes="xz"),
    pl.DirectionTarget("tip", (1.0, 0.2, 0.0), exact=True),
    pl.FrameTarget("tip", (0.09, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
    pl.PointsTarget(("tip",), ((0.1, 0.0, 0.0),)),
    pl.BarycentreTarget((0.05, 0.0, 0.0)),
    pl.CentreOfMassTarget((0.05, 0.0, 0.0)),
    pl.ShapeTarget(positions=MODEL.skin_positions(MODEL.rest)),
    pl.DisplacementTarget(MODEL.robot.actuator_names[0], 1e-3),
    pl.EffortTarget(MODEL.robot.actuator_names[0], 1.0),
)


@pytest.fixture(scope="module")
def q():
    return pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], strict=True).q


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: type(t).__name__)
def test_values_are_those_of_the_model(target, q):
    effort = np.arange(1.0, 1.0 + MODEL.nu)
    whole = target.evaluate(MODEL, q, effort, None)
    seen, bare = (target.evaluate(kind(MODEL, q), q, effort, None) for kind in (Snapshot, Values))
    for rows in (seen, bare):
        assert np.array_equal(rows.value, whole.value)
        assert np.array_equal(rows.weight, whole.weight)
        assert rows.jacobian.shape == whole.jacobian.shape
    assert np.array_equal(seen.jacobian, whole.jacobian)


def test_a_question_is_asked_once(q):
    seen = Snapshot(MODEL, q)
    assert seen.locate(q, "tip", jacobian=True) is seen.locate(q, "tip", jacobian=True)
    assert seen.displacement_rows(q).base is seen.actuation(q, np.zeros(MODEL.nu)).base
    other = q.copy()
    assert seen.skin_positions(other) is not seen.skin_positions(other)
