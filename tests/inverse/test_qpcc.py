import itertools
from dataclasses import replace

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.inverse.qp import solve_qp
from pliant.inverse.qpcc import QPCC, QPCCStatus, piece_qp, piecewise_cost, solve_qpcc
from pliant.solve.complementarity import solve_lcp


def random_problem(rng, ne, na, nc, *, dofs=40, **options):
    """Random instance as in spec 17.6."""
    B = rng.normal(size=(dofs, dofs))
    H = rng.normal(size=(ne + na + nc, dofs))
    W = H @ np.linalg.solve(B @ B.T + 0.5 * np.eye(dofs), H.T)
    W = 0.5 * (W + W.T)
    e, a, c = slice(0, ne), slice(ne, ne + na), slice(ne + na, None)
    own = np.diag(W)
    options = {"effort_min": 0.0, "effort_max": 3.0, **options}
    return QPCC(
        Wea=W[e, a], Wec=W[e, c], de=rng.normal(size=ne) * own[e],
        Waa=W[a, a], Wac=W[a, c], da=np.zeros(na),
        Wca=W[c, a], Wcc=W[c, c], dc=0.5 * rng.normal(size=nc) * own[c], **options,
    )  # fmt: skip


def value(problem, states, a):
    """Objective at efforts a with the forces of a contact set."""
    held = np.asarray(states) == 1
    forces = np.zeros(problem.contacts)
    right = problem.Wca[held] @ a + problem.dc[held]
    forces[held] = -np.linalg.solve(problem.Wcc[np.ix_(held, held)], right)
    return problem.objective(a, forces)


def enumerate_pieces(problem):
    """Exhaustive optimum over all 2^nc contact sets, through the numpy form of the pieces."""
    best = np.inf
    for states in itertools.product((0, 1), repeat=problem.contacts):
        s = solve_qp(piece_qp(problem, states))
        if s.status.success:
            best = min(best, value(problem, states, s.x))
    return best


def check_feasible(problem, s, tolerance=1e-8):
    assert s.residual < tolerance
    scale = np.abs(problem.dc).max()
    assert s.contact.min() >= -tolerance * max(1, s.contact.max())
    assert s.gap.min() >= -tolerance * scale
    assert np.abs(s.contact * s.gap).max() <= tolerance * scale * max(1, s.contact.max())
    assert np.all(s.effort >= problem.effort_min - 1e-9)
    assert np.all(s.effort <= problem.effort_max + 1e-9)
    # the forces are those of the forward contact problem at these efforts
    forward = solve_lcp(problem.Wcc, problem.Wca @ s.effort + problem.dc)
    np.testing.assert_allclose(forward.force, s.contact, atol=1e-6 * max(1, s.contact.max()))


