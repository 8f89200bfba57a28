"""A page of the viewer in a headless Chromium: open it, wait for it, drag in it, look at it."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 1000, 560
ALONG, UP = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
GIZMO = 0.16  # size of a gizmo, relative to the robot's size
GIZMO_ARM = 0.7 * GIZMO  # where to grab an arrow of a gizmo
GIZMO_ARC = 0.65 * GIZMO  # radius of the arcs by which it is turned


def opened(chromium, viewer, label):
    page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(viewer.url)
    page.wait_for_selector(f"text={label}", timeout=120_000)
    settle(page, viewer)
    return page


def pixels(page):
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


def settle(page, viewer):
    """Wait until all is solved and the picture no longer changes."""
    assert viewer.wait(300)
    before = pixels(page)
    for _ in range(40):
        page.wait_for_timeout(250)
        after = pixels(page)
        if (np.abs(after - before).max(axis=2) > 12).mean() < 2e-4:
            return after
        before = after
    return before


def changed(a, b):
    """Fraction of the scene (left of the panel) that changed."""
    return (np.abs(a - b)[:, : WIDTH - 350].max(axis=2) > 30).mean()


def drag(page, start, end, steps=14):
    page.mouse.move(*start)
    page.wait_for_timeout(250)
    page.mouse.down()
    for i in range(1, steps + 1):
        page.mouse.move(*(np.array(start) + (np.array(end) - start) * i / steps))
        page.wait_for_timeout(30)
    page.mouse.up()


def projected(viewer, point):
    """Pixel of a point in the page."""
    import viser.transforms as tf

    camera = next(iter(viewer.server.get_clients().values())).camera
    local = tf.SO3(camera.wxyz).as_matrix().T @ (np.asarray(point) - camera.position)
    focal = 0.5 * HEIGHT / np.tan(camera.fov / 2)
    return WIDTH / 2 + focal * local[0] / local[2], HEIGHT / 2 + focal * local[1] / local[2]


def projected_at_first(scene, point):
    """Pixel of a point as the camera of a page begins; for a viewer in another process."""
    from pliant.viewer.stage import FIELD_OF_VIEW, first_view

    position, look_at = first_view(scene)
    forward = (look_at - position) / np.linalg.norm(look_at - position)
    right = np.cross(forward, UP)
    right /= np.linalg.norm(right)
    local = np.asarray(point) - position
    focal = 0.5 * HEIGHT / np.tan(FIELD_OF_VIEW / 2) / (local @ forward)
    return WIDTH / 2 + focal * (local @ right), HEIGHT / 2 - focal * (local @ np.cross(right, forward))
