"""How many modes does an arm need? Error and cost of strain bases on a tapered arm that is let go.

An octopus arm is bent by one of its muscles and released. The same motion is computed with more and more functions per
strain, from three families: Legendre polynomials, piecewise constant strain (the usual "PCS") and piecewise linear
strain. Their error is the RMS distance of the tip from that of a fine reference over the whole motion. From two
functions to eight the polynomials gain a factor of 150, pieces of constant strain 27 and of linear strain 35, at about
the same cost as pieces of constant strain: a smooth arm is better served by order than by pieces.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (0.0, 1.5)  # percent of the length
BEND = ("bend_y", "bend_z")
TENSION = 3.0


def motion(basis: pl.basis.Basis, duration: float) -> tuple[np.ndarray, float]:
    """Tip [m] over time (k, 3) after the muscle is let go, and the speed of the computation over real time."""
    arm = pl.RodModel(pl.robots.octopus_arm(taper=0.6), basis=basis)
    pull = {arm.robot.actuator_names[0]: TENSION}
    bent = pl.equilibrium(arm, pull, strict=True)
    run = arm.rollout(bent.q, np.zeros(arm.nv), duration=duration, dt=2e-3, scheme="gauss", every=5)
    if not run.ok:
        raise RuntimeError(str(run.status))
    cost = []
    for _ in range(5):
        begin = time.process_time()  # other programs on the machine do not count
        arm.rollout(bent.q, np.zeros(arm.nv), duration=duration, dt=2e-3, every=5)
        cost.append(time.process_time() - begin)
    return np.array([arm.locate(q, "tip").position for q in run.q]), duration / min(cost)


def main(quick: bool = False) -> float:
    """Compare the families; returns the RMS tip error of four Legendre functions [% of the length]."""
    duration, length = (0.1, 0.12) if quick else (0.5, 0.12)
    counts = (1, 2, 4) if quick else (1, 2, 3, 4, 6, 8)
    exact, _ = motion(pl.basis.legendre(11, strains=BEND, points=24), duration)
    families = {
        "Legendre": lambda k: pl.basis.legendre(k - 1, strains=BEND, points=16),
        "piecewise constant": lambda k: pl.basis.constant(segments=k, strains=BEND, points=8),
        "piecewise linear": lambda k: pl.basis.piecewise_linear(max(k - 1, 1), strains=BEND, points=8),
    }
    table: dict[str, list[tuple[int, float, float]]] = {}
    for name, family in families.items():
        for k in counts:
            if name == "piecewise linear" and k == 1:
                continue
            tip, speed = motion(family(k), duration)
            error = 100 * float(np.sqrt(np.mean(np.sum((tip - exact) ** 2, axis=1)))) / length
            table.setdefault(name, []).append((k, error, speed))
            print(f"{name:>18}, {k} functions per strain: {error:8.4f} % of the length, {speed:4.0f} x real time")
    if not quick:
        draw(table)
    return dict((k, e) for k, e, _ in table["Legendre"])[4]


def draw(table: dict[str, list[tuple[int, float, float]]]) -> None:
    """Error over the number of functions, and over cost."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
    for name, rows in table.items():
        k, error, speed = np.array(rows).T
        axes[0].semilogy(k, error, "o-", label=name)
        axes[1].loglog(speed, error, "o-", label=name)
    axes[1].set_xticks([20, 50, 100, 200, 400], ["20", "50", "100", "200", "400"])
    axes[1].minorticks_off()
    axes[0].set(xlabel="functions per strain", ylabel="RMS tip error [% of length]", title="truncation")
    axes[1].set(xlabel="speed [x real time]", title="error against cost")
    axes[0].legend()
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/truncation.png", dpi=130)
    print("wrote out/truncation.png")


if __name__ == "__main__":
    main()
