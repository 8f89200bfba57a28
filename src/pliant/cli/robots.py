"""List the robots of the catalogue.

Every name can be given to the other commands: `pliant info NAME`, `pliant view NAME`, ...
"""

from __future__ import annotations

import argparse

from pliant.cli.console import emit, table


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(args: argparse.Namespace) -> int:
    """Print names and first lines."""
    from pliant.robots import catalogue

    found = {name: (make.__doc__ or "").splitlines()[0] for name, make in catalogue().items()}
    lines = [*table(list(found.items()), head=("robot", "what it is")), "", "pliant info NAME tells more."]
    emit(args, {"robots": found}, lines)
    return 0
