"""The first drag finds its code loaded."""

import numpy as np
import pytest

from pliant.inverse.targets import PointTarget
from pliant.viewer import browser
from pliant.viewer.rehearsal import touching


def test_the_ball_lies_on_the_skin_near_the_target(box):
    state = box.solve(box, np.zeros(2))
    ball = touching(box, state, [PointTarget("tip", (0.2, 0.0, 0.0))])
    skin = box.skin_positions(state.q)
    assert ball.distance(skin).min() == pytest.approx(-ball.radius)
    assert ball.centre[0] == pytest.approx(0.1)
    assert (ball.distance(skin) < 0).sum() == 1


def test_a_page_rehearses_its_own_inverse_and_forgives_it_anything(box, ball, monkeypatch):
    told = []

    def failing(model, state, targets, *, contact):
        told.append((targets[0].point, contact))
        raise RuntimeError("no")

    monkeypatch.setattr(browser, "rehearse", failing)
    with browser.ViewerServer(box, obstacles=[ball], port=9107, solve=box.solve) as viewer:
        assert viewer.wait()
        assert told == [("tip", True)]
        assert viewer.trouble == ""
    with browser.ViewerServer(box, port=9107, solve=box.solve, invert=box.invert) as viewer:
        assert viewer.wait()
    assert len(told) == 1  # not an inverse that was given


def test_work_under_way_is_told_once_and_taken_away(box):
    with browser.ViewerServer(box, port=9108, solve=box.solve, targets=()) as viewer:
        assert viewer.wait()
        before = viewer._panel.readings
        viewer._panel.show_busy("Solving ...")
        viewer._panel.show_busy("Solving ...")
        assert viewer._panel.readings.count("Solving ...") == 1
        viewer._panel.show_idle()
        assert viewer._panel.readings == before
