"""`export_html`: a state or a trajectory as one file that any browser shows, without network or server."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pliant.archive import replacing
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.state import State
from pliant.viewer import colours
from pliant.viewer.camera import Camera, View
from pliant.viewer.readings import actuator_rows, facts, number
from pliant.viewer.replay import frame_times
from pliant.viewer.scene import FIELD_UNITS, PLAIN_FIELD, Picture, Scene, states_of
from pliant.viewer.stage import contact_segments

Array = np.ndarray


def export_html(
    model: Model,
    state_or_trajectory: Any,
    path: str | Path,
    *,
    obstacles: Sequence[Any] = (),
    fields: Sequence[str] = ("displacement",),
    camera: Camera | None = None,
    title: str | None = None,
    max_frames: int = 400,
) -> Path:
    """Write a self-contained HTML replay: orbit, zoom and pan; play, pause and scrub; readings per state.

    Positions are stored with 16 bits over the box that holds the whole motion (a hundred-thousandth of it).

    Args:
        model: any model of the contract.
        state_or_trajectory: a state, a trajectory or a sequence of states.
        path: file to write; its folder is made.
        obstacles: obstacles to draw.
        fields: fields to colour by; the first is shown first.
        camera: where to look from at first.
        title: heading; the robot's name by default.
        max_frames: longer trajectories are thinned out evenly, and the page says so.

    Returns:
        The path of the file.
    """
    states = states_of(state_or_trajectory)
    if max_frames < 1:
        raise ArgumentError("max_frames", f"{max_frames}", "at least 1")
    if not fields:
        raise ArgumentError("fields", "empty", "at least one field")
    kept = states
    if len(states) > max_frames:
        kept = [states[i] for i in np.linspace(0, len(states) - 1, max_frames).round().astype(int)]
    scene = Scene(model, obstacles=obstacles)
    data = replay_data(scene, kept, fields=fields, camera=camera or Camera())
    data["title"] = title or model.robot.name
    data["subtitle"] = "drag: turn · right-drag: move · wheel: zoom · double-click: reset"
    if len(kept) < len(states):
        data["subtitle"] = f"{len(kept)} of {len(states)} states · " + data["subtitle"]
    template = files("pliant.viewer").joinpath("replay.html").read_text(encoding="utf-8")
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    path = Path(path)
    with replacing(path) as temporary:
        temporary.write_text(template.replace("__DATA__", text), encoding="utf-8")
    return path


def replay_data(
    scene: Scene, states: list[State], *, fields: Sequence[str], camera: Camera
) -> dict[str, Any]:
    """What the page needs, as plain values and packed arrays."""
    pictures = [scene.picture(s, field=fields[0]) for s in states]
    vertices = np.stack([p.vertices for p in pictures])
    if not np.isfinite(vertices).all():
        raise ArgumentError("state_or_trajectory", "a shape is not finite", "states of solves that succeeded")
    # Split vertices share the position of their skin vertex: store each position once.
    surface = scene.surface
    _, first, inverse = np.unique(surface.source[: surface.solid], return_index=True, return_inverse=True)
    tubes = np.arange(surface.solid, len(surface.source))
    stored = np.concatenate([first, tubes]).astype(int)
    expand = np.concatenate([inverse, len(first) + np.arange(len(tubes))])
    origin, scale, packed = _quantise(vertices[:, stored])
    times = frame_times(states)
    everything = np.concatenate([vertices.reshape(-1, 3), *(c for p in pictures for c in p.cables.values())])
    view = View.fit(camera, everything, 1200, 800, margin=1.6)
    target = camera.target or tuple((everything.min(axis=0) + everything.max(axis=0)) / 2)
    distance = camera.distance or float(np.linalg.norm(view.eye - np.array(target)))
    segments = [contact_segments(p, scene.size) for p in pictures]
    first_picture = pictures[0]
    low_z = float(min(vertices[..., 2].min(), surface.vertices(scene.rest)[:, 2].min()))
    return {
        "frames": len(states),
        "times": [float(t) for t in times],
        "timed": bool(len(states) > 1 and np.any(np.diff([s.time for s in states]) > 0)),
        "stored": len(stored),
        "positions": _pack(packed),
        "origin": origin.tolist(),
        "scale": scale,
        "expand": _pack(expand.astype("<u4")),
        "triangles": _pack(surface.triangles.astype("<u4")),
        "fields": [_field(scene, states, pictures, name, fields[0], stored) for name in fields],
        "cables": [
            {
                "name": name,
                "count": len(path),
                "points": _pack(np.stack([p.cables[name] for p in pictures]).astype("<f4")),
                "slack": [int(name in p.slack) for p in pictures],
            }
            for name, path in first_picture.cables.items()
        ],
        "chambers": [_chamber(pictures, name) for name in first_picture.chambers],
        "obstacles": [
            {"vertices": _pack(v.astype("<f4")), "triangles": _pack(t.astype("<u4"))}
            for v, t in first_picture.obstacles
        ],
        "fixations": _pack(scene.fixations.astype("<f4")),
        "point_names": list(first_picture.points),
        "points": _pack(np.array([list(p.points.values()) for p in pictures], "<f4")),
        "arrows": _pack(np.concatenate(segments).astype("<f4")),
        "arrow_starts": [0, *np.cumsum([len(s) for s in segments]).tolist()],
        "readings": [_reading(scene, s) for s in states],
        "ramp": _pack(_ramp()),
        "colours": {
            name: list(getattr(colours, name.upper()))
            for name in ("plain", "obstacle", "fixation", "contact", "point", "slack", "cable", "chamber")
        },
        "size": scene.size,
        "centre": scene.centre.tolist(),
        "ground": low_z - 0.02 * scene.size,
        "cell": float(10.0 ** np.floor(np.log10(scene.size / 4))),
        "view": {
            "azimuth": camera.azimuth,
            "elevation": camera.elevation,
            "distance": distance,
            "target": [float(v) for v in target],
            "fov": camera.fov,
        },
    }


def _field(
    scene: Scene, states: list[State], pictures: list[Picture], name: str, first: str, stored: Array
) -> dict[str, Any]:
    if name == PLAIN_FIELD:
        return {"name": name, "label": "", "low": "", "high": "", "values": None}
    if name != first:
        pictures = [scene.picture(s, field=name) for s in states]
    low, high = scene.span(*pictures)
    unit = FIELD_UNITS.get(name, ("", 1.0))[0]
    values = np.stack([colours.normalised(p.values, low, high)[stored] for p in pictures])
    return {
        "name": name,
        "label": f"{name} [{unit}]" if unit else name,
        "low": number(low),
        "high": number(high),
        "values": _pack(np.rint(values * 255).astype(np.uint8)),
    }


def _chamber(pictures: list[Picture], name: str) -> dict[str, Any]:
    origin, scale, packed = _quantise(np.stack([p.chambers[name][0] for p in pictures]))
    return {
        "count": packed.shape[1],
        "origin": origin.tolist(),
        "scale": scale,
        "positions": _pack(packed),
        "triangles": _pack(pictures[0].chambers[name][1].astype("<u4")),
    }


def _reading(scene: Scene, state: State) -> dict[str, Any]:
    sentence = str(state.status)
    return {
        "ok": state.ok,
        "status": sentence[:1].upper() + sentence[1:],
        "facts": facts(state),
        "rows": actuator_rows(scene.model.robot, state),
        "notes": " ".join(state.notes),
    }


def _quantise(positions: Array) -> tuple[Array, float, Array]:
    """Origin, scale and 16-bit positions as differences in time (frames, n, 3), modulo 2^16."""
    origin = positions.min(axis=(0, 1))
    scale = float((positions.max(axis=(0, 1)) - origin).max()) or 1.0
    whole = np.rint((positions - origin) / scale * 65535).astype(np.int64)
    steps = np.diff(whole, axis=0, prepend=0)
    return origin, scale, (steps & 0xFFFF).astype("<u2")


def _ramp() -> Array:
    table = np.full((256, 4), 255, np.uint8)
    table[:, :3] = np.rint(colours.colour_table(256) * 255)
    return table


def _pack(array: Array) -> str:
    """An array as base64 of its deflated bytes; empty text for an empty one."""
    if array.size == 0:
        return ""
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
