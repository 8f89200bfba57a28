"""What a user does on the page with mouse and checkboxes, done for real in a headless Chromium."""

import re

import numpy as np
import pytest
from browser_page import ALONG, GIZMO_ARC, GIZMO_ARM, UP, changed, drag, opened, projected, settle

from pliant.contact import Sphere
from pliant.inverse.targets import FrameTarget, PointTarget
from pliant.lie import log
from pliant.models.fem import FemModel
from pliant.robots import golden_beam
from pliant.solve.equilibrium import equilibrium
from pliant.viewer.browser import ViewerServer
from pliant.viewer.scene import obstacle_surface


def finished(page, viewer):
    page.wait_for_timeout(500)
    assert viewer.wait(300)


def toggle(page, label):
    """Click the checkbox of that label, where the panel shows it after scrolling."""
    box = page.get_by_label(label, exact=True)
    box.scroll_into_view_if_needed()
    box.click()


def drag_arrow(page, viewer, place, way, by):
    arm = GIZMO_ARM * viewer.scene.size
    drag(page, projected(viewer, place + way * arm), projected(viewer, place + way * (arm + by)))
    finished(page, viewer)


def centre(obstacle):
    vertices = obstacle_surface(obstacle)[0]
    return (vertices.min(axis=0) + vertices.max(axis=0)) / 2


def contact_force(viewer):
    contacts = viewer.state.contacts
    return 0.0 if contacts is None or not len(contacts) else float(contacts.forces.sum())


@pytest.mark.browser
def test_a_frame_target_turned_by_the_mouse_is_followed(chromium, finger):
    tip = np.array([0.1, 0.0, 0.0])
    wanted = FrameTarget("tip", tuple(tip), (1.0, 0.0, 0.0, 0.0))
    with ViewerServer(finger, targets=[wanted], port=9110) as viewer:
        page = opened(chromium, viewer, "limits")
        before = settle(page, viewer)
        straight = viewer.model.locate(viewer.state, "tip").rotation
        radius = GIZMO_ARC * viewer.scene.size

        def arc(angle):  # the handle that turns about y runs from z to x
            return tip + radius * (np.cos(angle) * UP + np.sin(angle) * ALONG)

        drag(page, projected(viewer, arc(np.pi / 4)), projected(viewer, arc(np.pi / 4 - 0.5)))
        finished(page, viewer)
        aimed = viewer._panel.aimed_targets()[0]
        assert aimed.position == wanted.position
        assert 2 * np.arcsin(aimed.rotation[2]) == pytest.approx(-0.5, abs=0.1)
        assert viewer.command is not None
        turned = log(viewer.model.locate(viewer.state, "tip").rotation @ straight.T)
        assert turned[1] < -0.15  # the tip turns the same way, as far as its place lets it
        assert abs(turned[0]) < 0.1
        after = settle(page, viewer)
        assert changed(before, after) > 0.01
        told = page.locator("text=target error").inner_text()
        assert re.search(r"target error [\d.]+ mm, [\d.]+° · \d+ iterations · [\d.]+ ms · [\d.]+ ms each", told)
        assert float(re.search(r"([\d.]+) mm", told)[1]) < 60.0  # millimetres, not radians among them
        page.close()


@pytest.mark.browser
def test_an_obstacle_dragged_into_the_finger_pushes_it_until_contact_is_switched_off(chromium, finger):
    ball = Sphere((0.08, 0.0, 0.025), 0.012)
    with ViewerServer(finger, obstacles=[ball], targets=(), port=9111) as viewer:
        page = opened(chromium, viewer, "contact")
        free = viewer.model.locate(viewer.state, "tip").position[2]
        assert contact_force(viewer) == 0.0
        drag_arrow(page, viewer, np.array([0.08, 0.0, 0.025]), UP, -0.012)
        assert centre(viewer.obstacles[0])[2] == pytest.approx(0.013, abs=0.003)
        assert viewer.trouble == ""
        assert viewer.state.ok
        assert contact_force(viewer) > 0.01
        pressed = viewer.model.locate(viewer.state, "tip").position[2]
        assert pressed < free - 0.002
        surface = viewer.model.skin_positions(viewer.state.q)
        assert viewer.obstacles[0].distance(surface).min() > -1e-6  # it does not go through
        told = page.locator("text=largest force").inner_text()
        assert float(re.search(r"largest force ([\d.e-]+) N", told)[1]) > 0.0
        with_contact = settle(page, viewer)
        toggle(page, "contact")
        finished(page, viewer)
        assert contact_force(viewer) == 0.0
        assert viewer.model.locate(viewer.state, "tip").position[2] == pytest.approx(free, abs=1e-5)
        assert changed(with_contact, settle(page, viewer)) > 0.005
        toggle(page, "contact")
        finished(page, viewer)
        assert viewer.model.locate(viewer.state, "tip").position[2] == pytest.approx(pressed, abs=1e-4)
        page.close()


