"""Fields of a robot file: which keys a table may have, what they may hold, and in which unit they are.

The keys are those of the frozen descriptions (`Cable`, `Point`, ...), found from their dataclass fields, so a
new actuator needs no code here. Every mistake becomes one sentence with the path of its key.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from pliant.errors import PliantError

FILE_NAME = "robot.toml"
FORMAT, VERSION = "pliant-robot", 1
MESH_ENDINGS = (".vtu", ".vtk", ".msh")
SURFACE_ENDINGS = (".obj", ".stl", ".ply")

#: Power of the file's length unit in which a field is written; every other field is in SI units.
LENGTH_POWER = {
    "points": 1,
    "point": 1,
    "pull_point": 1,
    "position": 1,
    "centre": 1,
    "vertices": 1,
    "radius": 1,
    "inner_radius": 1,
    "length": 1,
    "thickness": 1,
    "rest_curvature": -1,
}
_MAY_BE_INFINITE = {"effort_limits", "displacement_limits", "rate_limit"}


class Problems:
    """Collects every mistake of a file, each with the path of its key."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, key: str, problem: str) -> None:
        """Record one mistake."""
        self.found.append(f"{key}: {problem}")

    def unknown(self, key: str, name: str, valid: Iterable[str]) -> None:
        """Record a name that does not exist, with the closest and the valid ones."""
        names = list(valid)
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        self.add(key, f"{name!r} is not known.{hint} Valid: {', '.join(names) or '(there are none)'}.")

    def keys(
        self, path: str, data: Mapping[str, Any], valid: Iterable[str], required: Iterable[str] = ()
    ) -> bool:
        """Check the keys of a table; True if none is unknown or missing."""
        before, names = len(self.found), list(valid)
        for key in data:
            if key not in names:
                close = difflib.get_close_matches(key, names, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                self.add(_join(path, key), f"unknown key.{hint} Valid keys: {', '.join(names)}.")
        for key in required:
            if key not in data:
                self.add(_join(path, key), "is missing.")
        return len(self.found) == before


def describe(
    problems: Problems, path: str, kind: type, data: Any, scale: float, *, skip: tuple[str, ...] = ()
) -> dict[str, Any] | None:
    """Arguments for one of the descriptions from a table of the file, in SI units; None if anything is wrong.

    Args:
        problems: where mistakes go.
        path: path of the table.
        kind: dataclass that the table describes.
        data: the table.
        scale: length of the file's unit [m].
        skip: keys that the caller reads.
    """
    if not isinstance(data, Mapping):
        problems.add(path, f"must be a table, not {_shown(data)}.")
        return None
    described = {f.name: f for f in fields(kind) if f.init}
    required = [n for n, f in described.items() if f.default is MISSING and f.default_factory is MISSING]
    before = len(problems.found)
    problems.keys(
        path,
        data,
        [*described, *(s for s in skip if s not in described)],
        [r for r in required if r not in skip],
    )
    values = {}
    for name, f in described.items():
        if name in data and name not in skip:
            values[name] = _checked(problems, _join(path, name), name, str(f.type), data[name])
    if len(problems.found) > before:
        return None
    for name in values:
        power = _power(kind, name, values)
        if power:
            values[name] = _scaled(values[name], scale**power)
    return values


def build(problems: Problems, path: str, make: Any, *args: Any, **values: Any) -> Any:
    """The object, or None with the reason recorded under its path."""
    try:
        return make(*args, **values)
    except (PliantError, TypeError, ValueError, OverflowError) as error:
        problems.add(path, str(error))
        return None


def number(problems: Problems, path: str, value: Any, *, infinite: bool = False) -> float:
    """A float, or nan with the mistake recorded."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        problems.add(path, f"must be a number, not {_shown(value)}.")
        return math.nan
    try:
        x = float(value)
    except OverflowError:
        x = math.inf
    if math.isnan(x) or (math.isinf(x) and not infinite):
        problems.add(path, f"must be a finite number, not {_shown(value)}.")
        return math.nan
    return x


def numbers(
    problems: Problems, path: str, value: Any, count: int | None = None, *, infinite: bool = False
) -> tuple[float, ...]:
    """A tuple of floats of a given length (any length if None), with mistakes recorded."""
    if not isinstance(value, list) or (count is not None and len(value) != count):
        wanted = f"a list of {count} numbers" if count else "a list of numbers"
        problems.add(path, f"must be {wanted}, not {_shown(value)}.")
        return ()
    return tuple(number(problems, f"{path}[{i}]", v, infinite=infinite) for i, v in enumerate(value))


def text(problems: Problems, path: str, value: Any) -> str:
    """A text, or "" with the mistake recorded."""
    if not isinstance(value, str):
        problems.add(path, f"must be text, not {_shown(value)}.")
        return ""
    return value


def tables(problems: Problems, path: str, value: Any) -> list[Any]:
    """A list of tables, or an empty list with the mistake recorded."""
    if not isinstance(value, list):
        problems.add(path, f"must be a list of tables ([[{path}]]), not {_shown(value)}.")
        return []
    return value


def _checked(problems: Problems, path: str, name: str, kind: str, value: Any) -> Any:
    """A value of a field, checked by the field's annotation."""
    infinite = name in _MAY_BE_INFINITE
    if kind.startswith("tuple[Vector") or name in ("vertices",):
        if not isinstance(value, list):
            problems.add(path, f"must be a list of points, not {_shown(value)}.")
            return ()
        return tuple(numbers(problems, f"{path}[{i}]", v, 3) for i, v in enumerate(value))
    if kind.startswith("Vector"):
        return numbers(problems, path, value, 3)
    if kind.startswith("Quaternion"):
        return numbers(problems, path, value, 4)
    if kind.startswith("Interval"):
        return numbers(problems, path, value, 2, infinite=True)
    if kind.startswith("tuple[int"):
        if not isinstance(value, list) or any(isinstance(v, bool) or not isinstance(v, int) for v in value):
            problems.add(path, f"must be a list of whole numbers, not {_shown(value)}.")
            return ()
        return tuple(value)
    if "float" in kind:
        if "tuple" in kind and isinstance(value, list):
            return numbers(problems, path, value)
        return number(problems, path, value, infinite=infinite)
    if kind == "bool":
        if not isinstance(value, bool):
            problems.add(path, f"must be true or false, not {_shown(value)}.")
        return value
    if kind == "int":
        if isinstance(value, bool) or not isinstance(value, int):
            problems.add(path, f"must be a whole number, not {_shown(value)}.")
        return value
    return text(problems, path, value) if kind in ("str", "Drive") else value


def _power(kind: type, name: str, values: Mapping[str, Any]) -> int:
    volume = {"m": 1, "m^2": 2, "m^3": 3}.get(getattr(kind, "displacement_unit", ""), 0)
    if name == "displacement_limits":
        return volume
    if name == "rate_limit":
        default = next((f.default for f in fields(kind) if f.name == "drive"), "effort")
        return volume if values.get("drive", default) == "displacement" else 0
    return LENGTH_POWER.get(name, 0)


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, tuple):
        return tuple(_scaled(v, factor) for v in value)
    return value * factor


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
