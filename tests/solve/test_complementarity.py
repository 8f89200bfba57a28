import itertools

import numpy as np
import pytest

from pliant._kernels import complementarity as kernel
from pliant.errors import ArgumentError
from pliant.solve.complementarity import ComplementarityStatus, ContactState, solve_contact, solve_lcp


def compliance(rng, m, dofs=None):
    dofs = dofs or 2 * m
    H, B = rng.normal(size=(m, dofs)), rng.normal(size=(dofs, dofs))
    W = H @ np.linalg.solve(B @ B.T + 0.5 * np.eye(dofs), H.T)
    return 0.5 * (W + W.T) / np.diag(W).mean()


def lemke(W, q):
    """Plain Lemke with exact ratio test, the independent reference."""
    n = q.size
    if (q >= 0).all():
        return np.zeros(n)
    T = np.hstack([np.eye(n), -W, -np.ones((n, 1)), q[:, None]])
    basis = list(range(n))
    row, entering = int(np.argmin(q)), 2 * n
    for _ in range(200 * n):
        leaving = basis[row]
        T[row] /= T[row, entering]
        for i in range(n):
            if i != row:
                T[i] -= T[i, entering] * T[row]
        basis[row] = entering
        if leaving == 2 * n:
            break
        entering = (leaving + n) % (2 * n)
        column = T[:, entering]
        ratio = np.where(column > 1e-12, T[:, -1] / np.where(column > 1e-12, column, 1), np.inf)
        row = int(np.argmin(ratio))
    z = np.zeros(2 * n + 1)
    for i, j in enumerate(basis):
        z[j] = T[i, -1]
    return z[n : 2 * n]


def test_lcp_equals_lemke():
    rng = np.random.default_rng(0)
    for _ in range(80):
        n = int(rng.integers(1, 25))
        W = compliance(rng, n)
        q = rng.normal(size=n) * np.diag(W).mean()
        s = solve_lcp(W, q)
        assert s.status is ComplementarityStatus.SOLVED
        np.testing.assert_allclose(s.force, lemke(W, q), atol=1e-8 * max(1, s.force.max()))


def test_d1_complementarity_to_machine_precision():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = int(rng.integers(2, 60))
        W = compliance(rng, n)
        q = rng.normal(size=n) * np.diag(W).mean()
        s = solve_lcp(W, q)
        scale = np.abs(q).max()
        assert (s.force >= 0).all()
        assert s.gap.min() > -1e-12 * scale
        assert np.abs(s.force * s.gap).max() < 1e-12 * scale * max(s.force.max(), 1)
        assert s.residual < 1e-12
        warm = solve_lcp(W, q, start=s.force)
        assert warm.iterations <= s.iterations


