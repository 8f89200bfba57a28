"""identify: links from FEM runs of the same robot, judged by their own equilibria in states not seen."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from harness import golden_beam, golden_cables

from pliant.errors import ArgumentError
from pliant.materials import Corotational
from pliant.models.fem import FemModel
from pliant.models.identify import arc_coordinates, arc_pose, damping_from, identify
from pliant.solve.equilibrium import equilibrium
from pliant.solve.simulate import simulate

START, END = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)
BETA = 6e-4
SHARES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.5, 0.5), (0.4, 1.0, 0.0))


@cache
def beam():
    # pulled by their tension: cables held at zero displacement would work against each other
    cables = tuple(replace(c, drive="effort") for c in golden_cables())
    material = Corotational.from_young(350e3, 0.45, density=1100, rayleigh_stiffness=BETA)
    return FemModel(golden_beam(material=material, gravity=(0.0, 0.0, 0.0), actuators=cables))


@cache
def beam_runs():
    states = []
    for share in SHARES:
        state = None
        for x in (0.4, 0.9, 1.4, 2.0):
            state = equilibrium(beam(), x * np.array(share), start=state)
            states.append(state)
    assert all(s.ok for s in states)
    return states


def test_arc_coordinates_recover_an_arc():
    q = np.array([0.05, 12.0, -7.0])
    assert np.allclose(arc_coordinates(arc_pose(q, 0.1), 0.1), q, atol=1e-9)
    assert np.allclose(arc_coordinates(np.diag([1.0, 1, 1, 1]) + np.eye(4, k=3) * 0.1, 0.1), 0.0, atol=1e-12)


@pytest.mark.parametrize("links", [1, 3])
def test_identify_predicts_held_out_states(links):
    found = identify(beam(), beam_runs(), START, END, links=links)
    assert len(found.joints) == links
    assert found.inputs.shape == (3 * links, 3)
    assert found.arc_error < 0.005
    assert found.tip_error < 0.05
    # the model is usable as it is, and has what was identified
    model = found.model()
    state = equilibrium(model, beam_runs()[3].effort)
    assert state.ok
    truth = beam().locate(beam_runs()[3], "tip").position
    assert np.linalg.norm(model.locate(state, "tip").position - truth) < 0.06 * found.length
    # EI L = 350 kPa * 0.015^4 / 12 * 0.1 / links; this coarse mesh of linear tets is about four times stiffer than
    # that, and it is the mesh's stiffness that is identified
    for law in found.joints:
        slope = law.response(3.0, "bending")[0] / 3.0
        assert 3.0 < slope / (350e3 * 0.015**4 / 12 * 0.1 / links) < 5.5


def test_identify_finds_the_damping_in_a_free_oscillation():
    model = beam()
    bent = equilibrium(model, [0.8, 0.0, 0.0])
    released = bent.but(u=np.zeros(3), effort=np.zeros(3))
    run = simulate(model, np.zeros(3), duration=0.3, dt=2e-3, start=released, scheme="trapezoidal")
    assert run.ok
    found = identify(model, beam_runs(), START, END, links=3, oscillation=run)
    assert found.damping is not None
    stiff = np.array([[law.axial[0] - law.axial[1], law.bending[0] - law.bending[1]] for law in found.joints])
    assert np.allclose(found.damping / stiff, BETA, rtol=0.3)  # the damping that the FEM has, R = beta K


def test_identify_from_a_held_step():
    """The FEM is viscous but does not creep: what is found leaves little of the motion, and settles where it does."""
    model = beam()
    run = simulate(model, [1.0, 0.0, 0.0], duration=0.3, dt=2e-3)
    found = identify(model, beam_runs(), START, END, links=2, hold=run)
    assert np.isfinite(found.creep_left)
    assert found.damping is not None
    links = found.model()
    rest = equilibrium(links, [1.0, 0.0, 0.0])
    moved = simulate(links, [1.0, 0.0, 0.0], duration=3.0, dt=5e-3)
    assert moved.ok
    assert np.abs(moved.q[-1] - rest.q).max() < 0.05 * np.abs(rest.q).max()


def test_identify_refuses_what_it_cannot_use():
    with pytest.raises(ArgumentError, match="gravity"):
        identify(FemModel(golden_beam()), [None] * 5, START, END)
    with pytest.raises(ArgumentError, match="runs"):
        identify(beam(), beam_runs()[:3], START, END)
    with pytest.raises(ArgumentError, match="links"):
        identify(beam(), beam_runs(), START, END, links=0)


def test_damping_from_a_free_oscillation():
    t = np.linspace(0, 2, 2000)
    f, decay = damping_from(t, np.exp(-3.0 * t) * np.cos(2 * np.pi * 8.0 * t))
    assert f == pytest.approx(8.0, rel=0.02)
    assert decay == pytest.approx(3.0, rel=0.05)
