"""A body as a curve: coordinates of its states, and generalised forces by virtual work."""

from dataclasses import replace

import numpy as np
from harness import golden_beam, golden_cables

from pliant.models import basis
from pliant.models.curve import Curve, segmented_table, strain_coordinates
from pliant.models.fem import FemModel
from pliant.models.rod import RodModel
from pliant.solve.equilibrium import equilibrium

START, END = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)
BASIS = basis.constant(strains=("bend_y", "bend_z", "stretch"))


def beam():
    cables = tuple(replace(c, drive="effort") for c in golden_cables())
    return FemModel(golden_beam(gravity=(0.0, 0.0, 0.0), actuators=cables))


def test_virtual_work_of_parallel_cables_is_their_lever():
    """A cable along the axis at (y, z) shortens by L (y kappa_z - z kappa_y) of a bend, and by -L of a unit stretch."""
    model = beam()
    curve = Curve(model, START, END, 13)
    rod = RodModel(curve.robot, basis=BASIS)
    state = equilibrium(model, np.zeros(3))
    G = curve.inputs(state, rod, np.zeros(3))
    turn = curve.base[:3, :3]
    for i, cable in enumerate(model.robot.actuators):
        lever = turn.T @ np.mean(np.asarray(cable.points), axis=0)
        expected = 0.1 * np.array([-lever[2], lever[1], -1.0])
        # the cable is held by nodes of the mesh: its lever is theirs
        assert np.allclose(G[:, i], expected, atol=2e-5), (G[:, i], expected)


def test_forces_do_the_work_that_the_curve_stores():
    """Along a path of equilibria the work Q dq is below the energy that the body stores, by what is not in the curve:
    cables also dent the few elements that hold them, and sections warp."""
    model = beam()
    curve = Curve(model, START, END, 13)
    rod = RodModel(curve.robot, basis=basis.legendre(2, strains=("bend_y", "bend_z", "stretch")))
    none = np.zeros(3)
    states = [equilibrium(model, [x, 0.3 * x, 0.0]) for x in np.linspace(0.2, 2.0, 7)]
    q = np.array([strain_coordinates(curve, curve.frames(s.q), rod.bases[0]) for s in states])
    Q = np.array([curve.inputs(s, rod, x) @ s.effort for s, x in zip(states, q)])
    work = float(np.sum(0.5 * (Q[1:] + Q[:-1]) * np.diff(q, axis=0)))
    stored = model.energy(states[-1].q, none) - model.energy(states[0].q, none)
    assert 0.75 * stored < work < stored


def test_coordinates_of_a_known_curve():
    model = beam()
    curve = Curve(model, START, END, 13)
    legendre = basis.legendre(2, strains=("bend_y", "stretch"))
    rod = RodModel(curve.robot, basis=legendre)
    q = np.array([3.0, -1.0, 0.5, 0.02, 0.0, 0.01])
    place = rod.locate(q, curve.names)
    frames = np.tile(np.eye(4), (13, 1, 1))
    frames[:, :3, :3], frames[:, :3, 3] = place.rotation, place.position
    found = strain_coordinates(curve, np.linalg.inv(curve.base) @ frames, legendre)
    assert np.allclose(found, q, atol=0.02)


def test_table_of_several_segments():
    table = segmented_table(basis.constant(segments=2, strains=("bend_y",)), np.array([0.1, 0.9]))
    assert table.shape == (2, 2, 6)
    assert np.allclose(table[:, :, 1], [[1, 0], [0, 1]])
