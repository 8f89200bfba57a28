import threading

import numpy as np
import pytest
from browser_page import ALONG, GIZMO_ARM, UP, WIDTH, changed, drag, opened, projected, settle

from pliant.errors import ArgumentError, UnknownNameError
from pliant.viewer.browser import ViewerServer


@pytest.fixture
def viewer(box, ball, goal):
    server = ViewerServer(
        box, obstacles=[ball], targets=[goal], port=9100, solve=box.solve, invert=box.invert
    )
    yield server
    server.stop()


# ---- the server alone ---------------------------------------------------------------------------
def test_commands_are_solved_and_shown(viewer, box):
    viewer.u = {"cable": 0.015}
    assert viewer.wait()
    np.testing.assert_allclose(viewer.state.q, box.bent((0.015, 0.0)).ravel())
    viewer.u = np.array([0.01, 2e4])
    assert viewer.wait()
    np.testing.assert_allclose(viewer.state.u, [0.01, 2e4])
    assert viewer.drawn >= 1
    assert viewer.trouble == ""


def test_a_failure_is_told_in_words_and_the_last_good_state_kept(viewer):
    viewer.u = {"cable": 0.015}
    assert viewer.wait()
    good = viewer.state
    viewer.u = {"cable": 0.0295}  # does not converge
    assert viewer.wait()
    assert "no step reduced the residual" in viewer.trouble
    assert viewer.state is good
    assert "last good state" in viewer._panel.readings
    viewer.u = {"cable": 0.01, "chamber": -1.0}  # raises
    assert viewer.wait()
    assert viewer.trouble == "The chamber collapsed"
    assert viewer.state is good
    viewer.u = {"cable": 0.01, "chamber": 0.0}
    assert viewer.wait()
    assert viewer.trouble == ""
    assert viewer.state is not good


def test_only_the_latest_command_is_solved(box):
    started, gate, solved = threading.Event(), threading.Event(), []

    def slow(model, u, *, obstacles, start):
        if solved:
            started.set()
            gate.wait(60)
        solved.append(float(u[0]))
        return box.solve(model, u)

    with ViewerServer(box, port=9101, solve=slow, targets=()) as viewer:
        viewer.u = {"cable": 0.001}
        assert started.wait(60)
        for pull in (0.002, 0.003, 0.004):
            viewer.u = {"cable": pull}
        gate.set()
        assert viewer.wait()
        assert solved == [0.0, 0.001, 0.004]


def test_bad_assignments_are_refused(viewer, sweep):
    with pytest.raises(ArgumentError, match="u"):
        viewer.u = np.zeros(5)
    with pytest.raises(ArgumentError, match="finite"):
        viewer.u = {"cable": np.nan}
    with pytest.raises(UnknownNameError, match="displacement"):
        viewer.field = "taste"
    with pytest.raises(ArgumentError, match="state"):
        viewer.update(sweep[0].but(q=np.zeros(3)))


def test_states_from_elsewhere_are_shown(viewer, sweep):
    viewer.update(sweep[30])
    assert viewer.wait()
    assert viewer.state is sweep[30]
    viewer.request_reset()
    assert viewer.wait()
    np.testing.assert_allclose(viewer.state.u, 0.0)


def test_two_viewers_take_two_ports(box):
    with (
        ViewerServer(box, port=9102, solve=box.solve, targets=()) as one,
        ViewerServer(box, port=9102, solve=box.solve, targets=()) as two,
    ):
        assert one.url != two.url


