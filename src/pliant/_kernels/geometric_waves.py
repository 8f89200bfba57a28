"""Large batches in two waves: a few poses from rest, then the others from a polynomial through those.

Needs numpy and nothing else of pliant, as `geometric_iterate`.
"""

from __future__ import annotations

import time
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from pliant._kernels.geometric_iterate import iterate

Array = np.ndarray
DEGREE = 4  # of the polynomial
EXCESS = 4  # poses of the first wave per coefficient
NEAR = 1e-5  # where the first wave may end: the polynomial is no better


def iterate_in_waves(
    ops: Any, data: dict[str, Any], commands: Array, *, tolerance: float, iterations: int, window: int
) -> dict[str, Any]:
    """As `iterate`, with fewer iterations where there are many commands.

    The first wave is drawn evenly from the commands; poses that do not come to rest from their prediction are solved
    once more from rest. All poses end at the same tolerance.
    """
    begin = time.perf_counter()
    options = {"iterations": iterations, "window": window}
    terms = monomials(commands)
    pilots = EXCESS * terms.shape[1]
    if len(commands) < 3 * pilots:
        return iterate(ops, data, commands, tolerance=tolerance, **options)
    first = np.random.default_rng(0).permutation(len(commands))[:pilots]
    wave = iterate(ops, data, commands[first], tolerance=max(tolerance, NEAR), **options)
    good = wave["converged"]
    if good.sum() < 2 * terms.shape[1]:
        return iterate(ops, data, commands, tolerance=tolerance, **options)
    fit = np.linalg.pinv(terms[first[good]])
    x = ops.array(terms) @ ops.array(fit @ wave["x"][good].reshape(good.sum(), -1))
    x = x.reshape(len(commands), *data["rest"].shape)
    frames = []
    for (R, p), (nodes, arm, _) in zip(wave["frames"], data["parts"]):
        U, _, V = np.linalg.svd((terms @ (fit @ R[good].reshape(-1, 9))).reshape(-1, 3, 3))
        U[:, :, 2] *= np.linalg.det(U @ V)[:, None]
        frame, place = U @ V, terms @ (fit @ p[good])
        x[:, ops.array(nodes)] = ops.array(place[:, None] + np.einsum("bij,nj->bni", frame, arm))
        frames.append((frame, place))
    found = iterate(ops, data, commands, tolerance=tolerance, start={"x": x, "frames": frames}, **options)
    again = np.flatnonzero(~found["converged"])
    if len(again):
        rest = iterate(ops, data, commands[again], tolerance=tolerance, **options)
        for key in ("x", "effort", "displacement", "converged", "iterations", "step"):
            found[key][again] = rest[key]
        for (R, p), (new_R, new_p) in zip(found["frames"], rest["frames"]):
            R[again], p[again] = new_R, new_p
    found["elapsed"] = time.perf_counter() - begin
    return found


def monomials(commands: Array) -> Array:
    """Products of up to DEGREE commands (nb, nc), each scaled to its range: (nb, terms)."""
    low, high = commands.min(axis=0), commands.max(axis=0)
    z = 2.0 * (commands - low) / np.where(high > low, high - low, 1.0) - 1.0
    columns = [np.ones(len(z))]
    for degree in range(1, DEGREE + 1):
        for chosen in combinations_with_replacement(np.flatnonzero(high > low), degree):
            columns.append(z[:, chosen].prod(axis=1))
    return np.column_stack(columns)
