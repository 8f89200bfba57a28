"""Six soft links in series: the benchmark of the thesis, its scheme and ours.

The first link is driven by 125 kPa cos(pi t), the others swing along. The published scheme sweeps the dynamics along
the arm by a second-order Runge-Kutta rule and steps it by the implicit trapezoidal rule; ours evaluates the same links
exactly and steps them by the implicit midpoint rule. Errors are mean distances of the tip to a reference at 2 kHz,
over the length of the arm.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.models.pcc_rollout import mde_rollout, rollout_links
from pliant.robots.six_link import six_link_input, six_link_model, six_link_start

EXPECTED = (0.0, 0.5)  # percent, at 50 Hz
LENGTH = 0.15


def main(quick: bool = False) -> float:
    """Run both schemes; returns our error at 50 Hz [% of the length]."""
    model, start = six_link_model(), six_link_start()
    duration = 2.0 if quick else 10.0

    def tips(q: np.ndarray) -> np.ndarray:
        return np.array([model.locate(x, "tip").position for x in q])

    reference = rollout_links(model, start, duration=duration, dt=5e-4, effort=six_link_input, every=40)
    truth = tips(reference.q)
    ours = rollout_links(model, start, duration=duration, dt=0.02, effort=six_link_input)
    ours = rollout_links(model, start, duration=duration, dt=0.02, effort=six_link_input)  # compiled now
    error = 100 * float(np.linalg.norm(tips(ours.q) - truth, axis=1).mean()) / LENGTH
    print(f"ours, 50 Hz: error {error:.3f} %, {ours.elapsed:.4f} s, {ours.speed:.0f} times real time")
    for elements in () if quick else (24, 60, 120):
        run, found = mde_rollout(model, start, duration=duration, dt=0.02, elements=elements, effort=six_link_input)
        off = 100 * np.linalg.norm(found - truth, axis=1).mean() / LENGTH
        print(f"sweep with {elements} elements, 50 Hz: error {off:.3f} %, {run.elapsed:.2f} s ({run.status})")
    k = reference.q.reshape(-1, 6, 3)[:, :, 1]
    print(
        "curvatures up to", np.abs(k[len(k) // 2 :]).max(axis=0).round(2), "1/m (published 35.5 18.7 14.5 8 2.9 0.43)"
    )
    if not quick:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
        axes[0].plot(reference.time, k)
        axes[0].set(xlabel="time [s]", ylabel="curvature [1/m]", title="links 1 to 6")
        for i in range(200, 300, 8):
            x = 1e3 * model.skin_positions(reference.q[i])
            axes[1].plot(x[:, 0], x[:, 2], color=plt.cm.viridis((i - 200) / 100))
        axes[1].set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal", title="one period")
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/six_links.png", dpi=130)
        print("wrote out/six_links.png")
    return error


if __name__ == "__main__":
    main()
