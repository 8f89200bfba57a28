import numpy as np

import pliant as pl
from pliant import robots
from pliant.contact import Plane, SelfContact
from pliant.materials import NeoHookean
from pliant.models.fem import FemModel
from pliant.solve.equilibrium import equilibrium
from pliant.solve.problem import Problem


def test_held_nodes_make_no_contacts() -> None:
    model = FemModel(robots.golden_beam())
    floor = Plane(point=(0, 0, -0.012), normal=(0, 0, 1))
    contacts = Problem(model, [floor], alarm=0.01).detect(model.rest, None)
    assert len(contacts)
    assert (np.abs(contacts.rows(model, model.rest)).sum(axis=1) > 0).all()
    state = equilibrium(model, {"cable2": 5e-3, "cable3": 5e-3}, obstacles=[floor])
    assert state.ok
    assert state.contacts.forces.sum() > 0


def test_contact_stiffness_of_a_curve_on_itself_is_the_derivative_of_its_forces() -> None:
    """Normals that turn and points that slide: -d(rows^T lambda)/dq by differences."""
    rod = pl.RodBody("arm", length=0.3, radius=0.01, material=NeoHookean.from_young(0.6e6, 0.45, density=1050.0))
    cable = pl.Cable(name="c", points=[(0, 0, 0.008), (0.3, 0, 0.008)], drive="effort")
    robot = pl.Robot("arm", (rod,), actuators=(cable,), gravity=(0, 0, 0))
    model = pl.RodModel(robot, basis=pl.basis.legendre(4, strains=("bend_y", "bend_z")))
    start = equilibrium(model, {"c": 12.0})
    q = equilibrium(model, {"c": 14.0}, obstacles=[SelfContact()], start=start, strict=True).q
    problem = Problem(model, [SelfContact()])
    contacts = problem.detect(q, None)
    assert len(contacts)
    contacts = contacts.with_forces(np.full(len(contacts), 0.7))

    def push(at: np.ndarray) -> np.ndarray:
        now = problem.fresh(at, None)
        assert np.array_equal(now.key, contacts.key)
        return np.asarray(now.rows(model, at)).T @ contacts.forces

    K = problem.contact_stiffness(q, contacts)
    h, rng = 1e-6, np.random.default_rng(0)
    for _ in range(4):
        d = rng.standard_normal(model.nv)
        expected = -(push(model.retract(q, h * d)) - push(model.retract(q, -h * d))) / (2 * h)
        assert np.abs(expected).max() > 0.0
        assert np.allclose(K @ d, expected, atol=1e-5 * np.abs(expected).max())
