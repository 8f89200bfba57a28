"""Colours of the viewer: one colour map from low (slate blue) to high (warm yellow), and a few fixed colours.

Colours are sRGB in [0, 1].
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Colour = tuple[float, float, float]

# Hand-picked nodes of rising lightness, so that the map also reads in grey.
_NODES = np.array(
    [
        (0.235, 0.255, 0.520),
        (0.180, 0.375, 0.610),
        (0.130, 0.500, 0.625),
        (0.150, 0.620, 0.585),
        (0.345, 0.725, 0.480),
        (0.625, 0.800, 0.350),
        (0.880, 0.835, 0.270),
        (0.990, 0.900, 0.420),
    ]
)
TABLE_SIZE = 256

PLAIN: Colour = (0.62, 0.70, 0.80)
CABLE: Colour = (0.80, 0.18, 0.16)
SLACK: Colour = (0.95, 0.60, 0.25)
CHAMBER: Colour = (0.95, 0.55, 0.25)
FIXATION: Colour = (0.25, 0.27, 0.32)
OBSTACLE: Colour = (0.72, 0.72, 0.74)
POINT: Colour = (0.10, 0.10, 0.12)
CONTACT: Colour = (0.85, 0.10, 0.45)
TARGET: Colour = (0.90, 0.25, 0.10)


def colour_table(size: int = TABLE_SIZE) -> Array:
    """The colour map as a table (size, 3), sRGB in [0, 1]."""
    at = np.linspace(0.0, len(_NODES) - 1.0, size)
    return np.stack([np.interp(at, np.arange(len(_NODES)), _NODES[:, c]) for c in range(3)], axis=1)


def normalised(values: Array, low: float, high: float) -> Array:
    """Values mapped to [0, 1]; a flat field maps to 0 and non-finite values to 1."""
    span = high - low
    unit = (np.asarray(values, float) - low) / span if span > 0 else np.zeros(len(values))
    return np.clip(np.nan_to_num(unit, nan=1.0, posinf=1.0, neginf=0.0), 0.0, 1.0)


def map_colours(values: Array, low: float, high: float) -> Array:
    """Colours (n, 3) of scalar values (n,) over the range [low, high]."""
    table = colour_table()
    return table[np.rint(normalised(values, low, high) * (len(table) - 1)).astype(int)]


def to_linear(colours: Array) -> Array:
    """Linear light from sRGB, as glTF wants its vertex colours."""
    c = np.asarray(colours, float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def to_bytes(colour: Array | Colour) -> tuple[int, int, int]:
    """A colour as three integers 0..255."""
    r, g, b = np.rint(np.clip(np.asarray(colour, float), 0, 1) * 255).astype(int)
    return int(r), int(g), int(b)
