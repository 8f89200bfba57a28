"""Absurd parameters of robots are refused in words, before anything large is made."""

from __future__ import annotations

import inspect
import math
import tracemalloc
from contextlib import contextmanager

import pytest
import scipy.interpolate  # noqa: F401  not to be imported, slowly, while memory is traced

from pliant import robots
from pliant.cli import main
from pliant.errors import ArgumentError, PliantError
from pliant.robots.parameters import MAX_COUNT, checked

MAKERS = [*robots.catalogue().values(), robots.cup_trunk, robots.rolling_ring, robots.rolling_sphere]
MAKERS += [robots.three_fingertips]


LITTLE = 50e6  # [bytes] that a refusal may take: what is refused would fill the memory


@contextmanager
def little_memory():
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()


def absurd(default: object) -> list[object]:
    """Values that no parameter with that default can take."""
    if isinstance(default, bool):
        return []
    if isinstance(default, int):
        return [10**13, 10**5, 0, -1, 1.5, "x", None]
    if isinstance(default, float):
        return [math.nan, -math.inf, "x"]
    if isinstance(default, tuple) and all(isinstance(v, int) for v in default):
        return [(10**7,) * len(default), (MAX_COUNT,) * (len(default) + 1), (0,) * len(default), 3]
    return []


@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_absurd_parameters_are_refused(make) -> None:
    with little_memory():
        for name, parameter in inspect.signature(make).parameters.items():
            for value in absurd(parameter.default):
                with pytest.raises(ArgumentError, match=name):
                    make(**{name: value})
            if name == "size":
                with pytest.raises(PliantError):
                    make(size=1e-9)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (robots.rolling_sphere, {"divisions": 201}),
        (robots.rolling_sphere, {"divisions": 200, "layers": 100}),
        (robots.three_fingertips, {"cells": (1000, 1000)}),
        (robots.four_segment_arm, {"width": 0.0}),
        (robots.printed_link, {"radius": 0.0}),
        (robots.accordion, {"folds": 1000, "size": 1e-6}),
    ],
)
def test_sizes_that_do_not_fit_together_are_refused(make, options) -> None:
    with little_memory(), pytest.raises(ArgumentError):
        make(**options)


def test_the_shell_refuses_absurd_sizes_in_words(capsys) -> None:
    with little_memory():
        assert main(["info", "trunk", "--with", "sections=10000000000000"]) == 2
        assert "sections" in capsys.readouterr().err
        assert main(["info", "trunk", "--with", "size=1e-9"]) == 2
        assert "cells" in capsys.readouterr().err


def test_an_infinite_default_allows_infinity() -> None:
    @checked
    def make(*, rate: float = math.inf, tension: float = 1.0) -> float:
        return rate * tension

    assert make(rate=math.inf) == math.inf
    assert make(rate=2.0, tension=3) == 6.0
    with pytest.raises(ArgumentError, match="tension"):
        make(tension=math.inf)
    with pytest.raises(ArgumentError, match="rate"):
        make(rate=math.nan)
