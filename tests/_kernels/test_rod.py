"""Rod kernels against a plain NumPy reference that shares nothing with them but the definition of the map."""

import numpy as np
import pytest
from scipy.linalg import expm

import pliant as pl
from pliant import lie
from pliant._kernels import rod, rod_dynamics, rod_mass, rod_points, rod_tangent
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod_tables import Station, build

SILICONE = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
G = np.array([0.0, 0.0, -9.81])


def make(basis, *, tree=False):
    """A chain or a tree of tapered, hollow, pre-curved rods with a payload."""
    rods = [
        pl.RodBody("a", 0.2, (0.02, 0.015), SILICONE, inner_radius=0.005, rest_curvature=(1.0, 2.0, -1.0)),
        pl.RodBody(
            "b",
            0.1,
            0.01,
            SILICONE,
            parent="a",
            tip_mass=0.02,
            position=(0.01, 0.02, 0),
            rotation=(1, 0.2, 0, 0),
        ),
    ]
    if tree:
        rods.append(pl.RodBody("c", 0.1, 0.01, SILICONE, parent="a", rotation=(1, 0, 0.3, 0.1)))
    return build(rods, [basis] * len(rods))


def random_state(layout, seed=0):
    rng = np.random.default_rng(seed)
    n = len(layout.tables.comp)
    scale = np.where(layout.tables.comp < 3, 4.0, 0.1)
    return (
        rng.standard_normal(n) * scale,
        rng.standard_normal(n) * scale * 5,
        rng.standard_normal(n) * scale * 50,
    )


def reference_poses(layout, q):
    """Poses of all nodes by matrix exponentials of the Magnus increments."""
    t, out = layout.tables, []
    for k, parent in enumerate(t.parent):
        g = lie.frame(t.attach_R[k], t.attach_p[k])
        if parent >= 0:
            g = out[t.step0[parent + 1] - 1] @ g
        qk = q[t.dof0[k] : t.dof0[k] + t.nb[k]]
        for m in range(t.step0[k], t.step0[k + 1]):
            x1 = t.rest1[m] + qk @ t.phi1[m, : t.nb[k]]
            x2 = t.rest2[m] + qk @ t.phi2[m, : t.nb[k]]
            om = 0.5 * t.h[m] * (x1 + x2) + np.sqrt(3) / 12 * t.h[m] ** 2 * lie.ad(x1) @ x2
            g = g @ expm(lie.hat(om))
            out.append(g)
    return np.array(out)


def reference_inertia(layout, q):
    """Mass matrix from finite-difference body Jacobians."""
    t, n, h = layout.tables, len(q), 1e-5
    g = reference_poses(layout, q)
    J = np.zeros((len(g), 6, n))
    for j in range(n):
        e = np.eye(n)[j] * h
        plus, minus = reference_poses(layout, q + e), reference_poses(layout, q - e)
        for m in range(len(g)):
            J[m, :, j] = lie.vee(np.linalg.inv(g[m]) @ (plus[m] - minus[m]) / (2 * h))
    M = np.zeros((n, n))
    for m in range(len(g)):
        inertia = np.diag([*t.rot[m, :3], *[t.mass[m]] * 3])
        M += J[m].T @ inertia @ J[m]
    return M


CASES = [
    pytest.param(bases.constant(segments=2), False, id="constant"),
    pytest.param(bases.legendre(1), True, id="legendre-tree"),
    pytest.param(bases.piecewise_linear(2, strains=bases.INEXTENSIBLE), True, id="linear-tree"),
]


@pytest.mark.parametrize(("basis", "tree"), CASES)
def test_poses_and_inertia_match_the_reference(basis, tree):
    layout = make(basis, tree=tree)
    t, w = layout.tables, rod.make_work(layout.tables)
    q, _, _ = random_state(layout)
    rod.kinematics(t, w, q)
    g = reference_poses(layout, q)
    assert np.allclose(w.R, g[:, :3, :3], atol=1e-12)
    assert np.allclose(w.p, g[:, :3, 3], atol=1e-13)
    M = np.empty((len(q), len(q)))
    rod_mass.inertia_matrix(t, w, q, M)
    assert np.allclose(M, reference_inertia(layout, q), rtol=1e-6, atol=1e-7 * np.abs(M).max())


@pytest.mark.parametrize(("basis", "tree"), CASES)
def test_forward_dynamics_inverts_inverse_dynamics(basis, tree):
    layout = make(basis, tree=tree)
    t, w = layout.tables, rod.make_work(layout.tables)
    q, v, a = random_state(layout)
    n = len(q)
    still, lift, zero = np.zeros(6), np.array([0, 0, 0, *-G]), np.zeros(n)
    tau, back = np.empty(n), np.empty(n)
    rod_dynamics.inverse_dynamics(t, w, q, v, a, still, lift, tau)
    rod_dynamics.add_elastic(t, q, v, tau)
    assert rod_mass.forward_dynamics(t, w, q, v, tau, still, lift, zero, back)
    assert np.allclose(back, a, rtol=1e-8, atol=1e-8 * np.abs(a).max())


