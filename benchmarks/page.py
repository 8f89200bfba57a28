"""One table of a benchmark: printed line by line while it is measured, then written as a Markdown page."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
Row = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """A page of one table.

    Attributes:
        name: name of the file in docs/benchmarks, without ending.
        title: its heading.
        text: docstring of the script; what follows its first line and its command line becomes the page's text.
        columns: keys of a row, in order.
        formats: how to write a column, where not by `decimals`.
        decimals: digits after the point of other floats.
        threads: what the line about the machine says of threads.
        notes: below the table, before the line that says which command wrote it.
        command: that command, after `benchmarks/`.
    """

    name: str
    title: str
    text: str
    columns: Sequence[str]
    command: str
    formats: dict[str, Callable[[Any], str]] | None = None
    decimals: int = 2
    threads: str = ""
    notes: str = ""

    @property
    def path(self) -> Path:
        """Where the page is."""
        return FOLDER / f"{self.name}.md"

    def cell(self, row: Row, column: str) -> str:
        """One cell as text; what was not measured is a dash."""
        value = row.get(column)
        if value is None:
            return "-"
        if self.formats and column in self.formats:
            return self.formats[column](value)
        return f"{value:.{self.decimals}f}" if isinstance(value, float) else str(value)

    def show(self, row: Row) -> None:
        """Print one row."""
        print("  ".join(f"{column} {self.cell(row, column)}" for column in self.columns), flush=True)

    def write(self, rows: Sequence[Row], path: Path | None = None) -> None:
        """Write the page."""
        machine = f"Python {platform.python_version()}, {os.cpu_count()} cores ({platform.machine()})"
        lines = [f"# {self.title}", "", self.text.split("\n\n", 2)[2].strip(), ""]
        lines += [machine + (f", {self.threads}." if self.threads else "."), ""]
        lines += ["| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
        lines += ["| " + " | ".join(self.cell(row, column) for column in self.columns) + " |" for row in rows]
        lines += ["", *([self.notes] if self.notes else []), f"Written by `benchmarks/{self.command}`.", ""]
        path = path or self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines))
