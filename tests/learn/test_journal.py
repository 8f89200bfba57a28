"""The journal survives whatever happens to its end."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import FileError
from pliant.learn.journal import Journal

DTYPE = np.dtype([("index", "<i8"), ("x", "<f8", (3,))])


def records(n):
    out = np.zeros(n, DTYPE)
    out["index"], out["x"] = np.arange(n), np.random.default_rng(0).random((n, 3))
    return out


@pytest.mark.parametrize("lost", [0, 1, 5, 35, 36, 37, 100])
def test_an_incomplete_end_is_cut_off(tmp_path, lost):
    path = tmp_path / "j"
    journal = Journal(path, DTYPE, {"plan": 1})
    journal.append(records(10))
    journal.close()
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - lost])
    again = Journal(path, DTYPE, {"plan": 1})
    assert len(again.records) == 10 - -(-lost // (DTYPE.itemsize + 4))
    again.append(records(10)[len(again.records) :])
    again.close()
    assert np.array_equal(Journal(path, DTYPE, {"plan": 1}).records, records(10))


def test_damage_in_the_middle_ends_there(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, DTYPE, {})
    journal.append(records(10))
    journal.close()
    data = bytearray(path.read_bytes())
    data[-3 * (DTYPE.itemsize + 4)] ^= 1
    path.write_bytes(bytes(data))
    assert len(Journal(path, DTYPE, {}).records) == 7


def test_another_header_is_refused(tmp_path):
    Journal(tmp_path / "j", DTYPE, {"plan": 1}).close()
    with pytest.raises(FileError):
        Journal(tmp_path / "j", DTYPE, {"plan": 2})
    (tmp_path / "k").write_bytes(b"something else")
    with pytest.raises(FileError):
        Journal(tmp_path / "k", DTYPE, {})


def test_killed_while_the_header_was_written(tmp_path):
    path = tmp_path / "j"
    Journal(path, DTYPE, {"plan": 1}).close()
    path.write_bytes(path.read_bytes()[:20])
    assert len(Journal(path, DTYPE, {"plan": 1}).records) == 0
