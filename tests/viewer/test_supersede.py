"""An inverse problem on the page ends when something newer is wanted."""

import threading
import time

import numpy as np
import pytest

from pliant.contact import Sphere
from pliant.inverse.invert import invert
from pliant.inverse.targets import PointTarget
from pliant.solve.equilibrium import equilibrium
from pliant.viewer.browser import ViewerServer
from pliant.viewer.supersede import Superseded, inverse, statics

BALL, GOAL = Sphere((0.07, 0.0, 0.05), 0.01), PointTarget("tip", (0.09, 0.0, 0.03))


def test_it_is_invert_while_nothing_newer_is_wanted(finger):
    asked = []
    found = inverse(finger, None, [GOAL], obstacles=[BALL], stale=lambda: bool(asked.append(1)))
    np.testing.assert_array_equal(found.u, invert(finger, None, [GOAL], obstacles=[BALL]).u)
    assert len(asked) >= found.iterations  # at every linearisation


def test_it_is_given_up_as_soon_as_it_is_stale(finger):
    answers = iter([False, False, True])
    with pytest.raises(Superseded):
        inverse(finger, None, [GOAL], obstacles=[BALL], stale=lambda: next(answers))


def test_statics_is_equilibrium_and_is_given_up_too(finger):
    u = np.array([0.005, 0.0])
    np.testing.assert_array_equal(statics(finger, u, obstacles=[BALL]).q, equilibrium(finger, u, obstacles=[BALL]).q)
    with pytest.raises(Superseded):
        statics(finger, u, obstacles=[BALL], stale=lambda: True)


def test_a_drag_is_not_kept_waiting_by_a_long_solve(finger, monkeypatch):
    """The release never ends by itself here; the next drag takes its place all the same."""
    import pliant.viewer.browser as browser

    begun = threading.Event()

    def endless(model, state, targets, *, stale, **options):
        if "iterations" in options:  # a drag
            return inverse(model, state, targets, stale=stale, **options)
        begun.set()
        limit = time.perf_counter() + 60
        while time.perf_counter() < limit:
            if stale():
                raise Superseded
            time.sleep(0.01)
        raise AssertionError("the drag waited for a minute")

    monkeypatch.setattr(browser, "inverse", endless)
    with ViewerServer(finger, targets=[GOAL], port=9120) as viewer:
        assert viewer.wait(60)
        viewer.request_inverse()
        assert begun.wait(60)
        assert viewer.command is None
        viewer.request_inverse(final=False)
        assert viewer.wait(50)
        assert viewer.trouble == ""
        assert viewer.command is not None
