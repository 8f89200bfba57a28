"""`snapshot`: a PNG picture of a state, without a screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.archive import replacing
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.state import State
from pliant.viewer import colours, glyphs
from pliant.viewer.camera import Camera, View
from pliant.viewer.readings import number
from pliant.viewer.render import Layer, finish, render
from pliant.viewer.scene import PLAIN_FIELD, Picture, Scene
from pliant.viewer.stage import contact_segments
from pliant.viewer.surface import split_creases, tube

Array = np.ndarray
HIDDEN = 0.28  # how strongly cables inside the body shine through it
SOLID, SHEET = 0.6, 0.3  # opacity of obstacles, and of planes
MARK = 0.0075  # radius of a mark, relative to the robot
INK = (60, 66, 78)


def snapshot(
    model: Model,
    state: State | None,
    path: str | Path,
    *,
    obstacles: tuple[Any, ...] | list[Any] = (),
    marks: Any = (),
    camera: Camera | tuple[float, float] | None = None,
    size: tuple[int, int] = (960, 720),
    field: str = "displacement",
    span: tuple[float, float] | None = None,
    opacity: float = 1.0,
    colour_bar: bool = True,
    ground: bool = True,
    title: str | None = None,
    supersample: int = 2,
) -> Path:
    """Write a picture of a model in a state to a PNG file.

    Args:
        model: any model of the contract.
        state: the state; None for the rest shape.
        path: file to write, which ends in .png; its folder is made.
        obstacles: obstacles to draw.
        marks: places to mark with red balls [m] (n, 3): targets, a path, what was measured.
        camera: a `Camera`, or (azimuth, elevation) [degrees]; fits the robot by default.
        size: width and height [pixels].
        field: "displacement", "strain", "stress" or "none".
        span: range of the colours in the field's unit for reading (mm, %, kPa); by default that of the state.
        opacity: of the body; below 1 cables and chambers are seen inside.
        colour_bar: draw the bar that says what the colours mean.
        ground: draw the ground with its shadow.
        title: line of text at the top.
        supersample: pixels per pixel and direction, for smooth edges.

    Returns:
        The path of the file.
    """
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise ArgumentError("path", f"{str(path)!r}", "a file name that ends in .png")
    image = snapshot_image(
        model,
        state,
        obstacles=obstacles,
        marks=marks,
        camera=camera,
        size=size,
        field=field,
        span=span,
        opacity=opacity,
        colour_bar=colour_bar,
        ground=ground,
        title=title,
        supersample=supersample,
    )
    from PIL import Image

    with replacing(path) as temporary:
        Image.fromarray(image).save(temporary, format="PNG", optimize=True)
    return path


def snapshot_image(
    model: Model,
    state: State | None,
    *,
    obstacles: tuple[Any, ...] | list[Any] = (),
    marks: Any = (),
    camera: Camera | tuple[float, float] | None = None,
    size: tuple[int, int] = (960, 720),
    field: str = "displacement",
    span: tuple[float, float] | None = None,
    opacity: float = 1.0,
    colour_bar: bool = True,
    ground: bool = True,
    title: str | None = None,
    supersample: int = 2,
) -> Array:
    """The picture of `snapshot` as an array (height, width, 3) of bytes; arguments as in `snapshot`."""
    width, height, factor = _check(size, supersample, opacity)
    scene = Scene(model, obstacles=obstacles)
    if state is None:
        zero = np.zeros(model.nu)
        state = State(q=np.asarray(model.rest), v=np.zeros(model.nv), u=zero, effort=zero, displacement=zero)
    picture = scene.picture(state, field=field)
    if not np.isfinite(picture.vertices).all():
        raise ArgumentError("state", "its shape is not finite", "a state of a solve that succeeded")
    low, high = scene.span(picture) if span is None else span
    places = _places(marks)
    red = Layer(*glyphs.balls(places, MARK * scene.size), colours.TARGET, shadow=False)
    layers = [red, *picture_layers(picture, scene.size, low=low, high=high, opacity=opacity)]
    aim = camera if isinstance(camera, Camera) else Camera(*camera) if camera is not None else Camera()
    seen = np.concatenate([picture.vertices, *picture.cables.values(), places])
    view = View.fit(aim, seen, width * factor, height * factor, margin=1.2)
    floor = float(min(scene.surface.vertices(scene.rest)[:, 2].min(), picture.vertices[:, 2].min()))
    cell = 10.0 ** np.floor(np.log10(scene.size / 4))
    below = floor - 0.02 * scene.size if ground else None
    pixels = finish(render(layers, view, ground=below, cell=cell), factor)
    return _annotate(pixels, picture, (low, high), colour_bar=colour_bar, title=title)


def picture_layers(picture: Picture, size: float, *, low: float, high: float, opacity: float) -> list[Layer]:
    """Layers of a picture, see-through ones last."""
    values = None if picture.field == PLAIN_FIELD else colours.normalised(picture.values, low, high)
    body = Layer(picture.vertices, picture.triangles, colours.PLAIN, values, opacity)
    layers = [body] if opacity >= 1.0 else []
    radius = 0.0045 * size
    cables = []
    for name, path in picture.cables.items():
        shade = colours.SLACK if name in picture.slack else colours.CABLE
        cables.append((tube(path, np.full(len(path), radius), sides=10), shade))
    layers += [Layer(v, t, shade) for (v, t), shade in cables]
    if len(picture.fixations):
        layers.append(Layer(*glyphs.balls(picture.fixations, 0.0045 * size), colours.FIXATION, shadow=False))
    if picture.points:
        layers.append(
            Layer(*glyphs.balls(np.array(list(picture.points.values())), 0.009 * size), colours.POINT)
        )
    if len(picture.contact_points):
        segments = contact_segments(picture, size)
        layers.append(Layer(*glyphs.arrows(segments, 0.004 * size), colours.CONTACT, shadow=False))
    if opacity < 1.0:
        layers += [Layer(v, t, colours.CHAMBER, shadow=False) for v, t in picture.chambers.values()]
    for vertices, triangles in picture.obstacles:
        source, faces = split_creases(vertices, triangles)
        sheet = len(triangles) < 4  # a plane may stand between camera and robot
        layers.append(Layer(vertices[source], faces, colours.OBSTACLE, opacity=SHEET if sheet else SOLID))
    if opacity < 1.0:
        layers.append(body)
    else:
        layers += [Layer(v, t, shade, opacity=HIDDEN, through=True, shadow=False) for (v, t), shade in cables]
    return layers


def _annotate(
    pixels: Array, picture: Picture, span: tuple[float, float], *, colour_bar: bool, title: str | None
) -> Array:
    bar = colour_bar and picture.field != PLAIN_FIELD
    if not bar and not title:
        return pixels
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(pixels)
    draw = ImageDraw.Draw(image)
    height, width = pixels.shape[:2]
    small = ImageFont.load_default(size=max(11, height // 46))
    if title:
        draw.text(
            (0.03 * width, 0.03 * height),
            title,
            fill=INK,
            font=ImageFont.load_default(size=max(13, height // 32)),
        )
    if bar:
        length, thick = int(0.26 * width), max(8, height // 60)
        x, y = int(0.97 * width) - length, int(0.925 * height)
        table = np.rint(colours.colour_table(length) * 255).astype(np.uint8)
        image.paste(Image.fromarray(np.repeat(table[None], thick, axis=0)), (x, y))
        label = f"{picture.field} [{picture.unit}]" if picture.unit else picture.field
        below = y + thick + 4
        draw.text((x, below), number(span[0]), fill=INK, font=small)
        draw.text((x + length / 2, below), label, fill=INK, font=small, anchor="ma")
        draw.text((x + length, below), number(span[1]), fill=INK, font=small, anchor="ra")
    return np.asarray(image)


def _places(marks: Any) -> Array:
    """Places to mark [m] (n, 3)."""
    places = np.asarray(marks, float)
    if not places.size:
        return np.zeros((0, 3))
    if places.shape[-1:] != (3,) or places.ndim > 2 or not np.isfinite(places).all():
        raise ArgumentError("marks", f"an array of shape {places.shape}", "finite positions (n, 3)")
    return places.reshape(-1, 3)


def _check(size: tuple[int, int], supersample: int, opacity: float) -> tuple[int, int, int]:
    try:
        width, height = (int(v) for v in size)
    except (TypeError, ValueError):
        raise ArgumentError("size", f"{size!r}", "(width, height) in pixels") from None
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise ArgumentError("size", f"{width} x {height}", "16 to 8192 pixels each")
    if not 1 <= int(supersample) <= 8:
        raise ArgumentError("supersample", f"{supersample}", "1 to 8")
    if not 0.0 <= opacity <= 1.0:
        raise ArgumentError("opacity", f"{opacity}", "0 to 1")
    return width, height, int(supersample)
