"""A dielectric crawler: curled by its pre-stretched film, flattened by voltage, walking by turns (X4).

The film would shrink to 0.7 of its area if it could; glued to a frame it arches the crawler. To find that free pose the
area is let go in short steps from the flat one, where the crawler arches suddenly; then the voltage is given up too.
From there on the voltage is commanded: 22 kV flatten the arch. Legs that slip one way only turn flattening and curling
into steps: the back leg holds while the crawler grows, the front leg while it shrinks. (Eight cells along the crawler
are too stiff: the arch is 15 mm high with them, 23 mm with sixteen.)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (0.007, 0.010)
CYCLES = 3


def main(quick: bool = False) -> float:
    """Curl, flatten and crawl; returns the stride of one cycle [m]."""
    cells = (8, 2) if quick else (16, 4)
    by_area = pl.GeometricModel(pl.robots.dielectric_crawler(cells=cells), element="quadratic")
    model = pl.GeometricModel(pl.robots.dielectric_crawler(cells=cells, drive="effort"), element="quadratic")
    out = Path("out")
    out.mkdir(exist_ok=True)
    state = None
    for ratio in (1.0, 0.9995, 0.998, 0.995, 0.99):
        state = pl.flex(by_area, by_area.command({"film": ratio}), start=state)
    spans, heights, steps = [], [], np.array([0.0, 8.0, 14.0, 18.0, 20.0, 21.0, 22.0])
    for kilovolts in (14.0, 7.0, 0.0) if quick else (16.0, 12.0, 8.0, 4.0, 0.0):  # let the voltage go
        state = pl.flex(model, [(1e3 * kilovolts) ** 2], start=state, strict=True)
    for kilovolts in steps:
        state = pl.flex(model, [(1e3 * kilovolts) ** 2], start=state, strict=True)
        spans.append(1e3 * model.locate(state, "front").position[0])
        heights.append(1e3 * model.locate(state, "middle").position[2])
        print(f"{kilovolts:4.0f} kV: area {model.ratios(state)['film']:.4f} of the glued one, span {spans[-1]:.1f} mm, "
              f"height {heights[-1]:.1f} mm, {state.status.name} in {state.iterations}")  # fmt: skip
        pl.snapshot(model, state, out / f"crawler_{kilovolts:.0f}kV.png", title=f"{kilovolts:.0f} kV")
    legs = crawl(spans, CYCLES)
    stride = 1e-3 * (legs[-1, 0] - legs[0, 0]) / CYCLES
    print(f"{CYCLES} cycles between 0 and 22 kV: the crawler is {legs[-1, 0] - legs[0, 0]:.1f} mm farther")
    _draw(steps, spans, heights, legs, out / "crawler.png")
    return stride


def crawl(spans: list[float], cycles: int) -> np.ndarray:
    """Places of the back and the front leg (n, 2) as the span goes up and down; no leg ever slides back."""
    wave = [*spans, *spans[-2::-1]]
    legs = [(0.0, spans[0])]
    for before, after in zip(wave * cycles, (wave[1:] + wave[:1]) * cycles):
        back, front = legs[-1]
        legs.append((back, back + after) if after >= before else (front - after, front))
    return np.array(legs)


def _draw(volts: np.ndarray, spans: list[float], heights: list[float], legs: np.ndarray, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (shape, walk) = plt.subplots(1, 2, figsize=(10, 3.8))
    shape.plot(volts, heights, "o-", label="height")
    shape.plot(volts, 80 - np.array(spans), "o-", label="80 mm - span")
    shape.set(xlabel="voltage [kV]", ylabel="[mm]", title="curl at pre-stretch 0.7, flattened by voltage")
    walk.plot(legs[:, 1], label="front leg")
    walk.plot(legs[:, 0], label="back leg")
    walk.set(xlabel="step", ylabel="place [mm]", title="crawl")
    for axis in (shape, walk):
        axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
