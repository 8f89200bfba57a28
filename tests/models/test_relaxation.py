"""Damping and creep of links from recorded motions whose truth is known."""

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.models.creep import Creep
from pliant.models.pcc import JointLaw, PccModel
from pliant.models.pcc_rollout import rollout_links
from pliant.models.relaxation import fit_creep, fit_damping
from pliant.robots.printed_link import GAINS, printed_link


def links(**options):
    robot = printed_link().but(gravity=(0.0, 0.0, 0.0))
    law = JointLaw.hookean(50.6, 3.7e-5)
    return PccModel(robot, links=2, joints=law, gains=GAINS, rotary=False, **options)


def test_damping_of_a_free_oscillation():
    beta = 4e-3
    truth = beta * np.array([[50.6, 3.7e-5]] * 2)
    run = rollout_links(links(damping=truth), np.array([0, 4.0, 1.0, 0, -2.0, 3.0]), duration=0.5, dt=1e-3)
    found = fit_damping(links(damping=(0.0, 0.0)), run.time, run.q, np.zeros(3))
    assert np.allclose(found, truth, rtol=0.03)


def test_creep_of_a_step_that_is_held():
    creep = Creep((9.0, 6.0, 6.0), (1.0, 1.0, 1.0), (30.0, 2e-5, 2e-5))
    truth = np.array([[0.3, 2e-6]] * 2)
    effort = np.array([2e4, 0.0, 0.0, 0.0, 5e3, 0.0])
    chambers = tuple(c for c in printed_link().actuators)
    six = chambers + tuple(type(chambers[0])(name=f"b{i}") for i in (4, 5, 6))
    robot = printed_link().but(gravity=(0.0, 0.0, 0.0), actuators=six)
    law = JointLaw.hookean(50.6, 3.7e-5)
    plant = PccModel(robot, links=2, joints=law, gains=GAINS, rotary=False, damping=truth, creep=creep)
    run = rollout_links(plant, duration=1.0, dt=2e-3, effort=effort)
    bare = PccModel(robot, links=2, joints=law, gains=GAINS, rotary=False, damping=(0.0, 0.0))
    found, viscous, left = fit_creep(bare, run.time, run.q, effort, rates=80)
    assert found is not None
    assert found.decay[1] == pytest.approx(6.0, rel=0.1)
    assert found.stiffness[1] * found.gain[1] == pytest.approx(2e-5, rel=0.1)
    assert np.allclose(viscous[:, 1], 2e-6, rtol=0.15)
    assert left < 0.05
    # the model with what was found moves as the plant does
    again = PccModel(robot, links=2, joints=law, gains=GAINS, rotary=False, damping=viscous, creep=found)
    other = rollout_links(again, duration=1.0, dt=2e-3, effort=effort)
    assert np.abs(other.q[:, 1] - run.q[:, 1]).max() < 0.03 * np.abs(run.q[:, 1]).max()


def test_no_creep_is_said():
    plant = links(damping=(0.3, 2e-6))
    run = rollout_links(plant, duration=1.0, dt=2e-3, effort=[2e4, 0.0, 0.0])
    found, viscous, left = fit_creep(links(damping=(0.0, 0.0)), run.time, run.q, [2e4, 0.0, 0.0])
    assert left < 0.05
    assert found is None
    assert viscous[0, 1] == pytest.approx(2e-6, rel=0.05)


def test_bad_motion():
    with pytest.raises(ArgumentError, match="time"):
        fit_damping(links(), [0.0, 1.0], np.zeros((2, 6)), np.zeros(3))
