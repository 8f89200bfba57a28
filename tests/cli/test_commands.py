import json
from pathlib import Path

import numpy as np
import pytest

from pliant import robots
from pliant.cli import main, warmup
from pliant.cli.inputs import parse_commands, parse_point, parse_sweep
from pliant.errors import ArgumentError, UnknownNameError
from pliant.geometry import TetMesh, write_mesh, write_surface
from pliant.trajectory import Trajectory

GOLDEN = ("--set", "cable1=5mm,cable2=10mm", "--set", "cable3=0.015")


def run_json(capsys, *argv: object) -> tuple[int, dict]:
    code = main([*map(str, argv), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_info(capsys, tmp_path: Path) -> None:
    assert main(["info", "tower"]) == 0
    out = capsys.readouterr().out
    assert "chamber4" in out
    assert "source" in out
    code, data = run_json(capsys, "info", "finger", "--with", "size=0.0075", "--save", tmp_path / "f")
    assert code == 0
    assert data["bodies"][0]["nodes"] == 180
    assert data["actuators"][0]["limits"] == [0, pytest.approx(0.039)]
    code, again = run_json(capsys, "info", tmp_path / "f")
    assert again["bodies"][0]["nodes"] == 180
    assert main(["info", str(tmp_path / "f" / "robot.toml")]) == 0


@pytest.mark.parametrize("option", ["sise=1", "size", "size=big", "cables=1.5", "material=1"])
def test_wrong_parameters(option: str, capsys) -> None:
    assert main(["info", "finger", "--with", option]) == 2
    assert "--with" in capsys.readouterr().err


def test_robot_file_with_mistakes(capsys, tmp_path: Path) -> None:
    assert main(["info", str(tmp_path / "robot.toml")]) == 2
    robots.golden_beam().save(tmp_path)
    toml = tmp_path / "robot.toml"
    toml.write_text(toml.read_text().replace("poisson", "poison").replace('nodes = "base"', 'nodes = "bass"'))
    assert main(["info", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "poison" in err
    assert "Did you mean 'poisson'" in err


def test_simulate_golden(capsys) -> None:
    code, data = run_json(capsys, "simulate", "golden_beam", *GOLDEN)
    assert code == 0
    assert data["status"] == "converged"
    np.testing.assert_allclose(data["points"]["tip"][-1], [0.0894445, -0.0090660, -0.0207812], atol=6e-8)
    assert data["effort"]["cable3"][-1] == pytest.approx(3.27295, abs=2e-5)
    assert main(["simulate", "golden_beam", *GOLDEN]) == 0
    assert "89.44" in capsys.readouterr().out


def test_simulate_writes_files(capsys, tmp_path: Path) -> None:
    files = [tmp_path / n for n in ("run.npz", "x.png", "x.html")]
    code, data = run_json(
        capsys, "simulate", "golden_beam", "--sweep", "cable1=0:5mm:3",
        "--out", files[0], "--picture", files[1], "--html", files[2],
    )  # fmt: skip
    assert code == 0
    assert data["states"] == 3
    assert data["files"] == [str(f) for f in files]
    assert len(Trajectory.load(files[0])) == 3
    assert files[1].read_bytes()[:4] == b"\x89PNG"
    assert b"<html" in files[2].read_bytes()[:2000].lower()


def test_simulate_motion(capsys) -> None:
    code, data = run_json(
        capsys, "simulate", "golden_beam", "--set", "cable1=1mm", "--duration", 0.03, "--dt", 0.01
    )
    assert code == 0
    assert data["time"][-1] == pytest.approx(0.03)


def test_simulate_says_when_it_fails(capsys, monkeypatch) -> None:
    import pliant.solve.simulate as module
    from pliant.solve.equilibrium import equilibrium
    from pliant.state import Status

    monkeypatch.setattr(
        module, "equilibrium", lambda *a, **k: equilibrium(*a, **k).but(status=Status.STALLED)
    )
    code, data = run_json(capsys, "simulate", "golden_beam", "--set", "cable1=1mm")
    assert code == 1
    assert data["ok"] is False
    assert data["failed"] == [0]


@pytest.mark.parametrize(
    "argv",
    [
        ("--set", "cable1"),
        ("--set", "cable9=1"),
        ("--set", "cable1=lots"),
        ("--set", "cable1=1kPa"),
        ("--sweep", "cable1=0:1"),
        ("--sweep", "cable1=0:1:1"),
        ("--sweep", "cable1=0:1mm:3,cable2=0:1mm:4"),
        ("--steps", "0"),
        ("--sweep", "cable1=0:1mm:3", "--duration", "1"),
    ],
)
def test_wrong_input(argv: tuple[str, ...], capsys) -> None:
    assert main(["simulate", "golden_beam", *argv]) == 2
    err = capsys.readouterr().err
    assert err.startswith("pliant: ")
    assert "Valid" in err


def test_values_and_units() -> None:
    robot = robots.accordion()
    assert parse_commands(robot, ["chamber=0.2bar"]) == {"chamber": pytest.approx(20e3)}
    assert parse_commands(robots.finger(), ["cable=1.8cm"]) == {"cable": pytest.approx(0.018)}
    sweep = parse_sweep(robot, ["chamber=0:20kPa:3"])
    assert [s["chamber"] for s in sweep] == pytest.approx([0, 1e4, 2e4])
    assert parse_point("p", "50, 20,180mm") == pytest.approx((0.05, 0.02, 0.18))
    with pytest.raises(ArgumentError):
        parse_point("p", "1,2")
    with pytest.raises(ArgumentError):
        parse_point("p", "1,2,3kPa")
    with pytest.raises(UnknownNameError):
        parse_commands(robot, ["x=1"])


def test_reach(capsys, tmp_path: Path) -> None:
    code, data = run_json(capsys, "reach", "golden_beam", "--target", "89.4445,-9.0660,-20.7812mm")
    assert code == 0
    assert max(data["error"]) < 1e-6
    np.testing.assert_allclose(
        [data["command"][f"cable{i}"][-1] for i in (1, 2, 3)], [5e-3, 10e-3, 15e-3], atol=1e-6
    )
    _, data = run_json(capsys, "reach", "golden_beam", "--target", "89.4445,-9.0660,-20.7812mm", "--set", "cable1=6mm")
    assert data["command"]["cable1"][-1] == pytest.approx(6e-3, rel=1e-6)
    path = tmp_path / "path.csv"
    path.write_text("x,y,z\n0.099,0,-0.002\n0.098,0.001,-0.004 # bend\n\n")
    code, data = run_json(capsys, "reach", "golden_beam", "--path", path, "--out", tmp_path / "r.npz")
    assert code == 0
    assert data["states"] == 2
    assert max(data["error"]) < 1e-6


def test_reach_in_all_combinations(capsys, tmp_path: Path) -> None:
    path = tmp_path / "path.csv"
    path.write_text("x;y;z\n0.099;0;-0.002\n0.098 0.001 -0.004\n98,0,-3mm\n")
    target = ("--target", "0.099,0,-0.001")
    for options, states in ((target, 1), (("--path", path), 3), ((*target, "--path", path), 4)):
        code, data = run_json(capsys, "reach", "golden_beam", *options)
        assert code == 0
        assert data["states"] == states
        assert max(data["error"]) < 1e-6
        assert main(["reach", "golden_beam", *map(str, options)]) == 0
        assert "from the target" in capsys.readouterr().out
    assert data["target"][0] == [0.099, 0.0, -0.001]
    np.testing.assert_allclose(data["target"][3], [0.098, 0.0, -0.003])


def test_reach_says_when_the_target_is_out_of_reach(capsys) -> None:
    code, data = run_json(capsys, "reach", "golden_beam", "--target", "0.14,0,0.02")
    assert code == 1
    assert not data["reached"]
    assert "was not reached" in data["status"]
    assert data["error"][0] > 0.02
    code, data = run_json(capsys, "reach", "golden_beam", "--target", "0.14,0,0.02", "--tolerance", "10cm")
    assert code == 0
    assert data["reached"]


def test_reach_looks_from_other_poses_on_request(capsys, tmp_path: Path) -> None:
    far = ("reach", "printed_link", "--target", "0,0,1")
    assert main([*far]) == 1
    assert "--search multistart" in capsys.readouterr().out
    code, data = run_json(capsys, *far, "--search", "multistart")
    assert code == 1
    assert data["iterations"] > 20
    (tmp_path / "odd.csv").write_text("0.01,nan,0.19\n")
    assert main(["reach", "printed_link", "--path", str(tmp_path / "odd.csv")]) == 2
    assert "line 1, '0.01,nan,0.19'" in capsys.readouterr().err


def test_reach_wrong_input(capsys, tmp_path: Path) -> None:
    path = tmp_path / "path.csv"
    path.write_text("x,y,z\n1,2,3\n1,2\nhello\n")
    for argv in (
        ["--set", "cable1=6mm"],
        ["--target", "0,0,0", "--set", "rope=6mm"],
        ["--search", "multistart"],  # without a target it would open the page
        ["--target", "0,0"],
        ["--path", str(path)],
        ["--path", "nowhere.csv"],
        ["--target", "0,0,0", "--point", "nose"],
    ):
        assert main(["reach", "golden_beam", *argv]) == 2
    assert "line 3" in capsys.readouterr().err


def test_mesh(capsys, tmp_path: Path) -> None:
    code, data = run_json(capsys, "mesh", "box:0.05,0.02,0.02", "--size", 0.01, "--out", tmp_path / "b.vtu")
    assert code == 0
    assert data["usable"]
    assert data["volume"] == pytest.approx(2e-5, rel=0.05)
    code, again = run_json(capsys, "mesh", tmp_path / "b.vtu")
    assert again["tets"] == data["tets"]
    box = TetMesh.box((20, 20, 20), (3, 3, 3))
    write_surface(box.nodes, box.boundary(), tmp_path / "s.stl")
    code, data = run_json(capsys, "mesh", tmp_path / "s.stl", "--units", "mm", "--size", 0.006)
    assert code == 0
    assert data["volume"] == pytest.approx(8e-6, rel=0.05)


def test_mesh_that_cannot_be_simulated(capsys, tmp_path: Path) -> None:
    bad = TetMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1, 3]])
    write_mesh(bad, tmp_path / "bad.vtu")
    code, data = run_json(capsys, "mesh", tmp_path / "bad.vtu")
    assert code in (0, 1)
    assert data["usable"] == (code == 0)
    for source in ("blob:1", "box:1", "box:a,b,c", "nothing.stl", "nothing.vtu"):
        assert main(["mesh", source]) == 2


def test_scripts(capsys, tmp_path: Path) -> None:
    (tmp_path / "01_first.py").write_text(
        '"""A first one.\n\nMore."""\n\n\ndef main():\n    print("hello")\n    return 4.5\n'
    )
    (tmp_path / "02_second.py").write_text('"""Another."""\n')
    for command in ("examples", "bench"):
        assert main([command, "--folder", str(tmp_path)]) == 0
        assert "A first one." in capsys.readouterr().out
        code, data = run_json(capsys, command, "01", "--folder", tmp_path)
        assert code == 0
        assert data["result"] == 4.5
        assert main([command, "02_second", "--folder", str(tmp_path)]) == 2
        assert main([command, "zzz", "--folder", str(tmp_path)]) == 2
        assert main([command, "--folder", str(tmp_path / "none")]) == 2


def test_warmup_reports_failures(capsys, monkeypatch) -> None:
    def fail() -> None:
        raise ValueError("broken")

    def missing() -> None:
        raise ImportError("no such part")

    monkeypatch.setattr(warmup, "tasks_available", lambda: {"good": lambda: None, "gone": missing})
    assert main(["warmup"]) == 0
    monkeypatch.setattr(warmup, "tasks_available", lambda: {"good": lambda: None, "bad": fail})
    capsys.readouterr()
    code, data = run_json(capsys, "warmup")
    assert code == 1
    assert "broken" in data["tasks"]["bad"]["problem"]


def test_warmup_is_shared_by_two_processes(capsys, monkeypatch) -> None:
    done: list[str] = []
    names = list(warmup.tasks_available())
    monkeypatch.setattr(warmup, "tasks_available", lambda: {n: (lambda n=n: done.append(n)) for n in names})
    halves = []
    for share in ("1/2", "2/2"):
        assert main(["warmup", "--share", share]) == 0
        halves.append(done.copy())
        done.clear()
    assert halves[0] and halves[1]
    assert sorted(halves[0] + halves[1]) == sorted(names)
    capsys.readouterr()
    assert main(["warmup"]) == 0
    assert done == names


def test_view_is_called(monkeypatch, tmp_path: Path, capsys) -> None:
    import pliant.viewer.browser as browser

    seen = []
    monkeypatch.setattr(browser, "view", lambda model, shown, **options: seen.append((model, shown, options)))
    assert main(["view", "golden_beam", "--set", "cable1=1mm", "--no-browser", "--port", "9000"]) == 0
    assert main(["view", "golden_beam", "--sweep", "cable1=0:1mm:2"]) == 0
    assert main(["view", "golden_beam"]) == 0
    assert seen[0][1].u[0] == 1e-3
    assert seen[0][2] == {"obstacles": (), "host": "127.0.0.1", "port": 9000, "open_browser": False}
    assert len(seen[1][1]) == 2
    assert seen[2][1] is None
    main(["simulate", "beam", "--out", str(tmp_path / "r.npz")])
    assert main(["view", "beam", "--replay", str(tmp_path / "r.npz")]) == 0
    assert main(["view", "golden_beam", "--replay", str(tmp_path / "r.npz")]) == 2
    assert main(["view", "beam", "--replay", str(tmp_path / "none.npz")]) == 2
