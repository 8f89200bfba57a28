"""Every example runs and gives its headline number.

An example may say `EXPECTED = (low, high)` for the number of its quick run, and `SLOW = True` if even that is long.
"""

from __future__ import annotations

import ast
import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("[0-9]*.py"))


def constant(path: Path, name: str) -> Any:
    """Value of a top-level constant, read without running the script."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return ast.literal_eval(node.value)
    return None


def cases() -> list[Any]:
    return [
        pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if constant(p, "SLOW") else []) for p in SCRIPTS
    ]


@pytest.mark.parametrize("path", cases())
def test_example(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(FOLDER))
    name = f"example_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # dataclasses and pickles look it up there
    spec.loader.exec_module(module)
    number = float(module.main(quick=True))
    assert math.isfinite(number)
    expected = getattr(module, "EXPECTED", None)
    if expected is not None:
        low, high = expected
        assert low <= number <= high


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_form(path: Path) -> None:
    """The docstring is the documentation page, so it must be there and begin with a sentence."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    text = ast.get_docstring(tree)
    assert text, "no docstring"
    assert text.splitlines()[0].rstrip().endswith((".", "?", "!"))
    assert any(isinstance(n, ast.FunctionDef) and n.name == "main" for n in tree.body)
    assert 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")  # sampling starts processes


def test_there_are_examples() -> None:
    assert len(SCRIPTS) >= 6
