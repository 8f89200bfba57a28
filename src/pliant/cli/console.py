"""What commands print: tables and numbers for people, JSON for machines, progress on the side."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

#: Units as people read them: unit of the contract -> (unit, factor).
READABLE = {
    "m": ("mm", 1e3),
    "m^3": ("ml", 1e6),
    "Pa": ("kPa", 1e-3),
    "N": ("N", 1.0),
    "J": ("mJ", 1e3),
    "1": ("", 1.0),
}


def emit(args: argparse.Namespace, data: dict[str, Any], lines: Sequence[str]) -> None:
    """Print the lines, or the data as one JSON object if --json was given."""
    if getattr(args, "json", False):
        print(json.dumps(plain(data), indent=1))
    else:
        print("\n".join(lines))


def plain(value: Any) -> Any:
    """Values that JSON knows: arrays become lists, infinities and NaN become null."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | type(None)) else str(value)


def table(rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), indent: int = 2) -> list[str]:
    """Lines of aligned columns."""
    body = [list(map(str, r)) for r in ([head, *rows] if head else rows)]
    if not body:
        return []
    widths = [max(len(r[c]) for r in body if c < len(r)) for c in range(max(map(len, body)))]
    lines = [" " * indent + "  ".join(cell.ljust(w) for cell, w in zip(r, widths)).rstrip() for r in body]
    if head:
        lines.insert(1, " " * indent + "  ".join("-" * w for w in widths))
    return lines


def quantity(value: float, unit: str) -> str:
    """A number in a readable unit, e.g. 0.018, "m" -> "18 mm"."""
    shown, factor = READABLE.get(unit, (unit, 1.0))
    scaled = value * factor
    digits = (
        f"{scaled:.4g}"
        if math.isfinite(scaled) and abs(scaled) > 1e-9
        else ("0" if scaled == scaled else "nan")
    )
    if math.isinf(scaled):
        digits = "inf" if scaled > 0 else "-inf"
    return f"{digits} {shown}".rstrip()


def position(values: Any) -> str:
    """A point in mm."""
    return "(" + ", ".join(f"{1e3 * float(v):.2f}" for v in values) + ") mm"


@contextlib.contextmanager
def progress(args: argparse.Namespace, text: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on stderr that takes fractions; silent with --json or without a terminal."""
    if getattr(args, "json", False) or not sys.stderr.isatty():
        yield lambda fraction: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)
