"""Ctrl-C in the middle of a computation: exit code 130, one word, and no file that is half there."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LONG = {
    "simulate": "trunk --sweep long1=0:30mm:4000 --out x.npz --html x.html --picture x.png",
    "reach": "trunk --path p.csv --out x.npz",
    "mesh": "sphere:0.1 --size 0.003 --out x.vtu",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG)
def test_nothing_is_half_written(command: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("0.04,0,0.18\n0,0.04,0.18\n" * 4000)
    process = subprocess.Popen(
        [sys.executable, "-m", "pliant.cli", command, *LONG[command].split()],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(4.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err
    assert [p.name for p in tmp_path.iterdir()] == ["p.csv"]
