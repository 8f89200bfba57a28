import itertools

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.inverse.qp import solve_qp
from pliant.inverse.qpcc import QPCC, QPCCStatus, piece_qp, solve_qpcc
from pliant.inverse.qpcc_sticking import grasp_floor_row


def random_problem(rng, ne, na, nc, *, dofs=60, press=0.0, **options):
    B = rng.normal(size=(dofs, dofs))
    H = rng.normal(size=(ne + na + 3 * nc, dofs))
    W = H @ np.linalg.solve(B @ B.T + 0.5 * np.eye(dofs), H.T)
    W = 0.5 * (W + W.T)
    e, a, c = slice(0, ne), slice(ne, ne + na), slice(ne + na, None)
    own = np.diag(W)
    dc = 0.5 * rng.normal(size=3 * nc) * own[c]
    dc[::3] -= press * own[c][::3]
    options = {"effort_min": 0.0, "effort_max": 3.0, "rows_per_contact": 3, **options}
    return QPCC(
        Wea=W[e, a], Wec=W[e, c], de=rng.normal(size=ne) * own[e], Waa=W[a, a], Wac=W[a, c], da=np.zeros(na),
        Wca=W[c, a], Wcc=W[c, c], dc=dc, **options,
    )  # fmt: skip


def forces(problem, states, a):
    held = np.repeat(np.asarray(states) == 1, 3)
    held[::3] |= np.asarray(states) == 2
    c = np.zeros(held.size)
    c[held] = -np.linalg.solve(problem.Wcc[np.ix_(held, held)], problem.Wca[held] @ a + problem.dc[held])
    return c


def two_state_solutions(problem, a):
    """Every subset of sticking contacts that solves the contact problem at fixed efforts."""
    found = []
    for states in itertools.product((0, 1), repeat=problem.contacts):
        c = forces(problem, states, a)
        gap = problem.Wcc @ c + problem.Wca @ a + problem.dc
        if c[::3].min() >= -1e-10 and gap[::3].min() >= -1e-10:
            found.append(states)
    return found


def check(problem, s):
    c, gap = s.contact.reshape(-1, 3), s.gap.reshape(-1, 3)
    for state, force, motion in zip(s.contact_set, c, gap):
        assert force[0] >= -1e-8
        assert motion[0] >= -1e-8
        if state == 0:
            assert np.all(force == 0.0)
        if state == 1:
            assert np.abs(motion).max() < 1e-8  # E1: a sticking contact does not move
        if state == 2:
            assert abs(motion[0]) < 1e-8
            assert np.all(force[1:] == 0.0)
    assert s.residual < 1e-8
    assert np.all(s.effort >= np.asarray(problem.effort_min) - 1e-9)
    assert np.all(s.effort <= np.asarray(problem.effort_max) + 1e-9)


def test_e1_sticking_pieces_against_enumeration():
    rng = np.random.default_rng(0)
    hits, fallback, count = 0, 0, 60
    for _ in range(count):
        problem = random_problem(rng, 3, 3, 4, press=0.3)
        s = solve_qpcc(problem)
        assert s.status is QPCCStatus.STATIONARY
        check(problem, s)
        accepted = [p.objective for p in s.pieces if p.accepted]
        assert all(b < a for a, b in itertools.pairwise(accepted))
        allowed = (0, 1, 2) if (s.contact_set == 2).any() else (0, 1)
        best = np.inf
        for states in itertools.product(allowed, repeat=4):
            q = solve_qp(piece_qp(problem, states))
            if q.status.success:
                best = min(best, problem.objective(q.x, forces(problem, states, q.x)))
        assert s.objective >= best - 1e-9 * (1 + best)
        hits += s.objective <= best + 1e-7 * (1e-3 + best)
        fallback += (s.contact_set == 2).any()
    assert hits > 0.4 * count  # the pieces do not glue (spec 12.3), so a local search misses more often
    assert 0 < fallback < count


