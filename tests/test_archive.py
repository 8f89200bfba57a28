"""Archives: what is written is read, what is broken is refused, nothing half-written is left."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from pliant import archive
from pliant.archive import read_archive, reading, replacing, write_archive
from pliant.errors import FileError


@pytest.fixture
def path(tmp_path):
    return write_archive(tmp_path / "deep" / "a.npz", "form-1", {"name": "x"}, {"values": np.arange(4.0)})


def test_round_trip(path):
    header, arrays = read_archive(path, "form-1", "thing")
    assert header == {"format": "form-1", "name": "x"}
    assert np.array_equal(arrays["values"], np.arange(4.0))
    assert [p.name for p in path.parent.iterdir()] == ["a.npz"]


def test_missing_other_and_damaged_files_are_refused(path, tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_archive(tmp_path / "none.npz", "form-1", "thing")
    with pytest.raises(FileError, match="format 'form-1'; expected 'form-2'"):
        read_archive(path, "form-2", "thing")
    whole = path.read_bytes()
    for size in range(0, len(whole), 37):
        path.write_bytes(whole[:size])
        with pytest.raises(FileError, match="not a thing"):
            read_archive(path, "form-1", "thing")


def test_objects_and_bombs_are_refused(path, monkeypatch):
    header = np.frombuffer(json.dumps({"format": "form-1"}).encode(), np.uint8)
    np.savez(path, header=header, evil=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileError, match="not a thing"):
        read_archive(path, "form-1", "thing")
    monkeypatch.setattr(archive, "MAX_BYTES", 1000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("values.npy", bytes(100_000))
    with pytest.raises(FileError, match="unpacks to"):
        read_archive(path, "form-1", "thing")


def test_a_failed_write_leaves_the_old_file(path):
    before = path.read_bytes()

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["a.npz"]


def test_reading_passes_its_own_errors_on(path):
    with pytest.raises(FileError, match="said so"), reading(path, "thing"):
        raise FileError(path, "said so")
    with pytest.raises(FileError, match="not a thing"), reading(path, "thing"):
        raise KeyError("missing")