@pytest.mark.parametrize(("basis", "tree"), CASES)
@pytest.mark.parametrize("moving", [False, True])
def test_derivatives_of_inverse_dynamics(basis, tree, moving):
    layout = make(basis, tree=tree)
    t, w, tw = layout.tables, rod.make_work(layout.tables), rod_tangent.make_tangent_work(layout.tables)
    q, v, a = random_state(layout)
    n = len(q)
    if not moving:
        v, a = np.zeros(n), np.zeros(n)
    base_twist = np.array([0.3, -0.2, 0.1, 0.1, 0.2, -0.3]) if moving else np.zeros(6)
    lift = np.array([0.1, 0.2, 0.3, *-G]) if moving else np.array([0, 0, 0, *-G])
    tau, Hq, Hv = np.empty(n), np.empty((n, n)), np.empty((n, n))
    rod_tangent.inverse_dynamics_derivatives(t, w, tw, q, v, a, base_twist, lift, tau, Hq, Hv, moving)

    def f(q, v):
        out = np.empty(n)
        rod_dynamics.inverse_dynamics(t, w, q, v, a, base_twist, lift, out)
        return out

    h = 1e-6
    Fq = np.array([(f(q + h * e, v) - f(q - h * e, v)) / (2 * h) for e in np.eye(n)]).T
    assert np.allclose(Hq, Fq, atol=2e-7 * np.abs(Fq).max())
    if moving:
        Fv = np.array([(f(q, v + h * e) - f(q, v - h * e)) / (2 * h) for e in np.eye(n)]).T
        assert np.allclose(Hv, Fv, atol=2e-6 * np.abs(Fv).max())
    else:
        assert np.allclose(Hq, Hq.T, atol=1e-13 * np.abs(Hq).max())


@pytest.mark.parametrize(("basis", "tree"), CASES)
@pytest.mark.parametrize("follower", [False, True])
def test_tangent_of_point_loads(basis, tree, follower):
    layout = make(basis, tree=tree)
    t, w = layout.tables, rod.make_work(layout.tables)
    q, _, _ = random_state(layout)
    n, i = len(q), 1
    c = layout.points(
        [Station(0, 0.07, (0, 0.01, 0)), Station(1, 0.04, (0.0, 0.003, -0.004)), Station(1, 0.1)]
    )
    force, moment = np.array([0.3, -0.2, 0.5]), np.array([0.01, 0.02, -0.03])
    x, twists, jac = np.empty((3, 3)), np.empty((n, 6)), np.empty((3, 6, n))

    def place(q):
        rod.kinematics(t, w, q)
        rod_points.place_points(t, w, c, q, x)
        rod_points.point_columns(t, c, q)
        rod_points.point_jacobians(t, w, c, x, twists, jac)

    place(q)
    R0 = c.R[i].copy()

    def load(q):
        place(q)
        turn = c.R[i] @ R0.T if follower else np.eye(3)
        return jac[i].T @ np.concatenate([turn @ moment, turn @ force])

    h = 1e-6
    numeric = np.array([(load(q + h * e) - load(q - h * e)) / (2 * h) for e in np.eye(n)]).T
    place(q)
    H = np.zeros((n, n))
    rod_points.load_tangent(t, w, c, q, i, x, force, moment, follower, twists, H)
    assert np.allclose(H, numeric, atol=1e-7 * np.abs(numeric).max())


def test_d1_fourth_order_convergence_of_the_magnus_map():
    """D1: the discrete map converges to the solution of g' = g hat(xi) at fourth order."""
    body = pl.RodBody("a", 1.0, 0.02, SILICONE)
    q = np.array([3.0, 2.0, -4.0, 0.2, 0.1, -0.1, 2.0, -3.0, 2.0, 0.1, 0.2, 0.1])
    q = q.reshape(2, 6).T.ravel()  # strain-major: value and slope of every strain
    tips = {}
    for points in (2, 5, 11, 95):
        layout = build([body], [bases.legendre(1, points=points)])
        w = rod.make_work(layout.tables)
        rod.poses(layout.tables, w, q)
        tips[points] = w.p[-1].copy()
    errors = [np.linalg.norm(tips[p] - tips[95]) for p in (2, 5, 11)]
    assert errors[0] / errors[1] > 2**3.5
    assert errors[1] / errors[2] > 2**3.5
    assert errors[2] < 5e-4
