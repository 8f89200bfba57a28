"""Draws pictures of a scene into a viser server: body, cables, chambers, fixations, points, contacts.

The page parses a coloured mesh asynchronously and shows nothing meanwhile. So the body has two slots:
the new picture goes into the hidden one, and the old one is hidden a moment later. Nothing flickers.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pliant.viewer import colours
from pliant.viewer.glb import mesh_to_glb
from pliant.viewer.scene import PLAIN_FIELD, Picture, Scene

Array = np.ndarray
FIELD_OF_VIEW = float(np.radians(40.0))  # of the camera, vertical [rad]
SWAP_DELAY = 0.04  # [s] two to three frames of the page: time to parse the new mesh


class Stage:
    """The drawn side of the page.

    Args:
        server: a `viser.ViserServer`.
        scene: what to draw.
    """

    def __init__(self, server: Any, scene: Scene) -> None:
        self.server, self.scene = server, scene
        self.opacity = 1.0
        self.show_points = True
        self._slots: list[Any] = [None, None]
        self._front = 0
        self._nodes: dict[str, Any] = {}
        self._span = (0.0, 0.0)
        self._set_up()

    @property
    def span(self) -> tuple[float, float]:
        """Range of the colour map of the last picture, in its unit."""
        return self._span

    def _set_up(self) -> None:
        api, scene = self.server.scene, self.scene
        size, floor = scene.size, float(scene.surface.vertices(scene.rest)[:, 2].min())
        api.set_up_direction("+z")
        # An environment map would cost software renderers many seconds; a sky light looks as good here.
        api.configure_environment_map(None)
        api.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(200, 205, 215), intensity=2.3
        )
        self.cast_shadows(False)
        cell = 10.0 ** np.floor(np.log10(size / 4))
        api.add_grid(
            "/ground",
            width=4 * size,
            height=4 * size,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(222, 225, 230),
            section_color=(198, 203, 212),
            fade_distance=8 * size,
            shadow_opacity=0.16,
            position=(float(scene.centre[0]), float(scene.centre[1]), floor - 2e-3 * size),
        )
        if len(scene.fixations):
            api.add_point_cloud(
                "/fixations",
                scene.fixations.astype(np.float32),
                colours.to_bytes(colours.FIXATION),
                point_size=0.009 * size,
                point_shape="circle",
                precision="float32",
            )
        camera = self.server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.near, camera.far = size / 200, size * 100
        camera.position, camera.look_at = first_view(scene)

    def cast_shadows(self, on: bool) -> None:
        """Shadows or none; they take two thirds of the time of a picture where the browser draws in software."""
        self.server.scene.configure_default_lights(cast_shadow=on)

    def draw(self, picture: Picture, *, span: tuple[float, float] | None = None) -> None:
        """Show a picture; `span` fixes the range of the colours. Takes a few frames (see the module)."""
        self._span = low, high = self.scene.span(picture) if span is None else span
        if picture.field == PLAIN_FIELD:
            colour = np.tile(np.array(colours.PLAIN), (len(picture.vertices), 1))
        else:
            colour = colours.map_colours(picture.values, low, high)
        data = mesh_to_glb(picture.vertices, picture.triangles, colour, opacity=self.opacity)
        back = 1 - self._front
        with self.server.atomic():
            self._draw_body(back, data)
            self._draw_cables(picture)
            self._draw_chambers(picture)
            self._draw_points(picture)
            self._draw_contacts(picture)
        self.server.flush()
        time.sleep(SWAP_DELAY)
        if self._slots[self._front] is not None:
            self._slots[self._front].visible = False
        self.server.flush()
        self._front = back

    def _draw_body(self, slot: int, data: bytes) -> None:
        handle = self._slots[slot]
        if handle is None:
            self._slots[slot] = self.server.scene.add_glb(f"/body/{slot}", data, receive_shadow=True)
        else:
            handle.glb_data = data
            handle.visible = True

    def _draw_cables(self, picture: Picture) -> None:
        segments, colour = [], []
        for name, path in picture.cables.items():
            segments.append(np.stack([path[:-1], path[1:]], axis=1))
            shade = colours.to_bytes(colours.SLACK if name in picture.slack else colours.CABLE)
            colour.append(np.tile(np.array(shade, np.uint8), (len(path) - 1, 2, 1)))
        if not segments:
            return
        points, shades = np.concatenate(segments).astype(np.float32), np.concatenate(colour)
        node = self._nodes.get("cables")
        if node is None:
            self._nodes["cables"] = self.server.scene.add_line_segments(
                "/cables", points, shades, thickness=0.006 * self.scene.size
            )
        else:
            node.points, node.colors = points, shades

    def _draw_chambers(self, picture: Picture) -> None:
        for name, (vertices, triangles) in picture.chambers.items():
            key = f"chamber {name}"
            node = self._nodes.get(key)
            if node is None:
                self._nodes[key] = self.server.scene.add_mesh_simple(
                    f"/chambers/{name}",
                    vertices.astype(np.float32),
                    triangles.astype(np.uint32),
                    color=colours.to_bytes(colours.CHAMBER),
                    opacity=0.55,
                    side="double",
                    cast_shadow=False,
                )
            else:
                node.vertices = vertices.astype(np.float32)

    def _draw_points(self, picture: Picture) -> None:
        for name, position in picture.points.items():
            ball: Any = self._nodes.get(f"point {name}")
            label: Any = self._nodes.get(f"label {name}")
            if ball is None:
                ball = self.server.scene.add_icosphere(
                    f"/points/{name}",
                    radius=0.008 * self.scene.size,
                    color=colours.to_bytes(colours.POINT),
                    cast_shadow=False,
                )
                label = self.server.scene.add_label(f"/labels/{name}", name, anchor="bottom-left")
                self._nodes[f"point {name}"], self._nodes[f"label {name}"] = ball, label
            ball.position = label.position = position
            ball.visible = label.visible = self.show_points

    def _draw_contacts(self, picture: Picture) -> None:
        size = np.linalg.norm(picture.contact_forces, axis=1) if len(picture.contact_forces) else np.zeros(0)
        pushing = size > 1e-12
        node = self._nodes.get("contacts")
        if not pushing.any():
            if node is not None:
                node.visible = False
            return
        arrows = contact_segments(picture, self.scene.size).astype(np.float32)
        if node is not None and len(node.points) != len(arrows):
            node.remove()  # the page sizes the batch of arrows once
            node = None
        if node is None:
            s = self.scene.size
            self._nodes["contacts"] = self.server.scene.add_arrows(
                "/contacts",
                arrows,
                colours.to_bytes(colours.CONTACT),
                shaft_radius=0.003 * s,
                head_radius=0.008 * s,
                head_length=0.02 * s,
            )
        else:
            node.points, node.visible = arrows, True


def first_view(scene: Scene) -> tuple[Array, Array]:
    """Where the camera begins and what it looks at [m] (3,): a little right of the robot, for the panel is there."""
    away = np.array([1.1, -1.5, 0.8])
    right = np.cross([0.0, 0.0, 1.0], away)
    aside = 0.14 * scene.size * right / np.linalg.norm(right)
    return scene.centre + scene.size * away + aside, scene.centre + aside


def contact_segments(picture: Picture, size: float) -> Array:
    """Arrows (c, 2, 3) [m] that end at the contact points, the largest force a fifth of the robot long."""
    force = picture.contact_forces
    strength = np.linalg.norm(force, axis=1)
    keep = strength > 1e-12
    points, force = picture.contact_points[keep], force[keep]
    if not len(points):
        return np.zeros((0, 2, 3))
    return np.stack([points - force * (0.2 * size / strength.max()), points], axis=1)
