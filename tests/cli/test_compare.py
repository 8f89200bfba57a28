"""`pliant compare` reports both models on the same inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pliant.cli import main

FINGER = ("compare", "finger", "--with", "size=0.0075", "--set", "cable=8mm")


def test_poses_times_and_memory(capsys) -> None:
    assert main([*FINGER, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["robot"] == "finger"
    for row in (data["fem"], data["geometric"]):
        assert row["status"] == "converged"
        assert row["seconds"] > 0
        assert row["memory_bytes"] > 0
        assert row["effort"][0] > 0
    assert 0 <= data["point_difference_m"]["tip"] <= data["largest_difference_m"] * (1 + 1e-9) + 1e-12
    assert data["largest_difference_relative"] < 0.03
    assert data["geometric"]["effort"][0] == pytest.approx(data["fem"]["effort"][0], rel=0.1)


def test_text_and_picture(capsys, tmp_path: Path) -> None:
    picture = tmp_path / "both.png"
    assert main([*FINGER, "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    for word in ("FEM", "geometric", "tip", "mm apart", "largest difference", str(picture)):
        assert word in out
    import matplotlib.image

    image = matplotlib.image.imread(picture)
    assert image.shape[0] == pytest.approx(2 * 520, rel=0.02)  # one above the other
    assert image.std() > 0.01


def test_wrong_inputs(capsys) -> None:
    assert main(["compare", "fingr"]) == 2
    assert "finger" in capsys.readouterr().err
    assert main(["compare", "finger", "--set", "rope=1mm"]) == 2
    assert "cable" in capsys.readouterr().err
