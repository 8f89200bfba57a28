"""List the benchmarks, or run one of them.

Each measures a claim of the documentation with its baseline in the same run.

examples:
  pliant bench
  pliant bench factorisation
"""

from __future__ import annotations

import argparse

from pliant.cli.scripts import add_script, run_scripts


def configure(parser: argparse.ArgumentParser) -> None:
    """Which benchmark."""
    add_script(parser, "benchmark")


def run(args: argparse.Namespace) -> int:
    """List or run."""
    return run_scripts(args, "benchmarks", "benchmark")
