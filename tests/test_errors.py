"""Errors carry data, name the argument and list what would be valid."""

import pickle

import pytest

from pliant.errors import (
    ArgumentError,
    FileError,
    MeshError,
    MissingExtraError,
    PliantError,
    SolveError,
    UnknownNameError,
)


def test_messages_say_what_and_what_would_do():
    assert str(ArgumentError("dt", "-1", "a positive number")) == "dt: -1. Valid: a positive number."
    assert str(ArgumentError("dt", "-1")) == "dt: -1."
    assert ArgumentError("dt", "-1").argument == "dt"
    error = UnknownNameError("point", "tpi", ["tip", "middle"])
    assert str(error) == "there is no point named 'tpi'. Valid names: tip, middle."
    assert "(there are none)" in str(UnknownNameError("point", "tip", []))
    assert "pip install 'pliant[mesh]'" in str(MissingExtraError("trimesh", "mesh"))


def test_mesh_errors_name_elements_but_not_all():
    error = MeshError("inverted", range(100))
    assert len(error.elements) == 100
    assert "and 90 more" in str(error)
    assert str(MeshError("empty")) == "empty"


def test_file_errors_list_every_problem():
    error = FileError("robot.toml", ["first", "second"])
    assert error.problems == ("first", "second")
    assert str(error) == "robot.toml:\n  - first\n  - second"
    assert FileError("a", "only").problems == ("only",)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (ArgumentError("a", "b"), ValueError),
        (UnknownNameError("a", "b", ()), KeyError),
        (MeshError("a"), ValueError),
        (FileError("a", "b"), ValueError),
        (SolveError("a", 1), RuntimeError),
        (MissingExtraError("a", "b"), ImportError),
    ],
)
def test_all_are_pliant_errors_and_builtin_ones(error, builtin):
    assert isinstance(error, PliantError)
    assert isinstance(error, builtin)


def test_solve_error_carries_its_result():
    assert SolveError("no", {"q": 1}).result == {"q": 1}


def test_errors_survive_process_boundaries():
    """Sampling runs in worker processes; what they raise must arrive."""
    errors = [
        ArgumentError("dt", "-1", "a positive number"),
        UnknownNameError("point", "tpi", ["tip"]),
        MeshError("inverted", [1, 2]),
        FileError("a", ["b", "c"]),
        MissingExtraError("trimesh", "mesh"),
        SolveError("no", 3),
    ]
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__