def test_lcp_with_singular_compliance():
    rng = np.random.default_rng(2)
    for _ in range(40):
        n = int(rng.integers(2, 20))
        W = compliance(rng, n, dofs=max(1, n // 2))
        q = -W @ rng.random(n) + np.maximum(rng.normal(size=n), 0)
        s = solve_lcp(W, q, tolerance=1e-8)
        assert s.status.success
        assert s.gap.min() > -1e-6 * np.abs(q).max()


def test_lcp_of_a_nonsymmetric_p_matrix():
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = int(rng.integers(2, 15))
        S = rng.normal(size=(n, n))
        W = compliance(rng, n) + 0.3 * (S - S.T)
        q = rng.normal(size=n)
        s = solve_lcp(W, q)
        assert s.status.success
        np.testing.assert_allclose(s.force, lemke(W, q), atol=1e-7 * max(1, s.force.max()))


def test_lemke_kernel_alone():
    rng = np.random.default_rng(9)
    for _ in range(30):
        n = int(rng.integers(1, 15))
        W = compliance(rng, n)
        q = rng.normal(size=n)
        force = np.zeros(n)
        assert kernel.lemke(W, q, force, 100 * n)
        np.testing.assert_allclose(force, solve_lcp(W, q).force, atol=1e-7 * max(1, force.max()))


def test_unsolvable_lcp_is_flagged():
    W = np.array([[1.0, -1.0], [-1.0, 1.0]])
    s = solve_lcp(W, [-1.0, -1.0])  # delta_1 + delta_2 = -2 whatever the force
    assert s.status is ComplementarityStatus.NOT_CONVERGED
    assert s.residual > 1e-6


def test_mixed_rows_prescribed_unilateral_boxed():
    rng = np.random.default_rng(4)
    for _ in range(40):
        m = 9
        W = compliance(rng, m)
        q = rng.normal(size=m) * np.diag(W).mean()
        low, high, value = np.zeros(m), np.full(m, np.inf), np.zeros(m)
        low[:3] = -np.inf
        value[:3] = rng.normal(size=3) * 0.1
        low[3:5], high[3:5] = -0.2, 0.2
        s = solve_contact(W, q, lower=low, upper=high, value=value)
        assert s.status.success
        np.testing.assert_allclose(s.value[:3], value[:3], atol=1e-10)
        for i in range(3, m):
            assert low[i] - 1e-12 <= s.force[i] <= high[i] + 1e-12
            if s.force[i] > low[i] + 1e-9 and s.force[i] < high[i] - 1e-9:
                assert abs(s.value[i]) < 1e-10
            elif s.force[i] <= low[i] + 1e-9:
                assert s.value[i] > -1e-10
            else:
                assert s.value[i] < 1e-10


def check_coulomb(s, triples, mu, tolerance=1e-8):
    for (n, t, sd), state in zip(triples, s.states):
        force, slip = s.force[[t, sd]], s.value[[t, sd]]
        assert s.force[n] >= -tolerance
        assert s.value[n] >= -tolerance
        assert abs(s.force[n] * s.value[n]) < tolerance
        assert np.linalg.norm(force) <= mu * s.force[n] + tolerance
        if state is ContactState.STICK:
            assert np.linalg.norm(slip) < tolerance
        if state is ContactState.SLIDE:
            assert np.linalg.norm(force) == pytest.approx(mu * s.force[n], abs=tolerance)
            assert force @ slip == pytest.approx(-np.linalg.norm(force) * np.linalg.norm(slip), abs=tolerance)
        if state is ContactState.OPEN:
            assert np.abs(s.force[[n, t, sd]]).max() < tolerance


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_coulomb_conditions_hold(mu):
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(60):
        k = int(rng.integers(1, 12))
        W = compliance(rng, 3 * k)
        q = rng.normal(size=3 * k) * np.diag(W).mean()
        triples = np.arange(3 * k).reshape(k, 3)
        s = solve_contact(W, q, triples=triples, friction=mu)
        assert s.status is ComplementarityStatus.SOLVED
        check_coulomb(s, triples, mu)
        assert (s.friction_ratio <= mu + 1e-8).all()
        seen.update(s.states)
    expected = {ContactState.OPEN, ContactState.FRICTIONLESS} if mu == 0 else {0, 1, 2}
    assert seen == expected


def brute_force(W, q, mu, k, steps=720):
    """All state combinations of k contacts, sliding directions on a fine grid: list of (violation, lam)."""
    best = (np.inf, None)
    angles = 2 * np.pi * np.arange(steps) / steps
    for combo in itertools.product(("open", "stick", "slide"), repeat=k):
        grids = [angles if c == "slide" else [0.0] for c in combo]
        if sum(c == "slide" for c in combo) > 1:
            continue
        for picks in itertools.product(*grids):
            basis, rows = [], []
            for i, (state, angle) in enumerate(zip(combo, picks)):
                if state == "stick":
                    basis += list(np.eye(3 * k)[3 * i : 3 * i + 3])
                    rows += [3 * i, 3 * i + 1, 3 * i + 2]
                elif state == "slide":
                    e = np.zeros(3 * k)
                    e[3 * i : 3 * i + 3] = 1.0, mu * np.cos(angle), mu * np.sin(angle)
                    basis.append(e)
                    rows.append(3 * i)
            lam = np.zeros(3 * k)
            if basis:
                B = np.array(basis).T
                lam = B @ np.linalg.solve(W[rows] @ B, -q[rows])
            delta = W @ lam + q
            bad = 0.0
            for i, (state, angle) in enumerate(zip(combo, picks)):
                n, t = lam[3 * i], lam[3 * i + 1 : 3 * i + 3]
                slip = delta[3 * i + 1 : 3 * i + 3]
                bad = max(bad, -n, -delta[3 * i])
                if state == "stick":
                    bad = max(bad, np.hypot(*t) - mu * n)
                elif state == "slide":
                    d = np.array([np.cos(angle), np.sin(angle)])
                    bad = max(bad, abs(d[0] * slip[1] - d[1] * slip[0]), d @ slip)
            if bad < best[0]:
                best = (bad, lam)
    return best


def test_friction_against_brute_force_one_contact():
    rng = np.random.default_rng(6)
    for _ in range(12):
        W = compliance(rng, 3)
        q = rng.normal(size=3) * np.diag(W).mean()
        s = solve_contact(W, q, triples=[[0, 1, 2]], friction=0.5)
        violation, lam = brute_force(W, q, 0.5, 1)
        assert violation < 0.02
        np.testing.assert_allclose(s.force, lam, atol=0.05 * max(1.0, np.abs(lam).max()))


def test_friction_against_brute_force_two_contacts():
    rng = np.random.default_rng(7)
    compared = 0
    while compared < 6:
        W = compliance(rng, 6)
        q = rng.normal(size=6) * np.diag(W).mean()
        s = solve_contact(W, q, triples=np.arange(6).reshape(2, 3), friction=0.7)
        if s.states.count(ContactState.SLIDE) > 1 or s.states.count(ContactState.OPEN) == 2:
            continue
        violation, lam = brute_force(W, q, 0.7, 2, steps=360)
        assert violation < 0.05
        np.testing.assert_allclose(s.force, lam, atol=0.15 * max(1.0, np.abs(lam).max()))
        compared += 1


def test_block_on_a_slope():
    """A weight on a slope sticks below the friction angle and slides above it."""
    for angle, expected in (
        (np.arctan(0.5) - 0.01, ContactState.STICK),
        (np.arctan(0.5) + 0.01, ContactState.SLIDE),
    ):
        W = np.diag([1e-3, 2e-3, 2e-3])
        weight = 10.0 * np.array([-np.cos(angle), np.sin(angle), 0.0])
        s = solve_contact(W, W @ weight, triples=[[0, 1, 2]], friction=0.5)
        assert s.states == (expected,)
        assert s.force[0] == pytest.approx(10 * np.cos(angle))
        assert abs(s.force[1]) == pytest.approx(min(10 * np.sin(angle), 5 * np.cos(angle)))


def test_infinite_friction_sticks_opens_or_says_fallback():
    rng = np.random.default_rng(8)
    count = dict.fromkeys(ComplementarityStatus, 0)
    for _ in range(60):
        k = int(rng.integers(1, 8))
        W = compliance(rng, 3 * k)
        q = rng.normal(size=3 * k) * np.diag(W).mean()
        s = solve_contact(W, q, triples=np.arange(3 * k).reshape(k, 3), friction=np.inf)
        count[s.status] += 1
        if s.status is ComplementarityStatus.NOT_CONVERGED:
            continue
        assert ContactState.SLIDE not in s.states
        assert (ContactState.FRICTIONLESS in s.states) == (s.status is ComplementarityStatus.FALLBACK)
        assert s.force[::3].min() >= -1e-9
        assert s.value[::3].min() >= -1e-9
    assert count[ComplementarityStatus.SOLVED] > 20
    assert count[ComplementarityStatus.FALLBACK] > 5


def test_no_state_without_friction_fallback():
    """Opening penetrates and sticking pulls: only the frictionless third state remains (spec 12.3)."""
    W = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    q = np.array([-0.1, -1.0, 0.0])
    assert np.linalg.solve(W, -q)[0] < 0
    s = solve_contact(W, q, triples=[[0, 1, 2]], friction=np.inf)
    assert s.status is ComplementarityStatus.FALLBACK
    assert s.states == (ContactState.FRICTIONLESS,)
    assert s.force[0] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"W": np.eye(2), "q": [np.nan, 0]}, "q"),
        ({"W": np.eye(3), "q": [0, 0]}, "W"),
        ({"W": np.diag([1.0, 0.0]), "q": [0, 0]}, "W"),
        ({"W": [[np.inf, 0], [0, 1]], "q": [0, 0]}, "W"),
        ({"W": np.eye(2), "q": [0, 0], "start": [1.0]}, "start"),
        ({"W": np.eye(2), "q": [0, 0], "tolerance": 0.0}, "tolerance"),
        ({"W": np.eye(2), "q": [0, 0], "max_iterations": 0}, "max_iterations"),
    ],
)
def test_bad_input(arguments, name):
    arguments = dict(arguments)
    W, q = arguments.pop("W"), arguments.pop("q")
    for solve in (solve_lcp, solve_contact):
        with pytest.raises(ArgumentError) as error:
            solve(W, q, **arguments)
        assert error.value.argument == name


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"triples": [[0, 1]]}, "triples"),
        ({"triples": [[0, 1, 1]]}, "triples"),
        ({"triples": [[0, 1, 5]]}, "triples"),
        ({"triples": [[0, 1, 2]], "friction": -1.0}, "friction"),
        ({"lower": 1.0, "upper": 0.0}, "lower"),
        ({"value": np.nan}, "value"),
    ],
)
def test_bad_contact_input(arguments, name):
    with pytest.raises(ArgumentError) as error:
        solve_contact(np.eye(3), np.zeros(3), **arguments)
    assert error.value.argument == name


