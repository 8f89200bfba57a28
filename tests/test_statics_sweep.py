"""Statics of catalogue robots under random commands, alone and against a wall (benchmarks/statics.py in small)."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "statics.py"


def sweep():
    spec = importlib.util.spec_from_file_location("statics", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["finger", "beam", "trunk", "diamond", "pneunet", "tower", "printed_link", "six_link"])
def test_every_random_command_ends_in_an_equilibrium(name):
    records = sweep().run(name, 3, seed=1)
    assert len(records) == 9
    for r in records:
        assert r["ok"], r
        assert r["residual"] < 1e-6
        assert r["iterations"] <= 150, r


@pytest.mark.slow
def test_what_does_not_end_in_an_equilibrium_says_why():
    """Muscles of the octopus arm may all pull 20 N at once, three times what it withstands."""
    for r in sweep().run("octopus_arm", 2):
        assert r["ok"] or any("followed the path to" in note for note in r["notes"])
        assert r["iterations"] <= 600
