"""One guard for the parameters of all robots of the catalogue: their kind and size, before anything is built."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from pliant.checks import count, finite
from pliant.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")
MAX_COUNT = 1000
"""Largest number of discs, chambers, cells along an edge and the like: far beyond any robot, built in seconds."""


def checked(make: Callable[P, R]) -> Callable[P, R]:
    """A function of the catalogue whose arguments are checked by the kinds of their defaults.

    Where the default is an integer (or a tuple of them) the argument is one from 1 to `MAX_COUNT`; where it is a float,
    a finite number (an infinite default allows infinity). What fits together is for the function itself to say.
    """
    signature = inspect.signature(make)

    @functools.wraps(make)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            _check(name, value, signature.parameters[name].default)
        return make(*args, **kwargs)

    return guarded


def _check(name: str, value: Any, default: Any) -> None:
    if isinstance(default, bool):
        return
    if isinstance(default, int):
        if count(name, value) > MAX_COUNT:
            raise ArgumentError(name, f"is {value}", f"at most {MAX_COUNT}")
    elif isinstance(default, float):
        if not (math.isinf(default) and value == default):
            finite(name, value)
    elif isinstance(default, tuple) and default:
        if not isinstance(value, tuple | list) or len(value) != len(default):
            raise ArgumentError(name, f"is {value!r}", f"{len(default)} numbers")
        for i, (v, d) in enumerate(zip(value, default)):
            _check(f"{name}[{i}]", v, d)