def test_empty_problem():
    assert solve_lcp(np.zeros((0, 0)), np.zeros(0)).status.success
    assert solve_contact(np.zeros((0, 0)), np.zeros(0)).status.success


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_unilateral_rows_that_are_nearly_equal_are_pivoted_where_sweeps_crawl(seed):
    random = np.random.default_rng(seed)
    J = np.repeat(random.normal(size=(40, 60)), 3, axis=0) + 1e-4 * random.normal(size=(120, 60))
    W, q = J @ J.T, 0.1 * random.random(120) - J @ np.abs(random.normal(size=60))
    found = solve_contact(W, q, tolerance=1e-12, max_iterations=2000)
    assert found.status.success
    assert found.force.min() >= 0.0
    assert found.value.min() > -1e-10 * np.abs(q).max()


@pytest.mark.parametrize(("contacts", "motions"), [(60, 25), (200, 90)])
def test_more_contacts_than_motions_are_solved_exactly_and_quickly(contacts, motions):
    """W is singular: pivots would go in circles. Forces are not unique, gaps are."""
    rng = np.random.default_rng(contacts)
    J = rng.normal(size=(contacts, motions))
    W = J @ J.T / motions
    forces, gaps = np.maximum(rng.normal(size=(2, contacts)), 0.0)
    q = -W @ forces + np.where(forces > 0.0, 0.0, gaps)
    s = solve_lcp(W, q, tolerance=1e-12)
    assert s.status is ComplementarityStatus.SOLVED
    assert s.iterations < 8 + 60 + 10
    assert s.force.min() >= 0.0
    assert s.gap.min() > -1e-10
    assert abs(s.force @ s.gap) < 1e-9
    np.testing.assert_allclose(s.gap, W @ forces + q, atol=1e-9)
