"""What commands are given: robots by name or file, models by name, actuator values with units."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from pliant.robot import Robot

#: Units that may follow a number: unit -> (unit of the contract, factor).
UNITS = {
    "m": ("m", 1.0), "mm": ("m", 1e-3), "cm": ("m", 1e-2), "um": ("m", 1e-6),
    "m^3": ("m^3", 1.0), "l": ("m^3", 1e-3), "ml": ("m^3", 1e-6), "mm^3": ("m^3", 1e-9),
    "Pa": ("Pa", 1.0), "kPa": ("Pa", 1e3), "MPa": ("Pa", 1e6), "bar": ("Pa", 1e5), "mbar": ("Pa", 1e2),
    "N": ("N", 1.0), "mN": ("N", 1e-3), "V": ("V", 1.0), "kV": ("V", 1e3),
}  # fmt: skip
MODELS = {
    "fem": ("pliant.models.fem", "FemModel"),
    "geometric": ("pliant.models.geometric", "GeometricModel"),
    "rod": ("pliant.models.rod", "RodModel"),
}
_NUMBER = re.compile(r"^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z^0-9]*)\s*$")


def add_robot(parser: argparse.ArgumentParser) -> None:
    """The argument ROBOT and the options that go with it."""
    parser.add_argument(
        "robot",
        metavar="ROBOT",
        help="name in the catalogue (see `pliant robots`), a folder or robot.toml, or a learned model (.pliant)",
    )
    parser.add_argument(
        "--with", dest="options", action="append", default=[], metavar="KEY=VALUE",
        help="parameter of a catalogue robot, in SI units, e.g. --with size=0.004 (repeatable)",
    )  # fmt: skip


def add_model(parser: argparse.ArgumentParser) -> None:
    """Options that choose the model."""
    parser.add_argument(
        "--model", default="auto", choices=("auto", *MODELS), help="how the robot is modelled (default: auto)"
    )
    parser.add_argument(
        "--element", default="linear", choices=("linear", "quadratic"),
        help="tetrahedra: linear (fast, too stiff for thin walls) or quadratic (accurate, slower)",
    )  # fmt: skip


def load_robot(args: argparse.Namespace) -> Robot:
    """The robot that the command line names."""
    from pliant import robots
    from pliant.robot import Robot

    path = Path(args.robot)
    if path.suffix == ".pliant":
        from pliant.models.learned import LearnedModel

        return LearnedModel.load(path).robot
    if path.suffix == ".toml" or path.is_dir() or "/" in args.robot:
        if args.options:
            raise ArgumentError("--with", "a robot file has no parameters", "names of the catalogue only")
        return Robot.load(path)
    try:
        make = robots.get(args.robot)
    except UnknownNameError as error:
        raise ArgumentError(
            "ROBOT",
            f"there is no robot {args.robot!r}",
            f"{', '.join(map(str, error.valid))}, or a folder with a robot.toml",
        ) from None
    return make(**_parameters(make, args.options))


def build_model(args: argparse.Namespace, robot: Robot) -> Any:
    """The model that the command line asks for."""
    from importlib import import_module

    from pliant.bodies import RodBody

    name = args.model
    if Path(args.robot).suffix == ".pliant":
        from pliant.models.learned import LearnedModel

        return LearnedModel.load(args.robot)
    if name == "auto":
        name = "rod" if all(isinstance(b, RodBody) for b in robot.bodies) else "fem"
    module, kind = MODELS[name]
    options = {} if name == "rod" else {"element": args.element}
    return getattr(import_module(module), kind)(robot, **options)


def parse_commands(robot: Robot, given: list[str]) -> dict[str, float]:
    """Actuator values from texts such as "cable=18mm" or "a=1,b=2"."""
    found: dict[str, float] = {}
    for item in (part for text in given for part in text.split(",")):
        name, sep, value = item.partition("=")
        if not sep:
            raise ArgumentError("--set", f"{item!r} has no value", "NAME=VALUE, e.g. cable=18mm")
        found[name.strip()] = parse_value(robot, name.strip(), value)
    return found


def parse_value(robot: Robot, name: str, text: str) -> float:
    """One value for an actuator, in the unit of its drive; a unit after the number is converted."""
    actuator = robot.actuator(name)
    match = _NUMBER.match(text)
    if not match:
        raise ArgumentError(
            name,
            f"{text!r} is not a number",
            f"a number in {actuator.unit}, or with a unit such as 18mm, 20kPa",
        )
    value, unit = float(match[1]), match[2]
    if not unit:
        return value
    if unit not in UNITS or UNITS[unit][0] != actuator.unit:
        valid = ", ".join(u for u, (base, _) in UNITS.items() if base == actuator.unit)
        raise ArgumentError(
            name,
            f"{unit!r} is not a unit of its {actuator.drive}",
            valid or f"plain numbers in {actuator.unit}",
        )
    return value * UNITS[unit][1]


def parse_sweep(robot: Robot, given: list[str]) -> list[dict[str, float]]:
    """Commands from texts such as "cable=0:30mm:10" (from, to, count); several run side by side."""
    import numpy as np

    columns: dict[str, Any] = {}
    for item in (part for text in given for part in text.split(",")):
        name, _, span = item.partition("=")
        parts = span.split(":")
        if len(parts) != 3 or not parts[2].strip().isdigit() or int(parts[2]) < 2:
            raise ArgumentError(
                "--sweep", f"{item!r}", "NAME=FROM:TO:COUNT with COUNT of at least 2, e.g. cable=0:30mm:10"
            )
        name = name.strip()
        first, last = (parse_value(robot, name, p) for p in parts[:2])
        columns[name] = np.linspace(first, last, int(parts[2]))
    if len({len(c) for c in columns.values()}) > 1:
        raise ArgumentError("--sweep", "the sweeps have different counts", "the same COUNT for all")
    count = len(next(iter(columns.values()))) if columns else 0
    return [{name: float(c[i]) for name, c in columns.items()} for i in range(count)]


def parse_point(argument: str, text: str) -> tuple[float, float, float]:
    """A point from "x,y,z" in m; a unit after the last number counts for all."""
    parts = text.replace(" ", "").split(",")
    matches = [_NUMBER.match(p) for p in parts]
    if len(parts) != 3 or not all(matches):
        raise ArgumentError(argument, f"{text!r} is not a point", "x,y,z in m, or with a unit: 50,20,180mm")
    unit = matches[2][2] if matches[2] else ""
    if unit and UNITS.get(unit, ("",))[0] != "m":
        raise ArgumentError(argument, f"{unit!r} is not a length", "m, cm or mm")
    factor = UNITS[unit][1] if unit else 1.0
    x, y, z = (float(m[1]) * factor for m in matches if m)
    return (x, y, z)


def _parameters(make: Any, given: list[str]) -> dict[str, Any]:
    """Keyword arguments for a function of the catalogue from KEY=VALUE texts."""
    valid = {
        k: p for k, p in inspect.signature(make).parameters.items() if k not in ("material", "strip_material")
    }
    found = {}
    for text in given:
        key, sep, value = text.partition("=")
        if key not in valid or not sep:
            raise ArgumentError(
                "--with", f"{text!r} is no parameter of {make.__name__}", ", ".join(valid) or "none"
            )
        try:
            parsed = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            parsed = value
        kind = type(valid[key].default)
        if kind is float and isinstance(parsed, int) and not isinstance(parsed, bool):
            parsed = float(parsed)
        if not isinstance(parsed, kind):
            raise ArgumentError(
                f"--with {key}", f"{value!r} is not a {kind.__name__}", f"like {valid[key].default!r}"
            )
        found[key] = parsed
    return found
