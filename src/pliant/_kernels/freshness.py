"""Freshness: compiled code on disk is dropped when a kernel that it calls has changed.

numba keeps compiled functions in `__pycache__` and takes them as stale when their own file changes, not when the file
of a function that they call does. After a `git pull` such code may crash. So the times and sizes of all kernel files
are kept beside the compiled code; where some differ, the compiled code of every file that imports them, directly or
not, is deleted before it is loaded.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

_STAMPS = "stamps.json"
_IMPORT = re.compile(r"^\s*from pliant\._kernels(?:\.(\w+))? import ([^\n]+)", re.MULTILINE)


def drop_stale(folder: Path) -> list[str]:
    """Delete what is stale of the compiled code of a folder of kernels; returns the names of the files concerned."""
    cache = folder / "__pycache__"
    stamps = _stamps(folder)
    before = _read(cache / _STAMPS)
    if before == stamps:
        return []
    changed = {name for name in {*stamps, *(before or {})} if (before or {}).get(name) != stamps.get(name)}
    stale = sorted(_callers(_imports(folder), changed))
    with contextlib.suppress(OSError):  # not ours to write: then numba keeps its code elsewhere, by user
        for name in stale:
            for file in cache.glob(f"{name}.*.nb?"):
                file.unlink(missing_ok=True)
        _write(cache / _STAMPS, stamps)
    return stale


def _stamps(folder: Path) -> dict[str, list[int]]:
    """Time of change [ns] and size [bytes] of each kernel file."""
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                found[entry.name[:-3]] = [status.st_mtime_ns, status.st_size]
    return found


def _imports(folder: Path) -> dict[str, set[str]]:
    """Which kernel files each of them imports."""
    graph = {}
    for file in folder.glob("*.py"):
        found = set()
        for module, names in _IMPORT.findall(file.read_text()):
            found |= {module} if module else set(re.findall(r"\w+", names.split("#")[0]))
        graph[file.stem] = found
    return graph


def _callers(graph: Mapping[str, set[str]], changed: set[str]) -> set[str]:
    """The changed files and all that import them, directly or not."""
    found = set(changed)
    while more := {name for name, used in graph.items() if name not in found and used & found}:
        found |= more
    return found


def _read(path: Path) -> dict[str, list[int]] | None:
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) else None


def _write(path: Path, stamps: Mapping[str, list[int]]) -> None:
    path.parent.mkdir(exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(json.dumps(stamps))
    partial.replace(path)
