"""Numbers of actuators made readable: units of the page, ranges of sliders, tables of readings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from pliant.actuators import Actuator, Cable
from pliant.models.contract import Model
from pliant.state import Command, State, Status
from pliant.viewer.colours import colour_table, to_bytes

# SI unit -> (unit to read, factor)
DISPLAY: dict[str, tuple[str, float]] = {
    "m": ("mm", 1e3),
    "m^3": ("mL", 1e6),
    "Pa": ("kPa", 1e-3),
    "N": ("N", 1.0),
    "J": ("mJ", 1e3),
    "1": ("", 1.0),
}
# What a status advises in Python is a button here.
ON_THE_PAGE = {Status.LOCAL: "converged to a local optimum; “Search farther” may find a better one"}
NOISE = 1e-6  # readings below this are rounding
# Largest effort offered by a slider when the actuator does not say [SI unit].
FALLBACK_EFFORT = {"N": 10.0, "Pa": 50e3, "1": 2.0}


@dataclass(frozen=True)
class Dial:
    """How the command of one actuator is shown and moved on a page.

    Attributes:
        name: name of the actuator.
        unit: unit to read.
        factor: reading = factor * command in SI.
        low: lowest command [reading].
        high: highest command [reading].
        step: smallest change [reading].
        stated: whether the range is the one that the actuator states.
    """

    name: str
    unit: str
    factor: float
    low: float
    high: float
    step: float
    stated: bool

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def display(unit: str) -> tuple[str, float]:
    """Unit to read and factor for a unit of the contract."""
    return DISPLAY.get(unit, (unit, 1.0))


def fallback_range(actuator: Actuator, size: float) -> tuple[float, float]:
    """A sensible range of commands [SI] for an actuator without limits on a robot of that size [m]."""
    if isinstance(actuator, Cable):
        path = ([] if actuator.pull_point is None else [actuator.pull_point]) + list(actuator.points)
        length = float(np.linalg.norm(np.diff(np.array(path), axis=0), axis=1).sum())
        return (0.0, 0.25 * length) if actuator.drive == "displacement" else (0.0, 10.0)
    if actuator.drive == "displacement":
        high = 0.02 * size**3 if actuator.displacement_unit == "m^3" else 0.15 * size
        return -high, high
    high = FALLBACK_EFFORT.get(actuator.effort_unit, 1.0)
    low = -0.9 if actuator.effort_unit == "1" else 0.0 if actuator.effort_unit == "Pa" else -high
    return low, high


def dial(actuator: Actuator, size: float, *, value: float = 0.0) -> Dial:
    """The dial of an actuator; its range holds the stated limits, and the present value [SI] in any case."""
    low, high = actuator.limits
    stated = math.isfinite(low) and math.isfinite(high)
    other_low, other_high = fallback_range(actuator, size)
    if not math.isfinite(low):
        low = min(other_low, high if math.isfinite(high) else other_low)
    if not math.isfinite(high):
        high = max(other_high, low + (other_high - other_low))
    low, high = min(low, value), max(high, value)
    unit, factor = display(actuator.unit)
    low, high = low * factor, high * factor
    if high <= low:
        high = low + 1e-6
    step = 10.0 ** math.floor(math.log10((high - low) / 500))
    # Whole steps outwards, so that both ends and the value can be reached.
    low, high = math.floor(round(low / step, 6)) * step, math.ceil(round(high / step, 6)) * step
    return Dial(actuator.name, unit, factor, float(f"{low:.12g}"), float(f"{high:.12g}"), step, stated)


def number(value: float) -> str:
    """A number with four significant digits, never in bare zeros."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.4g}" if value else "0"


def actuator_rows(robot: Any, state: State, *, forceless: bool = False) -> list[tuple[str, str, str]]:
    """(name, effort with unit, displacement with unit) of each actuator; `forceless`: the commanded one alone."""
    rows = []
    for i, actuator in enumerate(robot.actuators):
        cells = []
        for drive, value, unit in (
            ("effort", state.effort[i], actuator.effort_unit),
            ("displacement", state.displacement[i], actuator.displacement_unit),
        ):
            if forceless and drive != actuator.drive:
                cells.append("-")
                continue
            shown, factor = display(actuator.unit if drive == actuator.drive else unit)
            reading = float(value) * factor
            cells.append(f"{number(0.0 if abs(reading) < NOISE else reading)} {shown}".strip())
        rows.append((actuator.name, cells[0], cells[1]))
    return rows


def misses(model: Model, state: State, targets: Sequence[Any]) -> tuple[float, float | None] | None:
    """How far a state is from targets that have a place: the largest distance [m], the largest angle [rad] of frames.

    None if no target names a point and a position, angle None if none names a rotation.
    """
    from pliant.lie import log, matrix_from_quaternion

    distances, angles = [], []
    for target in targets:
        if not (isinstance(getattr(target, "point", None), str) and hasattr(target, "position")):
            continue
        place = model.locate(state.q, target.point)
        distances.append(float(np.linalg.norm(place.position - np.asarray(target.position, float))))
        if hasattr(target, "rotation"):
            angles.append(float(np.linalg.norm(log(place.rotation @ matrix_from_quaternion(target.rotation).T))))
    return (max(distances), max(angles, default=None)) if distances else None


