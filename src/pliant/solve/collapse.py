"""Collapse: cables that have pulled the body together to nothing, where no equilibrium lies beyond.

A law of small strains (rods, links) resists a fibre as much at half its length as at the start, so that a strong muscle
shortens the material next to it to nothing. There the length of the cable has a kink and the path ends: not for want
of a better iteration, but because the material would have to pass through itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray
NOTHING = 0.02  # of its length at rest: a piece of cable that is shorter has no length left to pull in
LITTLE = 0.07  # a piece that is so short as a whole has none in its middle


def collapsed(model: Any, q: Array, effort: Array, *, below: float = NOTHING) -> list[str]:
    """A sentence for every cable that pulls and has no length left in one place.

    Args:
        model: any mechanical model; those that know no paths of cables have none.
        q: configuration (nq,).
        effort: per actuator (nu,).
        below: part of its length at rest that counts as none.
    """
    if not hasattr(model, "cable_paths"):
        return []
    out, rest, now = [], model.cable_paths(model.rest), model.cable_paths(q)
    for actuator, pull in zip(model.robot.actuators, effort):
        if actuator.name not in rest or pull <= 0.0:
            continue
        before, after = _pieces(rest[actuator.name]), _pieces(now[actuator.name])
        short = after < below * before
        if short.any():
            least = float((after[short] / before[short]).min())
            out.append(
                f"{actuator.name} has pulled the body together to {100 * least:.1f} % of its length in one place; "
                "nothing is left to shorten: pull less"
            )
    return out


def _pieces(path: Array) -> Array:
    """Lengths of the pieces of a polyline (k, 3) [m] (k - 1,)."""
    return np.linalg.norm(np.diff(path, axis=0), axis=1)
