"""Condensation: symmetric compliances, the same as dense algebra, the same as differences (spec 19, B3)."""

import numpy as np
import pytest
from harness import golden_beam, relative

import pliant as pl
from pliant.inverse.condense import condense
from pliant.solve.commands import linearise

MODEL = pl.FemModel(golden_beam())
PAD = pl.Plane((0, 0, -0.012), (0, 0, 1), friction=0.4)


@pytest.fixture(scope="module")
def state():
    return pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], obstacles=[PAD.placed(PAD.pose)], strict=False)


@pytest.mark.parametrize("frictional", [False, True])
def test_b3_blocks_against_dense_algebra(state, frictional):
    q, effort, contacts = state.q, state.effort, state.contacts
    force, K = linearise(MODEL, q, effort)
    target = pl.PointTarget("tip", (0.09, 0, 0), weight=2.0)
    got = condense(MODEL, q, effort, force, K, [target], [], contacts=contacts, frictional=frictional)
    inverse = np.linalg.inv(K.toarray())
    A = MODEL.actuation(q, effort)
    H = (contacts.frictional_rows if frictional else contacts.rows)(MODEL, q)
    H = H.toarray()
    J = MODEL.locate(q, "tip", jacobian=True).jacobian[3:]
    assert relative(got.compliance.solved[:, 1 : 1 + MODEL.nu], inverse @ A) < 1e-8
    z = np.linspace(-1.0, 1.0, MODEL.nu + len(H))
    step = inverse @ (force - A @ effort + np.hstack([A, H.T]) @ z)
    assert relative(got.step(z[: MODEL.nu], z[MODEL.nu :]), step) < 1e-8
    assert relative(got.contact.contact, H @ inverse @ H.T) < 1e-8
    assert relative(got.contact.effort, H @ inverse @ A) < 1e-8
    assert relative(got.displacement.effort, A.T @ inverse @ A) < 1e-8
    assert relative(got.objective.effort, 2.0 * J @ inverse @ A) < 1e-8
    assert relative(got.objective.contact, 2.0 * J @ inverse @ H.T) < 1e-8
    for W in (got.displacement.effort, got.contact.contact):
        assert relative(W, W.T) < 1e-9
        assert np.linalg.eigvalsh(0.5 * (W + W.T)).min() > -1e-12 * np.abs(W).max()
    assert np.allclose(got.now, 2.0 * (MODEL.locate(q, "tip").position - target.position))


def test_b3_compliance_is_the_change_of_strokes_with_tensions():
    state = pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], strict=True)
    q, effort = state.q, state.effort
    got = condense(MODEL, q, effort, *linearise(MODEL, q, effort), [], [])
    from dataclasses import replace

    robot = MODEL.robot.but(actuators=tuple(replace(a, drive="effort") for a in MODEL.robot.actuators))
    forward = pl.FemModel(robot)
    for i in range(3):
        h = 1e-4 * np.eye(3)[i]
        plus, minus = (pl.equilibrium(forward, effort + s * h, start=state).displacement for s in (1, -1))
        assert relative(got.displacement.effort[:, i], (plus - minus) / 2e-4) < 1e-5


def test_many_rows_and_friction_in_the_cables_take_full_solves(state):
    """More rows than columns, and C != A^T: the blocks are the same as those of dense algebra."""
    from dataclasses import replace

    robot = MODEL.robot
    rough = pl.FemModel(robot.but(actuators=tuple(replace(a, friction=0.3) for a in robot.actuators)))
    assert MODEL.conservative
    assert not rough.conservative
    shape = pl.ShapeTarget(positions=MODEL.skin_positions(MODEL.rest))
    q, effort = state.q, state.effort
    for targets in ([shape], [pl.PointTarget("tip", (0.09, 0, 0))]):
        force, K = linearise(rough, q, effort)
        got = condense(rough, q, effort, force, K, targets, [])
        J = targets[0].evaluate(rough, q, effort, None).jacobian
        A, C = rough.actuation(q, effort), rough.displacement_rows(q)
        X = np.linalg.solve(K.toarray(), A)
        assert np.abs(C - A.T).max() > 1e-3
        assert relative(got.objective.effort, J @ X) < 1e-8
        assert relative(got.displacement.effort, C @ X) < 1e-8


def test_at_an_equilibrium_the_present_efforts_change_nothing():
    state = pl.equilibrium(MODEL, [5e-3, 1e-2, 1.5e-2], strict=True)
    got = condense(MODEL, state.q, state.effort, *linearise(MODEL, state.q, state.effort), [], [])
    assert np.abs(got.step(state.effort, np.zeros(0))).max() < 1e-9
    assert np.allclose(got.displacement.value(state.effort, np.zeros(0)), state.displacement, atol=1e-9)
