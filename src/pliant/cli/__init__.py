"""The `pliant` command: everything from the shell, one command per file.

Exit codes: 0 success; 1 the computation ended without the answer that was asked for (a solve that did not converge,
a target that was not reached, a mesh that cannot be simulated, a learned model that is not accurate enough); 2 wrong
input or usage; 3 a mistake of pliant itself; 130 interrupted.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = (
    "robots",
    "info",
    "simulate",
    "reach",
    "compare",
    "sample",
    "train",
    "transfer",
    "report",
    "view",
    "mesh",
    "examples",
    "bench",
    "warmup",
)

_DESCRIPTION = """Describe a soft robot once; simulate it, invert it, look at it.

first steps:
  pliant robots                                what there is
  pliant info finger                           what a robot is made of
  pliant simulate finger --set cable=18mm      pull its cable by 18 mm
  pliant view finger                           in the browser, with sliders
  pliant reach trunk                           in the browser: drag its tip, drag a ball into it
  pliant reach trunk --target 50,20,180mm      the same as numbers
"""
#: Below the help of every command; the whole story is in docs/cli.md.
_CODES = """exit codes: 0 success; 1 no answer, or not the one asked for (it is printed all the same);
  2 wrong input; 3 a mistake of pliant itself; 130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    if argv is None:  # the process is ours: at its end the interpreter need not look through a million objects
        atexit.register(gc.freeze)
    parser = build_parser()
    args = parser.parse_args(argv)
    if not getattr(args, "run", None):
        parser.print_help()
        return 2
    debug, as_json = getattr(args, "debug", False), getattr(args, "json", False)
    try:
        return int(args.run(args) or 0)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has gone, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        from pliant.errors import FileError, PliantError

        expected = isinstance(error, PliantError | OSError)
        text = str(error) or type(error).__name__
        if isinstance(error, FileError) and len(error.problems) == 1:
            text = f"{error.path}: {error.problems[0]}"
        elif isinstance(error, OSError) and error.filename is not None and error.strerror:
            text = f"{error.filename2 or error.filename}: {error.strerror}"
        if not expected:
            text = f"pliant failed: {type(error).__name__}: {text} (--debug shows where)"
        if as_json:
            print(json.dumps({"error": text, "kind": type(error).__name__}))
        else:
            print(f"pliant: {text}", file=sys.stderr)
        return 2 if expected else 3


def build_parser() -> argparse.ArgumentParser:
    """The parser with all commands; imports nothing that computes."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object, for machines"
    )
    shared.add_argument(
        "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
    )
    parser = argparse.ArgumentParser(
        prog="pliant",
        description=_DESCRIPTION,
        epilog=_CODES,
        parents=[shared],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.set_defaults(run=_version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in COMMANDS:
        module = import_module(f"pliant.cli.{name}")
        text = module.__doc__ or ""
        sub = commands.add_parser(
            name,
            help=text.splitlines()[0].rstrip("."),
            description=text,
            epilog=_CODES,
            parents=[shared],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.set_defaults(run=module.run)
    return parser


def _version(args: argparse.Namespace) -> int:
    if not args.version:
        build_parser().print_help()
        return 2
    from pliant import __version__

    print(json.dumps({"version": __version__}) if getattr(args, "json", False) else f"pliant {__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
