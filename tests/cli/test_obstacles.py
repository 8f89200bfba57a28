"""Obstacles from the command line, and `pliant reach` without a target: the page in which it is dragged."""

from __future__ import annotations

import json
import socket

import numpy as np
import pytest

from pliant.cli import main
from pliant.cli.obstacles import KINDS, beside, parse_obstacle
from pliant.contact import Box
from pliant.models.fem import FemModel
from pliant.robots import golden_beam
from pliant.viewer.browser import ViewerServer

SPHERE = "sphere:10,20,30,5mm"


@pytest.mark.parametrize(
    ("text", "point", "distance"),
    [
        (SPHERE, (0.01, 0.02, 0.05), 0.015),
        ("box:0,0,0.1,0.2,0.4,0.6", (0.0, 0.0, 0.5), 0.1),
        ("cylinder:0,0,0,0,0,2,1cm", (0.03, 0.0, 0.01), 0.02),
        ("capsule:0,0,0,0,0,2,1cm", (0.0, 0.0, 0.05), 0.02),
        ("plane:1,2,3,0,0,2mm", (0.5, 0.5, 0.013), 0.01),  # the unit is that of the point, not of the normal
    ],
)
def test_obstacles_are_where_their_numbers_say(text, point, distance):
    assert parse_obstacle(text).distance(np.array([point]))[0] == pytest.approx(distance)
    assert parse_obstacle(text).name == text.partition(":")[0]


def test_a_surface_file_is_an_obstacle(tmp_path):
    vertices, triangles = Box(centre=(0, 0, 0), lengths=(0.02, 0.02, 0.02)).surface()
    lines = [*(f"v {x} {y} {z}" for x, y, z in vertices), *(f"f {a} {b} {c}" for a, b, c in triangles + 1)]
    (tmp_path / "stone.obj").write_text("\n".join(lines) + "\n")
    stone = parse_obstacle(str(tmp_path / "stone.obj"))
    assert stone.name == "stone"
    assert stone.distance(np.array([[0.02, 0, 0]]))[0] == pytest.approx(0.01)


def test_the_ball_beside_a_robot_does_not_touch_it():
    model = FemModel(golden_beam())
    ball = beside(model, model.rest)
    gap = ball.distance(model.skin_positions(model.rest)).min()
    assert 0.5 * ball.radius < gap < 1.5 * ball.radius


def test_reach_leans_on_an_obstacle(capsys):
    free, wall = (
        ["reach", "golden_beam", "--target", "89.4445,-9.0660,-20.7812mm", "--json", *more]
        for more in ((), ("--obstacle", "plane:0,0,-21,0,0,1mm"))
    )
    assert main(free) == 0
    assert json.loads(capsys.readouterr().out)["contact_force"] == [0.0]
    main(wall)
    assert json.loads(capsys.readouterr().out)["contact_force"][0] > 0.0


def test_reach_without_a_target_serves_a_page_with_target_and_ball(monkeypatch, capsys):
    seen = []
    monkeypatch.setattr(ViewerServer, "join", lambda viewer: seen.append((viewer.obstacles, viewer.wait(120))))
    aimed = []
    monkeypatch.setattr(ViewerServer, "stop", lambda viewer, stop=ViewerServer.stop: (
        aimed.append(viewer._panel.aimed_targets()), stop(viewer)))  # fmt: skip
    assert main(["reach", "golden_beam", "--no-browser", "--port", "9351"]) == 0
    assert "http://localhost:9351" in capsys.readouterr().out
    (ball,), drawn = seen[0]
    assert ball.name == "ball"
    assert drawn
    assert [t.point for t in aimed[0]] == ["tip"]
    assert main(["reach", "golden_beam", "--no-browser", "--port", "9351", "--obstacle", SPHERE]) == 0
    assert [o.name for o in seen[1][0]] == ["sphere"]  # the ball is for those who name nothing


def test_every_kind_is_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["reach", "--help"])
    told = capsys.readouterr().out
    assert all(f"{kind}:" in told for kind in KINDS)


def test_a_port_that_is_taken_is_said(monkeypatch, capsys):
    monkeypatch.setattr(ViewerServer, "join", lambda viewer: None)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 9352))
        other.listen()
        assert main(["reach", "golden_beam", "--no-browser", "--port", "9352"]) == 0
    assert "http://localhost:9353  (port 9352 is taken, Ctrl-C ends)" in capsys.readouterr().out


def test_metres_meant_as_millimetres_are_pointed_out(capsys):
    assert main(["reach", "golden_beam", "--target", "89,-9,-20"]) == 1
    assert "Positions are in m" in capsys.readouterr().out


def test_a_command_beyond_reason_is_explained(capsys):
    assert main(["simulate", "golden_beam", "--set", "cable1=18"]) == 1
    told = capsys.readouterr().out
    assert "cannot be pulled in by 18 m" in told
    assert "try more steps" not in told
