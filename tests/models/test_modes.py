"""From FEM to curve: modes (H1), with errors on held-out states."""

from dataclasses import replace
from functools import cache

import numpy as np
from harness import golden_beam, golden_cables

from pliant import lie
from pliant.models.fem import FemModel
from pliant.models.modes import frame_strains, modes_from, slice_frames, tip_of_strains
from pliant.models.rod import RodModel
from pliant.solve.equilibrium import equilibrium

START, END = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)


@cache
def beam_runs():
    # pulled by their tension: cables held at zero displacement would work against each other
    cables = tuple(replace(c, drive="effort") for c in golden_cables())
    model = FemModel(golden_beam(gravity=(0.0, 0.0, 0.0), actuators=cables))
    states, state = [], None
    for c1, c2, c3 in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.5, 0.5), (0.4, 1.0, 0.0)):
        state = None
        for x in (0.4, 0.9, 1.4, 2.0):
            state = equilibrium(model, {"c1": c1 * x, "c2": c2 * x, "c3": c3 * x}, start=state)
            states.append(state)
    assert all(s.ok for s in states)
    return model, states


def test_strains_of_a_known_curve():
    xi = np.array([0.5, 3.0, -2.0, 1.02, 0.01, 0.0])
    g = np.array([lie.exp(s * xi) for s in np.linspace(0, 0.2, 9)])
    assert np.allclose(frame_strains(g, 0.2), xi, atol=1e-10)
    assert np.allclose(tip_of_strains(frame_strains(g, 0.2), g[0], 0.2), g[-1], atol=1e-12)


def test_slices_of_the_rest_pose_are_the_axis():
    model, _ = beam_runs()
    g = slice_frames(model, model.rest, START, END, stations=11)
    assert np.allclose(g[:, :3, 3], np.linspace(START, END, 11), atol=1e-12)
    assert np.allclose(frame_strains(g, 0.1), [0, 0, 0, 1, 0, 0], atol=1e-9)


def test_H1_few_modes_hold_the_snapshots():
    model, states = beam_runs()
    found = modes_from(model, [s.q for s in states], START, END, modes=3, stations=13)
    assert found.energy[2] > 0.99
    assert found.max_error < 0.05
    rod = RodModel(_rod(), basis=found.basis)
    assert rod.nq == 3
    assert np.isfinite(rod.stiffness(np.zeros(3), np.zeros(0))).all()


def _rod():
    import pliant as pl
    from pliant.materials import Linear

    body = pl.RodBody("body", 0.1, 0.0085, Linear.from_young(350e3, 0.45, density=1100.0))
    return pl.Robot("rod", (body,))
