import json
import re
import shlex
import subprocess
import sys

import pytest

from pliant import robots
from pliant.cli import COMMANDS, build_parser, main


def run(capsys, *argv: str) -> tuple[int, str, str]:
    code = main(list(argv))
    out = capsys.readouterr()
    return code, out.out, out.err


def run_json(capsys, *argv: str) -> tuple[int, dict]:
    code, out, _ = run(capsys, *argv, "--json")
    return code, json.loads(out)


def test_help_is_quick() -> None:
    code = (
        "import sys; from pliant.cli import build_parser; build_parser().format_help();"
        "bad = {'numba', 'numpy', 'scipy', 'rich', 'viser'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    told = capsys.readouterr().out
    assert command in told
    assert "exit codes: 0 success" in told


def subparsers() -> dict:
    return next(a for a in build_parser()._actions if hasattr(a, "choices") and a.choices).choices


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_does(command: str) -> None:
    assert all(a.help for a in subparsers()[command]._actions)


def shown_lines() -> list[str]:
    """The examples in the help of all commands, without their remarks."""
    texts = [build_parser().description, *(p.description for p in subparsers().values())]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return [re.split(r"  +| &", line)[0] for line in lines if line.startswith("pliant ")]


def test_examples_in_help_can_be_typed() -> None:
    lines = shown_lines()
    assert len(lines) > 40
    assert {line.split()[1] for line in lines} == set(COMMANDS)
    for line in lines:
        args = build_parser().parse_args(shlex.split(line)[1:])
        swept = getattr(args, "sweep", None) or []
        given = [*getattr(args, "values", []), *getattr(args, "ranges", []), *swept]
        names = [part.partition("=")[0] for text in given for part in text.split(",")]
        if names:
            actuators = robots.get(args.robot)().actuator_names
            assert set(names) <= set(actuators), line


def test_no_command_prints_help(capsys) -> None:
    code, out, _ = run(capsys)
    assert code == 2
    assert "first steps" in out


def test_version(capsys) -> None:
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert out.startswith("pliant ")


def test_unknown_command() -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["fly"])
    assert stopped.value.code == 2


def test_errors_are_one_sentence(capsys) -> None:
    code, out, err = run(capsys, "info", "fingr")
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert "finger" in err
    assert "Traceback" not in err


def test_errors_as_json(capsys) -> None:
    code, data = run_json(capsys, "info", "fingr")
    assert code == 2
    assert data["kind"] == "ArgumentError"


def test_debug_shows_where() -> None:
    with pytest.raises(ValueError, match="fingr"):
        main(["info", "fingr", "--debug"])


def test_own_mistakes_are_called_so(capsys, monkeypatch) -> None:
    monkeypatch.setattr(robots, "catalogue", lambda: 1 / 0)
    code, _, err = run(capsys, "robots")
    assert code == 3
    assert "pliant failed: ZeroDivisionError" in err


def test_robots(capsys) -> None:
    code, out, _ = run(capsys, "robots")
    assert code == 0
    assert "finger" in out
    code, data = run_json(capsys, "robots")
    assert set(data["robots"]) == set(robots.catalogue())


def test_options_before_the_command(capsys) -> None:
    code = main(["--json", "robots"])
    assert code == 0
    assert "robots" in json.loads(capsys.readouterr().out)


def test_parser_has_all_commands() -> None:
    text = build_parser().format_help()
    assert all(c in text for c in COMMANDS)
