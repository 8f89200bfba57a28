from types import SimpleNamespace

import numpy as np
import pytest

from pliant.errors import ArgumentError, UnknownNameError
from pliant.viewer.scene import Scene, contact_arrows, states_of


def test_picture_of_a_bent_box(box, ball):
    scene = Scene(box, obstacles=[ball])
    state = box.solve(box, np.array([0.02, 0.0]))
    picture = scene.picture(state)
    assert picture.unit == "mm"
    assert picture.values.max() == pytest.approx(
        1e3 * np.linalg.norm(box.bent(state.u) - scene.rest, axis=1).max()
    )
    assert len(picture.obstacles) == 1
    np.testing.assert_allclose(picture.points["tip"], box.locate(state, "tip").position)
    assert picture.slack == frozenset()


def test_colours_of_a_robot_at_rest_do_not_show_noise(box):
    scene = Scene(box)
    low, high = scene.span(scene.picture(box.solve(box, np.zeros(2))))
    assert low == 0.0
    assert high == pytest.approx(10 * scene.size)


def test_cables_are_carried_affinely_when_the_model_does_not_offer_them(box):
    scene = Scene(box)
    matrix, shift = np.array([[1.1, 0.2, 0], [-0.1, 0.9, 0.3], [0, 0.1, 1.2]]), np.array([0.01, 0.02, 0.03])
    skin = scene.rest @ matrix.T + shift
    path = scene.cables(skin.ravel(), skin)["cable"]
    via = np.array(box.robot.actuators[0].points)
    np.testing.assert_allclose(path[0], box.robot.actuators[0].pull_point)
    np.testing.assert_allclose(path[1:], via @ matrix.T + shift, atol=1e-12)


def test_slack_cables_are_named(box):
    assert Scene(box).picture(box.solve(box, np.zeros(2))).slack == {"cable"}


def test_fields(box):
    scene = Scene(box)
    state = box.solve(box, np.array([0.01, 0.0]))
    assert scene.fields == ("displacement", "strain", "stress", "none")
    assert scene.picture(state, field="stress").unit == "kPa"
    assert not scene.picture(state, field="none").values.any()
    with pytest.raises(UnknownNameError, match="displacement"):
        scene.picture(state, field="colour")


def test_contact_arrows_hold_normal_and_tangential_forces():
    contacts = SimpleNamespace(
        gap=np.zeros(1),
        point=np.ones((1, 3)),
        normal=np.array([[0.0, 0, 1]]),
        forces=np.array([2.0]),
        tangents=np.array([[[1.0, 0, 0], [0, 1.0, 0]]]),
        tangential=np.array([[0.5, -0.25]]),
    )
    points, forces = contact_arrows(contacts)
    np.testing.assert_allclose(points, 1.0)
    np.testing.assert_allclose(forces, [[0.5, -0.25, 2.0]])
    assert contact_arrows(None)[0].shape == (0, 3)


def test_states_of_takes_states_and_trajectories_only(sweep):
    assert states_of(sweep[0]) == [sweep[0]]
    assert len(states_of(sweep)) == 41
    assert len(states_of(SimpleNamespace(states=sweep))) == 41
    for bad in ([], 3, [1, 2]):
        with pytest.raises(ArgumentError):
            states_of(bad)


def test_finite_element_finger_offers_cables_and_fixations(finger):
    from pliant.solve.equilibrium import equilibrium

    scene = Scene(finger)
    picture = scene.picture(equilibrium(finger, {"up": 0.01}).require())
    assert set(picture.cables) == {"up", "side"}
    assert len(picture.fixations) == 9
    assert np.allclose(picture.fixations[:, 0], 0.0)
    assert 0 < scene.picture(equilibrium(finger, {"up": 0.01}), field="strain").values.max() < 100


def test_chambers_are_drawn_inside_of_a_see_through_body(box, ball, sweep, tmp_path):
    from pliant.viewer.html import export_html
    from pliant.viewer.snapshot import snapshot_image

    options = {"size": (160, 120), "supersample": 1, "opacity": 0.4, "colour_bar": False}
    without = snapshot_image(box, sweep[0], **options).astype(int)
    box.cavity_surfaces = lambda q: {"chamber": ball.moved((-0.01, 0.0, -0.06)).surface()}
    assert set(Scene(box).picture(sweep[0]).chambers) == {"chamber"}
    inside = snapshot_image(box, sweep[0], **options).astype(int)
    assert (np.abs(without - inside).max(axis=2) > 20).mean() > 0.005
    assert export_html(box, sweep, tmp_path / "a.html").stat().st_size > 10_000
