"""What commands are given: robots by name or file, models by name, actuator values with units."""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import ArgumentError, FileError, UnknownNameError

if TYPE_CHECKING:
    from pliant.robot import Robot
    from pliant.robots import Entry

#: Units that may follow a number: unit -> (unit of the contract, factor).
UNITS = {
    "m": ("m", 1.0), "mm": ("m", 1e-3), "cm": ("m", 1e-2), "um": ("m", 1e-6),
    "m^3": ("m^3", 1.0), "l": ("m^3", 1e-3), "ml": ("m^3", 1e-6), "mm^3": ("m^3", 1e-9),
    "Pa": ("Pa", 1.0), "kPa": ("Pa", 1e3), "MPa": ("Pa", 1e6), "bar": ("Pa", 1e5), "mbar": ("Pa", 1e2),
    "N": ("N", 1.0), "mN": ("N", 1e-3), "V": ("V", 1.0), "kV": ("V", 1e3),
}  # fmt: skip
#: Models that take a robot and nothing else: `pliant.models.<name>.<Name>Model`.
MODELS = ("fem", "geometric", "rod", "beam", "pcc")
#: Largest coordinate of a point [m]; what is farther away was not meant, and its square overflows.
FARTHEST = 1e6
#: A number and the unit that may follow it.
NUMBER = re.compile(r"^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z^0-9]*)\s*$")


