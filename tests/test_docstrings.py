"""What the docstrings of the public names must say: every argument, and the shape of every array."""

import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pliant

SHAPE = re.compile(r"\([\w+*/ ]+(, [\w+*/ ]+)+\)|\(\w+,\)")  # (n, 3), (3 links, nu), (nq,)
ENTRY = re.compile(r"^( *)((?:\*{0,2}\w+(?:, )?)+): (.*(?:\n\1 +.*)*)", re.MULTILINE)
ELSEWHERE = re.compile(r"arguments as in `(\w+)`|see `(\w+)` for the arguments")


def public() -> dict[str, Any]:
    """Everything callable that users import, by the path by which they do."""
    out: dict[str, Any] = {}
    for name in pliant.__all__:
        thing = getattr(pliant, name)
        inside = {f"{name}.{k}": getattr(thing, k) for k in getattr(thing, "__all__", ())}
        out |= inside if name in pliant._MODULES else {name: thing}
    seen: set[int] = set()
    return {n: t for n, t in out.items() if _described(t) and not (id(t) in seen or seen.add(id(t)))}


def _described(thing: Any) -> bool:
    """Functions and classes that users call; errors, enumerations and protocols are not made by them."""
    if inspect.isclass(thing):
        return not issubclass(thing, Exception | enum.Enum) and not getattr(thing, "_is_protocol", False)
    return inspect.isfunction(thing)


def text_of(thing: Any) -> str:
    """The docstring; of a class with those of its bases, and with the one that it refers to."""
    docs = [c.__doc__ or "" for c in inspect.getmro(thing)[:-1]] if inspect.isclass(thing) else [thing.__doc__ or ""]
    text = "\n".join(map(inspect.cleandoc, docs))
    if found := ELSEWHERE.search(text):
        text += "\n" + text_of(getattr(pliant, found[1] or found[2]))
    return text


def arguments(thing: Any) -> Iterator[inspect.Parameter]:
    for p in inspect.signature(thing).parameters.values():
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            yield p


def entry(text: str, name: str) -> str | None:
    """What the list of arguments says of one of them."""
    for _, names, said in ENTRY.findall(text):
        if name in re.findall(r"\w+", names):
            return said
    return None


def faults(thing: Any) -> list[str]:
    text, given = text_of(thing), list(arguments(thing))
    out = []
    for p in given:
        said = entry(text, p.name)
        # the only argument of a function is what its sentence is about
        if said is None and len(given) > 1 and not re.search(rf"\b{p.name}\b", text):
            out.append(f"{p.name}: not described")
        hint = str(p.annotation)
        if re.search(r"Array|ndarray", hint) and "Callable" not in hint and not SHAPE.search(said or text):
            out.append(f"{p.name}: an array without its shape")
    return out


def test_docstrings_name_every_argument_and_the_shape_of_every_array():
    wrong = [f"{name}, {fault}" for name, thing in public().items() for fault in faults(thing)]
    assert not wrong, "\n".join(wrong)


def test_faults_are_found():
    def good(q: "Array", dt: float) -> None:  # noqa: F821
        """A step of dt [s] from q (nq,)."""

    def poor(q: "Array", dt: float) -> None:  # noqa: F821
        """A step from q."""

    assert faults(good) == []
    assert faults(poor) == ["q: an array without its shape", "dt: not described"]