def repeated(problem):
    """The same problem with its last contact there twice, as two walls in one place."""
    rows = np.r_[np.arange(problem.contacts), problem.contacts - 1]
    return replace(
        problem, Wec=problem.Wec[:, rows], Wac=problem.Wac[:, rows], Wca=problem.Wca[rows],
        Wcc=problem.Wcc[np.ix_(rows, rows)], dc=problem.dc[rows],
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_contact_given_twice_changes_no_optimum(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 3, 2, 4)
    single, double = solve_qpcc(problem, search="global"), solve_qpcc(repeated(problem), search="global")
    assert single.status is double.status
    if single.status.success:
        assert double.objective == pytest.approx(single.objective, rel=1e-6, abs=1e-12)


def check_monotone(s):
    accepted = [p.objective for p in s.pieces if p.accepted]
    assert all(b < a for a, b in itertools.pairwise(accepted))
    assert s.pivots == len(accepted) - 1
    sets = [p.states.tobytes() for p in s.pieces]
    assert len(set(sets)) == len(sets)


SIZES = [(3, 2, 4, 260), (1, 2, 5, 30), (3, 3, 6, 130), (6, 4, 7, 60), (3, 4, 8, 30), (2, 3, 10, 6)]


@pytest.mark.parametrize(("ne", "na", "nc", "count"), SIZES)
def test_d4_against_enumeration(ne, na, nc, count):
    """500 problems: never below the optimum, never infeasible, monotone, terminating; global is exact."""
    rng = np.random.default_rng(1000 + nc)
    hits, pieces = 0, []
    for _ in range(count):
        problem = random_problem(rng, ne, na, nc)
        best = enumerate_pieces(problem)
        s = solve_qpcc(problem)
        assert s.status in (QPCCStatus.LOCAL, QPCCStatus.STATIONARY)
        assert s.objective >= best - 1e-9 * (1 + best)
        check_feasible(problem, s)
        check_monotone(s)
        hits += s.objective <= best + 1e-7 * (1e-3 + best)
        pieces.append(len(s.pieces))
        proved = solve_qpcc(problem, search="global", starts=2)
        assert proved.status is QPCCStatus.GLOBAL
        assert proved.objective == pytest.approx(best, rel=1e-8, abs=1e-9)
        assert proved.lower_bound <= best + 1e-9 * (1 + best)
        assert proved.gap_proof <= 1e-8 * (1 + best)
        check_feasible(problem, proved)
    assert hits >= (0.8 if na <= ne else 0.6) * count  # spec 17.6: about 90 %, 16 of 25 when redundant
    assert np.mean(pieces) < 5


@pytest.mark.slow
@pytest.mark.parametrize(("ne", "na", "nc"), [(3, 5, 10), (6, 3, 9), (1, 2, 8), (9, 6, 8)])
def test_d4_larger_sweep(ne, na, nc):
    rng = np.random.default_rng(77)
    for _ in range(60):
        problem = random_problem(rng, ne, na, nc)
        best = enumerate_pieces(problem)
        s = solve_qpcc(problem)
        assert s.objective >= best - 1e-9 * (1 + best)
        check_feasible(problem, s)
        assert solve_qpcc(problem, search="global").objective == pytest.approx(best, rel=1e-8, abs=1e-9)


def test_multistart_finds_the_optimum_nearly_always():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(60):
        problem = random_problem(rng, 3, 3, 6)
        best = solve_qpcc(problem, search="global").objective
        s = solve_qpcc(problem, search="multistart")
        check_feasible(problem, s)
        hits += s.objective <= best + 1e-7 * (1e-3 + best)
    assert hits >= 57


def test_d3_reduced_equals_full():
    rng = np.random.default_rng(6)
    compared = 0
    for _ in range(60):
        problem = random_problem(rng, 4, 3, 6, energy=1e-4)
        states = rng.integers(0, 2, size=6)
        reduced, full = (
            solve_qp(piece_qp(problem, states)),
            solve_qp(piece_qp(problem, states, reduced=False)),
        )
        assert reduced.status is full.status
        if reduced.status.success:
            compared += 1
            assert value(problem, states, reduced.x) == pytest.approx(
                problem.objective(full.x[:3], full.x[3:]), abs=1e-8
            )
            np.testing.assert_allclose(reduced.x, full.x[:3], atol=1e-8)
    assert compared > 5
    # and the compiled pieces of the search agree with both
    for _ in range(20):
        problem = random_problem(rng, 3, 3, 8, energy=1e-3, proximal=1e-2, reference=rng.random(3))
        for piece in solve_qpcc(problem).pieces:
            full = solve_qp(piece_qp(problem, piece.states, reduced=False))
            if full.status.success:
                assert piece.objective == pytest.approx(problem.objective(full.x[:3], full.x[3:]), abs=1e-8)


def test_e6_energy_term_is_convex_in_the_reduced_form():
    """17.7: literal energy indefinite 200/200 with two effector rows, reduced 0/200; equal on contact."""
    rng = np.random.default_rng(7)
    literal = 0
    for _ in range(200):
        p = random_problem(rng, 2, 4, 5, energy=1e-3)
        plain = random_problem(np.random.default_rng(0), 2, 4, 5)
        assert plain.weight(plain.energy) == 0.0
        eps = p.weight(p.energy)
        We = np.hstack([p.Wea, p.Wec])
        H = We.T @ We + eps * np.block([[2 * p.Waa, p.Wac], [p.Wca, np.zeros((5, 5))]])
        literal += np.linalg.eigvalsh(H)[0] < -1e-12 * np.abs(H).max()
        for states in ([0] * 5, [1] * 5, rng.integers(0, 2, 5)):
            Q = piece_qp(p, states).Q
            assert np.linalg.eigvalsh(Q)[0] > -1e-12 * np.abs(Q).max()
    assert literal == 200
    s = solve_qpcc(p)
    work = s.effort @ (p.Waa @ s.effort + p.Wac @ s.contact)
    both = np.concatenate([s.effort, s.contact])
    W = np.block([[p.Waa, p.Wac], [p.Wca, p.Wcc]])
    assert work == pytest.approx(both @ W @ both + p.dc @ s.contact, rel=1e-9)


def test_energy_biases_and_proximal_does_not():
    rng = np.random.default_rng(8)
    p = random_problem(rng, 2, 2, 3)
    a = np.array([1.0, 2.0])
    forces = solve_lcp(p.Wcc, p.Wca @ a + p.dc).force
    fields = dict(vars(p), de=-(p.Wea @ a + p.Wec @ forces))  # a target that a reaches exactly
    exact = solve_qpcc(QPCC(**fields), start=a)
    assert exact.objective < 1e-20
    biased = solve_qpcc(QPCC(**dict(fields, energy=1e-3)), start=a)
    assert np.linalg.norm(biased.effector) > 1e-6
    effort = np.array([0.5, 2.5])
    for _ in range(40):
        step = solve_qpcc(QPCC(**dict(fields, proximal=1e-2, reference=effort)), start=effort)
        effort = step.effort
    np.testing.assert_allclose(effort, exact.effort, atol=1e-8)


def test_c5_redundant_actuators_move_continuously_with_the_target():
    rng = np.random.default_rng(9)
    p = random_problem(rng, 2, 5, 4)
    fields = vars(p)
    effort, states, previous = np.zeros(5), None, None
    for t in np.linspace(0, 1, 100):
        de = p.de * (0.5 + 0.2 * np.array([np.cos(t), np.sin(t)]))
        s = solve_qpcc(
            QPCC(**dict(fields, de=de, proximal=1e-6, reference=effort)), start=effort, contact_set=states
        )
        effort, states = s.effort, s.contact_set
        if previous is not None:
            assert np.linalg.norm(effort - previous) < 0.2
        previous = effort


def test_warm_start_needs_no_pivot_and_bad_set_is_survived():
    rng = np.random.default_rng(10)
    for _ in range(20):
        problem = random_problem(rng, 3, 4, 12)
        s = solve_qpcc(problem)
        warm = solve_qpcc(problem, start=s.effort, contact_set=s.contact_set)
        assert warm.pivots == 0
        assert warm.objective == pytest.approx(s.objective, rel=1e-9, abs=1e-10)
        odd = solve_qpcc(problem, contact_set=rng.integers(0, 2, 12))
        check_feasible(problem, odd)


def test_displacement_limits_are_respected():
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(40):
        problem = random_problem(rng, 3, 3, 5, displacement_min=-0.5, displacement_max=0.5, effort_min=-3.0)
        s = solve_qpcc(problem)
        if s.status.success:
            held += 1
            assert np.abs(s.displacement).max() < 0.5 + 1e-9
            check_feasible(problem, s)
        else:
            assert s.status is QPCCStatus.RELAXED
            assert s.notices
    assert held > 20


def test_impossible_limits_are_relaxed_with_notice_and_restored():
    rng = np.random.default_rng(12)
    problem = random_problem(rng, 3, 3, 4)
    impossible = QPCC(**dict(vars(problem), displacement_min=[5e3, -1e4, -1e4], displacement_max=1e4))
    s = solve_qpcc(impossible)
    assert s.status is QPCCStatus.RELAXED
    assert not s.status.success
    assert any("actuator 0" in notice for notice in s.notices)
    assert s.residual < 1e-6  # contact and efforts still hold
    again = solve_qpcc(problem, start=s.effort, contact_set=s.contact_set)
    assert again.status.success
    assert again.notices == ()


def test_grasp_floor():
    rng = np.random.default_rng(13)
    problem = random_problem(rng, 3, 4, 5)
    free = solve_qpcc(problem)
    floor = free.contact.sum() + 0.5
    row = np.concatenate([np.zeros(4), np.ones(5)])
    s = solve_qpcc(QPCC(**dict(vars(problem), C=[row], d=[floor])), start=free.effort)
    assert s.status.success
    assert s.contact.sum() >= floor - 1e-8
    assert s.objective >= free.objective - 1e-12
    assert s.dual_rows[0] >= 0


def test_dependent_contacts_do_not_break_it():
    """Twice the same contact: Wcc is singular."""
    rng = np.random.default_rng(14)
    for _ in range(20):
        p = random_problem(rng, 3, 3, 4)
        twice = np.r_[0, 0, 1, 2, 3]
        doubled = QPCC(
            **dict(vars(p), Wec=p.Wec[:, twice], Wac=p.Wac[:, twice], Wca=p.Wca[twice], dc=p.dc[twice],
                   Wcc=p.Wcc[np.ix_(twice, twice)], C=None, d=None)
        )  # fmt: skip
        s, single = solve_qpcc(doubled, search="multistart"), solve_qpcc(p, search="global")
        assert s.status.success
        assert s.residual < 1e-6
        assert s.objective >= single.objective - 1e-7 * (1 + single.objective)


def test_mixed_units():
    """Pascals beside newtons: scaling the unknowns must not change the answer."""
    rng = np.random.default_rng(15)
    p = random_problem(rng, 3, 3, 6)
    scale = np.array([1.0, 1e6, 1e-3])
    q = QPCC(
        Wea=p.Wea / scale, Wec=p.Wec, de=p.de, Waa=p.Waa / np.outer(scale, scale), Wac=p.Wac / scale[:, None],
        da=p.da, Wca=p.Wca / scale, Wcc=p.Wcc, dc=p.dc, effort_min=0.0, effort_max=3.0 * scale,
    )  # fmt: skip
    a, b = solve_qpcc(p), solve_qpcc(q)
    np.testing.assert_allclose(b.effort / scale, a.effort, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(a.contact_set, b.contact_set)


def test_d5_piecewise_cost_is_continuous_and_shows_the_minimum():
    rng = np.random.default_rng(16)
    problem = random_problem(rng, 3, 2, 5)
    axis = np.linspace(0, 3, 61)
    m = piecewise_cost(problem, [axis, axis])
    assert m.cost.shape == (61, 61)
    assert m.sets.shape[0] == m.region.max() + 1 > 1
    best = solve_qpcc(problem, search="global")
    assert m.cost.min() >= best.objective - 1e-9
    assert m.cost.min() <= best.objective + 0.05 * (1 + best.objective)
    fine = piecewise_cost(problem, [np.linspace(0, 3, 121), np.linspace(0, 3, 121)])
    jump = np.abs(np.diff(m.cost, axis=0)).max()
    assert np.abs(np.diff(fine.cost, axis=0)).max() < 0.6 * jump  # halving the step halves the largest jump
    assert m.allowed.all()
    one = random_problem(rng, 3, 1, 4)
    assert piecewise_cost(one, [axis]).cost.shape == (61,)


def test_two_local_minima_and_the_global_one():
    """Spec 9.8: some problem has several local minima; the search says which kind it found."""
    rng = np.random.default_rng(17)
    found = 0
    for _ in range(60):
        problem = random_problem(rng, 3, 2, 5)
        values = {round(solve_qpcc(problem, start=rng.uniform(0, 3, 2)).objective, 6) for _ in range(8)}
        found += len(values) > 1
    assert found > 0


def test_no_contact_is_a_plain_qp():
    rng = np.random.default_rng(18)
    p = random_problem(rng, 3, 3, 2)
    empty = QPCC(
        Wea=p.Wea, Wec=np.zeros((3, 0)), de=p.de, Waa=p.Waa, Wac=np.zeros((3, 0)), da=p.da,
        Wca=np.zeros((0, 3)), Wcc=np.zeros((0, 0)), dc=np.zeros(0), effort_min=0.0, effort_max=3.0,
    )  # fmt: skip
    for search in ("local", "multistart", "global"):
        s = solve_qpcc(empty, search=search)
        assert s.status.success
        assert s.objective == pytest.approx(value(empty, [], solve_qp(piece_qp(empty, [])).x), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"de": [np.nan, 0, 0]}, "de"),
        ({"Wea": np.zeros((2, 2))}, "Wea"),
        ({"Wcc": np.zeros((4, 4))}, "Wcc"),
        ({"Wcc": np.eye(4) + np.eye(4, k=1)}, "Wcc"),
        ({"effort_min": 4.0}, "effort_min"),
        ({"C": np.zeros((1, 6))}, "C"),
        ({"energy": -1.0}, "energy"),
        ({"reference": [1.0]}, "reference"),
        ({"rows_per_contact": 3}, "rows_per_contact"),
        ({"displacement_min": np.nan}, "displacement_min"),
    ],
)
def test_bad_problem(change, name):
    p = random_problem(np.random.default_rng(19), 3, 2, 4)
    fields = dict(vars(p), C=None, d=None)
    with pytest.raises(ArgumentError) as error:
        QPCC(**dict(fields, **change))
    assert error.value.argument == name


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"search": "magic"}, "search"),
        ({"start": [1.0]}, "start"),
        ({"contact_set": [0, 1]}, "contact_set"),
        ({"contact_set": [0, 1, 2, 0]}, "contact_set"),
        ({"starts": 0}, "starts"),
        ({"max_pieces": 0}, "max_pieces"),
        ({"tolerance": 0.0}, "tolerance"),
    ],
)
def test_bad_options(options, name):
    p = random_problem(np.random.default_rng(20), 3, 2, 4)
    with pytest.raises(ArgumentError) as error:
        solve_qpcc(p, **options)
    assert error.value.argument == name


def test_pivot_limit_is_reported():
    rng = np.random.default_rng(21)
    statuses = {solve_qpcc(random_problem(rng, 3, 4, 10), max_pieces=1).status for _ in range(20)}
    assert QPCCStatus.PIVOT_LIMIT in statuses
