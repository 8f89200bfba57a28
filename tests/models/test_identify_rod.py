"""identify_rod: sections of a beam, and a PneuNet reduced from FEM (H1), sensed by its tip (H2)."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from harness import golden_beam, golden_cables

import pliant as pl
from pliant.control.observer import MarkerEstimator
from pliant.errors import ArgumentError
from pliant.materials import Corotational
from pliant.models import basis
from pliant.models.fem import FemModel
from pliant.models.identify_rod import identify_rod, section_matrices
from pliant.models.modes import modes_from
from pliant.solve.equilibrium import equilibrium
from pliant.solve.simulate import simulate

BENDING = ("bend_y", "bend_z", "stretch")


@cache
def beam_runs():
    cables = tuple(replace(c, drive="effort") for c in golden_cables())
    model = FemModel(golden_beam(gravity=(0.0, 0.0, 0.0), actuators=cables))
    shares = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.5, 0.5))
    states = [equilibrium(model, x * np.array(share)) for share in shares for x in (0.5, 1.2, 2.0)]
    assert all(s.ok for s in states)
    return model, states


@pytest.mark.parametrize("order", [0, 2])
def test_section_stiffness_by_strain(order):
    model, states = beam_runs()
    ends = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)
    found = identify_rod(model, states, *ends, basis=basis.legendre(order, strains=BENDING), stations=13)
    assert found.tip_error < 0.05
    bend, stretch = 350e3 * 0.015**4 / 12, 350e3 * 0.015**2
    # linear tets lock in bending (about four times too stiff) and hardly in stretch
    assert np.all((found.sections[1:3] / bend > 2.5) & (found.sections[1:3] / bend < 5.5))
    assert found.sections[3] / stretch == pytest.approx(1.1, abs=0.2)
    assert np.isnan(found.sections[[0, 4, 5]]).all()
    # sections read as the stiffness of the model
    parts = section_matrices(found.basis, found.length)
    assert np.allclose(np.einsum("c,cij->ij", np.nan_to_num(found.sections), parts), found.stiffness)
    state = equilibrium(found.model(damping=0.01), states[2].effort)
    truth = model.locate(states[2], "tip").position
    assert np.linalg.norm(found.model().locate(state, "tip").position - truth) < 6e-3


def test_damping_from_a_free_oscillation():
    """The rod swings down as the FEM does, whose damping is 6e-4 s times its stiffness."""
    cables = tuple(replace(c, drive="effort") for c in golden_cables())
    material = Corotational.from_young(350e3, 0.45, density=1100, rayleigh_stiffness=6e-4)
    model = FemModel(golden_beam(material=material, gravity=(0.0, 0.0, 0.0), actuators=cables))
    _, states = beam_runs()
    released = states[0].but(u=np.zeros(3), effort=np.zeros(3))
    run = simulate(model, np.zeros(3), duration=0.3, dt=2e-3, start=released, scheme="trapezoidal")
    ends = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)
    legendre = basis.legendre(1, strains=BENDING)
    found = identify_rod(model, states, *ends, basis=legendre, oscillation=run, stations=13)
    assert found.damping == pytest.approx(6e-4, rel=0.25)
    rod = found.model()
    assert np.allclose(rod.damping(rod.rest, np.zeros(3)), found.damping * found.stiffness)


def test_strains_that_the_runs_do_not_excite_are_named():
    model, states = beam_runs()
    ends = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)
    with pytest.raises(ArgumentError, match="modes"):
        identify_rod(model, states, *ends, basis=basis.legendre(1), form="matrix")
    with pytest.raises(ArgumentError, match="form"):
        identify_rod(model, states, *ends, basis=basis.legendre(1), form="table")


@cache
def pneunet():
    """FEM, its states over pressure, and the rod of its three modes."""
    robot = pl.robots.pneunet().but(gravity=(0.0, 0.0, 0.0))
    model = FemModel(robot)
    states, state = [], None
    for p in np.linspace(0.1, 1.0, 8) * 4e4:
        state = equilibrium(model, {robot.actuator_names[0]: p}, start=state)
        assert state.ok
        states.append(state)
    x = model.skin_positions(model.rest)
    start = x.mean(axis=0)
    start[2] = 0.0
    end = start + [0.0, 0.0, x[:, 2].min()]
    modes = modes_from(model, [s.q for s in states], start, end, modes=3, stations=15)
    rod = identify_rod(model, states, start, end, basis=modes.basis, form="matrix", stations=15)
    return model, states, modes, rod


def test_H1_pneunet_three_modes_and_the_reduced_model():
    _, _, modes, rod = pneunet()
    assert modes.energy[2] > 0.99
    assert modes.max_error < 0.01  # projection of held-out snapshots
    assert rod.basis_error < 0.01
    assert rod.worst_error < 0.05  # equilibria of the reduced model under held-out pressures


def test_H2_shape_of_the_pneunet_from_its_tip():
    """Shape sensing with three coordinates: the tip's marker and the pressure give the whole curve.

    Its rate is measured in benchmarks/control_sensing.py.
    """
    _, states, _, rod = pneunet()
    model = rod.model()
    sensed = MarkerEstimator(model, ("tip",), noise=1e-3, prior=1e-2, iterations=3)
    for state, q in zip(states, rod.coordinates):
        truth = model.skin_positions(q)
        found = model.skin_positions(sensed.update(model.locate(q, ("tip",)).position, state.effort))
        assert np.linalg.norm(found - truth, axis=1).max() < 0.02 * rod.length
    # pushed aside by a contact that the model does not know: the marker still tells
    pushed = rod.coordinates[-1] + np.array([0.4, 0.0, 0.0])
    seen = sensed.update(model.locate(pushed, ("tip",)).position, states[-1].effort)
    before = np.linalg.norm(model.skin_positions(rod.coordinates[-1]) - model.skin_positions(pushed), axis=1).max()
    after = np.linalg.norm(model.skin_positions(seen) - model.skin_positions(pushed), axis=1).max()
    assert after < 0.3 * before
