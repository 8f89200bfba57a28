"""Documentation of pliant: `make docs` builds it with warnings as errors.

The tutorials are the examples: each page is the docstring of a script and its source. The reference is written from the
docstrings of the public names. Both are written by this file.
"""

from __future__ import annotations

import ast
import sys
from importlib.metadata import version as _version
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
sys.path.insert(0, str(HERE))
import reference  # noqa: E402  (the folder of the documentation is not a package)

project = "pliant"
author = "the pliant authors"
copyright = "2026, the pliant authors"  # Sphinx wants this name
release = version = _version("pliant")
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "images"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"pliant {release}"
html_static_path: list[str] = []
nitpicky = True

GROUPS = (
    ("First steps", range(0, 10)),
    ("Where to go: the inverse", range(10, 20)),
    ("Bodies as geometry", range(20, 30)),
    ("Applications of the inverse", range(30, 40)),
    ("Learning", range(40, 60)),
    ("Arms as curves, and their control", range(60, 80)),
    ("Design", range(80, 100)),
)


def page_of(script: Path) -> tuple[str, str]:
    """Title and markdown of the page of an example."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    first, _, rest = text.partition("\n")
    name = script.stem.partition("_")[2]
    title, _, said = first.partition(": ")
    if not said:
        title, said = name.replace("_", " ").capitalize(), first
    said = said[:1].upper() + said[1:]
    lines = [
        f"# {title}", "", said, *rest.splitlines(), "",
        f"Run it with `pliant examples {script.stem}` or `python examples/{script.name}`.", "",
        f"```{{literalinclude}} ../../examples/{script.name}", ":language: py", "```", "",
    ]  # fmt: skip
    return title, "\n".join(lines)


def tutorials() -> dict[str, str]:
    """File name -> one page per example, and their index."""
    scripts = sorted(EXAMPLES.glob("[0-9]*.py"))
    pages = {f"{s.stem}.md": page_of(s)[1] for s in scripts}
    index = ["# Tutorials", "", "Every tutorial is a script of the folder `examples`, and every script is a test.", ""]
    rest = [s for s in scripts if not any(int(s.stem.split("_")[0]) in numbers for _, numbers in GROUPS)]
    for heading, numbers in (*GROUPS, ("More", ())):
        mine = [s.stem for s in (scripts if numbers else rest) if not numbers or int(s.stem.split("_")[0]) in numbers]
        if mine:
            index += [f"## {heading}", "", "```{toctree}", ":maxdepth: 1", "", *mine, "```", ""]
    pages["index.md"] = "\n".join(index)
    return pages


def write(folder: Path, pages: dict[str, str]) -> None:
    """Bring a folder to these pages; files are touched only where they change."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


write(HERE / "tutorials", tutorials())
write(HERE / "reference", reference.pages())
