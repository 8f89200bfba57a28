"""Mixing of efforts: slow and overshooting iterations end soon, limits and contacts are respected."""

import numpy as np
import pytest

from pliant.inverse.acceleration import Acceleration
from pliant.inverse.qpcc import QPCC

GOAL = np.array([1.0, -2.0, 3e3])
UNIT = np.array([1.0, 2.0, 1e-3])  # efforts of different kinds


def problem(low=-1e9, high=1e9, **contact):
    """A linearised problem without targets; its compliance gives the units."""
    nc = len(contact.get("dc", ()))
    fields = {
        "Wea": np.zeros((0, 3)), "Wec": np.zeros((0, nc)), "de": np.zeros(0), "Waa": np.diag(UNIT**2),
        "Wac": np.zeros((3, nc)), "da": np.zeros(3), "Wca": np.zeros((nc, 3)), "Wcc": np.eye(nc), "dc": np.zeros(nc),
        "effort_min": np.full(3, low), "effort_max": np.full(3, high), **contact,
    }  # fmt: skip
    return QPCC(**fields)


def iterated(slopes, steps, mixing=None, qpcc=None):
    """Distances from the goal of e <- goal + M (e - goal), M with the given eigenvalues."""
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    M = (turn * slopes) @ turn.T
    qpcc = problem() if qpcc is None else qpcc
    effort, out = np.zeros(3), []
    for _ in range(steps):
        after = GOAL + (M @ ((effort - GOAL) * UNIT)) / UNIT
        after = np.clip(after, qpcc.effort_min, qpcc.effort_max)
        better = None if mixing is None else mixing.mixed(effort, after, np.zeros(len(qpcc.dc)), qpcc)
        effort = after if better is None else better[0]
        out.append(float(np.abs((effort - GOAL) * UNIT).max()))
    return out


@pytest.mark.parametrize("slopes", [(0.9, 0.5, 0.1), (-1.2, 0.8, 0.3), (0.95, -0.95, -1.05)])
def test_mixing_ends_where_the_plain_iteration_does_not(slopes):
    plain, mixed = iterated(slopes, 14), iterated(slopes, 14, Acceleration())
    assert plain[-1] > 0.1
    assert mixed[-1] < 1e-6


def test_first_steps_are_plain():
    """Two steps tell nothing yet about how steps follow upon each other."""
    assert iterated((0.9, 0.5, 0.1), 2, Acceleration()) == iterated((0.9, 0.5, 0.1), 2)


def test_limits_hold():
    mixing, qpcc = Acceleration(), problem(high=0.4)
    effort = np.zeros(3)
    for _ in range(12):
        after = np.clip(GOAL + 0.9 * (effort - GOAL), qpcc.effort_min, qpcc.effort_max)
        better = mixing.mixed(effort, after, np.zeros(0), qpcc)
        effort = after if better is None else better[0]
        assert (effort <= qpcc.effort_max).all()


def test_back_and_forth_between_limits_is_halved():
    """Two answers in turn, each on its own limit: no history fits, the middle does."""
    mixing, qpcc = Acceleration(), problem(low=0.0)
    first, second = np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0])
    effort, steps = first, []
    for k in range(6):
        after = second if k % 2 == 0 else first
        better = mixing.mixed(effort, after, np.zeros(0), qpcc)
        effort = after if better is None else better[0]
        steps.append(effort)
    assert steps[0] == pytest.approx(second)
    assert steps[1] == pytest.approx(0.5 * (first + second))


def test_contact_forces_follow_and_contacts_stay():
    """Forces belong to the efforts; where they would pull, the plain step is taken."""
    contact = {"Wca": np.array([[-1.0, 0.0, 0.0]]), "Wac": np.array([[-1.0], [0.0], [0.0]]), "dc": np.array([0.2])}
    qpcc, mixing = problem(**contact), Acceleration()
    effort, seen = np.zeros(3), 0
    for _ in range(10):
        after = GOAL + 0.8 * (effort - GOAL)
        pressed = np.maximum(after[:1] - 0.2, 0.0)
        better = mixing.mixed(effort, after, pressed, qpcc)
        if better is not None:
            seen += 1
            assert better[1] == pytest.approx(np.maximum(better[0][:1] - 0.2, 0.0), abs=1e-12)
        effort = after if better is None else better[0]
    assert seen > 0
    mixing = Acceleration()
    effort = np.array([0.3, 0.0, 0.0])
    for goal in (0.29, 0.28, 0.27, 0.26):  # extrapolated far beyond 0.2, the contact would have to pull
        after = np.array([goal, 0.0, 0.0])
        better = mixing.mixed(effort, after, after[:1] - 0.2, qpcc)
        effort = after if better is None else better[0]
        assert effort[0] >= 0.2


@pytest.mark.parametrize("kind", ["joint", "row"])
def test_joints_stay_closed_and_rows_hold(kind):
    """Efforts that would open a joint, or break a row, are not taken: such problems are iterated plainly."""
    balance = np.array([1.0, -1.0, 0.0])  # what must stay zero
    if kind == "joint":
        W = np.diag(UNIT**2) + np.array([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        W[0, 0] = 1.0  # the first actuator moves by the difference of the first two efforts
        held = {"displacement_min": np.array([0.0, -9e9, -9e9]), "displacement_max": np.array([0.0, 9e9, 9e9])}
        qpcc = problem(Waa=W, **held)
    else:
        qpcc = problem(C=np.vstack([balance, -balance]), d=np.zeros(2))
    mixing, effort = Acceleration(), np.zeros(3)
    for k in range(10):
        drift = np.array([0.0, 1e-3 * 0.5**k, 0.0])  # another linearisation each time: before, it was a little open
        after = np.array([1.0, 1.0, 2.0]) + 0.8 * (effort - np.array([1.0, 1.0, 2.0]))
        after[0] = after[1]
        better = mixing.mixed(effort + drift, after, np.zeros(0), qpcc)
        effort = after if better is None else better[0]
        assert abs(balance @ effort) < 1e-11
