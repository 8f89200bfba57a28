"""List the examples, or run one of them.

examples:
  pliant examples
  pliant examples 01_first_lines
"""

from __future__ import annotations

import argparse

from pliant.cli.scripts import add_script, run_scripts


def configure(parser: argparse.ArgumentParser) -> None:
    """Which example."""
    add_script(parser, "example")


def run(args: argparse.Namespace) -> int:
    """List or run."""
    return run_scripts(args, "examples", "example")