def add_robot(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """The argument ROBOT and the options that go with it; it may be left out if --model can name a learned model."""
    parser.add_argument(
        "robot",
        metavar="ROBOT",
        nargs="?" if optional else None,
        help="name in the catalogue (see `pliant robots`), a folder or robot.toml, or a learned model (.pliant)",
    )
    parser.add_argument(
        "--with", dest="options", action="append", default=[], metavar="KEY=VALUE",
        help="parameter of a catalogue robot, in SI units, e.g. --with size=0.004 (repeatable)",
    )  # fmt: skip


def add_model(parser: argparse.ArgumentParser) -> None:
    """Options that choose the model."""
    parser.add_argument(
        "--model", default="auto", metavar="MODEL",
        help=f"how the robot is modelled: {', '.join(MODELS)}, or a learned model FILE.pliant (default: what suits it)",
    )  # fmt: skip
    parser.add_argument(
        "--element", choices=("linear", "quadratic"),
        help="tetrahedra: linear (fast, too stiff for thin walls) or quadratic (accurate, slower)",
    )  # fmt: skip


def add_commands(parser: argparse.ArgumentParser, *, set_to: str, swept: str) -> None:
    """The options --set and --sweep with their lines of help."""
    parser.add_argument(
        "--set", dest="values", action="append", default=[], metavar="NAME=VALUE", help=set_to
    )
    parser.add_argument("--sweep", action="append", default=[], metavar="NAME=FROM:TO:COUNT", help=swept)


def learned_file(args: argparse.Namespace) -> Path | None:
    """The file of the learned model that the command line names, as ROBOT or with --model; None if there is none."""
    named = [Path(t) for t in (args.robot, getattr(args, "model", None)) if t and str(t).endswith(".pliant")]
    if len(named) == 2:
        raise ArgumentError("--model", f"{args.robot} is a learned model already", "one learned model")
    return named[0] if named else None


def check_output(option: str, name: str | None, *endings: str) -> None:
    """Refuse the name of a file to write that has another ending or cannot be written, before any work is done."""
    if not name:
        return
    if not name.lower().endswith(endings):
        raise ArgumentError(option, f"{name!r}", f"a file name that ends in {' or '.join(endings)}")
    path = Path(name)
    if path.is_dir():
        raise FileError(path, "it is a folder; a file is to be written")
    folder = next(f for f in path.absolute().parents if f.exists())  # the missing ones are made
    if not folder.is_dir():
        raise FileError(path, f"{folder} is not a folder")
    if not os.access(folder, os.W_OK):
        raise FileError(path, f"nothing may be written in {folder}")


def load_robot(args: argparse.Namespace) -> Robot:
    """The robot that the command line names."""
    from pliant import robots
    from pliant.robot import Robot

    if learned := learned_file(args):
        return _learned(args, learned).robot
    if not args.robot:
        raise ArgumentError("ROBOT", "none is given", "a name of the catalogue, a folder, or --model FILE.pliant")
    path = Path(args.robot)
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


def _learned(args: argparse.Namespace, path: Path) -> Any:
    """The learned model; a ROBOT that is named besides must be the one that it was learned from."""
    from pliant.models.learned import LearnedModel

    if args.options:
        raise ArgumentError("--with", "a learned model has no parameters", "names of the catalogue only")
    if getattr(args, "element", None):
        raise ArgumentError("--element", "a learned model has no elements", "leave it out")
    model = LearnedModel.load(path)
    if args.robot and Path(args.robot) != path:
        from pliant.robot import Robot

        named = Robot.load(args.robot).name if "/" in args.robot or args.robot.endswith(".toml") else args.robot
        true = model.robot.name
        if named != true:
            raise ArgumentError("ROBOT", f"{path} was learned from {true!r}, not {named!r}", true)
    return model


def catalogued(args: argparse.Namespace) -> Entry | None:
    """The entry of the catalogue that the command line names, or None for files."""
    from pliant import robots

    return robots.entry(args.robot) if args.robot in robots.catalogue() else None


def own_contacts(args: argparse.Namespace, robot: Robot) -> tuple[Any, ...]:
    """Contacts that belong to a robot of the catalogue: between its bodies, with itself."""
    entry = catalogued(args)
    return entry.obstacles(robot) if entry else ()


def build_model(args: argparse.Namespace, robot: Robot) -> Any:
    """The model that the command line asks for; by default the one that suits the robot."""
    from importlib import import_module

    from pliant.bodies import RodBody

    if learned := learned_file(args):
        return _learned(args, learned)
    if args.model not in ("auto", *MODELS):
        raise ArgumentError("--model", f"there is no model {args.model!r}", f"auto, {', '.join(MODELS)}, FILE.pliant")
    entry = catalogued(args)
    rods = all(isinstance(b, RodBody) for b in robot.bodies)
    name = args.model
    if name == "auto":
        name = entry.kind if entry else "rod" if rods else "fem"
    if rods != (name in ("rod", "beam", "pcc")):
        valid = "rod, beam, pcc" if rods else "fem, geometric"
        raise ArgumentError("--model", f"{name} does not model {robot.name}", valid)
    options = dict(entry.options(robot)) if entry and entry.kind == name else {}
    if args.element:
        if rods:
            raise ArgumentError("--element", f"{robot.name} is a rod", "bodies of tetrahedra only")
        options["element"] = args.element
    return getattr(import_module(f"pliant.models.{name}"), f"{name.title()}Model")(robot, **options)


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
    match = NUMBER.match(text)
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
    matches = [NUMBER.match(p) for p in parts]
    if len(parts) != 3 or not all(matches):
        raise ArgumentError(argument, f"{text!r} is not a point", "x,y,z in m, or with a unit: 50,20,180mm")
    unit = matches[2][2] if matches[2] else ""
    if unit and UNITS.get(unit, ("",))[0] != "m":
        raise ArgumentError(argument, f"{unit!r} is not a length", "m, cm or mm")
    factor = UNITS[unit][1] if unit else 1.0
    x, y, z = (float(m[1]) * factor for m in matches if m)
    if not max(abs(x), abs(y), abs(z)) <= FARTHEST:
        raise ArgumentError(argument, f"{text!r} is too far away", f"coordinates up to {FARTHEST:g} m")
    return (x, y, z)


def parse_length(argument: str, text: str) -> float:
    """A positive length [m] from "0.001" or "1mm"."""
    match = NUMBER.match(text)
    unit = match[2] or "m" if match else ""
    if not match or UNITS.get(unit, ("",))[0] != "m" or float(match[1]) <= 0.0:
        raise ArgumentError(argument, f"{text!r} is not a length", "a positive number in m, or with a unit: 1mm")
    return float(match[1]) * UNITS[unit][1]


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
