"""Checks of plain values."""

import numpy as np
import pytest

from pliant import checks
from pliant.errors import ArgumentError


@pytest.mark.parametrize("value", [True, "1", None, [1.0, 2.0], np.nan, np.inf])
def test_what_is_no_finite_number_is_refused_by_name(value):
    for check in (checks.finite, checks.positive, checks.non_negative):
        with pytest.raises(ArgumentError, match="size: must be"):
            check("size", value)


def test_signs():
    assert checks.finite("x", -2) == -2.0 and checks.non_negative("x", 0) == 0.0 and checks.positive("x", 3) == 3.0
    for check, value in ((checks.positive, 0.0), (checks.non_negative, -1e-9)):
        with pytest.raises(ArgumentError):
            check("x", value)


@pytest.mark.parametrize("value", [1.0, 1.5, "3", True, None, 0])
def test_a_count_is_an_integer_that_is_large_enough(value):
    assert checks.count("n", np.int64(4)) == 4
    with pytest.raises(ArgumentError, match="n: is"):
        checks.count("n", value)


def test_one_thing_or_several():
    one = np.zeros(3)
    assert checks.several("a", one, "shape", "an array") == (one,)
    assert checks.several("a", [], "shape", "an array") == ()
    for wrong in (3, None, "text", [one, "x"]):
        with pytest.raises(ArgumentError, match="Valid: an array"):
            checks.several("a", wrong, "shape", "an array")


def test_instances_take_one_or_several_and_name_the_wrong_one():
    assert checks.instances("n", 3, int) == (3,)
    assert checks.instances("n", [3, 4], (int, float)) == (3, 4)
    with pytest.raises(ArgumentError, match=r"n\[1\]: is 'x'. Valid: of type int or float"):
        checks.instances("n", (1, "x"), (int, float))
    with pytest.raises(ArgumentError, match="n: is None"):
        checks.instances("n", None, int)
