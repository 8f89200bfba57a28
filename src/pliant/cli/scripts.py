"""Running the numbered scripts that come with the source: examples and benchmarks."""

from __future__ import annotations

import argparse
import ast
import contextlib
import runpy
import sys
import time
from pathlib import Path

from pliant.cli.console import emit, table
from pliant.errors import FileError, UnknownNameError


def add_script(parser: argparse.ArgumentParser, kind: str) -> None:
    """The argument NAME and the folder."""
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help=f"{kind} to run; its number or the start of its name is enough",
    )
    parser.add_argument(
        "--folder", metavar="FOLDER", help=f"where the {kind}s are, if not in the source of pliant"
    )


def run_scripts(args: argparse.Namespace, folder: str, kind: str) -> int:
    """List the scripts of a folder, or run the one that is named."""
    scripts = find_scripts(args.folder, folder, kind)
    if args.name is None:
        data = {name: summary(path) for name, path in scripts.items()}
        command = "examples" if kind == "example" else "bench"
        lines = [
            *table(list(data.items()), head=(kind, "what it shows")),
            "",
            f"pliant {command} NAME runs one.",
        ]
        emit(args, {f"{kind}s": data}, lines)
        return 0
    matches = [n for n in scripts if n == args.name] or [n for n in scripts if n.startswith(args.name)]
    matches = matches or [n for n in scripts if args.name in n]
    if len(matches) != 1:
        raise UnknownNameError(kind, args.name, matches or scripts)
    path = scripts[matches[0]]
    begin = time.perf_counter()
    with (
        script_path(path.parent),
        contextlib.redirect_stdout(sys.stderr if getattr(args, "json", False) else sys.stdout),
    ):
        main = runpy.run_path(str(path)).get("main")
        if not callable(main):
            raise FileError(path, "it has no function main()")
        result = main()
    elapsed = time.perf_counter() - begin
    lines = [f"{matches[0]}: {elapsed:.1f} s"]
    if isinstance(result, int | float | str):
        lines[0] += f", result {result:.6g}" if isinstance(result, float) else f", result {result}"
    emit(args, {"name": matches[0], "result": result, "elapsed": elapsed}, lines)
    return 0


def find_scripts(given: str | None, folder: str, kind: str) -> dict[str, Path]:
    """Name -> path of the scripts of a folder."""
    import pliant

    source = Path(pliant.__file__).resolve().parents[2]
    places = [Path(given)] if given else [source / folder, Path.cwd() / folder]
    for place in places:
        found = {p.stem: p for p in sorted(place.glob("*.py")) if not p.name.startswith("_")}
        if found:
            return found
    raise FileError(
        places[0],
        f"there are no {kind}s; they come with the source of pliant (name their folder with --folder)",
    )


def summary(path: Path) -> str:
    """First line of a script's docstring, read without running it."""
    try:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    except (SyntaxError, ValueError, OSError):
        return "(cannot be read)"
    return text.splitlines()[0] if text else ""


@contextlib.contextmanager
def script_path(folder: Path):
    """Let a script import its neighbours, as `python script.py` would."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(str(folder))
