"""Plain values to readable TOML text (Python reads TOML but does not write it)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pliant.errors import ArgumentError

_WIDTH = 100


def to_toml(data: Mapping[str, Any], *, heading: str = "") -> str:
    """TOML text of nested plain values: numbers, text, booleans, lists, and tables with string keys.

    Args:
        data: the values. Lists of tables become `[[key]]` blocks, tables `[key]` blocks.
        heading: comment written on top.
    """
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    _table(lines, data, ())
    return "\n".join(lines).strip() + "\n"


def _table(lines: list[str], data: Mapping[str, Any], path: tuple[str, ...]) -> None:
    nested = {k: v for k, v in data.items() if isinstance(v, Mapping) or _is_tables(v)}
    for key, value in data.items():
        if key not in nested:
            lines.append(f"{_key(key)} = {_value(value, len(key) + 3)}")
    for key, value in nested.items():
        name = ".".join(_key(k) for k in (*path, key))
        for item in [value] if isinstance(value, Mapping) else value:
            lines += ["", f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"]
            _table(lines, item, (*path, key))


def _is_tables(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and isinstance(value[0], Mapping)
    )


def _key(key: str) -> str:
    plain = key and key.isascii() and all(c.isalnum() or c in "_-" for c in key)
    return key if plain else _text(key)


def _text(value: str) -> str:
    clean = value.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate has no UTF-8 form
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, indent: int = 0) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return (
            repr(value)
            if math.isfinite(value)
            else ("nan" if math.isnan(value) else "inf" if value > 0 else "-inf")
        )
    if isinstance(value, Sequence):
        items = [_value(v) for v in value]
        line = f"[{', '.join(items)}]"
        if len(line) + indent <= _WIDTH:
            return line
        return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
    raise ArgumentError("value", f"{value!r} has no TOML form", "numbers, text, booleans, lists and tables")
