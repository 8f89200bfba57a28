"""Datasets: what is written is read back; broken and hostile files are refused."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from pliant.errors import ArgumentError, FileError
from pliant.learn import Dataset


@pytest.fixture
def saved(curved_data, tmp_path):
    return curved_data.save(tmp_path / "d.h5")


def test_round_trip(curved_data, saved):
    again = Dataset.load(saved)
    for f in ("u", "position", "rotation", "jacobian", "ranges"):
        assert np.array_equal(getattr(again, f), getattr(curved_data, f))
    assert again.status == curved_data.status
    assert again.points == ("tip",)
    assert again.facts["plan"] == "grid"


def test_the_file_is_chunked_hdf5_that_others_read(saved):
    with h5py.File(saved) as f:
        assert f["jacobian"].chunks is not None
        assert f["u"].shape == (216, 3)


def test_split_is_disjoint_and_complete(curved_data):
    a, b = curved_data.split(0.7, seed=1)
    assert len(a) + len(b) == len(curved_data)
    assert not {tuple(r) for r in a.u} & {tuple(r) for r in b.u}


def test_truncated_files_are_refused(saved, tmp_path):
    data = saved.read_bytes()
    for k, cut in enumerate((0, 7, len(data) // 3, len(data) - 100)):
        path = tmp_path / f"t{k}.h5"
        path.write_bytes(data[:cut])
        with pytest.raises(FileError):
            Dataset.load(path)


def test_flipped_bytes_never_pass_silently(saved, tmp_path, curved_data):
    rng = np.random.default_rng(0)
    data = bytearray(saved.read_bytes())
    for k in range(12):
        broken = data.copy()
        for i in rng.integers(0, len(data), 40):
            broken[i] ^= 0xFF
        path = tmp_path / f"b{k}.h5"
        path.write_bytes(bytes(broken))
        try:
            again = Dataset.load(path)
        except FileError:
            continue
        assert np.array_equal(again.position, curved_data.position)  # only unused bytes were hit


def test_hostile_files_are_refused(saved, tmp_path):
    def change(name, edit):
        path = tmp_path / f"{name}.h5"
        path.write_bytes(saved.read_bytes())
        with h5py.File(path, "r+") as f:
            edit(f)
        return path

    def replace(f, name, data):
        del f[name]
        f[name] = data

    def elsewhere(f):
        del f["u"]
        f["u"] = h5py.ExternalLink("/etc/passwd", "u")

    def outside(f):
        del f["u"]
        f.create_dataset("u", (216, 3), dtype="f8", external=[("/etc/passwd", 0, h5py.h5f.UNLIMITED)])

    def huge(f):
        del f["u"]
        f.create_dataset("u", (10**12, 3), dtype="f8", chunks=(1000, 3))

    cases = {
        "link": elsewhere,
        "external": outside,
        "huge": huge,
        "missing": lambda f: f.__delitem__("jacobian"),
        "format": lambda f: f.attrs.__setitem__("format", "something"),
        "header": lambda f: f.attrs.__setitem__("header", "{not json"),
        "shape": lambda f: replace(f, "position", np.zeros((3, 1, 3))),
        "text": lambda f: replace(f, "u", np.array([b"x"] * 216)),
        "status": lambda f: replace(f, "status", np.full(216, 250, np.uint8)),
        "nan": lambda f: replace(f, "u", np.full((216, 3), np.nan)),
        "group": lambda f: (f.__delitem__("u"), f.create_group("u")),
    }
    for name, edit in cases.items():
        with pytest.raises(FileError):
            Dataset.load(change(name, edit))
    with pytest.raises(FileError):
        Dataset.load(tmp_path / "nothing.h5")


def test_arrays_that_do_not_belong_together_are_refused(curved_data):
    from dataclasses import replace

    with pytest.raises(ArgumentError, match="position"):
        replace(curved_data, position=curved_data.position[:5])