def test_importing_the_viewer_is_light():
    import subprocess
    import sys

    code = (
        "import sys, pliant.viewer.browser, pliant.viewer.html;"
        "heavy = {'viser', 'matplotlib', 'PIL', 'torch', 'trimesh'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- in a real browser -----------------------------------------------------------------------------
@pytest.mark.browser
def test_a_slider_moved_by_the_mouse_bends_the_finger_on_the_page(chromium, finger):
    with ViewerServer(finger, port=9103, targets=()) as viewer:
        page = opened(chromium, viewer, "up [mm]")
        straight = settle(page, viewer)
        body = (np.abs(straight - straight.max(axis=(0, 1)))[:, : WIDTH - 350].max(axis=2) > 60).mean()
        assert body > 0.02  # something is drawn
        thumb = page.locator("[role=slider]").first.bounding_box()
        x, y = thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2
        drag(page, (x, y), (x + 60, y))
        page.wait_for_timeout(500)
        bent = settle(page, viewer)
        assert viewer.u[0] > 0.005
        assert viewer.state.ok
        assert viewer.state.u[0] == pytest.approx(viewer.u[0])
        assert viewer.model.locate(viewer.state, "tip").position[2] > 0.01
        assert changed(straight, bent) > 0.02
        assert page.locator("text=residual").count() == 1
        page.get_by_text("Reset", exact=True).click()
        page.wait_for_timeout(500)
        back = settle(page, viewer)
        assert viewer.u[0] == 0.0
        assert changed(straight, back) < 0.005
        page.close()


@pytest.mark.browser
def test_a_target_dragged_by_the_mouse_is_followed(chromium, viewer):
    page = opened(chromium, viewer, "cable [mm]")
    before = settle(page, viewer)
    arm = GIZMO_ARM * viewer.scene.size
    start = np.array(viewer._panel.aimed_targets()[0].position)
    drag(page, projected(viewer, start + UP * arm), projected(viewer, start + UP * (arm + 0.04)))
    page.wait_for_timeout(500)
    after = settle(page, viewer)
    goal = np.array(viewer._panel.aimed_targets()[0].position)
    assert goal[2] == pytest.approx(start[2] + 0.04, abs=0.006)
    assert viewer.command is not None
    assert viewer.command.iterations == 20  # the release converges; the moves before it only approach
    assert viewer.u[0] > 0.005
    assert changed(before, after) > 0.02
    assert page.locator("text=target error").count() == 1
    page.close()


@pytest.mark.browser
def test_the_finger_reaches_for_its_tip_dragged_by_the_mouse(chromium, finger):
    with ViewerServer(finger, port=9105) as viewer:  # offers the tip by itself
        page = opened(chromium, viewer, "targets to drag")
        arm = GIZMO_ARM * viewer.scene.size
        start = np.array(viewer._panel.aimed_targets()[0].position)
        drag(page, projected(viewer, start + UP * arm), projected(viewer, start + UP * (arm + 0.03)))
        page.wait_for_timeout(500)
        assert viewer.wait(300)
        goal = np.array(viewer._panel.aimed_targets()[0].position)
        assert goal[2] == pytest.approx(start[2] + 0.03, abs=0.006)
        assert viewer.trouble == ""
        assert viewer.command.ok
        tip = viewer.model.locate(viewer.state, "tip").position
        assert np.linalg.norm(tip - goal) == pytest.approx(np.linalg.norm(viewer.command.error), abs=1e-6)
        assert np.linalg.norm(tip - goal) < 0.6 * np.linalg.norm(start - goal)  # its length limits its reach
        np.testing.assert_allclose(viewer.u, viewer.command.u)
        page.close()


@pytest.mark.browser
def test_an_obstacle_dragged_by_the_mouse_moves_and_is_solved_with(chromium, viewer, ball):
    page = opened(chromium, viewer, "cable [mm]")
    arm = GIZMO_ARM * viewer.scene.size
    start = projected(viewer, ball.centre + ALONG * arm)
    drag(page, start, projected(viewer, ball.centre + ALONG * (arm + 0.02)))
    page.wait_for_timeout(500)
    assert viewer.wait()
    assert viewer.obstacles[0].centre[0] == pytest.approx(ball.centre[0] + 0.02, abs=0.005)
    page.close()


@pytest.mark.browser
def test_a_trajectory_is_played_by_its_button(chromium, box, sweep):
    with ViewerServer(box, sweep, port=9104, solve=box.solve, targets=()) as viewer:
        page = opened(chromium, viewer, "speed")
        first = settle(page, viewer)
        page.get_by_text("Play", exact=True).click()
        page.wait_for_selector("text=Pause", timeout=60_000)
        page.wait_for_function("true")
        page.wait_for_timeout(900)
        page.get_by_text("Pause", exact=True).click()
        page.wait_for_selector("text=Play", timeout=60_000)
        viewer.frame = 35
        last = settle(page, viewer)
        assert changed(first, last) > 0.02
        page.close()
