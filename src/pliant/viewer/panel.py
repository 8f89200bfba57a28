"""The controls of the page: sliders, targets, obstacles, toggles, readings."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.models.contract import Model
from pliant.viewer import colours
from pliant.viewer.readings import colour_bar_html, dial, hint_html, note_html
from pliant.viewer.scene import PLAIN_FIELD, PLANE_REACH, Picture, has_surface, obstacle_surface

if TYPE_CHECKING:
    from pliant.viewer.browser import ViewerServer

Array = np.ndarray
SEE_THROUGH = 0.35
GIZMO = 0.16  # size of a gizmo, relative to the robot
BUSY = "<!-- busy -->"  # ends the note that work is under way
GOODBYE = 0.1  # [s] for the last words to arrive


class Panel:
    """Controls of a viewer; they tell the viewer what is wanted and show what it found."""

    def __init__(self, viewer: ViewerServer, *, targets: Sequence[Any] | None) -> None:
        self.viewer, self._server = viewer, viewer.server
        gui: Any = viewer.server.gui
        robot, scene = viewer.robot, viewer.scene
        gui.configure_theme(
            show_logo=False, show_share_button=False, control_width="medium", brand_color=(46, 96, 156)
        )
        gui.set_panel_label(robot.name)
        self._dials = [dial(a, scene.size, value=float(v)) for a, v in zip(robot.actuators, viewer.state.u)]
        with gui.add_folder("Actuators"):
            self._sliders = [
                gui.add_slider(
                    d.label,
                    d.low,
                    d.high,
                    d.step,
                    float(np.clip(v * d.factor, d.low, d.high)),
                    hint=None if d.stated else "the actuator states no limits; this range is a guess",
                )
                for d, v in zip(self._dials, viewer.state.u)
            ]
            self._reset = gui.add_button("Reset")
        self._targets = self._choose_targets(targets)
        self._gizmos: list[Any] = []
        self._contact: Any = None
        self._limits: Any = None
        movable = [o for o in viewer.obstacles if has_surface(o) and hasattr(o, "moved")]
        if self._targets or viewer.obstacles:
            with gui.add_folder("Scene"):
                gui.add_html(hint_html(targets=bool(self._targets), obstacles=bool(movable)))
                if viewer.obstacles:
                    self._contact = gui.add_checkbox("contact", True)
                    self._contact.on_update(lambda e: viewer.request_again())
                if self._targets:
                    self._show_targets = gui.add_checkbox("targets to drag", True)
                    self._show_targets.on_update(lambda e: self._show_gizmos())
                    self._limits = gui.add_checkbox("limits", True)
                    self._limits.on_update(lambda e: viewer.request_again())
                    farther = gui.add_button("Search farther", hint="reach for the targets from other poses, too")
                    farther.on_click(lambda e: viewer.request_inverse(search="multistart"))
        with gui.add_folder("Readings"):
            self._readings = gui.add_html("")
        with gui.add_folder("View"):
            self._field = gui.add_dropdown("colour", scene.fields, initial_value="displacement")
            self._bar = gui.add_html("")
            self._see_through = gui.add_checkbox("see through", False)
            self._points = gui.add_checkbox("named points", True)
            shadows = gui.add_checkbox("shadows", False, hint="slow where the browser draws without a graphics card")
            shadows.on_update(lambda e: viewer.cast_shadows(bool(shadows.value)))
        self._add_targets()
        self._obstacle_centres: dict[int, Array] = {}
        for i, obstacle in enumerate(viewer.obstacles):
            if has_surface(obstacle):
                self._add_obstacle(i, obstacle)
        for slider in self._sliders:
            slider.on_update(self._slider_moved)
        self._reset.on_click(lambda e: viewer.request_reset())
        for control in (self._field, self._see_through, self._points):
            control.on_update(lambda e: viewer.redraw())

    # ---- what the viewer reads and sets ---------------------------------------------------------
    @property
    def command(self) -> Array:
        """Commands on the sliders [SI] (nu,)."""
        return np.array([s.value / d.factor for s, d in zip(self._sliders, self._dials)], float)

    @command.setter
    def command(self, u: Array) -> None:
        for slider, d, value in zip(self._sliders, self._dials, u):
            reading = float(value) * d.factor
            if reading > slider.max:
                slider.max = reading
            if reading < slider.min:
                slider.min = reading
            slider.value = reading

    @property
    def field(self) -> str:
        """Field by which the body is coloured."""
        return str(self._field.value)

    @field.setter
    def field(self, name: str) -> None:
        self._field.value = name

    @property
    def opacity(self) -> float:
        """Opacity of the body."""
        return SEE_THROUGH if self._see_through.value else 1.0

    @property
    def points_on(self) -> bool:
        """Whether named points are shown."""
        return bool(self._points.value)

    @property
    def contact_on(self) -> bool:
        """Whether obstacles are taken into account."""
        return self._contact is None or bool(self._contact.value)

    @property
    def limits_on(self) -> bool:
        """Whether the inverse respects limits."""
        return self._limits is None or bool(self._limits.value)

    @property
    def readings(self) -> str:
        """The readings as HTML."""
        return str(self._readings.content)

    @readings.setter
    def readings(self, html: str) -> None:
        self._readings.content = html

    def show_busy(self, words: str) -> None:
        """Say above the readings that work is under way; the next readings, or `show_idle`, take it away."""
        self._readings.content = f"{note_html(words)}{BUSY}{self.readings.split(BUSY)[-1]}"

    def show_idle(self) -> None:
        """Take away what `show_busy` said."""
        if BUSY in self.readings:
            self.readings = self.readings.split(BUSY)[-1]

    def say_goodbye(self) -> None:
        """Tell open pages that nobody listens any more."""
        if self._server.get_clients():
            words = "The viewer has ended. Start it again and this page goes on."
            self.readings = note_html(words) + self.readings.split(BUSY)[-1]
            self._server.gui.set_panel_label(f"{self.viewer.robot.name} (ended)")
            self._server.flush()
            time.sleep(GOODBYE)

    def colour_bar(self, picture: Picture, span: tuple[float, float]) -> None:
        """Show the range of the colours."""
        if picture.field == PLAIN_FIELD:
            self._bar.content = ""
        else:
            self._bar.content = colour_bar_html(picture.field, picture.unit, *span)

    # ---- targets ----------------------------------------------------------------------------
    def _choose_targets(self, targets: Sequence[Any] | None) -> list[Any]:
        names = [p.name for p in getattr(self.viewer.robot, "points", ())]
        if targets is None:
            if not names or not self.viewer.model.nu:
                return []
            return ["tip" if "tip" in names else names[-1]]
        for target in targets:
            if isinstance(target, str):
                self.viewer.robot.point(target)
        return list(targets)

    def _add_targets(self) -> None:
        viewer = self.viewer
        for i, target in enumerate(self._targets):
            place = target_position(viewer.model, viewer.state, target)
            if place is None:
                self._gizmos.append(None)
                continue
            gizmo = self._server.scene.add_transform_controls(
                f"/targets/{i}",
                scale=GIZMO * viewer.scene.size,
                disable_rotations=not hasattr(target, "rotation"),
                depth_test=False,
                position=place,
                wxyz=getattr(target, "rotation", (1.0, 0.0, 0.0, 0.0)),
            )
            self._server.scene.add_icosphere(
                f"/targets/{i}/ball",
                radius=0.014 * viewer.scene.size,
                color=colours.to_bytes(colours.TARGET),
                cast_shadow=False,
            )
            gizmo.on_update(self._target_moved)
            self._gizmos.append(gizmo)

    def follow(self, points: Mapping[str, Array]) -> None:
        """Bring the targets that were given as names back to their points."""
        for target, gizmo in zip(self._targets, self._gizmos):
            if isinstance(target, str) and gizmo is not None and target in points:
                gizmo.position = points[target]

    def _show_gizmos(self) -> None:
        for gizmo in filter(None, self._gizmos):
            gizmo.visible = bool(self._show_targets.value)

    def _target_moved(self, event: Any) -> None:
        if event.phase != "start":
            self.viewer.request_inverse(final=event.phase == "end")

    def aimed_targets(self) -> list[Any]:
        """The targets at the places to which they were dragged."""
        return [t if g is None else aim(t, g.position, g.wxyz) for t, g in zip(self._targets, self._gizmos)]

    # ---- obstacles ------------------------------------------------------------------------------
    def _add_obstacle(self, index: int, obstacle: Any) -> None:
        scene = self.viewer.scene
        vertices, triangles = obstacle_surface(obstacle, near=scene.centre, reach=PLANE_REACH * scene.size)
        centre = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
        self._obstacle_centres[index] = centre
        movable = hasattr(obstacle, "moved")
        root = f"/obstacles/{index}"
        stage = self._server.scene
        if movable:
            gizmo = stage.add_transform_controls(
                root,
                scale=GIZMO * scene.size,
                disable_rotations=True,
                depth_test=False,
                opacity=0.6,
                position=centre,
            )
            gizmo.on_update(lambda event: self._obstacle_moved(index, event))
        else:
            stage.add_frame(root, show_axes=False, position=centre)
        stage.add_mesh_simple(
            f"{root}/mesh",
            (vertices - centre).astype(np.float32),
            triangles.astype(np.uint32),
            color=colours.to_bytes(colours.OBSTACLE),
            opacity=0.75,
            side="double",
            flat_shading=False,
        )

    def _obstacle_moved(self, index: int, event: Any) -> None:
        if event.phase == "start":
            return
        position = np.asarray(event.target.position, float)
        step = position - self._obstacle_centres[index]
        final = event.phase == "end"
        if not (final or step.any()):
            return
        self._obstacle_centres[index] = position
        self.viewer.move_obstacle(index, step, final=final)

    def _slider_moved(self, event: Any) -> None:
        if event.client_id is not None:  # not when the viewer itself moved it
            self.viewer.request_solve()


def target_position(model: Model, state: Any, target: Any) -> Array | None:
    """Where the gizmo of a target starts: at the target, or at the named point; None if it has no place."""
    if isinstance(target, str):
        return np.asarray(model.locate(state.q, target).position, float).reshape(3)
    value = getattr(target, "position", None)
    return np.asarray(value, float) if value is not None and np.shape(value) == (3,) else None


def aim(target: Any, position: Any, rotation: Any) -> Any:
    """The target at another place (and, for frames, wxyz orientation); a name becomes a point target."""
    where = tuple(float(v) for v in position)
    if isinstance(target, str):
        from pliant.inverse.targets import PointTarget

        return PointTarget(target, where)  # type: ignore[arg-type]
    if hasattr(target, "rotation"):
        return dataclasses.replace(target, position=where, rotation=tuple(float(v) for v in rotation))
    return dataclasses.replace(target, position=where)
