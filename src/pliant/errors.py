"""The few exceptions of pliant. They carry data and name the valid choices.

Every error that a user can cause derives from `PliantError`. A message says which argument was
wrong, what was wrong with it, and what would be valid.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class PliantError(Exception):
    """Base of all errors raised on purpose by pliant."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The constructors take other arguments than the message, so the default way back from a pickle fails.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[PliantError], args: tuple[Any, ...], data: dict[str, Any]) -> PliantError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(data)
    return error


class ArgumentError(PliantError, ValueError):
    """An argument has a wrong type, shape, range or value.

    Attributes:
        argument: name of the offending argument.
    """

    def __init__(self, argument: str, problem: str, valid: str = "") -> None:
        self.argument = argument
        text = f"{argument}: {problem}"
        super().__init__(f"{text}. Valid: {valid}." if valid else f"{text}.")


class UnknownNameError(PliantError, KeyError):
    """A name does not exist; the valid ones are listed.

    Attributes:
        kind: what was looked up ("actuator", "point", ...).
        name: the name that was not found.
        valid: the names that exist.
    """

    def __init__(self, kind: str, name: object, valid: Iterable[object]) -> None:
        self.kind, self.name, self.valid = kind, name, tuple(valid)
        choices = ", ".join(str(v) for v in self.valid) or "(there are none)"
        super().__init__(f"there is no {kind} named {name!r}. Valid names: {choices}.")

    def __str__(self) -> str:
        return str(self.args[0])


class MeshError(PliantError, ValueError):
    """A mesh cannot be simulated.

    Attributes:
        elements: indices of the offending elements (may be empty).
    """

    def __init__(self, problem: str, elements: Iterable[int] = ()) -> None:
        self.elements = tuple(int(e) for e in elements)
        shown = ", ".join(str(e) for e in self.elements[:10])
        more = f" and {len(self.elements) - 10} more" if len(self.elements) > 10 else ""
        super().__init__(f"{problem} (elements {shown}{more})" if shown else problem)


class FileError(PliantError, ValueError):
    """A file is missing, broken, hostile or not what was expected.

    Attributes:
        path: the file.
        problems: every problem found, one sentence each.
    """

    def __init__(self, path: object, problems: str | Iterable[str]) -> None:
        self.path = str(path)
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join([f"{self.path}:", *(f"  - {p}" for p in self.problems)]))


class SolveError(PliantError, RuntimeError):
    """A solver was asked to be strict and did not succeed.

    Attributes:
        result: what the solver had when it stopped (a State or a Command).
    """

    def __init__(self, message: str, result: Any = None) -> None:
        self.result = result
        super().__init__(message)


class ChannelError(PliantError, OSError):
    """A channel to hardware or to another process cannot be opened, or failed.

    Attributes:
        channel: what it leads to.
    """

    def __init__(self, channel: str, problem: object) -> None:
        self.channel = channel
        super().__init__(f"{channel}: {problem}; nothing more is sent")

    def __str__(self) -> str:
        return str(self.args[0])


class MissingExtraError(PliantError, ImportError):
    """An optional dependency is not installed; the message says which extra provides it."""

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(
            f"this needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'pliant[{extra}]'"
        )