@pytest.mark.browser
def test_an_obstacle_dragged_later_is_reached_around(chromium, finger):
    ball = Sphere((0.07, 0.0, 0.05), 0.01)
    with ViewerServer(finger, obstacles=[ball], targets=["tip"], port=9112) as viewer:
        page = opened(chromium, viewer, "limits")
        start = np.array(viewer._panel.aimed_targets()[0].position)
        drag_arrow(page, viewer, start, UP, 0.02)
        goal = np.array(viewer._panel.aimed_targets()[0].position)
        assert viewer.command.ok
        alone = viewer.u.copy()
        drag_arrow(page, viewer, np.array([0.07, 0.0, 0.05]), UP, -0.032)
        assert viewer.trouble == ""
        assert viewer.command is not None  # the inverse ran again, not the sliders
        assert viewer.command.ok
        np.testing.assert_allclose(viewer._panel.aimed_targets()[0].position, goal)
        assert contact_force(viewer) > 0.0
        assert np.abs(viewer.u - alone).max() > 1e-5
        toggle(page, "contact")
        finished(page, viewer)
        assert contact_force(viewer) == 0.0
        np.testing.assert_allclose(viewer.u, alone, atol=1e-5)  # the same target without the obstacle
        page.close()


@pytest.mark.browser
def test_limits_are_switched_off_and_on(chromium, finger):
    with ViewerServer(finger, targets=[PointTarget("tip", (0.06, 0.0, 0.05))], port=9113) as viewer:
        page = opened(chromium, viewer, "limits")
        drag_arrow(page, viewer, np.array([0.06, 0.0, 0.05]), UP, 0.02)
        low, high = np.array([a.limits for a in finger.robot.actuators]).T
        tight = 1e-6

        def within():
            return (viewer.u > low - tight).all() and (viewer.u < high + tight).all()

        assert within()
        far_off = np.linalg.norm(viewer.command.error)
        toggle(page, "limits")
        finished(page, viewer)
        assert not within()
        assert np.linalg.norm(viewer.command.error) < far_off
        toggle(page, "limits")
        finished(page, viewer)
        assert within()
        page.close()


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A beam learned from 64 samples, with its whole shape; and the model that it was learned from."""
    from pliant.learn import fit, sample

    source = FemModel(golden_beam())
    ranges = {f"cable{i}": (0.0, 0.015) for i in (1, 2, 3)}
    path = tmp_path_factory.mktemp("learned") / "beam.h5"
    data = sample(source, ranges, path=path, per_axis=4, workers=0, shape=True)
    return fit(data, hidden=(12, 12), iterations=20, shape_modes=8), source


@pytest.mark.browser
def test_a_learned_model_is_dragged_live_with_its_whole_shape(chromium, learned):
    model, source = learned
    with ViewerServer(model, equilibrium(model, np.full(3, 0.006)), port=9114) as viewer:
        page = opened(chromium, viewer, "targets to drag")
        before = settle(page, viewer)
        assert len(viewer.scene.rest) == source.skin.size  # the whole surface is drawn, not a stick
        thumb = page.locator("[role=slider]").first.bounding_box()
        x, y = thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2
        drag(page, (x, y), (x + 30, y))
        finished(page, viewer)
        assert viewer.u[0] > 0.008
        slid = settle(page, viewer)
        assert changed(before, slid) > 0.005
        start = np.array(viewer._panel.aimed_targets()[0].position)
        drag_arrow(page, viewer, start, UP, -0.008)
        goal = np.array(viewer._panel.aimed_targets()[0].position)
        assert np.linalg.norm(goal - start) > 0.005
        assert viewer.trouble == ""
        assert viewer.command.ok
        tip = model.locate(viewer.state, "tip").position
        assert np.linalg.norm(tip - goal) < 0.5 * np.linalg.norm(start - goal)
        assert changed(slid, settle(page, viewer)) > 0.005
        # what is drawn is where finite elements say that the whole surface is
        true = equilibrium(source, viewer.u)
        apart = np.linalg.norm(model.skin_positions(viewer.state.q) - source.skin_positions(true.q), axis=1)
        moved = np.linalg.norm(source.skin_positions(true.q) - source.skin_positions(source.rest), axis=1)
        assert apart.max() < 0.1 * moved.max()
        page.close()
