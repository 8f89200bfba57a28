"""Slender bodies in contact: rods that lie on a floor, coils that slip off themselves, beams that only cables hold."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import Linear, NeoHookean
from pliant.models import basis as bases
from pliant.solve.complementarity import solve_contact
from pliant.solve.newton import LinearSystem, Rows, build, reflected

L, R, YOUNG, DENSITY, DROP = 0.5, 0.004, 1e6, 1100.0, 0.01
WEIGHT, BENDING = DENSITY * 9.81 * np.pi * R**2, YOUNG * np.pi * R**4 / 4
LIFT = (72.0 * BENDING * DROP / WEIGHT) ** 0.25  # EI y'''' = -w, y = y' = y'' = 0 where it touches, y' = 0 at the clamp


def heavy(order):
    body = pl.RodBody("rod", L, R, Linear.from_young(YOUNG, 0.45, density=DENSITY))
    return pl.RodModel(pl.Robot("rod", (body,)), basis=bases.legendre(order))


@pytest.mark.parametrize("mu", [0.0, 0.3])
@pytest.mark.parametrize("order", [6, 16])
def test_a_heavy_rod_lies_on_the_floor_and_lifts_off_where_it_must(order, mu):
    """Clamped above the floor; strain coordinates, 337 times heavier than it is stiff (w L^3 / EI)."""
    model = heavy(order)
    floor = pl.Plane(point=(0, 0, -DROP - R), normal=(0, 0, 1), friction=mu)
    state = pl.equilibrium(model, obstacles=floor)
    assert state.status is pl.Status.CONVERGED
    assert state.iterations <= 8
    assert state.contacts.max_penetration < 1e-9
    # without friction; friction holds the rod at its length, which takes 3 % off
    assert state.contacts.forces.sum() == pytest.approx(WEIGHT * (L - 2 * LIFT / 3), rel=0.005 if mu == 0.0 else 0.04)
    first = state.contacts.point[state.contacts.forces > 0][:, 0].min()
    assert abs(first - LIFT) < 1.1 * L / 24


def test_a_coil_in_space_slips_off_itself():
    """Round rods press on each other in an unstable way: the planar coil is left, and a helix found."""
    length = 0.3
    tendon = pl.Cable(name="c", points=[(0, 0, 0.008), (length, 0, 0.008)], drive="effort")
    body = pl.RodBody("arm", length, 0.01, NeoHookean.from_young(0.6e6, 0.45, density=1050.0))
    robot = pl.Robot("arm", (body,), actuators=(tendon,), gravity=(0, 0, 0))
    model = pl.RodModel(robot, basis=bases.legendre(8, strains=("twist", "bend_y", "bend_z")))
    contact = pl.SelfContact()
    state = None
    for tension in (12.0, 16.0, 20.0):
        state = pl.equilibrium(model, {"c": tension}, obstacles=contact, start=state)
        assert state.ok, (tension, state.status)
        assert state.contacts.max_penetration < 1e-9
    assert state.contacts.forces.sum() > 0.0
    assert np.ptp(model.skin_positions(state.q)[:, 1]) > 0.01  # it left its plane


def test_a_wall_stops_a_beam_that_only_its_cables_hold():
    """The stiffness without drives is indefinite there; compliances of contacts are negative and must stay so."""
    model = pl.FemModel(pl.robots.golden_beam())
    normal = np.array([0.32359238, -0.32429442, -0.88888756])
    wall = pl.Plane(point=(-0.00736978, 0.00738576, 0.0202443), normal=normal)
    u = {"cable1": 0.01184808, "cable2": -0.00651066, "cable3": -0.01795132}
    state = pl.equilibrium(model, u, obstacles=wall)
    assert state.ok
    assert state.iterations <= 80
    assert (state.contacts.forces > 0).any()


def test_negative_compliances_are_kept():
    """K = diag(-1, 4), the drive holds x + y / 2 ..., a contact presses on y: the step solves all conditions."""
    K = np.diag([-1.0, 4.0, 5.0])
    C = np.array([[1.0, 0.1, 0.0], [0.9, 0.2, 0.3]])
    rows = Rows(C, C.T, np.array([0.2, -0.1]), np.array([-np.inf, 0.0]), np.full(2, np.inf), np.array([1.0, 0.0]), 1)
    system = LinearSystem(K, rows, indefinite=True)
    assert system.W[1, 1] < 0.0
    force = np.array([0.3, -0.2, 0.1])
    step = system.solve(force)
    assert K @ step.dq - C.T @ step.force == pytest.approx(force, abs=1e-12)
    value = rows.value + C @ step.dq
    assert abs(value[0]) < 1e-12
    assert step.force[1] > 0.0
    assert abs(value[1]) < 1e-12


def test_reflected_stiffness_is_as_stiff_as_the_true_one_is_strong():
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    K = turn @ np.diag([-2.0, 0.5, 3.0, 10.0]) @ turn.T
    none = Rows(np.zeros((0, 4)), np.zeros((4, 0)), *(np.zeros(0) for _ in range(4)), 0)
    system = reflected(K, none)
    force = turn[:, 0]
    assert force @ system.solve(force).dq > 0.0  # downhill along what the true stiffness drives
    assert not system.exact
    definite = K + 4.0 * np.outer(turn[:, 0], turn[:, 0])
    assert build(definite, none).exact


def test_friction_with_more_contacts_than_motions():
    """W of rank 6 with 16 contacts: the forces are not unique, the conditions hold all the same."""
    random = np.random.default_rng(3)
    for _ in range(20):
        H = random.normal(size=(48, 6))
        H[::3, 2] = np.abs(H[::3, 2]) + 0.5  # every normal lifts
        W, q = H @ H.T, H @ np.array([0.1, -0.2, -1.0, 0.3, 0.0, 0.1])
        triples = np.arange(48).reshape(16, 3)
        found = solve_contact(W, q, triples=triples, friction=0.4, tolerance=1e-10, max_iterations=2000)
        assert found.status.success, found.residual
        value = W @ found.force + q
        normal, gap = found.force[::3], value[::3]
        size = np.abs(found.force).max()
        assert normal.min() >= 0.0
        assert gap.min() > -1e-8
        assert np.abs(normal * gap).max() < 1e-7 * size
        assert (np.hypot(found.force[1::3], found.force[2::3]) <= 0.4 * normal + 1e-8 * size).all()


def test_a_catheter_pushed_against_a_smooth_wall_swings_to_its_side():
    """Bent upwards against its weight it is in balance, and unstable: it swings around its axis until it is held."""
    model = pl.robots.entry("catheter").model()
    wall = pl.Plane((0.1685, 0.0, 0.0), (-1.0, 0.0, 0.0))
    state = pl.equilibrium(model, (0.003, 0.0008, 0.0017, 0.0003, 0.1403), obstacles=wall)
    assert state.status is pl.Status.SNAPPED
    assert state.iterations < 400
    assert (state.contacts.forces > 0).any()
    assert state.contacts.max_penetration < 1e-9
    assert abs(model.locate(state, "tip").position[1]) > 0.05  # [m]


def test_rows_that_come_and_go_need_a_new_system_where_it_was_built_on_them():
    """A kept factorisation that held some rows fits as many rows only: a contact more, and the step is built anew."""
    K = np.diag([-1.0, 4.0, 5.0])
    C = np.array([[1.0, 0.1, 0.0], [0.9, 0.2, 0.3]])

    def rows(n):
        low = np.array([-np.inf, 0.0])[:n]
        return Rows(C[:n], C[:n].T, np.zeros(n), low, np.full(n, np.inf), np.zeros(n), 1)

    held = LinearSystem(K, rows(2), indefinite=True)
    assert held.fits(rows(2)) and not held.fits(rows(1))
    assert LinearSystem(np.abs(K), rows(2)).fits(rows(1))
