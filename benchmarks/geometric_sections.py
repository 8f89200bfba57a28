"""The page of the geometric model: sections that are measured and replaced one by one."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pliant.algebra.threads import thread_count

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
PAGE = ROOT / "docs" / "benchmarks" / "geometric.md"
HEAD = """# Geometric model

Every number below was printed by a script: `python benchmarks/geometric.py --write` measures and writes all sections but
the GPU's, `python benchmarks/geometric.py --write PART ...` some of them; the line under each heading says when and where.
CPU seconds are those of all threads of the process, wall seconds depend on who else uses the machine.
"""


class Section:
    """One part of the page: what is said is printed at once and kept.

    Args:
        name: name of the part, also its mark in the page.
        title: heading.
    """

    def __init__(self, name: str, title: str) -> None:
        self.name = name
        self.lines: list[str] = []
        load = os.getloadavg()[0]
        self.say(f"## {title}\n")
        self.say(
            f"{time.strftime('%Y-%m-%d %H:%M')}, {os.cpu_count()} cores ({platform.machine()}), "
            f"{thread_count()} thread(s), load of the machine {load:.1f} before.\n"
        )

    def say(self, text: str = "") -> None:
        """Print a line and keep it."""
        print(text, flush=True)
        self.lines.append(text)

    def table(self, *columns: str) -> None:
        """Head of a table."""
        self.row(*columns)
        self.say("|" + "---|" * len(columns))

    def row(self, *cells: Any) -> None:
        """One row of a table."""
        self.say("| " + " | ".join(str(c) for c in cells) + " |")

    def write(self, order: Sequence[str]) -> None:
        """Put this section in its place in the page."""
        found = sections(PAGE.read_text()) if PAGE.exists() else {}
        found[self.name] = "\n".join(self.lines).strip() + "\n"
        ordered = [*[n for n in order if n in found], *[n for n in found if n not in order]]
        body = "\n".join(f"<!-- {n} -->\n{found[n]}" for n in ordered)
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(f"{HEAD}\n{body}")


def sections(text: str) -> dict[str, str]:
    """Sections of a page by their marks."""
    parts = re.split(r"(?m)^<!-- ([a-z]+) -->\n", text)
    return {name: body.strip() + "\n" for name, body in zip(parts[1::2], parts[2::2])}


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Result, CPU seconds, wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    out = work()
    return out, time.process_time() - cpu, time.perf_counter() - wall


def memory(*, reset: bool = False) -> float:
    """Peak of the resident memory of this process since the last reset [MB] (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    words = Path("/proc/self/status").read_text().split()
    return float(words[words.index("VmHWM:") + 1]) / 1024
