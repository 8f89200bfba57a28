"""Marker tracking by a camera: a coloured marker, and a QR code that says where the plane of the robot is.

The set-up of the planar manipulator (learned-ik 4.2): a camera above the plane, a red marker at the tip, a code of
known size on the table. Needs OpenCV (extra "vision").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.errors import ArgumentError, MissingExtraError

Array = np.ndarray
RED = ((170, 120, 80), (10, 255, 255))  # hue wraps round


def camera_marker(
    source: int | str, *, plane: Array, low: Sequence[int] = RED[0], high: Sequence[int] = RED[1]
) -> Callable[[], Array]:
    """A function that finds a coloured marker in the next picture of a camera.

    Args:
        source: number of the camera, or the name of a film or of a sequence of pictures ("frame_%03d.png").
        plane: homography from pixels to metres on the plane of the robot (3, 3), see `plane_from_code`.
        low, high: bounds of the marker's colour (hue 0-179, saturation, value); red by default.
    """
    cv2 = _opencv()
    H = _homography(plane)
    camera = cv2.VideoCapture(source)

    def look() -> Array:
        good, picture = camera.read()
        if not good:
            raise ArgumentError("source", f"camera {source!r} gives no picture", "the number of a camera, or a film")
        return marker_position(picture, H, low, high)

    return look


def marker_position(picture: Array, plane: Array, low: Sequence[int] = RED[0], high: Sequence[int] = RED[1]) -> Array:
    """Centre of the largest patch of a colour in a picture, mapped to the plane z = 0 [m] (3,).

    Args:
        picture: of a camera, BGR (h, w, 3).
        plane: homography from pixels to metres (3, 3).
        low, high: hue, saturation and value between which the colour lies; a hue in `low` above that in `high` means
            the range that wraps round, as red does.
    """
    cv2 = _opencv()
    H = _homography(plane)
    colours = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_BGR2HSV)
    first, last = np.array(low), np.array(high)
    if first[0] <= last[0]:
        mask = cv2.inRange(colours, first, last)
    else:
        mask = cv2.inRange(colours, first, np.array([179, *last[1:]]))
        mask |= cv2.inRange(colours, np.array([0, *first[1:]]), last)
    count, _, stats, centres = cv2.connectedComponentsWithStats(mask)
    if count < 2 or stats[1:, cv2.CC_STAT_AREA].max() < 4:
        raise ArgumentError("picture", "the marker is not in it", "a visible marker; check its colour bounds")
    u, v = centres[1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))]
    x = H @ np.array([u, v, 1.0])
    return np.array([x[0] / x[2], x[1] / x[2], 0.0])


def plane_from_points(pixels: Array, metres: Array) -> Array:
    """The homography (3, 3) that takes `pixels` (n, 2) to `metres` on the plane [m] (n, 2); n >= 4, not on a line."""
    cv2 = _opencv()
    a, b = np.asarray(pixels, float), np.asarray(metres, float)
    if a.shape != b.shape or a.ndim != 2 or a.shape[1] != 2 or len(a) < 4:
        raise ArgumentError("pixels", f"shapes {a.shape} and {b.shape}", "two lists of four or more points (n, 2)")
    H, _ = cv2.findHomography(a, b)
    if H is None or not np.isfinite(H).all():
        raise ArgumentError("pixels", "they lie on a line", "points that span the plane")
    return H


def plane_from_code(picture: Array, side: float, *, corner: Sequence[float] = (0.0, 0.0)) -> Array:
    """The homography from pixels to metres, from a QR code on the plane.

    Args:
        picture: of a camera, BGR (h, w, 3) or grey (h, w).
        side: of the code [m].
        corner: where its first corner lies [m]; the code's upper edge runs along +x, its left edge along +y.
    """
    cv2 = _opencv()
    found, corners = cv2.QRCodeDetector().detect(np.ascontiguousarray(picture))
    if not found:
        raise ArgumentError("picture", "there is no QR code in it", "the whole code, sharp and well lit")
    square = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]) * side + np.asarray(corner, float)
    return plane_from_points(np.asarray(corners, float).reshape(4, 2), square)


def _homography(plane: Array) -> Array:
    H = np.asarray(plane, float)
    if H.shape != (3, 3) or not np.isfinite(H).all():
        raise ArgumentError("plane", f"shape {H.shape} or not finite", "a homography (3, 3)")
    return H


def _opencv() -> Any:
    try:
        import cv2
    except ImportError:
        raise MissingExtraError("opencv-python-headless", "vision") from None
    return cv2
