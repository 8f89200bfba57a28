"""`pliant compare` reports both models on the same inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pliant import robots
from pliant.cli import main

RODS = ("catheter", "octopus_arm", "elephant_trunk", "four_segment_arm", "printed_link", "six_link")
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


def test_a_robot_of_the_catalogue_has_a_command_of_its_own(capsys) -> None:
    assert main(["compare", "tower", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["command"] == {"chamber1": 20e3}
    assert data["largest_difference_relative"] < 0.03


def test_what_cannot_be_compared_is_said(capsys, tmp_path: Path) -> None:
    assert main(["compare", "catheter"]) == 2
    assert "no soft body" in capsys.readouterr().err
    assert main(["compare", "dielectric_crawler"]) == 2
    assert "dielectric_layer" in capsys.readouterr().err
    folder = robots.golden_beam().save(tmp_path / "beam").parent
    assert main(["compare", str(folder)]) == 2
    assert "--set" in capsys.readouterr().err


SOLID = [n for n in robots.catalogue() if n not in ("dielectric_crawler", *RODS)]


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLID)
def test_every_solid_robot_of_the_catalogue(name: str, capsys, tmp_path: Path) -> None:
    picture = tmp_path / "both.png"
    assert main(["compare", name, "--json", "--picture", str(picture)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["largest_difference_relative"] < 0.03  # the bar of the project, of the robot's size
    assert min(data[m][k] for m in ("fem", "geometric") for k in ("seconds", "memory_bytes")) > 0
    assert picture.stat().st_size > 10_000
