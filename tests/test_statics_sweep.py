"""Statics of catalogue robots under random commands, alone and against a wall (benchmarks/statics.py in small)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from statics import run

ROBOTS = (
    "finger", "notched_finger", "beam", "trunk", "diamond", "pneunet", "tower", "printed_link", "six_link",
    "octopus_arm", "twister",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_every_random_command_ends_in_an_equilibrium(name):
    records = run(name, 3, seed=1)
    assert len(records) == 9
    for r in records:
        assert r["ok"], r
        assert r["residual"] < 1e-6
        assert r["iterations"] <= 150, r
