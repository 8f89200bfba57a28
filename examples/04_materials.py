"""Materials: presets of real silicones, and a law fitted to your own tensile test.

A preset carries the published source of its numbers. Batches differ by tens of per cent, so for quantitative work
test your own: nominal stress against stretch, in Pa, is all that `fit` needs. The report says how well the law
follows the data and whether it stays stable, in other test modes too; a law that fits a tensile test best may
collapse when it is inflated.

The "measurement" here is a synthetic one, with noise, from a law that the fit does not know.
"""

from __future__ import annotations

import numpy as np

from pliant.materials import Ogden, fit, preset, preset_names

EXPECTED = (0.98, 1.0)


def tensile_test(points: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Stretches and nominal stresses [Pa] of a soft silicone, with 2 % noise."""
    truth = Ogden((24e3, -8e3), (2.4, -1.8), 20e6)
    stretch = np.linspace(1.05, 2.5, points)
    noise = 1.0 + 0.02 * np.random.default_rng(seed).standard_normal(points)
    return stretch, truth.uniaxial(stretch) * noise


def main(quick: bool = False) -> float:
    """Compare presets, fit four laws; returns the best coefficient of determination."""
    print("nominal stress [kPa] at stretch    1.2     1.5     2.0")
    for name in preset_names():
        material = preset(name)
        if material.young > 5e6:
            continue  # the stiff ones do not stretch that far
        curve = material.uniaxial([1.2, 1.5, 2.0]) / 1e3
        print(f"{name:<30}" + "".join(f"{s:8.1f}" for s in curve))
    print("\n" + preset("ecoflex-00-30").source + "\n")

    stretch, stress = tensile_test(15 if quick else 40)
    reports = [fit(law, stretch, stress) for law in ("neo-hookean", "mooney-rivlin", "yeoh", "ogden")]
    for report in reports:
        print(report)
    best = max(reports, key=lambda r: r.r2)
    print(f"\nbest: {best.material.law}, Young's modulus {best.material.young / 1e3:.1f} kPa at small strain")
    print(f"the same law inflated (equibiaxial, stretch 1.5): {best.material.equibiaxial(1.5) / 1e3:.1f} kPa")
    return best.r2


if __name__ == "__main__":
    main()
