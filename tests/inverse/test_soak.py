"""Soak: many interactive steps with random dragging of target and obstacles (issue 3).

No exception, nothing that is not finite, no growth of memory, and every answer that is not optimal says so.
"""

import tracemalloc

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl
from pliant.inverse.loop import Loop


def soak(steps, seed=0):
    rng = np.random.default_rng(seed)
    model = pl.FemModel(golden_beam())
    balls = [pl.Sphere((0.06, 0.0, -0.04), 0.015), pl.Sphere((0.08, 0.03, 0.03), 0.012)]
    loop = Loop(model, rate=50.0, obstacles=balls, alarm=0.01)
    home = np.array([0.09, -0.004, -0.015])
    goal, places = home.copy(), [np.array(b.centre) for b in balls]
    memory, statuses = [], set()
    tracemalloc.start()
    for k in range(steps):
        if rng.random() < 0.02:
            goal = home + rng.uniform(-0.03, 0.03, 3)  # the mouse jumps
        goal = goal + rng.normal(0, 3e-4, 3)
        for i in range(2):
            places[i] = places[i] + rng.normal(0, 2e-4, 3)
            places[i] += 0.01 * (np.array([0.06 + 0.02 * i, 0.03 * i, -0.035 + 0.06 * i]) - places[i])
        loop.place([b.placed(pl.contact.obstacles.Pose(p - np.array(b.centre))) for b, p in zip(balls, places)])
        command = loop.cycle(0.02 * k, pl.PointTarget("tip", tuple(goal)))
        statuses.add(command.status)
        state = loop.state
        assert np.isfinite(state.q).all()
        assert np.isfinite(loop.command.u).all()
        assert (state.effort >= -1e-9).all()
        assert not command.ok or command.status is pl.Status.CONVERGED or command.status in _OPTIMAL
        if k % max(steps // 10, 1) == 0:
            memory.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    # at the end, a full solve from where the loop is: an equilibrium again
    final = pl.invert(model, loop.state, pl.PointTarget("tip", tuple(home)), obstacles=balls)
    assert np.isfinite(final.effort).all()
    assert memory[-1] < 1.5 * max(memory[1:3]) + 2e6
    return statuses


_OPTIMAL = {pl.Status.UNREACHABLE, pl.Status.LOCAL, pl.Status.LIMITED}


def test_soak_short():
    statuses = soak(300)
    assert pl.Status.SINGLE in statuses


@pytest.mark.slow
def test_soak_ten_thousand_steps():
    soak(10_000, seed=1)
