"""Loads on rods: wrenches and line loads, dead and following; large deflections from the literature."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

import pliant as pl
from pliant.errors import ArgumentError
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
NO_GRAVITY = (0.0, 0.0, 0.0)
L, R = 0.3, 0.02
EI = SOFT.young * np.pi / 4 * R**4


def robot(*actuators, gravity=NO_GRAVITY, **rod):
    options = {"length": L, "radius": R, "material": SOFT} | rod
    return pl.Robot("arm", (pl.RodBody("arm", **options),), actuators=actuators, gravity=gravity)


LOADS = (
    pl.Wrench(name="dead", point=(0.2, 0.0, 0.01), force=(0.3, 0.2, -1.0), moment=(0.01, 0.02, -0.03)),
    pl.Wrench(
        name="follow", point=(L, 0, 0), force=(0.3, 0.2, -1.0), moment=(0.01, 0.02, -0.03), follower=True
    ),
    pl.LineLoad(name="wind", force=(0, 2.0, 1.0)),
    pl.LineLoad(name="pressure", force=(0, 0, 3.0), moment=(0.05, 0, 0), follower=True),
)


@pytest.mark.parametrize("basis", [bases.constant(segments=2), bases.legendre(1)])
def test_tendon_and_load_columns_are_those_of_virtual_work(basis):
    """Power of every load from velocities of points: force . velocity + moment . angular velocity."""
    model = RodModel(robot(*LOADS, rest_curvature=(0.5, 1.0, -2.0)), basis=basis)
    rng = np.random.default_rng(0)
    q = rng.standard_normal(model.nv) * np.where(model.tables.comp < 3, 3.0, 0.05)
    A = model.actuation(q, np.zeros(4))
    curved = robot(rest_curvature=(0.5, 1.0, -2.0))
    points = [pl.Point("p", LOADS[0].point), pl.Point("end", LOADS[1].point)]
    at, point = (
        RodModel(curved.but(points=points), basis=basis).locate(q, name, jacobian=True) for name in ("p", "end")
    )
    dead = LOADS[0]
    assert np.allclose(A[:, 0], np.array(dead.force) @ at.jacobian[3:] + np.array(dead.moment) @ at.jacobian[:3])
    turn = point.rotation  # given in world axes of the curved rest pose, it turns with the section
    load = LOADS[1]
    expected = (turn @ load.force) @ point.jacobian[3:] + (turn @ load.moment) @ point.jacobian[:3]
    assert np.allclose(A[:, 1], expected)


def test_tangent_of_loads():
    """Exact and unsymmetric, against differences of the force."""
    model = RodModel(robot(*LOADS, rest_curvature=(0.5, 1.0, -2.0)), basis=bases.legendre(1))
    rng = np.random.default_rng(1)
    q = rng.standard_normal(model.nv) * np.where(model.tables.comp < 3, 3.0, 0.05)
    h = 1e-6
    for effort in np.eye(4):
        K = model.stiffness(q, effort)
        numeric = -np.array(
            [(model.force(q + h * e, effort) - model.force(q - h * e, effort)) / (2 * h) for e in np.eye(model.nv)]
        ).T
        assert np.allclose(K, numeric, atol=1e-7 * np.abs(K).max())


def test_line_load_is_the_weight():
    weight = SOFT.density * np.pi * R**2 * 9.81
    a = RodModel(robot(pl.LineLoad(name="w", force=(0, 0, -weight))), basis=bases.legendre(3))
    b = RodModel(robot(gravity=(0, 0, -9.81)), basis=bases.legendre(3))
    pushed, heavy = pl.equilibrium(a, {"w": 1.0}).require(), pl.equilibrium(b).require()
    assert np.allclose(pushed.q, heavy.q, atol=1e-9)


def test_follower_moment_rolls_the_rod_up():
    """A tip moment that turns with the tip: curvature M / EI, three turns at 6 pi EI / L."""
    moment = pl.Wrench(name="m", point=(L, 0, 0), moment=(0, -1.0, 0), follower=True)
    model = RodModel(robot(moment), basis=bases.legendre(2, strains=bases.INEXTENSIBLE))
    state = pl.equilibrium(model, {"m": 6 * np.pi * EI / L}).require()
    assert np.allclose(state.q.reshape(3, 3)[1], [-6 * np.pi / L, 0, 0], atol=1e-7)
    assert np.allclose(model.locate(state, "tip").position, 0.0, atol=1e-7)


@pytest.mark.parametrize("load", [2.0, 8.0])
def test_follower_force_on_a_cantilever(load):
    """Elastica under a force normal to the tip (P L^2 / EI), against shooting on the exact equation."""

    # in s' = L - s: theta(s') with theta(0) = end, theta'(0) = 0, theta'' = -load cos(theta - end)
    def back(end):
        def rhs(s, y):
            return [y[1], -load * np.cos(y[0] - end), np.cos(y[0]), np.sin(y[0])]

        return solve_ivp(rhs, (0, 1), [end, 0.0, 0.0, 0.0], rtol=1e-11, atol=1e-12).y[:, -1]

    end = brentq(lambda e: back(e)[0], 1e-3, 2 * np.pi)
    _, _, x, z = back(end)
    push = pl.Wrench(name="p", point=(L, 0, 0), force=(0, 0, 1.0), follower=True)
    model = RodModel(robot(push), basis=bases.legendre(8, strains=("bend_y",), points=16))
    tip = model.locate(pl.equilibrium(model, {"p": load * EI / L**2}).require(), "tip").position
    assert tip[0] / L == pytest.approx(x, abs=2e-5)
    assert tip[2] / L == pytest.approx(z, abs=2e-5)


def _shoot(load, bending, stretching, shearing):
    """Tip of the 45-degree bend by shooting on Cosserat's equations, GJ = EI = bending."""
    n = np.array([0.0, 0.0, load])
    compliance = 1.0 / np.array([stretching, shearing, shearing])
    turned = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])

    def rod(m0):
        def rhs(s, y):
            frame, m = y[3:12].reshape(3, 3), y[12:]
            k = np.array([0, 0, -0.01]) + frame.T @ m / bending
            slope = frame @ (np.array([1.0, 0, 0]) + compliance * (frame.T @ n))
            hat = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
            return np.concatenate([slope, (frame @ hat).ravel(), -np.cross(slope, n)])

        start = np.concatenate([np.zeros(3), turned.ravel(), m0])
        return solve_ivp(rhs, (0, 25 * np.pi), start, rtol=1e-9, atol=1e-9).y[:, -1]

    tip = np.array([18.0, 52.0, 48.0])
    m0 = fsolve(lambda m: rod(m)[12:] / load, np.cross(tip, n))
    return rod(m0)[:3]


