"""Obstacles come in strides, and may jump where nothing is near."""

import numpy as np
import pytest

from pliant.contact import Sphere
from pliant.viewer.browser import ViewerServer
from pliant.viewer.crowd import Crowd

SKIN = np.array([[0.0, 0.0, z] for z in np.linspace(0.0, 0.2, 21)])


def test_a_stride_near_the_robot_and_a_jump_where_nothing_is():
    crowd = Crowd([Sphere((0.1, 0.0, 0.1), 0.02)], stride=0.005)
    wish = np.array([[-0.1, 0.0, 0.0]])
    first = crowd.towards(crowd.begin, wish, SKIN)
    assert first[0, 0] == pytest.approx(-0.08)  # as far as it is away
    second = crowd.towards(first, wish, SKIN)
    assert second[0, 0] == pytest.approx(-0.085)  # it touches: a stride
    away = np.array([[0.3, 0.0, 0.0]])
    assert crowd.towards(crowd.begin, away, SKIN)[0, 0] == pytest.approx(0.08)
    assert crowd.towards(second, second, SKIN) is second


def test_a_stride_ends_at_the_wish_itself():
    crowd = Crowd([Sphere((0.02, 0.0, 0.1), 0.02)], stride=0.005)
    known, wish, count = crowd.begin, np.array([[-0.012, 0.003, 0.0]]), 0
    while known is not wish:
        known, count = crowd.towards(known, wish, SKIN), count + 1
        assert count < 10
    assert count == 3
    np.testing.assert_allclose(crowd.at(known)[0].pose.translation, [-0.012, 0.003, 0.0])


def test_what_was_dragged_is_remembered_for_each():
    crowd = Crowd([Sphere((0.1, 0.0, 0.1), 0.02), Sphere((0.0, 0.2, 0.1), 0.02)], stride=0.005)
    before = crowd.wish
    crowd.drag(1, np.array([0.0, 0.01, 0.0]))
    crowd.drag(1, np.array([0.0, 0.01, 0.0]))
    np.testing.assert_allclose(crowd.wish, [[0, 0, 0], [0, 0.02, 0]])
    assert not before.any()
    assert crowd.at(crowd.wish)[0] is crowd.at(crowd.begin)[0]


def test_the_solver_sees_an_obstacle_come_closer_and_a_newer_wish_goes_on_from_there(box):
    seen = []

    def solve(model, u, *, obstacles, start):
        seen.extend(o.pose.translation[0] for o in obstacles)
        return box.solve(model, u)

    ball = Sphere((0.05, 0.0, 0.05), 0.01)
    with ViewerServer(box, obstacles=[ball], targets=(), port=9106, solve=solve) as viewer:
        viewer.move_obstacle(0, np.array([0.0, 0.0, -0.04]))
        assert viewer.wait()
        heights = [o.pose.translation[2] for o in viewer.obstacles]
        assert heights == pytest.approx([-0.04])
        np.testing.assert_allclose(viewer._known, [[0.0, 0.0, -0.04]])
        assert len(seen) > 3  # the rest state, then several places
        count = len(seen)
        viewer.u = {"cable": 0.001}
        assert viewer.wait()
        assert len(seen) == count + 1  # it is there already
        viewer.request_reset()
        assert viewer.wait()
        assert not viewer._known.any()