def facts(state: State, command: Command | None = None, missed: tuple[float, float | None] | None = None) -> str:
    """Residual or error, iterations, time, and time per iteration in one line."""
    source = state if command is None else command
    spent = f"{source.iterations} iterations · {source.elapsed * 1e3:.1f} ms"
    if source.iterations > 1:
        spent += f" · {source.elapsed * 1e3 / source.iterations:.2f} ms each"
    if command is None:
        return f"residual {state.residual:.1e} · {spent}"
    error, angle = missed or (float(np.linalg.norm(np.asarray(command.error, float))), None)
    turned = "" if angle is None else f", {number(math.degrees(angle))}°"
    return f"target error {number(error * 1e3)} mm{turned} · {spent}"


def reading_html(
    robot: Any,
    state: State,
    *,
    command: Command | None = None,
    missed: tuple[float, float | None] | None = None,
    trouble: str = "",
    forceless: bool = False,
) -> str:
    """Readings of a state as HTML: status in words, residual, time, efforts, displacements, contacts, notes.

    Args:
        robot: whose actuators are named.
        state: the state that is shown.
        command: what an inverse found, if the state came from one.
        missed: how far its targets are (`misses`).
        trouble: why the last request failed, in words; the state is then the one before.
        forceless: the model has no mechanics: show commands, not what they would do.
    """
    status = command.status if command is not None else state.status
    sentence = escape(ON_THE_PAGE.get(status, str(status)))
    parts = []
    if trouble:
        parts.append(
            f'<div style="color:#b3261e;font-weight:600">{escape(trouble)}</div>'
            '<div style="color:#b3261e">Showing the last good state.</div>'
        )
    judged = command is not None and missed is not None and not trouble
    if command is not None and missed is not None and not trouble:
        parts.append(_reached_html(command, missed))
    if not (judged and status is Status.MAX_ITERATIONS):  # a drag goes on, which "on the way" says
        parts.append(f"<div><b>{sentence[:1].upper()}{sentence[1:]}</b></div>")
    parts.append(f'<div style="opacity:.7">{escape(facts(state, command, missed))}</div>')
    rows = actuator_rows(robot, state, forceless=forceless)
    if rows:
        cell = '<td style="text-align:right;white-space:nowrap;padding:1px 0 1px 10px">'
        body = "".join(
            f"<tr><td>{escape(n)}</td>{cell}{escape(e)}</td>{cell}{escape(d)}</td></tr>" for n, e, d in rows
        )
        head = f'<tr style="opacity:.6"><td>actuator</td>{cell}effort</td>{cell}displacement</td></tr>'
        parts.append(f'<table style="width:100%;margin-top:6px">{head}{body}</table>')
    if state.contacts is not None:
        from pliant.viewer.scene import contact_arrows

        _, forces = contact_arrows(state.contacts)
        size = np.linalg.norm(forces, axis=1) if len(forces) else np.zeros(1)
        size = np.where(size < NOISE, 0.0, size)
        touching = int((size > 0).sum())
        noun = "contact" if touching == 1 else "contacts"
        parts.append(f"<div>{touching} {noun}, largest force {number(float(size.max()))} N</div>")
    for note in (*state.notes, *(command.notes if command is not None else ())):
        parts.append(f"<div><i>{escape(note)}</i></div>")
    inner = "".join(parts)
    return f'<div style="padding:4px 12px 8px;font-size:12.5px;line-height:1.45">{inner}</div>'


def _reached_html(command: Command, missed: tuple[float, float | None]) -> str:
    """One coloured line: was the target reached?"""
    near = command.status in (Status.CONVERGED, Status.CONTINUED, Status.SLACK)
    distance, angle = missed
    if near:
        return '<div style="color:#1b7f3b;font-weight:600">Target reached</div>'
    turned = "" if angle is None else f" and {number(math.degrees(angle))}°"
    words = "Target not reached" if command.ok else "On the way"
    return f'<div style="color:#a85b00;font-weight:600">{words}: {number(distance * 1e3)} mm{turned} away</div>'


def hint_html(*, targets: bool, obstacles: bool) -> str:
    """What can be dragged, as HTML."""
    parts = ["the red ball to where the point should go"] * targets + ["the grey obstacle into the robot"] * obstacles
    words = f"Drag {' or '.join(parts)}, by its arrows." if parts else "The robot touches itself."
    return f'<div style="padding:2px 12px;font-size:12.5px;opacity:.7">{words}</div>'


def note_html(words: str) -> str:
    """A sentence about the page itself, as HTML."""
    return f'<div style="padding:2px 12px;color:#2e609c;font-weight:600">{escape(words)}</div>'


def colour_bar_html(field: str, unit: str, low: float, high: float) -> str:
    """A colour bar with its two ends as HTML."""
    stops = ",".join(f"rgb({r},{g},{b})" for r, g, b in (to_bytes(c) for c in colour_table(12)))
    label = f"{field} [{unit}]" if unit else field
    return (
        '<div style="padding:2px 12px 6px;font-size:12.5px">'
        f'<div style="height:12px;border-radius:3px;background:linear-gradient(90deg,{stops})"></div>'
        f'<div style="display:flex;justify-content:space-between"><span>{number(low)}</span>'
        f"<span>{escape(label)}</span><span>{number(high)}</span></div></div>"
    )
