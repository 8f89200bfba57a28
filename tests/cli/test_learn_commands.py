"""pliant sample, train, transfer, report: from nothing to a page, from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pliant.cli import main
from pliant.models.learned import LearnedModel


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    names = {n: str(folder / n) for n in ("arm.h5", "arm.pliant", "real.pliant", "report.html", "m.csv")}
    assert main(["sample", "chamber-arm", "--per-axis", "4", "--workers", "0", "--out", names["arm.h5"]]) == 0
    assert (
        main(["train", names["arm.h5"], "--hidden", "10,10", "--iterations", "20", "--out", names["arm.pliant"]]) == 0
    )
    return names


def test_transfer_and_report(files, capsys):
    code = main(
        [
            "transfer",
            files["arm.pliant"],
            "--virtual",
            "1",
            "--count",
            "30",
            "--out",
            files["real.pliant"],
            "--save-measurements",
            files["m.csv"],
            "--json",
        ]
    )
    found = json.loads(capsys.readouterr().out)
    assert code == (0 if found["accepted"] else 1)
    assert found["samples"] == 30
    again = ["transfer", files["arm.pliant"], "--measurements", files["m.csv"], "--out", files["real.pliant"], "--json"]
    main(again)
    assert json.loads(capsys.readouterr().out)["errors"] == found["errors"]
    assert main(["report", files["real.pliant"], "--data", files["arm.h5"], "--out", files["report.html"]]) == 0
    assert "<html" in Path(files["report.html"]).read_text()


def test_reach_takes_a_learned_model(files, capsys):
    assert main(["reach", files["arm.pliant"], "--target", "0.01,0,0.128", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["status"] == "converged"
    assert first["effort"] is None  # it has no mechanics, and does not pretend to
    # the same model named by --model, without and with the robot that it was learned from
    for robot in ([], [LearnedModel.load(files["arm.pliant"]).robot.name]):
        assert main(["reach", *robot, "--model", files["arm.pliant"], "--target", "0.01,0,0.128", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["command"] == first["command"]
    assert main(["reach", "--model", files["arm.pliant"], "--target", "0.01,0,0.128"]) == 0
    assert "effort" not in capsys.readouterr().out
    assert main(["reach", "trunk", "--model", files["arm.pliant"], "--target", "0,0,0.1"]) == 2
    assert "was learned from" in capsys.readouterr().err
    assert main(["reach", "--target", "0,0,0.1"]) == 2
    assert "--model FILE.pliant" in capsys.readouterr().err


def test_mistakes_are_explained(files, capsys):
    assert main(["train", files["arm.pliant"], "--out", "x.pliant"]) == 2
    assert main(["train", files["arm.h5"], "--hidden", "a,b", "--out", "x.pliant"]) == 2
    assert main(["transfer", files["arm.pliant"], "--out", "x.pliant"]) == 2
    assert main(["report", files["arm.h5"], "--out", "x.html"]) == 2
    assert main(["sample", "chamber-arm", "--per-axis", "2", "--range", "chamber1=0", "--out", "x.h5"]) == 2
    assert "pliant:" in capsys.readouterr().err
