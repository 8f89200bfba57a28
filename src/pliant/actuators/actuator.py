"""What all actuators share: a name, a drive and limits.

An actuator is a coordinate of the robot (length pulled in, volume gained, distance moved, ...) and an effort that works
along it (tension, pressure, force, ...). `drive` says which of the two the user commands. The classes in this package
are descriptions only; models turn them into mechanics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from pliant.checks import positive
from pliant.errors import ArgumentError

Drive = Literal["effort", "displacement"]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Interval = tuple[float, float]
UNLIMITED: Interval = (-math.inf, math.inf)


def check_name(argument: str, name: object) -> str:
    """A usable name (letters, digits, '_', '-', '.'), or an ArgumentError."""
    if not isinstance(name, str) or not name or not all(c.isalnum() or c in "_-." for c in name):
        raise ArgumentError(argument, f"{name!r} is not a name", "letters, digits, '_', '-' and '.'")
    return name


def check_vector(argument: str, value: Any) -> Vector:
    """A finite 3-vector as a tuple, or an ArgumentError."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(argument, f"{value!r} is not a vector", "three finite numbers") from None
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ArgumentError(argument, f"{value!r} is not a vector", "three finite numbers")
    return (float(array[0]), float(array[1]), float(array[2]))


def check_direction(argument: str, value: Any) -> Vector:
    """A 3-vector of length one along the value, or an ArgumentError."""
    x, y, z = check_vector(argument, value)
    length = math.hypot(x, y, z)
    if length == 0.0:
        raise ArgumentError(argument, "the zero vector has no direction", "a non-zero vector")
    return (x / length, y / length, z / length)


def check_quaternion(argument: str, value: Any) -> Quaternion:
    """A unit quaternion (wxyz), normalised, or an ArgumentError."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (4,) or not np.isfinite(array).all() or np.linalg.norm(array) < 1e-9:
        raise ArgumentError(argument, f"{value!r} is not a quaternion", "four numbers (w, x, y, z), not all zero")
    w, x, y, z = array / np.linalg.norm(array)
    return (float(w), float(x), float(y), float(z))


def check_points(argument: str, value: Any) -> tuple[Vector, ...]:
    """A list of finite points (n, 3) as nested tuples, or an ArgumentError."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(argument, "not a list of points", "an (n, 3) list of numbers") from None
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0 or not np.isfinite(array).all():
        raise ArgumentError(argument, f"shape {array.shape} or non-finite values", "finite points (n, 3)")
    return tuple((float(p[0]), float(p[1]), float(p[2])) for p in array)


def check_interval(argument: str, value: Any) -> Interval:
    """A (low, high) pair with low <= high, infinities allowed, or an ArgumentError."""
    try:
        low, high = (float(v) for v in value)
    except (TypeError, ValueError):
        raise ArgumentError(argument, f"{value!r} is not a pair", "(low, high)") from None
    if math.isnan(low) or math.isnan(high) or low > high:
        raise ArgumentError(argument, f"({low}, {high}) is empty or NaN", "(low, high) with low <= high")
    return (low, high)


@dataclass(frozen=True, kw_only=True)
class Actuator:
    """Base of all actuators.

    Attributes:
        name: unique name in the robot.
        drive: what is commanded, "effort" or "displacement".
        effort_limits: allowed effort [unit of the effort].
        displacement_limits: allowed displacement [unit of the displacement].
        rate_limit: largest change of the commanded quantity per second [unit/s].
    """

    kind: ClassVar[str] = ""
    effort_unit: ClassVar[str] = "N"
    displacement_unit: ClassVar[str] = "m"

    name: str
    drive: Drive = "effort"
    effort_limits: Interval = UNLIMITED
    displacement_limits: Interval = UNLIMITED
    rate_limit: float = math.inf

    def __post_init__(self) -> None:
        check_name("name", self.name)
        if not isinstance(self.drive, str) or self.drive not in ("effort", "displacement"):
            raise ArgumentError(f"{self.name}.drive", f"{self.drive!r}", "'effort' or 'displacement'")
        self._set("effort_limits", check_interval(f"{self.name}.effort_limits", self.effort_limits))
        self._set(
            "displacement_limits", check_interval(f"{self.name}.displacement_limits", self.displacement_limits)
        )
        if self.rate_limit != math.inf:
            self._set("rate_limit", positive(f"{self.name}.rate_limit", self.rate_limit))

    def _set(self, field_name: str, value: Any) -> None:
        object.__setattr__(self, field_name, value)

    @property
    def unit(self) -> str:
        """Unit of the commanded quantity."""
        return self.effort_unit if self.drive == "effort" else self.displacement_unit

    @property
    def limits(self) -> Interval:
        """Limits of the commanded quantity."""
        return self.effort_limits if self.drive == "effort" else self.displacement_limits

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the robot file; fields at their default are left out."""
        out: dict[str, Any] = {"kind": self.kind}
        for f in fields(self):
            value = getattr(self, f.name)
            if value != f.default and value is not None:
                out[f.name] = _plain(value)
        return out


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return value.to_dict() if hasattr(value, "to_dict") else value
