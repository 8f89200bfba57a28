"""Small plots for reports: curves over a sweep, and the actuation of a trajectory over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.archive import replacing
from pliant.errors import ArgumentError
from pliant.viewer.readings import display

Array = np.ndarray
COLOURS = ("#2e609c", "#c8501e", "#2a8f6d", "#8a4fa3", "#b8860b", "#5b6472")


def plot_sweep(
    x: Sequence[float] | Array,
    y: Mapping[str, Sequence[float] | Array] | Sequence[float] | Array,
    path: str | Path,
    *,
    x_label: str = "",
    y_label: str = "",
    title: str = "",
    size: tuple[float, float] = (6.4, 4.0),
    markers: bool = True,
) -> Path:
    """Plot one or more curves over common x and write the file (the suffix says which format).

    Args:
        x: abscissae (n,).
        y: ordinates (n,), or several by name.
        path: file to write; its folder is made.
        x_label: what x is, with its unit.
        y_label: what y is, with its unit.
        title: heading.
        size: width and height [inches].
        markers: mark the points.
    """
    curves = dict(y) if isinstance(y, Mapping) else {"": y}
    at = np.asarray(x, float)
    for name, values in curves.items():
        if np.shape(values) != at.shape or at.ndim != 1:
            raise ArgumentError("y", f"{name!r} has shape {np.shape(values)}", f"{at.shape}, as x")
    figure, axes = _figure(size)
    for i, (name, values) in enumerate(curves.items()):
        style = {"marker": "o", "markersize": 3.5} if markers else {}
        axes.plot(at, np.asarray(values, float), color=COLOURS[i % len(COLOURS)], label=name or None, **style)
    if any(curves):
        axes.legend(frameon=False)
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    return _save(figure, path)


def plot_trajectory(robot: Any, trajectory: Any, path: str | Path, *, title: str = "") -> Path:
    """Plot efforts and displacements of all actuators over time, one panel per unit.

    Args:
        robot: whose actuators they are.
        trajectory: what `simulate`, `sweep` or `follow` returned.
        path: of the picture.
        title: above it.
    """
    groups: dict[tuple[str, str], list[tuple[str, Array]]] = {}
    time = np.asarray(trajectory.time, float)
    for i, actuator in enumerate(robot.actuators):
        for kind in ("effort", "displacement"):
            unit, factor = display(getattr(actuator, f"{kind}_unit"))
            values = np.asarray(getattr(trajectory, kind), float)[:, i] * factor
            groups.setdefault((kind, unit), []).append((actuator.name, values))
    if not groups:
        raise ArgumentError("robot", "it has no actuators", "a robot with actuators")
    figure, panels = _figure((6.8, 1.6 + 1.7 * len(groups)), rows=len(groups))
    for axes, ((kind, unit), curves) in zip(panels, groups.items()):
        for i, (name, values) in enumerate(curves):
            axes.plot(time, values, color=COLOURS[i % len(COLOURS)], label=name)
        axes.set_ylabel(f"{kind} [{unit}]" if unit else kind)
        if len(curves) <= 8:
            axes.legend(frameon=False, fontsize=8)
    panels[0].set_title(title)
    panels[-1].set_xlabel("time [s]")
    return _save(figure, path)


def _figure(size: tuple[float, float], *, rows: int | None = None) -> tuple[Any, Any]:
    # Figure objects without pyplot: no global state, no screen.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows or 1, 1, squeeze=False, sharex=True)[:, 0]
    for one in axes:
        one.grid(color="#e3e7ed", linewidth=0.8)
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes if rows else axes[0]


def _save(figure: Any, path: str | Path) -> Path:
    path = Path(path)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=160, format=path.suffix[1:] or "png")
    return path
