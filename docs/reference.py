"""The reference pages: one per group of public names, written from signatures and docstrings.

The groups are the comments of the table of names in `pliant/__init__.py`, so that there is one list and not two.
"""

from __future__ import annotations

import enum
import inspect
import re
from pathlib import Path

import pliant

MODULES = ("robots", "materials", "geometry", "basis", "control", "learn", "inverse", "lie")


def groups() -> dict[str, list[str]]:
    """Heading -> public names, in the order of the package's table."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in Path(pliant.__file__).read_text(encoding="utf-8").splitlines():
        if line.startswith("_MODULES"):
            break
        if comment := re.fullmatch(r" {4}# (.+)", line):
            heading = comment[1].capitalize()
        elif (entry := re.match(r' {4}"(\w+)": ', line)) and heading:
            found.setdefault(heading, []).append(entry[1])
    return found


def signature_of(thing: object, name: str) -> str:
    """A call with its arguments one per line where they are many; annotations as written."""
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    parts, starred = [], False
    for p in signature.parameters.values():
        if p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred |= p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        hint = "" if p.annotation is p.empty else f": {p.annotation}"
        default = "" if p.default is p.empty else f" = {_default(p.default)}"
        parts.append(f"{star}{p.name}{hint}{default}")
    result = signature.return_annotation
    ending = "" if result in (signature.empty, None, "None") else f" -> {result}"
    line = f"{name}({', '.join(parts)}){ending}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){ending}"


def _default(value: object) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if callable(value):
        return getattr(value, "__name__", "...")
    text = repr(value)
    return "..." if " object at 0x" in text or "<factory>" in text else text


def markdown_of(text: str) -> list[str]:
    """Lines of a docstring as markdown: its sections (`Args:` and the like) become lists of terms."""
    lines, inside = [], False
    for line in text.splitlines():
        if re.fullmatch(r"(Args|Attributes|Returns|Raises|Yields|Units|Example|Notes?):", line):
            inside = True
            lines += ["", f"**{line[:-1]}**", ""]
        elif inside and (term := re.match(r" {4}([\w, *]+): (.*)", line)):
            lines.append(f"- `{term[1]}`: {term[2]}")
        elif inside and line.startswith("        "):
            lines.append(f"  {line.strip()}")
        else:
            inside = inside and (not line.strip() or line.startswith(" "))
            lines.append(line.strip() if inside else line)
    return lines


def entry_of(thing: object, name: str, *, level: int = 2) -> list[str]:
    """Heading, signature, docstring and public methods of one thing."""
    lines = [f"{'#' * level} {name}", ""]
    if not inspect.ismodule(thing) and not (inspect.isclass(thing) and issubclass(thing, enum.Enum)):
        lines += ["```py", signature_of(thing, name), "```", ""]
    lines += [*markdown_of(inspect.getdoc(thing) or ""), ""]
    if inspect.isclass(thing) and issubclass(thing, enum.Enum):
        lines += [f"- `{member.name}`: {member.value}" for member in thing] + [""]
    elif inspect.isclass(thing):
        lines += _methods_of(thing)
    return lines


def _methods_of(cls: type) -> list[str]:
    lines: list[str] = []
    for name, raw in vars(cls).items():
        if name.startswith("_"):
            continue
        method = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
        said = inspect.getdoc(method.fget if isinstance(raw, property) else method)
        if not said or not (isinstance(raw, property) or inspect.isfunction(method)):
            continue
        first = " ".join(said.split("\n\n")[0].split())
        call = name if isinstance(raw, property) else _short_call(method, name)
        lines.append(f"- `.{call}`: {first}")
    return ["**Methods and properties**", "", *lines, ""] if lines else []


def _short_call(method: object, name: str) -> str:
    names = [p for p in inspect.signature(method).parameters if p not in ("self", "cls")]  # type: ignore[arg-type]
    return f"{name}({', '.join(names)})"


def pages() -> dict[str, str]:
    """File name -> markdown of every page of the reference, its index included."""
    written = {}
    for heading, names in groups().items():
        lines = [f"# {heading}", "", "Imported as `import pliant as pl`; every name here is `pl.NAME`.", ""]
        for name in names:
            lines += entry_of(getattr(pliant, name), name)
        written[f"{heading.lower()}.md"] = "\n".join(lines)
    for module in MODULES:
        home = getattr(pliant, module)
        names = [n for n in getattr(home, "__all__", dir(home)) if not n.startswith("_")]
        names = [n for n in names if _belongs(getattr(home, n), home.__name__) and getattr(pliant, n, None) is None]
        if not names:
            continue
        lines = [f"# pl.{module}", "", *markdown_of(inspect.getdoc(home) or ""), ""]
        for name in names:
            lines += entry_of(getattr(home, name), name)
        written[f"module_{module}.md"] = "\n".join(lines)
    listed = [Path(page).stem for page in written]
    written["index.md"] = "\n".join(["# Reference", "", "```{toctree}", ":maxdepth: 2", "", *listed, "```", ""])
    return written


def _belongs(thing: object, package: str) -> bool:
    return (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith(package)
