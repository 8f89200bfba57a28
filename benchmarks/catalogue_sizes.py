"""Sizes at which the sweeps over the catalogue (statics, inverse_robustness) make its robots.

How solves end is what counts there, not how long they take: the robots with the largest meshes are made coarser.
"""

from __future__ import annotations

from typing import Any

import pliant as pl

COARSE: dict[str, dict[str, Any]] = {
    "pneumatic_finger": {"teeth": 5, "size": 5e-3},
    "silicone_finger": {"teeth": 3, "size": 4e-3},
    "twister": {"length": 0.06, "size": 6e-3},
    "dielectric_crawler": {"cells": (8, 2)},
    "membrane": {"size": 0.04},
    "notched_finger": {"size": 0.02},
    "mannequin": {"drive": "displacement"},  # one chamber alone balloons at 10 kPa: no pressure holds it, a volume does
}


def sized(name: str) -> tuple[Any, pl.Robot, str]:
    """Entry of the catalogue, its robot, and what was changed about it in words (empty: nothing)."""
    which = pl.robots.entry(name)
    options = COARSE.get(name, {})
    return which, which.make(**options), ", ".join(f"{k}={v}" for k, v in options.items())
