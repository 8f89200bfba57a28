"""Checks of plain values at the border: one per kind of value, each with an `ArgumentError` that names the argument."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pliant.errors import ArgumentError


def finite(argument: str, value: Any) -> float:
    """The value as a finite float, or an ArgumentError that names the argument."""
    if isinstance(value, bool | str) or value is None:
        raise ArgumentError(argument, f"must be a number, got {value!r}")
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(argument, f"must be a number, got {value!r}") from None
    except OverflowError:
        x = math.inf
    if not math.isfinite(x):
        raise ArgumentError(argument, f"must be finite, got {x}")
    return x


def positive(argument: str, value: Any) -> float:
    """The value as a finite float greater than zero, or an ArgumentError."""
    x = finite(argument, value)
    if x <= 0.0:
        raise ArgumentError(argument, f"must be greater than 0, got {x}")
    return x


def non_negative(argument: str, value: Any) -> float:
    """The value as a finite float of at least zero, or an ArgumentError."""
    x = finite(argument, value)
    if x < 0.0:
        raise ArgumentError(argument, f"must not be negative, got {x}")
    return x


def count(argument: str, value: Any, least: int = 1) -> int:
    """The value as an integer of at least `least`, or an ArgumentError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ArgumentError(argument, f"is {value!r}", f"an integer of at least {least}")
    return int(value)


def several(argument: str, value: Any, having: str, valid: str) -> tuple[Any, ...]:
    """One thing or several of a kind as a tuple; the kind is told by an attribute that all of it have.

    Args:
        argument: name of the argument.
        value: one thing, or an iterable of them.
        having: attribute that makes a thing one of the kind.
        valid: the kind in words, for the message.
    """
    if hasattr(value, having):
        return (value,)
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ArgumentError(argument, f"a {type(value).__name__} is none", valid)
    items = tuple(value)
    for item in items:
        if not hasattr(item, having):
            raise ArgumentError(argument, f"a {type(item).__name__} is none", valid)
    return items


def instance(argument: str, value: Any, kind: type | tuple[type, ...]) -> Any:
    """The value if it is an object of one of the kinds, or an ArgumentError."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        shown = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
        raise ArgumentError(argument, f"is {shown}", f"of type {' or '.join(k.__name__ for k in kinds)}")
    return value


def instances(argument: str, value: Any, kind: type | tuple[type, ...]) -> tuple[Any, ...]:
    """One object of the kinds or several, as a tuple, or an ArgumentError that says which one is wrong."""
    if isinstance(value, kind):
        return (value,)
    if isinstance(value, str) or not isinstance(value, Iterable):
        instance(argument, value, kind)
    return tuple(instance(f"{argument}[{i}]", item, kind) for i, item in enumerate(value))


def numbers(argument: str, value: Any) -> np.ndarray:
    """The value as an array of finite floats of any shape, or an ArgumentError."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(argument, f"is {value!r}", "finite numbers") from None
    if isinstance(value, str) or not np.isfinite(array).all():
        raise ArgumentError(argument, "contains NaN or infinity", "finite numbers")
    return array


def name_list(argument: str, value: Any) -> tuple[str, ...]:
    """One name or several as a tuple, or an ArgumentError."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise ArgumentError(argument, f"is {value!r}", "a name, or names")
    found = tuple(value)
    if not all(isinstance(name, str) for name in found):
        raise ArgumentError(argument, f"{found!r} are not all names", "a name, or names")
    return found


def configuration(model: Any, value: Any) -> np.ndarray:
    """The configuration (nq,) of a state, or the one given, or an ArgumentError if it is none of the model's."""
    given = getattr(value, "q", value)
    try:
        q = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError("q", f"a {type(value).__name__} is no configuration", "a State, or numbers") from None
    if q.shape != (model.nq,):
        raise ArgumentError("q", f"it belongs to another model (shape {q.shape})", f"a state or q ({model.nq},)")
    return q
