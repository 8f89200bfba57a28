"""QPCCs whose contacts depend on each other, or come in units that differ by many orders: all against enumeration."""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from test_qpcc import random_problem, value

from pliant.inverse.qp import QP, QPStatus, solve_qp
from pliant.inverse.qpcc import QPCCStatus, piece_qp, solve_qpcc


def with_rows(problem, mix, offset):
    """The problem with further contacts whose rows are `mix` (k, nc) of the given ones, their gaps `offset` more."""
    M = np.vstack([np.eye(problem.contacts), mix])
    return replace(
        problem, Wec=problem.Wec @ M.T, Wac=problem.Wac @ M.T, Wca=M @ problem.Wca, Wcc=M @ problem.Wcc @ M.T,
        dc=M @ problem.dc + np.r_[np.zeros(problem.contacts), offset],
    )  # fmt: skip


def in_units(problem, of_efforts, of_contacts):
    """The problem with efforts and each contact row in other units."""
    c = np.asarray(of_contacts)
    return replace(
        problem, Wea=problem.Wea / of_efforts, Waa=problem.Waa / of_efforts**2, Wac=problem.Wac * c / of_efforts,
        Wec=problem.Wec * c, Wca=c[:, None] * problem.Wca / of_efforts, Wcc=c[:, None] * problem.Wcc * c,
        dc=c * problem.dc, effort_min=problem.effort_min * of_efforts, effort_max=problem.effort_max * of_efforts,
    )  # fmt: skip


def optimum(problem):
    """Over all sets of independent contacts: forces on others can be shifted onto such a set without changing a gap."""
    best = np.inf
    for states in itertools.product((0, 1), repeat=problem.contacts):
        held = np.flatnonzero(states)
        if len(held) and np.linalg.cond(problem.Wcc[np.ix_(held, held)]) > 1e9:
            continue
        s = solve_qp(piece_qp(problem, states))
        if s.status.success:
            best = min(best, value(problem, states, s.x))
    return best


def degenerate(kind, rng):
    """(problem, a well-scaled problem with the same optimum)."""
    na, nc = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    given = random_problem(rng, 3, na, nc, dofs=20)
    last, far = np.eye(nc)[-1:], 0.3 * rng.random() * given.Wcc[-1, -1]
    if kind == "equal":
        return with_rows(given, last, [0.0]), given
    if kind == "three times":
        return with_rows(given, np.vstack([last, last]), [0.0, 0.0]), given
    if kind == "parallel, behind":
        return with_rows(given, last, [far]), given
    if kind == "sum of two":
        both = with_rows(given, np.eye(nc)[:1] + last, [0.0])
        return both, both
    units = 10.0 ** rng.uniform(-6, 6, nc)
    return in_units(given, 10.0 ** rng.uniform(-6, 6), units), given


@pytest.mark.parametrize("kind", ["equal", "three times", "parallel, behind", "sum of two", "units"])
def test_d4_dependent_contacts_against_enumeration(kind):
    """Never infeasible, never below the optimum, and the optimum as often as with independent contacts."""
    rng = np.random.default_rng(11)
    hits, count = 0, 25
    for _ in range(count):
        problem, plain = degenerate(kind, rng)
        best = optimum(plain)
        for search in ("local", "global"):
            s = solve_qpcc(problem, search=search)
            assert s.status.success
            assert s.residual < 1e-8
            scale = np.sqrt(np.diag(problem.Wcc))
            gap, force = s.gap / scale, s.contact * scale  # in the same unit
            most = np.abs(problem.dc / scale).max()
            assert gap.min() >= -1e-8 * most
            assert force.min() >= -1e-8 * most
            assert np.minimum(gap, force).max() <= 1e-8 * most
            assert s.objective >= best - 1e-7 * (1e-3 + best)
            assert s.objective == pytest.approx(problem.objective(s.effort, s.contact), rel=1e-9)
            if search == "global":
                assert s.status is QPCCStatus.GLOBAL
                assert s.objective == pytest.approx(best, rel=1e-6, abs=1e-9)
            else:
                hits += s.objective <= best + 1e-7 * (1e-3 + best)
    assert hits >= 0.8 * count


def test_a_contact_that_follows_from_another_carries_no_force():
    """Of two walls in one place one takes the force; sets that name both mean the same."""
    rng = np.random.default_rng(3)
    problem = random_problem(rng, 3, 2, 3, dofs=20)
    problem = replace(problem, dc=-np.abs(problem.dc))  # all of them press at zero efforts
    double = with_rows(problem, np.eye(3)[-1:], [0.0])
    one = solve_qpcc(problem, contact_set=[1, 1, 1])
    two = solve_qpcc(double, contact_set=[1, 1, 1, 1])
    assert two.objective == pytest.approx(one.objective, rel=1e-9)
    assert min(two.contact[2:]) == 0.0
    np.testing.assert_allclose([*two.contact[:2], two.contact[2:].sum()], one.contact, rtol=1e-8, atol=1e-12)


def test_a_faint_slope_along_which_nothing_changes_is_no_failure():
    """Four cables that may all pull harder: rounding slopes that way. Sixty steps followed it, then gave up."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3, 5))
    null = np.linalg.svd(rows)[2][3:]
    for slope in (0.0, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7):
        qp = QP(rows.T @ rows, rows.T @ rng.normal(size=3) + slope * null[0], lo=-5.0, hi=5.0)
        s = solve_qp(qp, start=rng.normal(size=5))
        assert s.status is QPStatus.OPTIMAL
        assert s.residual < 1e-9
        ends = [solve_qp(qp, start=rng.uniform(-4, 4, size=5)).objective for _ in range(3)]
        assert max(ends) - min(ends) <= 1e-9
        if slope >= 1e-9:
            assert np.isclose(np.abs(s.x), 5.0).any()  # it leads to a limit


def test_rows_of_zeros_are_judged_by_the_other_bounds():
    """0 x >= tiny is rounding where other bounds are of order one, in any unit; 0 x >= 1 is a contradiction."""
    for unit in (1e-6, 1.0, 1e6):
        G = np.array([[1.0, 0.0], [0.0, 0.0]])
        for least, status in ((1e-14, QPStatus.OPTIMAL), (1.0, QPStatus.INFEASIBLE)):
            qp = QP(np.eye(2), np.zeros(2), G=unit * G, lower=unit * np.array([1.0, least]))
            assert solve_qp(qp).status is status
