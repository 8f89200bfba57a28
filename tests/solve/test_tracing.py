"""Tracer: the same equilibria as `equilibrium`, with fewer factorisations."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.actuators import Chamber
from pliant.materials import Corotational
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.robots.finger import finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.equilibrium import equilibrium
from pliant.solve.tracing import Tracer
from pliant.state import Status

sys.path.insert(0, str(Path(__file__).parents[1]))


def _arm(drive: str):
    robot = three_chamber_arm(size=0.03, folds=2, material=Corotational.from_young(5.5e6, 0.4))
    return robot.but(actuators=tuple(Chamber(name=a.name, drive=drive) for a in robot.actuators))


@pytest.mark.parametrize("make", [FemModel, GeometricModel])
@pytest.mark.parametrize("drive", ["effort", "displacement"])
def test_poses_are_those_of_equilibrium_and_factorisations_are_few(make, drive):
    model = make(_arm(drive))
    top = 30e3 if drive == "effort" else 1e-6
    commands = top * np.stack([np.linspace(0, 1, 12), np.linspace(0, 0.5, 12) ** 2, np.zeros(12)], axis=1)
    tracer = Tracer(model)
    for u in commands:
        state = tracer.solve(u)
        exact = equilibrium(model, u)
        assert state.status is Status.CONVERGED
        assert np.abs(state.q - exact.q).max() < 1e-8
        assert state.effort == pytest.approx(exact.effort, rel=1e-4, abs=1.0)
        assert state.displacement == pytest.approx(exact.displacement, rel=1e-4, abs=1e-12)
        assert state.residual < 1e-6
    assert tracer.rescues == 0
    assert tracer.factorisations < 0.7 * len(commands)


def test_slack_cables_and_far_commands():
    model = FemModel(finger(size=0.01))
    tracer = Tracer(model)
    for u in (0.002, 0.015, -0.004, 0.006):
        state, exact = tracer.solve([u]), equilibrium(model, [u])
        assert state.ok
        assert np.abs(model.locate(state, "tip").position - model.locate(exact, "tip").position).max() < 1e-6
        assert state.status is (Status.SLACK if exact.status is Status.SLACK else Status.CONVERGED) or tracer.rescues
    assert tracer.solve([-0.004]).status is Status.SLACK


def test_what_cannot_be_traced_is_rescued_and_what_fails_is_said():
    model = GeometricModel(_arm("displacement"))
    asked = []

    def rescue(u, start):
        asked.append(np.array(u))
        return equilibrium(model, u, start=start)

    tracer = Tracer(model, rescue=rescue, iterations=1)
    state = tracer.solve(np.array([0.05, 0.0, 0.0]) * model.rest_measures)
    assert state.ok and tracer.rescues == len(asked) == 1
    failing = Tracer(model, rescue=lambda u, start: equilibrium(model, u, max_iterations=1), iterations=1)
    assert not failing.solve(0.3 * model.rest_measures).ok
    assert failing.state is None
