"""Work in forked processes: order, failures."""

from __future__ import annotations

import os

import pytest

from pliant.errors import PliantError
from pliant.solve.forked import forked


def test_results_come_in_order_from_other_processes():
    here = os.getpid()
    found = forked(lambda part: (sum(part), os.getpid()), [[1, 2], [3], [4, 5]])
    assert [f[0] for f in found] == [3, 3, 9]
    assert here not in [f[1] for f in found]
    assert forked(lambda part: os.getpid(), [[1]]) == [here]


def test_failures_are_told():
    with pytest.raises(PliantError, match="ZeroDivisionError"):
        forked(lambda x: 1 / x, [1, 0])
    with pytest.raises(PliantError, match="died"):
        forked(lambda x: os._exit(3), [1, 2])
