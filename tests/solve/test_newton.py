"""One Newton system: condensation, complementarity, indefinite stiffness held by its drives (B3)."""

import numpy as np
import pytest
from harness import golden_beam

from pliant.models.fem import FemModel
from pliant.solve.equilibrium import equilibrium, settle
from pliant.solve.newton import LinearSystem, Rows, build, dense_rows
from pliant.solve.problem import Problem

INF = np.inf


def rows(C, value, lower, force=None, drives=None) -> Rows:
    C, value = np.atleast_2d(np.asarray(C, float)), np.asarray(value, float)
    force = np.zeros(len(C)) if force is None else np.asarray(force, float)
    lower = np.asarray(lower, float)
    drives = len(C) if drives is None else drives
    return Rows(C, C.T.copy(), value, lower, np.full(len(C), INF), force, drives)


def none(n: int) -> Rows:
    return Rows(np.zeros((0, n)), np.zeros((n, 0)), *(np.zeros(0) for _ in range(4)), 0)


def spd(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    return A @ A.T + np.eye(n), rng


def test_free_system_is_a_linear_solve():
    K, rng = spd(6)
    f = rng.standard_normal(6)
    step = LinearSystem(K, none(6)).solve(f)
    assert np.allclose(K @ step.dq, f)
    assert step.force.shape == (0,)


def test_prescribed_rows_solve_the_saddle_point():
    K, rng = spd(6)
    C, f, value = rng.standard_normal((2, 6)), rng.standard_normal(6), rng.standard_normal(2)
    step = LinearSystem(K, rows(C, value, [-INF, -INF])).solve(f)
    assert np.allclose(K @ step.dq, f + C.T @ step.force)
    assert np.allclose(C @ step.dq + value, 0)


def test_unilateral_rows_are_complementary():
    K, rng = spd(8)
    C, f = rng.standard_normal((4, 8)), rng.standard_normal(8)
    value = rng.standard_normal(4)
    step = LinearSystem(K, rows(C, value, np.zeros(4))).solve(f)
    gap = C @ step.dq + value
    assert np.allclose(K @ step.dq, f + C.T @ step.force)
    assert step.force.min() >= 0
    assert gap.min() >= -1e-9
    assert np.abs(step.force * gap).max() < 1e-9


def test_indefinite_stiffness_is_held_by_a_pulling_cable():
    """K has one negative direction, which the drive holds: the step solves the saddle point exactly."""
    K = np.diag([-1.0, 2.0, 3.0])
    C = np.array([[1.0, 0.2, 0.0], [0.0, 0.0, 1.0]])
    held = rows(C, [0.3, 5.0], [0.0, 0.0], force=[2.0, 0.0], drives=1)
    system = build(K, held)
    assert system.shift == 0.0
    assert system.stable is True
    step = system.solve(np.array([-1.0, 1.0, 0.0]))
    assert C[0] @ step.dq + 0.3 == pytest.approx(0.0, abs=1e-12)
    assert np.allclose(K @ step.dq, [-1.0, 1.0, 0.0] + C.T @ step.force)
    assert step.force[1] == 0.0  # the contact is far open


def test_contacts_are_complementary_under_a_held_drive():
    K = np.diag([-1.0, 2.0, 3.0])
    C = np.array([[1.0, 0.2, 0.0], [0.0, 1.0, 0.0]])
    held = rows(C, [0.3, -0.5], [0.0, 0.0], force=[2.0, 0.0], drives=1)
    step = build(K, held).solve(np.array([-1.0, 0.0, 0.0]))
    gap = C[1] @ step.dq - 0.5
    assert step.force[1] > 0
    assert gap == pytest.approx(0.0, abs=1e-9)
    assert np.allclose(K @ step.dq, [-1.0, 0.0, 0.0] + C.T @ step.force)


def test_what_the_drives_do_not_hold_is_shifted():
    K = np.diag([-1.0, -1.0, 3.0])
    held = rows([[1.0, 0.0, 0.0]], [0.0], [-INF])
    system = build(K, held)
    assert system.shift > 0.0
    alone = build(np.diag([-1.0, 2.0]), none(2))
    assert alone.shift > 1.0


def test_simplified_correction_matches_the_step():
    K, rng = spd(6)
    C, f, value = rng.standard_normal((2, 6)), rng.standard_normal(6), rng.standard_normal(2)
    system = LinearSystem(K, rows(C, value, [-INF, -INF]))
    assert np.allclose(system.correct(f, value, np.array([True, True])), system.solve(f).dq)
    assert np.allclose(system.correct(f, value, np.array([False, False])), np.linalg.solve(K, f))


def test_dense_rows_takes_both():
    import scipy.sparse as sp

    assert np.array_equal(dense_rows(sp.csr_matrix(np.eye(2))), np.eye(2))
    assert np.array_equal(dense_rows(np.eye(2)), np.eye(2))


def test_B3_compliance_is_symmetric_semidefinite_and_equals_differences():
    """W = C K^-1 C^T at an equilibrium, against re-solved equilibria at changed efforts."""
    model = FemModel(golden_beam())
    state = equilibrium(model, {"c1": 2e-3, "c2": 3e-3, "c3": 4e-3}, strict=True)
    problem = Problem(model)
    system = LinearSystem(model.stiffness(state.q, state.effort), problem.rows(state.q, state.effort, state.u, None))
    W = system.W
    assert np.abs(W - W.T).max() < 1e-10 * np.abs(W).max()
    assert np.linalg.eigvalsh(0.5 * (W + W.T)).min() > 0
    h = 1e-4
    for i in range(3):
        e = np.zeros(3)
        e[i] = h
        plus, minus = (settle(problem, state.q, state.effort + s * e) for s in (1, -1))
        column = (plus.displacement - minus.displacement) / (2 * h)
        assert np.abs(W[:, i] - column).max() < 1e-6 * np.abs(column).max()
