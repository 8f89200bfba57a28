"""Compiled kernels: private plain functions on arrays, without any knowledge of robots."""

from pathlib import Path

from pliant._kernels.freshness import drop_stale

drop_stale(Path(__file__).parent)
