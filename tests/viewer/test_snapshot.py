import numpy as np
import pytest
from PIL import Image

from pliant.contact import Plane
from pliant.errors import ArgumentError
from pliant.viewer.camera import Camera
from pliant.viewer.scene import PLANE_REACH, Scene
from pliant.viewer.snapshot import snapshot, snapshot_image


def small(model, state, **options):
    options = {"size": (200, 150), "supersample": 1, "colour_bar": False, **options}
    return snapshot_image(model, state, **options).astype(int)


def test_a_picture_is_written(box, ball, tmp_path):
    state = box.solve(box, np.array([0.02, 0.0]))
    path = snapshot(box, state, tmp_path / "new" / "box.png", obstacles=[ball], size=(320, 240), title="bent")
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.size == (320, 240)
        pixels = np.asarray(image).astype(int)
    assert pixels[:20, -20:].min() > 230  # light background
    dark_blue = (pixels[..., 2] > pixels[..., 0] + 40) & (pixels[..., 0] < 100)
    assert dark_blue.sum() > 500  # the base, which hardly moved


def test_the_picture_follows_the_state(box):
    camera = Camera(distance=0.4, target=(0.05, 0, 0.02))
    straight = small(box, None, camera=camera)
    bent = small(box, box.solve(box, np.array([0.02, 0.0])), camera=camera)
    assert (np.abs(straight - bent).max(axis=2) > 30).mean() > 0.05
    np.testing.assert_array_equal(straight, small(box, None, camera=camera))  # the same every time


def test_fields_and_opacity_change_the_picture(box):
    state = box.solve(box, np.array([0.02, 0.0]))
    pictures = [small(box, state), small(box, state, field="strain"), small(box, state, field="none")]
    pictures.append(small(box, state, opacity=0.3))
    for i, a in enumerate(pictures):
        for b in pictures[:i]:
            assert (np.abs(a - b).max(axis=2) > 20).mean() > 0.02


def test_rods_and_finite_elements_are_drawn(finger):
    assert (small(finger, None).max(axis=2) < 180).mean() > 0.05


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"size": (0, 10)}, "size"),
        ({"size": "big"}, "size"),
        ({"supersample": 0}, "supersample"),
        ({"opacity": 2.0}, "opacity"),
    ],
)
def test_bad_options_are_refused(box, options, argument):
    with pytest.raises(ArgumentError, match=argument):
        small(box, None, **options)


def test_a_broken_state_is_refused(box):
    state = box.solve(box, np.array([0.02, 0.0]))
    with pytest.raises(ArgumentError, match="state"):
        small(box, state.but(q=state.q * np.nan))


@pytest.mark.parametrize("name", ["x.bmp", "x", "x.txt"])
def test_only_png_files_are_written(box, tmp_path, name):
    with pytest.raises(ArgumentError, match=r"\.png"):
        snapshot(box, None, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_marks_are_red_and_in_the_picture(box):
    def red(marks):
        r, g, b = np.moveaxis(small(box, box.solve(box, np.zeros(2)), field="none", marks=marks), 2, 0)
        return int(((r > g + 80) & (r > b + 80)).sum())

    assert red([(0.0, 0.0, 0.05), (0.1, 0.0, 0.05)]) >= red(()) + 4
    with pytest.raises(ArgumentError, match="marks"):
        small(box, None, marks=[(1.0, 2.0)])


def test_a_plane_is_drawn_near_the_robot_and_no_farther(box):
    wall = Plane(point=(0.0, 5.0, 0.0), normal=(0.0, -1.0, 0.0), extent=40.0)
    scene, state = Scene(box, obstacles=[wall]), box.solve(box, np.zeros(2))
    vertices = scene.picture(state).obstacles[0][0]
    assert np.allclose(vertices[:, 1], 5.0)
    middle = box.skin_positions(state.q).mean(axis=0)
    assert np.abs(vertices - middle)[:, [0, 2]].max() == pytest.approx(PLANE_REACH * scene.size)
