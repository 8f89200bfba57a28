import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.inverse.qp import QP, QPStatus, solve_qp


def random_qp(rng, *, singular=False, equality=False):
    n, m = rng.integers(1, 13), rng.integers(1, 25)
    B = rng.normal(size=(max(1, n // 2) if singular else n + 2, n))
    lo, hi = np.full(n, -2.0), np.full(n, 2.0)
    G = rng.normal(size=(m, n))
    inside = G @ np.clip(rng.normal(size=n), lo, hi)
    lower = inside - rng.exponential(size=m)
    upper = np.where(rng.random(m) < 0.5, np.inf, lower + 2.0)
    extra = {}
    if equality and n > 2:
        A = rng.normal(size=(1, n))
        extra = {"A": A, "b": A @ np.clip(rng.normal(size=n), -0.1, 0.1)}
    return QP(
        B.T @ B, B.T @ rng.normal(size=B.shape[0]), G=G, lower=lower, upper=upper, lo=lo, hi=hi, **extra
    )


def check_kkt(qp, s, tolerance=1e-8):
    rows, lower, upper = qp.stacked
    y = np.concatenate([s.dual_bounds, s.dual_equalities, s.dual_rows])
    value = rows @ s.x
    assert np.all(value >= lower - tolerance)
    assert np.all(value <= upper + tolerance)
    np.testing.assert_allclose(qp.Q @ s.x + qp.c, rows.T @ y, atol=tolerance)
    free = lower < upper
    assert np.all(np.abs((value - lower)[(y > 1e-9) & free]) < tolerance)
    assert np.all(np.abs((upper - value)[(y < -1e-9) & free]) < tolerance)


@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.parametrize("equality", [False, True])
def test_random_problems_satisfy_kkt(singular, equality):
    rng = np.random.default_rng(1)
    solved = 0
    for _ in range(150):
        qp = random_qp(rng, singular=singular, equality=equality)
        s = solve_qp(qp)
        if s.status is QPStatus.OPTIMAL:
            solved += 1
            check_kkt(qp, s)
            assert s.residual < 1e-9
            again = solve_qp(qp, start=s.x, active=s.active)
            assert again.objective == pytest.approx(s.objective, rel=1e-9, abs=1e-10)
        else:
            assert s.status is QPStatus.INFEASIBLE
            assert s.conflict.size > 0
            other = solve_qp(qp, method="daqp")
            assert not other.status.success
    assert solved > (100 if not equality else 60)


def test_agrees_with_daqp():
    rng = np.random.default_rng(2)
    for _ in range(100):
        qp = random_qp(rng)
        a, b = solve_qp(qp), solve_qp(qp, method="daqp")
        assert a.status is b.status
        if not a.status.success:
            continue
        np.testing.assert_allclose(a.x, b.x, atol=1e-8)
        np.testing.assert_allclose(a.dual_rows, b.dual_rows, atol=1e-7)


def test_c6_twelve_unknowns_24_constraints_few_iterations():
    rng = np.random.default_rng(3)
    iterations = []
    for _ in range(200):
        W = rng.normal(size=(12, 12))
        qp = QP(
            W.T @ W, W.T @ rng.normal(size=12), G=np.eye(12) + 0.1 * W, lower=-1.0, upper=1.0, lo=0.0, hi=1.5
        )
        s = solve_qp(qp)
        assert s.status is QPStatus.OPTIMAL
        iterations.append(s.iterations)
    assert np.median(iterations) < 10


def test_c5_redundant_problem_is_unique_and_continuous_with_a_proximal_reference():
    rng = np.random.default_rng(4)
    W = rng.normal(size=(2, 4))  # four actuators, two effector rows
    previous = None
    x = np.zeros(4)
    for angle in np.linspace(0, 2 * np.pi, 200):
        goal = np.array([np.cos(angle), np.sin(angle)])
        s = solve_qp(QP(W.T @ W, -W.T @ goal, lo=-4.0, hi=4.0), start=x)
        np.testing.assert_allclose(W @ s.x, goal, atol=1e-9)  # the reference does not bias the target
        if previous is not None:
            assert np.linalg.norm(s.x - previous) < 10 * 2 * np.pi / 200 / np.linalg.svd(W)[1][-1]
        previous = x = s.x


def test_mixed_units_do_not_matter():
    rng = np.random.default_rng(5)
    B = rng.normal(size=(5, 4))
    scale = np.array([1.0, 1e6, 1e-3, 1e3])  # N, Pa, kN, mN
    qp = QP(B.T @ B, B.T @ rng.normal(size=5), lo=0.0, hi=0.3)
    scaled = QP(qp.Q / np.outer(scale, scale), qp.c / scale, lo=0.0 * scale, hi=0.3 * scale)
    np.testing.assert_allclose(solve_qp(scaled).x / scale, solve_qp(qp).x, rtol=1e-9, atol=1e-12)


def test_dual_is_the_sensitivity_of_the_optimum():
    rng = np.random.default_rng(6)
    qp = random_qp(rng)
    s = solve_qp(qp)
    i = int(np.argmax(np.abs(s.dual_rows)))
    h = 1e-6
    lower, upper = qp.lower.copy(), qp.upper.copy()
    lower[i] += h
    upper[i] += h
    moved = solve_qp(QP(qp.Q, qp.c, G=qp.G, lower=lower, upper=upper, lo=qp.lo, hi=qp.hi))
    assert (moved.objective - s.objective) / h == pytest.approx(s.dual_rows[i], rel=1e-4, abs=1e-6)


def test_linear_program_and_unbounded():
    s = solve_qp(QP(np.zeros((2, 2)), [1.0, 2.0], lo=[1.0, -3.0]))
    assert s.status is QPStatus.OPTIMAL
    np.testing.assert_allclose(s.x, [1.0, -3.0], atol=1e-9)
    assert solve_qp(QP(np.zeros((2, 2)), [-1.0, 2.0], lo=0.0)).status is QPStatus.UNBOUNDED
    assert solve_qp(QP(np.diag([1.0, 0.0]), [-1.0, -2.0], lo=0.0)).status is QPStatus.UNBOUNDED
    assert solve_qp(QP(np.ones((2, 2)), [-1.0, -2.0])).status is QPStatus.UNBOUNDED


def test_contradiction_is_named_and_elastic_mode_relaxes_the_least():
    qp = QP(
        np.eye(2), [0.0, 0.0], G=[[1.0, 0.0], [1.0, 1.0]], lower=[3.0, 2.0], upper=[4.0, 9.0], lo=0.0, hi=1.0
    )
    s = solve_qp(qp)
    assert s.status is QPStatus.INFEASIBLE
    assert set(s.conflict) == {0, 2}  # the bound on x_0 and the first row
    assert s.residual > 0.1
    relaxed = solve_qp(qp, elastic=True)
    assert relaxed.status is QPStatus.RELAXED
    assert list(relaxed.relaxed) == [0]
    assert relaxed.violation[0] == pytest.approx(2.0, abs=1e-6)
    np.testing.assert_allclose(relaxed.x, [1.0, 1.0], atol=1e-6)
    hopeless = QP(np.eye(1), [0.0], A=[[1.0]], b=[5.0], G=[[1.0]], lower=[0.0], lo=0.0, hi=1.0)
    assert not solve_qp(hopeless, elastic=True).status.success


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"Q": np.eye(2), "c": [np.nan, 0]}, "c"),
        ({"Q": np.eye(3), "c": [0, 0]}, "Q"),
        ({"Q": [[1.0, 2.0], [0.0, 1.0]], "c": [0, 0]}, "Q"),
        ({"Q": [[-1.0, 0.0], [0.0, 1.0]], "c": [0, 0]}, "Q"),
        ({"Q": np.eye(2), "c": [0, 0], "lo": 1.0, "hi": 0.0}, "lo"),
        ({"Q": np.eye(2), "c": [0, 0], "G": [[1.0, 2.0, 3.0]]}, "G"),
        ({"Q": np.eye(2), "c": [0, 0], "A": [[1.0, 2.0]]}, "A"),
        ({"Q": np.eye(2), "c": [0, 0], "upper": [1.0]}, "G"),
        ({"Q": np.eye(2), "c": []}, "c"),
    ],
)
def test_bad_input(arguments, name):
    with pytest.raises(ArgumentError) as error:
        QP(**arguments)
    assert error.value.argument == name


def test_indefinite_and_bad_options():
    with pytest.raises(ArgumentError, match="indefinite"):
        solve_qp(QP([[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0]))
    qp = QP(np.eye(2), [0.0, 0.0])
    with pytest.raises(ArgumentError, match="method"):
        solve_qp(qp, method="magic")
    with pytest.raises(ArgumentError, match="active"):
        solve_qp(qp, active=[1])
    with pytest.raises(ArgumentError, match="qp"):
        solve_qp(3)
