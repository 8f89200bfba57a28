import itertools

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.inverse.qpcc import QPCC, QPCCStatus, solve_qpcc
from pliant.inverse.sliding import Cone, cones, enumerate_sliding, forward_states, sliding_piece
from pliant.solve.complementarity import ContactState, solve_contact


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


def check_pyramid(problem, s, K):
    """Conditions of polyhedral Coulomb friction, written without the states."""
    d = np.array([[np.cos(2 * np.pi * k / K), np.sin(2 * np.pi * k / K)] for k in range(K)])
    normals = np.array(
        [[np.cos(2 * np.pi * (k + 0.5) / K), np.sin(2 * np.pi * (k + 0.5) / K)] for k in range(K)]
    )
    for i, mu in enumerate(np.asarray(problem.friction)):
        n, t = s.contact[3 * i], s.contact[3 * i + 1 : 3 * i + 3]
        gap, slip = s.gap[3 * i], s.gap[3 * i + 1 : 3 * i + 3]
        scale = max(1.0, abs(n))
        assert n >= -1e-8
        assert gap >= -1e-8
        assert abs(n * gap) < 1e-7 * scale
        assert (normals @ t).max() <= mu * n * np.cos(np.pi / K) + 1e-7 * scale
        # maximum dissipation over the pyramid: no other force in it resists the slip more
        assert slip @ t <= (mu * n * (d @ slip)).min() + 1e-7 * scale


def test_neighbouring_states_share_a_boundary():
    cone = Cone(0.6, 6)
    for state in cone.states:
        basis, equal, conditions = cone.describe(state)
        assert basis.shape[1] == equal.shape[0]
        for _, _, neighbours in conditions:
            for other in neighbours:
                back = [n for _, _, targets in cone.describe(other)[2] for n in targets]
                assert state in back or state == 0 or other == 0


@pytest.mark.parametrize(("nc", "K", "count"), [(1, 4, 25), (1, 8, 15), (2, 4, 12)])
def test_against_enumeration(nc, K, count):
    rng = np.random.default_rng(10 + K + nc)
    hits = 0
    for _ in range(count):
        problem = random_problem(rng, 3, 2, nc, press=0.5, friction=0.6)
        best, _ = enumerate_sliding(problem, directions=K)
        s = solve_qpcc(problem, contact="sliding", directions=K)
        assert s.status is QPCCStatus.STATIONARY
        assert s.residual < 1e-7
        assert s.objective >= best - 1e-9 * (1 + best)
        check_pyramid(problem, s, K)
        accepted = [p.objective for p in s.pieces if p.accepted]
        assert all(b < a for a, b in itertools.pairwise(accepted))
        hits += s.objective <= best + 1e-7 * (1e-3 + best)
    assert hits >= 0.7 * count


def test_forward_states_converge_to_the_round_cone():
    """At fixed efforts the pyramid solution approaches Coulomb's as the number of directions grows."""
    rng = np.random.default_rng(20)
    slides = 0
    for _ in range(15):
        problem = random_problem(rng, 3, 2, 2, press=0.6, friction=0.5)
        a = np.array([0.5, 0.5])
        q = problem.Wca @ a + problem.dc
        exact = solve_contact(problem.Wcc, q, triples=np.arange(6).reshape(2, 3), friction=0.5)
        slides += ContactState.SLIDE in exact.states
        pyramids = cones(problem, 48)
        piece = sliding_piece(problem, pyramids, forward_states(problem, pyramids, a))
        assert piece is not None
        forces = piece.map @ np.append(a, 1.0)
        np.testing.assert_allclose(forces, exact.force, atol=0.02 * max(1.0, np.abs(exact.force).max()))
    assert slides > 5


def test_sliding_is_used_where_sticking_would_leave_the_cone():
    rng = np.random.default_rng(21)
    slid = 0
    for _ in range(15):
        problem = random_problem(rng, 3, 2, 2, press=1.0, friction=0.3)
        s = solve_qpcc(problem, contact="sliding", directions=6)
        assert s.friction_ratio.max() <= 0.3 + 1e-7
        slid += (s.contact_set >= 2).any()
        warm = solve_qpcc(problem, contact="sliding", directions=6, start=s.effort, contact_set=s.contact_set)
        assert warm.objective <= s.objective * (1 + 1e-9) + 1e-12
    assert slid > 5


def test_multistart_is_never_worse():
    rng = np.random.default_rng(22)
    problem = random_problem(rng, 3, 3, 2, press=0.5, friction=0.5, proximal=1e-3, energy=1e-4)
    one = solve_qpcc(problem, contact="sliding")
    many = solve_qpcc(problem, contact="sliding", search="multistart", starts=4)
    assert many.objective <= one.objective + 1e-12


def test_bad_input():
    problem = random_problem(np.random.default_rng(23), 3, 2, 1)
    with pytest.raises(ArgumentError, match="friction"):
        solve_qpcc(problem, contact="sliding")
    rough = QPCC(**dict(vars(problem), friction=0.5))
    with pytest.raises(ArgumentError, match="directions"):
        solve_qpcc(rough, contact="sliding", directions=2)
    with pytest.raises(ArgumentError, match="contact_set"):
        solve_qpcc(rough, contact="sliding", contact_set=[99])
    with pytest.raises(ArgumentError, match="contact"):
        solve_qpcc(rough, contact="magic")
    with pytest.raises(ArgumentError, match="friction"):
        QPCC(**dict(vars(problem), friction=-0.5))
    with pytest.raises(ArgumentError, match="friction"):
        solve_qpcc(QPCC(**dict(vars(problem), friction=0.0)), contact="sliding")
