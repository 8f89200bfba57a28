"""Rubbish given to every command ends in one sentence and exit code 2, never in a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pliant.cli import COMMANDS, main

# {file} is a file of rubbish, {folder} an empty folder, {h5}, {model} and {npz} rubbish with the right name.
RUBBISH = {
    "robots": ["extra"],
    "info": ["", "no_such_robot", "{folder}", "{file}", "{model}", "finger --with size=-1", "finger --with size=nan",
             "trunk --with sections=0", "finger --save {file}/x"],
    "simulate": ["", "no_such_robot", "finger --set cable=nan", "finger --set cable=", "finger --set =1",
                 "finger --set cable=1e400", "finger --sweep cable=1:2:three", "finger --duration -1",
                 "finger --duration nan", "finger --duration 0.1 --dt 0", "finger --steps 0", "finger --model nonsense",
                 "finger --model rod", "catheter --model fem", "catheter --element quadratic", "finger --model {model}",
                 "finger --out run.txt", "finger --html page.png", "finger --picture x.nonsense"],
    "reach": ["", "trunk --picture x.png", "trunk --search multistart", "trunk --point nose",
              "trunk --port 0 --no-browser", "trunk --obstacle blob:1", "trunk --obstacle sphere:1,2,3mm",
              "trunk --obstacle sphere:0,0,0,-1mm", "trunk --obstacle sphere:a,b,c,d", "trunk --obstacle sphere:",
              "trunk --obstacle sphere:1mm,2mm,3mm,1mm", "trunk --obstacle plane:0,0,0,0,0,0",
              "trunk --obstacle no.stl", "trunk --obstacle sphere:0,0,0,1kPa",
              "trunk --target 1,2", "trunk --target a,b,c", "trunk --target nan,0,0",
              "trunk --path {file}", "trunk --target 1e308,0,0", "trunk --target 0,0,1e10mm",
              "trunk --path {folder}", "trunk --target 0,0,0 --point nose", "--target 0,0,0",
              "--model {model} --target 0,0,0", "{model} --model {model} --target 0,0,0",
              "trunk --model nothing.pliant --target 0,0,0", "trunk --target 0,0,0 --out x",
              "trunk --target 0,0,0 --tolerance 0", "trunk --target 0,0,0 --tolerance 1kPa"],
    "compare": ["", "no_such_robot", "octopus_arm", "finger --set cable=x", "{folder}", "finger --picture x.jpg"],
    "sample": ["", "finger", "finger --out {folder}/x.h5 --range cable", "finger --out {folder}/x.h5 --range cable=2:1",
               "finger --out {folder}/x.h5 --range rope=0:1", "no_such_robot --out {folder}/x.h5",
               "finger --out {h5} --count 2 --workers 0",
               "constant-curvature-arm --out {folder}/x.h5 --count 0"],
    "train": ["", "{h5} --out {folder}/m.pliant", "nothing.h5 --out {folder}/m.pliant",
              "{h5} --out {folder}/m.pliant --hidden a,b"],
    "transfer": ["", "{model} --virtual 1 --out {folder}/m.pliant", "{model} --out {folder}/m.pliant",
                 "nothing.pliant --virtual 1 --out {folder}/m.pliant"],
    "report": ["", "{model} --out {folder}/r.html", "nothing.pliant --out {folder}/r.html"],
    "view": ["", "no_such_robot --no-browser", "finger --replay {npz} --no-browser",
             "finger --port 99999999 --no-browser",
             "finger --set cable=x --no-browser", "--model {model} --no-browser"],
    "mesh": ["", "blob:1", "box:1,2", "box:a,b,c", "box:-1,1,1", "{file}", "{folder}", "box:1,1,1 --size 0",
             "box:1,1,1 --size nan", "box:1e300,1,1", "box:nan,1,1", "box:1,1,1 --out {folder}/x.txt"],
    "examples": ["no_such_example", "--folder {folder}", "--folder {file}"],
    "bench": ["no_such_benchmark", "--folder {folder}"],
    "warmup": ["extra"],
}  # fmt: skip


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "empty"
    folder.mkdir()
    out = {"folder": str(folder)}
    for key, name in (
        ("file", "rubbish.txt"),
        ("h5", "rubbish.h5"),
        ("model", "rubbish.pliant"),
        ("npz", "rubbish.npz"),
    ):
        path = tmp_path / name
        path.write_bytes(b"\x00\xffhello, I am rubbish\n1,2\n")
        out[key] = str(path)
    return out


def test_every_command_is_given_rubbish() -> None:
    assert set(RUBBISH) == set(COMMANDS)


@pytest.mark.parametrize(("command", "text"), [(c, t) for c, texts in RUBBISH.items() for t in texts])
def test_rubbish(command: str, text: str, places, capsys, monkeypatch) -> None:
    import pliant.viewer.browser as browser

    def never(*args, **options):
        raise AssertionError("rubbish reached the viewer")

    monkeypatch.setattr(browser.ViewerServer, "join", never)
    argv = [command, *text.format(**places).split()]
    try:
        code = main(argv)
    except SystemExit as end:  # argparse
        code = end.code
    err = capsys.readouterr().err
    assert code == 2, err
    assert "Traceback" not in err
    assert "pliant failed" not in err
    assert err.strip()


def test_errors_are_json_too(places, capsys) -> None:
    assert main(["reach", "trunk", "--target", "1,2", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "ArgumentError"
    assert "x,y,z" in told["error"]
    assert main(["reach", "trunk", "--json"]) == 2  # a machine drags nothing
    assert "--target" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("sample constant-curvature-arm --count 8 --workers 0 --out {folder}/x.txt", ".h5"),
        ("train {h5} --out {folder}/x.txt", ".pliant"),
        ("transfer {model} --virtual 1 --out {folder}/x.txt", ".pliant"),
        ("transfer {model} --virtual 1 --out {folder}/x.pliant --save-measurements {folder}/x.txt", ".csv"),
        ("report {model} --out {folder}/x.txt", ".html"),
        ("simulate finger --picture {folder}/x.txt", ".png"),
        ("compare finger --picture {folder}/x.txt", ".png"),
    ],
)
def test_endings_of_files_are_checked_before_anything_is_read(text, ending, places, capsys) -> None:
    assert main(text.format(**places).split()) == 2
    assert f"ends in {ending}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "simulate finger --out {place}",
        "reach finger --target 0,0,0 --out {place}",
        "mesh box:1,1,1 --out {place}.vtu",
        "sample finger --out {place}.h5",
        "train {h5} --out {place}.pliant",
        "report {model} --out {place}.html",
    ],
)
@pytest.mark.parametrize("kind", ["a folder", "below a file"])
def test_what_cannot_be_written_is_refused_before_anything_is_computed(text, kind, places, tmp_path, capsys) -> None:
    text = text if "}." in text else text.replace("{place}", "{place}.npz")
    name = text.format(place=tmp_path / "taken", **places).split()[-1]
    if kind == "a folder":
        Path(name).mkdir()
    else:
        text, name = text.replace("{place}", "{place}/x"), name.replace("taken", "taken/x")
        (tmp_path / "taken").write_text("")
    before = sorted(tmp_path.rglob("*"))
    assert main(text.format(place=tmp_path / "taken", **places).split()) == 2
    err = capsys.readouterr().err
    assert "folder" in err
    assert name in err
    assert sorted(tmp_path.rglob("*")) == before


def test_the_system_s_own_complaints_are_one_sentence(capsys, monkeypatch) -> None:
    from pliant.cli import info

    def full(args):
        raise OSError(28, "No space left on device", "/tmp/run.npz")

    monkeypatch.setattr(info, "run", full)
    assert main(["info", "finger"]) == 2
    assert capsys.readouterr().err == "pliant: /tmp/run.npz: No space left on device\n"


def test_a_refused_sample_does_not_block_the_corrected_command(places, capsys) -> None:
    wrong, right = (
        f"sample constant-curvature-arm --workers 0 --count {n} --out {places['folder']}/x.h5".split() for n in (0, 8)
    )
    assert main(wrong) == 2
    assert "count" in capsys.readouterr().err
    assert main(right) == 0
