"""Compiled code is dropped when something that it calls has changed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pliant._kernels
from pliant._kernels.freshness import drop_stale

KERNELS = Path(pliant._kernels.__file__).parent


@pytest.fixture
def folder(tmp_path):
    """Kernels `low` <- `middle` <- `high`, and `apart`, each with a compiled function."""
    (tmp_path / "low.py").write_text("x = 1\n")
    (tmp_path / "middle.py").write_text("from pliant._kernels.low import (\n    x,\n)\n")
    (tmp_path / "high.py").write_text("from pliant._kernels import middle  # noqa\n")
    (tmp_path / "apart.py").write_text("y = 2\n")
    drop_stale(tmp_path)
    for name in ("low", "middle", "high", "apart"):
        (tmp_path / "__pycache__" / f"{name}.f-1.py311.nbi").write_text("")
        (tmp_path / "__pycache__" / f"{name}.f-1.py311.1.nbc").write_text("")
    return tmp_path


def compiled(folder):
    return {f.name.split(".")[0] for f in (folder / "__pycache__").glob("*.nb?")}


def test_nothing_changed_nothing_dropped(folder):
    assert drop_stale(folder) == []
    assert compiled(folder) == {"low", "middle", "high", "apart"}


def test_callers_of_what_changed_are_dropped_and_no_others(folder):
    (folder / "low.py").write_text("x = 10\n")
    assert drop_stale(folder) == ["high", "low", "middle"]
    assert compiled(folder) == {"apart"}
    assert drop_stale(folder) == []


def test_a_file_that_is_gone_or_only_older_counts_as_changed(folder):
    os.utime(folder / "middle.py", ns=(0, 0))
    assert drop_stale(folder) == ["high", "middle"]
    (folder / "low.py").unlink()
    assert drop_stale(folder) == ["high", "low", "middle"]


@pytest.mark.parametrize("content", ["", "{", "[1]", "\x00"])
def test_a_broken_record_drops_everything(folder, content):
    (folder / "__pycache__" / "stamps.json").write_text(content)
    drop_stale(folder)
    assert compiled(folder) == set()
    assert drop_stale(folder) == []


@pytest.mark.parametrize("refused", ["unlink", "mkdir"])
def test_a_folder_that_may_not_be_written_is_left_alone(folder, refused, monkeypatch):
    """numba then keeps its code elsewhere, by user."""

    def refuse(*_, **__):
        raise PermissionError("read-only")

    (folder / "low.py").write_text("x = 10\n")
    monkeypatch.setattr(Path, refused, refuse)
    assert drop_stale(folder) == ["high", "low", "middle"]
    assert drop_stale(folder) == ["high", "low", "middle"]  # not recorded: looked at again


def test_kernels_import_each_other_in_the_form_that_is_understood():
    odd = re.compile(r"^\s*(import pliant\._kernels|from \.|from pliant import)", re.MULTILINE)
    assert [f.name for f in KERNELS.glob("*.py") if odd.search(f.read_text())] == []


def test_a_changed_callee_is_called_by_a_new_process(tmp_path):
    """As after `git pull`: the caller's file stays, the callee's changes. numba alone would run the old code."""
    package = tmp_path / "pliant" / "_kernels"
    package.mkdir(parents=True)
    (tmp_path / "pliant" / "__init__.py").write_text("")
    for name in ("__init__.py", "freshness.py"):
        (package / name).write_text((KERNELS / name).read_text())
    header = "from numba import njit\n"
    (package / "caller.py").write_text(
        header + "from pliant._kernels.callee import f\n@njit(cache=True)\ndef g(x):\n    return f(x)\n"
    )

    def result(factor):
        (package / "callee.py").write_text(header + f"@njit(cache=True)\ndef f(x):\n    return {factor} * x\n")
        run = "from pliant._kernels.caller import g; print(g(2.0))"
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"PYTHONPATH": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", run], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return float(done.stdout)

    assert result(3.0) == 6.0
    assert result(50.0) == 100.0
