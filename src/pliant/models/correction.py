"""Correction: from where a model says that a point is to where it really is. One form holds all kinds.

    p = identity y + M z + c + C(z) + sum_k alpha_k exp(-|(z - z_k) / l|^2 / 2),     z = [y, u (if used),
    load]

The single-layer network of the paper is C alone (identity 0); an affine map is M and c; a residual network
is identity 1 plus C(z) with u; a Gaussian process is identity, an affine trend and the kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.errors import ArgumentError
from pliant.models.network import Network

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Correction:
    """A map of positions (see the module docstring).

    Attributes:
        kind: what it is, in a word.
        use_u: whether the command is an input besides the position.
        identity: factor of the position itself, 0 or 1.
        linear: M (3, nz), or empty.
        constant: c (3,).
        network: C, or None.
        centres: z_k (k, nz), or empty.
        lengths: l (nz,).
        alpha: weights of the kernels (k, 3).
        load: current load, as many numbers as load inputs (0 or more).
        low, high: box of the inputs z that were measured; outside, the correction extrapolates (nz,).
    """

    kind: str
    use_u: bool
    identity: float
    linear: Array
    constant: Array
    network: Network | None
    centres: Array
    lengths: Array
    alpha: Array
    load: Array
    low: Array
    high: Array

    def __post_init__(self) -> None:
        for f in ("linear", "constant", "centres", "lengths", "alpha", "load", "low", "high"):
            value = np.ascontiguousarray(getattr(self, f), dtype=float)
            if not np.isfinite(value).all():
                raise ArgumentError(f, "not finite", "finite numbers")
            object.__setattr__(self, f, value)
        nz = len(self.low)
        bad = []
        if self.high.shape != (nz,) or self.lengths.shape != (nz,) or self.load.ndim != 1:
            bad.append("high, lengths or load")
        if self.linear.size and self.linear.shape != (3, nz):
            bad.append("linear")
        if self.constant.shape != (3,):
            bad.append("constant")
        if self.centres.ndim != 2 or self.centres.shape[1] != nz or self.alpha.shape != (len(self.centres), 3):
            bad.append("centres or alpha")
        if self.network is not None and (self.network.inputs, self.network.outputs) != (nz, 3):
            bad.append("network")
        if bad:
            raise ArgumentError(bad[0], "the shapes do not fit together", f"{nz} inputs, 3 outputs")
        if not (self.lengths > 0).all():
            raise ArgumentError("lengths", "not positive", "positive lengths")

    def with_load(self, load: Any) -> Correction:
        """The same map under another load (one number per load input)."""
        load = np.atleast_1d(np.asarray(load, float))
        if load.shape != self.load.shape:
            raise ArgumentError("load", f"shape {load.shape}", f"{self.load.shape} (transfer with loads learns it)")
        return replace(self, load=load)

    def inputs(self, y: Array, u: Array, load: Array | None = None) -> Array:
        """z (k, nz) from positions (k, 3), commands (k, m) and loads (k, l)."""
        parts = [np.atleast_2d(y)]
        if self.use_u:
            parts.append(np.atleast_2d(u))
        if len(self.load):
            parts.append(np.broadcast_to(self.load if load is None else load, (len(parts[0]), len(self.load))))
        return np.concatenate(parts, axis=1)

    def __call__(self, y: Array, u: Array, load: Array | None = None) -> Array:
        """Corrected positions (k, 3)."""
        z = self.inputs(y, u, load)
        out = self.identity * np.atleast_2d(y) + self.constant
        if self.linear.size:
            out = out + z @ self.linear.T
        if self.network is not None:
            out = out + self.network(z)
        if len(self.centres):
            out = out + gaussian(z, self.centres, self.lengths) @ self.alpha
        return out

    def arrays(self) -> dict[str, Array]:
        """Plain arrays that describe the correction completely."""
        out = {
            f: getattr(self, f) for f in ("linear", "constant", "centres", "lengths", "alpha", "load", "low", "high")
        }
        out["flags"] = np.array([float(self.use_u), self.identity])
        if self.network is not None:
            out |= {f"network/{k}": v for k, v in self.network.arrays().items()}
        return out

    @classmethod
    def from_arrays(cls, kind: str, arrays: Mapping[str, Array]) -> Correction:
        """The correction that `arrays` described."""
        inner = {k[8:]: v for k, v in arrays.items() if k.startswith("network/")}
        flags = np.asarray(arrays["flags"], float)
        if flags.shape != (2,):
            raise ArgumentError("flags", f"shape {flags.shape}", "(2,)")
        return cls(
            kind,
            bool(flags[0]),
            float(flags[1]),
            arrays["linear"],
            arrays["constant"],
            Network.from_arrays(inner) if inner else None,
            arrays["centres"],
            arrays["lengths"],
            arrays["alpha"],
            arrays["load"],
            arrays["low"],
            arrays["high"],
        )


def gaussian(z: Array, centres: Array, lengths: Array) -> Array:
    """Squared-exponential kernel matrix (k, centres)."""
    a, b = z / lengths, centres / lengths
    square = (a * a).sum(1)[:, None] + (b * b).sum(1)[None] - 2.0 * a @ b.T
    return np.exp(-0.5 * np.maximum(square, 0.0))
