"""Network: a small dense network with its scalings, evaluated by compiled code, without torch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import ArgumentError

Array = np.ndarray
MAX_PARAMETERS = 20_000_000


@dataclass(frozen=True, eq=False)
class Network:
    """y = mid_y + half_y * N((x - mid_x) / half_x), N dense with tanh layers and a linear output.

    Attributes:
        sizes: neurons per layer, input and output included.
        theta: parameters in scaled units, one row per member of the ensemble (members, p).
        x_mid, x_half: input scaling to [-1, 1] (m,).
        y_mid, y_half: output scaling (n,); half is zero for outputs that never change.
    """

    sizes: tuple[int, ...]
    theta: Array
    x_mid: Array
    x_half: Array
    y_mid: Array
    y_half: Array

    def __post_init__(self) -> None:
        sizes = tuple(int(s) for s in self.sizes)
        object.__setattr__(self, "sizes", sizes)
        if len(sizes) < 2 or min(sizes) < 1 or max(sizes) > 1_000_000:
            raise ArgumentError("sizes", f"{sizes}", "at least two positive layer sizes")
        for name in ("theta", "x_mid", "x_half", "y_mid", "y_half"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=float))
        count = parameter_count(sizes)
        if count > MAX_PARAMETERS:
            raise ArgumentError("sizes", f"{count} parameters", f"at most {MAX_PARAMETERS}")
        if self.theta.ndim != 2 or self.theta.shape[1] != count or len(self.theta) < 1:
            raise ArgumentError("theta", f"shape {self.theta.shape}", f"(members, {count}) for sizes {sizes}")
        for name, n in (
            ("x_mid", sizes[0]),
            ("x_half", sizes[0]),
            ("y_mid", sizes[-1]),
            ("y_half", sizes[-1]),
        ):
            if getattr(self, name).shape != (n,):
                raise ArgumentError(name, f"shape {getattr(self, name).shape}", f"({n},)")
        for name in ("theta", "x_mid", "x_half", "y_mid", "y_half"):
            if not np.isfinite(getattr(self, name)).all():
                raise ArgumentError(name, "not finite", "finite numbers")
        if (self.x_half <= 0).any() or (self.y_half < 0).any():
            raise ArgumentError("x_half", "not positive", "positive ranges")

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return self.sizes[0]

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return self.sizes[-1]

    @property
    def members(self) -> int:
        """Number of networks in the ensemble."""
        return len(self.theta)

    @cached_property
    def layers(self) -> Array:
        """The sizes as an array, for the compiled code."""
        return np.array(self.sizes, dtype=np.int64)

    @cached_property
    def folded(self) -> Array:
        """Parameters with the scalings folded into the first and last layer (members, p)."""
        out = self.theta.copy()
        m, n_1 = self.sizes[0], self.sizes[1]
        W = out[:, : m * n_1].reshape(-1, n_1, m)
        b = out[:, m * n_1 : (m + 1) * n_1]
        W /= self.x_half
        b -= W @ self.x_mid
        n_in, n = self.sizes[-2], self.sizes[-1]
        W = out[:, -n * (n_in + 1) : -n].reshape(-1, n, n_in)
        W *= self.y_half[:, None]
        out[:, -n:] = out[:, -n:] * self.y_half + self.y_mid
        return out

    def __call__(self, x: Array) -> Array:
        """Value at one input (m,) -> (n,) or at many (k, m) -> (k, n)."""
        x, single = self._inputs(x)
        y = _kernels().evaluate(self.folded, self.layers, x, False)[0]
        return y[0] if single else y

    def jacobian(self, x: Array) -> Array:
        """Exact dy/dx at one input (n, m) or at many (k, n, m)."""
        return self.both(x)[1]

    def both(self, x: Array) -> tuple[Array, Array]:
        """Value and exact derivative, in one pass."""
        x, single = self._inputs(x)
        y, J = _kernels().evaluate(self.folded, self.layers, x, True)
        return (y[0], J[0]) if single else (y, J)

    def spread(self, x: Array) -> Array:
        """Disagreement of the ensemble: standard deviation of its members (n,) or (k, n)."""
        x, single = self._inputs(x)
        y = _kernels().spread(self.folded, self.layers, x)
        return y[0] if single else y

    def _inputs(self, x: Any) -> tuple[Array, bool]:
        x = np.asarray(x, dtype=float)
        single = x.ndim == 1
        x = np.ascontiguousarray(x[None] if single else x)
        if x.ndim != 2 or x.shape[1] != self.inputs:
            raise ArgumentError("x", f"shape {x.shape}", f"({self.inputs},) or (k, {self.inputs})")
        return x, single

    def arrays(self) -> dict[str, Array]:
        """Plain arrays that describe the network completely."""
        return {
            "sizes": self.layers,
            "theta": self.theta,
            "x_mid": self.x_mid,
            "x_half": self.x_half,
            "y_mid": self.y_mid,
            "y_half": self.y_half,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Network:
        """The network that `arrays` described; `ArgumentError` or `KeyError` if they do not fit together."""
        sizes = np.asarray(arrays["sizes"])
        if sizes.ndim != 1 or not np.issubdtype(sizes.dtype, np.integer) or len(sizes) > 100:
            raise ArgumentError("sizes", f"shape {sizes.shape}, {sizes.dtype}", "a short list of integers")
        return cls(
            tuple(int(s) for s in sizes),
            *(np.asarray(arrays[k], dtype=float) for k in ("theta", "x_mid", "x_half", "y_mid", "y_half")),
        )


def parameter_count(sizes: tuple[int, ...]) -> int:
    """Number of parameters of a dense network."""
    return sum(b * (a + 1) for a, b in itertools.pairwise(sizes))


def initial(sizes: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Starting parameters (p,): Glorot uniform weights, small biases spread so that neurons differ."""
    parts = []
    for a, b in itertools.pairwise(sizes):
        bound = np.sqrt(6.0 / (a + b))
        parts += [rng.uniform(-bound, bound, a * b), rng.uniform(-0.1, 0.1, b)]
    return np.concatenate(parts)


def _kernels() -> Any:
    from pliant._kernels import network  # numba loads on first use

    return network
