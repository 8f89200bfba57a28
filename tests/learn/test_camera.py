"""Marker tracking on pictures that are drawn here."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.learn import (
    ConstantCurvatureArm,
    HardwareLink,
    camera_marker,
    marker_position,
    plane_from_code,
    plane_from_points,
    record,
)

cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed: pip install 'pliant[vision]'")

SCALE = 4000.0  # pixels per metre
PLANE = np.array([[1 / SCALE, 0, -0.08], [0, -1 / SCALE, 0.06], [0, 0, 1.0]])


def scene(x, y, *, colour=(30, 20, 220), noise=0):
    """A grey table of 160 x 120 mm seen from above, with a marker of 4 mm radius at (x, y) [m]."""
    picture = np.full((480, 640, 3), 150, np.uint8)
    picture = cv2.randn(picture, (150, 150, 150), (noise,) * 3) if noise else picture
    shift = 4  # sixteenths of a pixel
    centre = (round((x + 0.08) * SCALE * 2**shift), round((0.06 - y) * SCALE * 2**shift))
    return cv2.circle(picture, centre, round(0.004 * SCALE * 2**shift), colour, -1, cv2.LINE_AA, shift)


@pytest.mark.parametrize("colour", [(30, 20, 220), (10, 40, 230), (60, 20, 230)])  # red on both sides of hue 0
def test_marker_is_found_to_a_tenth_of_a_millimetre(colour):
    rng = np.random.default_rng(0)
    for x, y in rng.uniform(-0.05, 0.05, (8, 2)):
        found = marker_position(scene(x, y, colour=colour, noise=12), PLANE)
        assert np.abs(found - [x, y, 0.0]).max() < 1e-4


def test_the_largest_patch_is_the_marker():
    picture = scene(0.02, 0.01)
    cv2.circle(picture, (30, 30), 5, (30, 20, 220), -1)
    assert np.abs(marker_position(picture, PLANE)[:2] - [0.02, 0.01]).max() < 1e-4


def test_a_missing_marker_is_said():
    with pytest.raises(ArgumentError, match="not in it"):
        marker_position(np.full((480, 640, 3), 150, np.uint8), PLANE)
    with pytest.raises(ArgumentError, match="plane"):
        marker_position(scene(0, 0), np.eye(2))


def test_the_plane_follows_from_points_and_from_a_code():
    """A camera that looks from the side: the picture is a projection of the table."""
    view = np.array([[3200.0, 500.0, 330.0], [150.0, -2800.0, 250.0], [0.6, -1.1, 1.0]])  # metres to pixels
    corners = np.array([(-0.05, -0.04), (0.06, -0.04), (0.06, 0.05), (-0.05, 0.05)])
    seen = np.column_stack([corners, np.ones(4)]) @ view.T
    H = plane_from_points(seen[:, :2] / seen[:, 2:], corners)
    assert np.abs(H / H[2, 2] - np.linalg.inv(view) / np.linalg.inv(view)[2, 2]).max() < 1e-6
    side, where = 0.04, np.array([-0.02, -0.02])
    code = cv2.QRCodeEncoder.create().encode("pliant")  # two modules of border around it
    modules = code.shape[0] - 4
    code = cv2.resize(code, None, fx=12, fy=12, interpolation=cv2.INTER_NEAREST)
    # from the code's picture to the table: its first module corner at `where`
    flat = np.array([[side / (12 * modules), 0, where[0]], [0, side / (12 * modules), where[1]], [0, 0, 1.0]])
    flat = flat @ np.array([[1, 0, -24.0], [0, 1, -24.0], [0, 0, 1]])
    straight = np.array([[3500.0, 300.0, 330.0], [-200.0, 3300.0, 250.0], [0.5, 0.7, 1.0]])
    picture = cv2.warpPerspective(code, straight @ flat, (640, 480), borderValue=255)
    H = plane_from_code(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR), side, corner=where)
    for point in corners[:, :2] * 0.5:
        pixel = straight @ [*point, 1.0]
        back = H @ (pixel / pixel[2])
        assert np.abs(back[:2] / back[2] - point).max() < 7e-4
    with pytest.raises(ArgumentError, match="no QR code"):
        plane_from_code(scene(0, 0), side)
    with pytest.raises(ArgumentError, match="pixels"):
        plane_from_points(np.zeros((3, 2)), np.zeros((3, 2)))


def test_a_robot_is_recorded_through_a_camera(tmp_path):
    """Commands go out as text, markers come back as pictures."""
    arm = ConstantCurvatureArm()
    u = np.random.default_rng(1).uniform(0, 1e5, (5, 3))
    where = [arm.place(c, "tip").position[:2] for c in u]
    for k, (x, y) in enumerate(where):
        cv2.imwrite(str(tmp_path / f"frame_{k:03d}.png"), scene(x, y))
    lines = []
    link = HardwareLink(lines.append, camera_marker(str(tmp_path / "frame_%03d.png"), plane=PLANE), factor=1e-5)
    link.send = lambda c, seconds: lines.append(c)  # without waiting
    data = record(link, u)
    assert np.abs(data.position[:, :2] - where).max() < 1e-4
    with pytest.raises(ArgumentError, match="no picture"):
        link.read()