def test_e7_no_two_state_set_exists_and_the_fallback_runs_through():
    """Dense form of the regression of spec 17.8: no penetration, no pulling contact, no exception."""
    rng = np.random.default_rng(1)
    without = 0
    for _ in range(120):
        problem = random_problem(rng, 3, 2, 4, effort_max=0.0)  # efforts fixed at zero
        empty = not two_state_solutions(problem, np.zeros(2))
        s = solve_qpcc(problem)
        assert s.status.success
        check(problem, s)
        if empty:
            without += 1
            assert (s.contact_set == 2).any()
            assert any("frictionless" in n for n in s.notices)
    assert without > 10


def test_cone_report():
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(20):
        problem = random_problem(rng, 3, 3, 3, press=1.0, friction=0.5)
        s = solve_qpcc(problem)
        force = s.contact.reshape(-1, 3)
        grip = np.hypot(force[:, 1], force[:, 2])
        pressed = force[:, 0] > 1e-6
        np.testing.assert_allclose(s.friction_ratio[pressed], grip[pressed] / force[pressed, 0], rtol=1e-9)
        # held by its tangents alone: no coefficient suffices
        assert np.isinf(s.friction_ratio[~pressed & (grip > 1e-6)]).all()
        assert any("slip" in n for n in s.notices) == bool(s.friction_ratio.max() > 0.5)
        seen += s.friction_ratio.max() > 0.5
    assert seen > 3


def test_e5_grasp_floor_holds_normal_forces():
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(20):
        problem = random_problem(rng, 3, 4, 3, press=0.5)
        free = solve_qpcc(problem)
        floor = free.contact[::3].sum() + 0.2
        row = grasp_floor_row(4, 3)
        assert row @ np.concatenate([free.effort, free.contact]) == pytest.approx(free.contact[::3].sum())
        s = solve_qpcc(QPCC(**dict(vars(problem), C=[row], d=[floor])), start=free.effort)
        if s.status.success:
            held += 1
            assert s.contact[::3].sum() >= floor - 1e-8
            check(problem, s)
        else:
            assert s.notices
    assert held > 10


def test_limits_that_cannot_be_held_are_dropped_with_notice():
    rng = np.random.default_rng(4)
    problem = random_problem(rng, 3, 2, 3, displacement_min=1e4, displacement_max=2e4)
    s = solve_qpcc(problem)
    assert s.status is QPCCStatus.RELAXED
    assert any("displacement limit" in n for n in s.notices)


def test_e6_hessian_with_energy_is_never_indefinite():
    rng = np.random.default_rng(5)
    for _ in range(50):
        problem = random_problem(rng, 1, 4, 3, energy=1e-3)
        Q = piece_qp(problem, rng.integers(0, 3, 3)).Q
        assert np.linalg.eigvalsh(Q)[0] > -1e-12 * np.abs(Q).max()
        s = solve_qpcc(problem)
        check(problem, s)


def test_reduced_sticking_piece_equals_full():
    rng = np.random.default_rng(6)
    compared = 0
    for _ in range(60):
        problem = random_problem(rng, 4, 3, 3, press=0.5, energy=1e-4)
        states = rng.integers(0, 3, 3)
        a, b = solve_qp(piece_qp(problem, states)), solve_qp(piece_qp(problem, states, reduced=False))
        assert a.status is b.status
        if a.status.success:
            compared += 1
            np.testing.assert_allclose(a.x, b.x[:3], atol=1e-8)
    assert compared > 5


def test_warm_start_and_multistart():
    rng = np.random.default_rng(7)
    for _ in range(10):
        problem = random_problem(rng, 3, 3, 8, press=0.3)
        s = solve_qpcc(problem)
        warm = solve_qpcc(problem, start=s.effort, contact_set=s.contact_set)
        assert warm.objective <= s.objective * (1 + 1e-9) + 1e-12
        many = solve_qpcc(problem, search="multistart", starts=4)
        assert many.objective <= s.objective + 1e-12
        check(problem, many)


def test_many_contacts():
    problem = random_problem(np.random.default_rng(8), 6, 8, 40, dofs=300, press=0.3)
    s = solve_qpcc(problem)
    assert s.status.success
    check(problem, s)


def test_global_is_refused():
    with pytest.raises(ArgumentError, match="search"):
        solve_qpcc(random_problem(np.random.default_rng(9), 3, 2, 2), search="global")
