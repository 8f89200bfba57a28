"""Classical solutions of rods reached to four digits and more, with convergence; trees."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import pliant as pl
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
L, R = 0.3, 0.02
EI = SOFT.young * np.pi / 4 * R**4
NO_GRAVITY = (0.0, 0.0, 0.0)
NONE = np.zeros(0)


def rod(basis, *actuators, gravity=NO_GRAVITY, **options):
    body = pl.RodBody("rod", **({"length": L, "radius": R, "material": SOFT} | options))
    return RodModel(pl.Robot("rod", (body,), actuators=actuators, gravity=gravity), basis=basis)


def falls(errors, factor):
    """Every error is smaller than the one before by the factor."""
    return all(a > factor * b for a, b in zip(errors[:-1], errors[1:]))


def elastica(load):
    """Exact tip (x, z) / L of a cantilever under a dead transverse load P L^2 / EI, by elliptic integrals."""
    root = np.sqrt(load)

    def closed(k):
        phi = np.arcsin(1 / (k * np.sqrt(2)))
        return ellipk(k**2) - ellipkinc(phi, k**2) - root

    k = brentq(closed, np.sqrt(0.5) + 1e-12, 1 - 1e-12, xtol=1e-15)
    phi = np.arcsin(1 / (k * np.sqrt(2)))
    deflection = 1 - 2 / root * (ellipe(k**2) - ellipeinc(phi, k**2))
    return np.sqrt(2 * (2 * k**2 - 1) / load), deflection


def test_elastica_converges_spectrally_to_the_elliptic_integrals():
    load = 10.0
    x, z = elastica(load)
    assert (1 - x, z) == pytest.approx((0.55500, 0.81061), abs=1e-5)  # Mattiasson's table
    push = pl.PointForce(name="p", point=(L, 0, 0), direction=(0, 0, -1))
    errors = []
    for order in (2, 4, 6):
        model = rod(bases.legendre(order, strains=("bend_y",), points=40), push)
        tip = model.locate(pl.equilibrium(model, {"p": load * EI / L**2}).require(), "tip").position / L
        errors.append(np.hypot(tip[0] - x, tip[2] + z))
    assert falls(errors, 50)
    assert errors[-1] < 1e-7


def test_elastica_of_constant_strain_converges_at_second_order():
    x, z = elastica(4.0)
    push = pl.PointForce(name="p", point=(L, 0, 0), direction=(0, 0, -1))
    errors = []
    for segments in (4, 8, 16, 32):
        model = rod(bases.constant(segments=segments, strains=("bend_y",)), push)
        tip = model.locate(pl.equilibrium(model, {"p": 4.0 * EI / L**2}).require(), "tip").position / L
        errors.append(np.hypot(tip[0] - x, tip[2] + z))
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(4.0, rel=0.15)
    assert errors[-1] < 2e-4


def test_buckling_load_converges_from_above():
    push = pl.PointForce(name="p", point=(L, 0, 0), direction=(-1, 0, 0))
    exact, errors = np.pi**2 * EI / (4 * L**2), []
    for order in (0, 2, 4):
        model = rod(bases.legendre(order, strains=("bend_y",), points=40), push)
        K0, K1 = (model.stiffness(model.rest, np.array([f])) for f in (0.0, 1.0))
        errors.append(1 / eigh(K0 - K1, K0, eigvals_only=True)[-1] / exact - 1)
    assert falls(errors, 50)
    assert 0 < errors[-1] < 1e-6


def test_frequencies_converge_from_above():
    exact = np.array([1.8751041, 4.6940911, 7.8547574]) ** 2 * np.sqrt(EI / (1050 * np.pi * R**2)) / L**2
    errors = []
    for order in (3, 5, 8):
        # thin, with the same ratio of EI to mass: no rotary inertia to speak of
        thin = NeoHookean.from_young(SOFT.young * 1e6, 0.45, density=1050.0)
        model = rod(bases.legendre(order, strains=("bend_y",), points=40), radius=R / 1000, material=thin)
        w2 = eigh(model.stiffness(model.rest, NONE), model.inertia(model.rest), eigvals_only=True)
        errors.append(np.abs(np.sqrt(w2[:3]) / exact - 1).max())
    assert falls(errors, 10)
    assert errors[-1] < 2e-5


def test_hanging_rod_of_varying_section():
    """A heavy cone hangs from its base: elongation = integral of the weight below over E A, with convergence."""

    def area(s):
        return (1 - 0.5 * s / L) ** 2

    def weight(s):
        return quad(area, s, L)[0]

    exact = 1050 * 9.81 / SOFT.young * quad(lambda s: weight(s) / area(s), 0, L)[0]
    errors = []
    for order in (1, 3, 6):
        model = rod(
            bases.legendre(order, strains=("stretch",), points=30), gravity=(0, 0, -9.81), radius=(R, 0.5 * R),
            rotation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0),
        )  # fmt: skip
        tip = model.locate(pl.equilibrium(model).require(), "tip").position
        errors.append(abs((-tip[2] - L) / exact - 1))
    assert falls(errors, 10)
    assert errors[-1] < 1e-5


def branched():
    """A stem with two branches, one of which carries a twig."""
    tilt = np.array([np.cos(0.3), 0, -np.sin(0.3), 0])
    bodies = (
        pl.RodBody("stem", 0.2, 0.012, SOFT),
        pl.RodBody("left", 0.15, 0.008, SOFT, parent="stem", rotation=tuple(tilt)),
        pl.RodBody("right", 0.15, 0.008, SOFT, parent="stem", rotation=tuple(tilt * [1, 1, -1, 1])),
        pl.RodBody("twig", 0.05, 0.005, SOFT, parent="left", tip_mass=0.01),
    )
    return RodModel(pl.Robot("tree", bodies), basis=bases.legendre(1))


def test_tree_of_rods_derivatives_and_dynamics():
    model = branched()
    rng = np.random.default_rng(0)
    q = rng.standard_normal(model.nq) * np.where(model.tables.comp < 3, 2.0, 0.05)
    v = rng.standard_normal(model.nv)
    h = 1e-6
    K = -np.array([(model.force(q + d, NONE) - model.force(q - d, NONE)) / (2 * h) for d in h * np.eye(model.nq)]).T
    assert np.abs(K - model.stiffness(q, NONE)).max() < 1e-7 * np.abs(K).max()
    a = model.acceleration(q, v, NONE)
    left = model.inertia(q) @ a + model.bias(q, v) + model.damping(q, NONE) @ v
    assert left == pytest.approx(model.force(q, NONE), rel=1e-9, abs=1e-9 * np.abs(left).max())
    # a branch does not move its sibling
    J = model.locate(q, "right.tip", jacobian=True).jacobian
    own = model.layout.piece_at(1, 0.0)
    columns = slice(model.tables.dof0[own], model.tables.dof0[own] + model.tables.nb[own])
    assert np.abs(J[:, columns]).max() == 0.0


def test_tree_stands_in_equilibrium():
    """What the stem's base carries is the weight of all rods: virtual work of lifting the whole tree."""
    model = branched()
    state = pl.equilibrium(model).require()
    assert np.abs(model.force(state.q, NONE)).max() < 1e-9
    stem, tips = model.locate(state, "stem.tip").position, model.locate(state, ("left.tip", "right.tip")).position
    assert stem[2] < -1e-3
    assert tips[0, 2] > tips[1, 2]  # left was built upwards