@pytest.mark.parametrize(
    ("load", "tip"),
    [(300.0, (22.33, 58.84, 40.08)), (450.0, (18.62, 52.32, 48.39)), (600.0, (15.79, 47.23, 53.37))],
)
def test_precurved_cantilever_under_out_of_plane_load(load, tip):
    """Bathe and Bolourchi's 45-degree bend; values of Simo and Vu-Quoc (1986).

    R = 100, unit square section (EI = GJ = E/12), E = 1e7, no Poisson effect.
    """
    material = NeoHookean.from_young(1e7, 0.0, density=1.0)
    radius = (1.0 / (3.0 * np.pi)) ** 0.25  # pi r^4 / 4 = 1/12
    # along the arc from (0,0,0), tangent y, curving towards x: local x -> world y
    turned = (np.sqrt(0.5), 0, 0, np.sqrt(0.5))
    body = pl.RodBody("bend", 25 * np.pi, radius, material, rest_curvature=(0, 0, -0.01), rotation=turned)
    end = 100.0 * np.array([1 - np.cos(np.pi / 4), np.sin(np.pi / 4), 0])
    force = pl.PointForce(name="p", point=tuple(end), direction=(0, 0, 1))
    model = RodModel(
        pl.Robot("bend", (body,), actuators=(force,), gravity=NO_GRAVITY), basis=bases.legendre(4, points=12)
    )
    assert np.allclose(model.locate(model.rest, "tip").position, end)
    found = model.locate(pl.equilibrium(model, {"p": load}).require(), "tip").position
    # published from eight straight elements: a few parts in a thousand. Shooting on the exact equations: five digits.
    assert found == pytest.approx(np.array(tip), abs=0.13)
    area = np.pi * radius**2
    assert found == pytest.approx(_shoot(load, 1e7 / 12, 1e7 * area, 0.5e7 * area), abs=1e-3)


def test_loads_have_no_displacement():
    model = RodModel(robot(*LOADS), basis=bases.legendre(1))
    assert np.array_equal(model.displacement(bent := np.full(model.nv, 0.1)), np.zeros(4))
    assert not model.displacement_rows(bent).any()
    with pytest.raises(ArgumentError, match="displacement"):
        pl.Wrench(name="w", point=(0, 0, 0), force=(1, 0, 0), drive="displacement")
    with pytest.raises(ArgumentError, match="zero"):
        pl.LineLoad(name="w")


def test_loads_in_robot_files(tmp_path):
    saved = robot(*LOADS, axes=((1, 0, 0),), rotates=True).save(tmp_path)
    again = pl.Robot.load(saved)
    assert again.actuators == LOADS
    assert again.bodies[0].axes == ((1.0, 0.0, 0.0),)
    assert again.bodies[0].rotates is True
