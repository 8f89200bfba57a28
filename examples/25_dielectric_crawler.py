"""A dielectric crawler: curled by its pre-stretched film, flattened by voltage (X4).

The film would shrink to 0.7 of its area if it could; glued to a frame it arches the crawler. The sweep goes from the
flat pose (which a voltage of 22 kV would hold) to the free one. An inchworm cycle with legs that slip one way only
moves forward by the change of its span.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.models.geometric import GeometricModel
from pliant.robots.dielectric_crawler import dielectric_crawler
from pliant.solve.flex import flex

EXPECTED = (0.010, 0.035)


def main(quick: bool = False) -> float:
    """Sweep the film's area; returns the stride of one crawl cycle [m]."""
    model = GeometricModel(dielectric_crawler(cells=(8, 2) if quick else (16, 4)), element="quadratic")
    out = Path("out")
    out.mkdir(exist_ok=True)
    from pliant.viewer.snapshot import snapshot

    state, spans = None, []
    # Short steps first: the flat crawler arches suddenly, and from too far `flex` hands over to slow load steps.
    for ratio in (1.0, 0.9995, 0.998, 0.995, 0.99, 0.985, 0.982):
        state = flex(model, model.command({"film": ratio}), start=state)
        layer = model.robot.actuators[0]
        span, height = model.locate(state, "front").position[0], model.locate(state, "middle").position[2]
        spans.append(span)
        volts = layer.voltage(state.effort[0])
        print(f"area {ratio:.4f}: {volts / 1e3:5.1f} kV, span {1e3 * span:.1f} mm, height {1e3 * height:.1f} mm, "
              f"{state.status.name} in {state.iterations}")  # fmt: skip
        snapshot(model, state, out / f"crawler_{10000 * ratio:.0f}.png", title=f"{volts / 1e3:.1f} kV")
    stride = float(np.ptp(spans))
    print(f"one cycle between these poses moves the crawler by {1e3 * stride:.1f} mm")
    return stride


if __name__ == "__main__":
    main()
