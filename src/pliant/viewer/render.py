"""Pictures without a screen or a graphics card: layers of triangles, light, soft shadows, a ground grid.

A picture is made at a multiple of its size and averaged down, which smooths all edges. Solid things share
one depth buffer; see-through layers are blended over it, farthest first as they are given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant._kernels.raster import fill_triangles, shade_ground, shade_surface
from pliant.viewer.camera import View
from pliant.viewer.colours import Colour, colour_table, to_linear
from pliant.viewer.surface import vertex_normals

Array = np.ndarray
BACKDROP: tuple[Colour, Colour] = ((0.985, 0.988, 0.993), (0.915, 0.928, 0.945))
GROUND: Colour = (0.955, 0.960, 0.968)
GRID: Colour = (0.845, 0.862, 0.885)
# Direction to the lamp in the camera's axes (right, up, towards the viewer): from upper left, in front.
LAMP = np.array([-0.45, 0.80, 0.55])
SHADOW_MAP = 1024
SOFTNESS = 7.0  # [texels of the shadow map]


@dataclass(frozen=True, eq=False)
class Layer:
    """Triangles of one material.

    Attributes:
        vertices: positions [m] (n, 3).
        triangles: indices (k, 3).
        colour: sRGB colour, used if there are no values.
        values: position in the colour map in [0, 1] per vertex (n,), or None.
        opacity: 1 for solid.
        through: for see-through layers, also show what solid things hide.
        shadow: whether it casts a shadow.
    """

    vertices: Array
    triangles: Array
    colour: Colour = (0.7, 0.7, 0.7)
    values: Array | None = None
    opacity: float = 1.0
    through: bool = False
    shadow: bool = True


@dataclass(frozen=True, eq=False)
class _Buffers:
    depth: Array
    normal: Array
    value: Array
    material: Array


def render(layers: list[Layer], view: View, *, ground: float | None = None, cell: float = 0.01) -> Array:
    """A picture (h, w, 3) of layers in linear light; see `finish`.

    Args:
        layers: what to draw; see-through ones from far to near.
        view: the camera; its size is that of the returned picture.
        ground: height of the ground [m]; None for no ground.
        cell: size of the ground's grid cells [m].
    """
    layers = [layer for layer in layers if len(layer.triangles)]
    lamp = (np.array([LAMP[0], LAMP[1], -LAMP[2]]) / np.linalg.norm(LAMP)) @ view.axes
    lamp[2] = max(lamp[2], 0.35)  # the lamp stays above the ground
    lamp /= np.linalg.norm(lamp)
    shadow = _Shadow([layer for layer in layers if layer.shadow], lamp)
    colour = _backdrop(view)
    solid = [layer for layer in layers if layer.opacity >= 1.0]
    buffers = _rasterise(solid, view)
    if ground is not None:
        _draw_ground(colour, view, buffers, ground, cell, shadow, layers)
    everywhere = np.full_like(buffers.depth, np.inf)
    _shade(colour, solid, buffers, everywhere, view, lamp, shadow)
    for layer in layers:
        if layer.opacity < 1.0:
            nearer = everywhere if layer.through else buffers.depth
            _shade(colour, [layer], _rasterise([layer], view), nearer, view, lamp, shadow)
    return colour


def finish(image: Array, factor: int) -> Array:
    """sRGB bytes of a linear picture, averaged over blocks of factor x factor pixels."""
    h, w = image.shape[0] // factor, image.shape[1] // factor
    mean = image[: h * factor, : w * factor].reshape(h, factor, w, factor, 3).mean(axis=(1, 3))
    return np.rint(np.clip(_to_srgb(mean), 0.0, 1.0) * 255).astype(np.uint8)


def _rasterise(layers: list[Layer], view: View) -> _Buffers:
    shape = (view.height, view.width)
    buffers = _Buffers(
        depth=np.full(shape, np.inf, np.float32),
        normal=np.zeros((*shape, 3), np.float32),
        value=np.zeros(shape, np.float32),
        material=np.full(shape, -1, np.int16),
    )
    for number, layer in enumerate(layers):
        screen, depth = view.project(layer.vertices)
        values = np.zeros(len(depth)) if layer.values is None else np.asarray(layer.values, float)
        fill_triangles(
            screen,
            depth,
            1.0 / np.where(depth > 0, depth, 1.0),
            vertex_normals(layer.vertices, layer.triangles),
            values,
            layer.triangles,
            np.full(len(layer.triangles), number, np.int16),
            buffers.depth,
            buffers.normal,
            buffers.value,
            buffers.material,
        )
    return buffers


def _shade(
    colour: Array,
    layers: list[Layer],
    buffers: _Buffers,
    nearer: Array,
    view: View,
    lamp: Array,
    shadow: _Shadow,
) -> None:
    if not layers:
        return
    shade_surface(
        colour,
        buffers.depth,
        buffers.normal,
        buffers.value,
        buffers.material,
        nearer,
        to_linear(np.array([layer.colour for layer in layers])),
        to_linear(colour_table()),
        np.array([layer.values is not None for layer in layers]),
        layers[0].opacity,
        view.eye,
        view.axes,
        view.focal,
        lamp,
        shadow.axes,
        shadow.origin,
        shadow.scale,
        shadow.map,
        shadow.bias,
        SOFTNESS,
    )


def _backdrop(view: View) -> Array:
    at = np.linspace(0.0, 1.0, view.height, dtype=np.float32)[:, None, None]
    top, bottom = (to_linear(np.array(c)).astype(np.float32) for c in BACKDROP)
    return np.broadcast_to(top * (1 - at) + bottom * at, (view.height, view.width, 3)).copy()


def _draw_ground(
    colour: Array,
    view: View,
    solid: _Buffers,
    height: float,
    cell: float,
    shadow: _Shadow,
    layers: list[Layer],
) -> None:
    everything = np.concatenate([layer.vertices for layer in layers if layer.shadow] or [np.zeros((1, 3))])
    middle = (everything.min(axis=0) + everything.max(axis=0))[:2] / 2
    reach = max(2.6 * float(np.abs(everything[:, :2] - middle).max()), 8 * cell)
    tints = to_linear(np.array([GROUND, GRID]))
    lamp = (shadow.axes, shadow.origin, shadow.scale, shadow.map, SOFTNESS)
    shade_ground(
        colour, solid.material, view.eye, view.axes, view.focal, height, middle, reach, cell, tints, *lamp
    )


class _Shadow:
    """A depth map of what the lamp sees; empty if nothing casts a shadow."""

    def __init__(self, layers: list[Layer], lamp: Array) -> None:
        self.map = np.zeros((0, 0), np.float32)
        self.bias, self.scale = 0.0, 1.0
        self.origin, self.axes = np.zeros(3), np.eye(3)
        if not layers:
            return
        side = np.cross(lamp, [0.0, 0.0, 1.0])
        side = side / np.linalg.norm(side) if np.linalg.norm(side) > 1e-6 else np.array([1.0, 0.0, 0.0])
        self.axes = np.stack([side, np.cross(lamp, side), -lamp])
        local = np.concatenate([layer.vertices for layer in layers]) @ self.axes.T
        low, high = local.min(axis=0), local.max(axis=0)
        extent = float(max((high - low)[:2].max(), 1e-9)) * 1.1
        self.origin = np.array([*((low + high)[:2] / 2 - extent / 2), low[2] - 0.1 * extent])
        self.scale = SHADOW_MAP / extent
        self.bias = 0.006 * extent
        size = (SHADOW_MAP, SHADOW_MAP)
        self.map = np.full(size, np.inf, np.float32)
        spare = np.zeros((*size, 3), np.float32), np.zeros(size, np.float32), np.zeros(size, np.int16)
        for layer in layers:
            place = layer.vertices @ self.axes.T - self.origin
            flat = np.zeros(len(place))
            kind = np.zeros(len(layer.triangles), np.int16)
            normals = np.zeros((len(place), 3))
            pixels, depth = place[:, :2] * self.scale, np.ascontiguousarray(place[:, 2])
            fill_triangles(pixels, depth, flat + 1, normals, flat, layer.triangles, kind, self.map, *spare)


def _to_srgb(linear: Array) -> Array:
    c = np.maximum(linear, 0.0)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * np.power(c, 1 / 2.4) - 0.055)
