"""The six-link benchmark of the thesis: its table, its scheme compiled here, and our scheme, in one run.

Published figures (MATLAB, processor not stated) are printed as such; all others are measured now.

    OMP_NUM_THREADS=1 python benchmarks/control_six_links.py
"""

from __future__ import annotations

import numpy as np

from pliant.models.pcc_rollout import mde_rollout, rollout_links
from pliant.robots.six_link import six_link_input, six_link_model, six_link_start

PUBLISHED = {  # (rate, elements): (error %, seconds)
    (25, 24): (19.03, 1.77), (25, 60): (5.36, 4.06), (25, 120): (4.62, 7.93),
    (50, 24): (17.51, 3.50), (50, 60): (4.33, 6.73), (50, 120): (3.60, 15.3),
    (100, 24): (14.73, 6.48), (100, 60): (4.42, 14.54), (100, 120): (3.53, 28.35),
}  # fmt: skip


def main(quick: bool = False) -> float:
    """Print the table; returns how many times faster than real time our scheme is at 50 Hz."""
    model, start, duration, length = six_link_model(), six_link_start(), 10.0, 0.15

    def tips(q: np.ndarray) -> np.ndarray:
        return np.array([model.locate(x, "tip").position for x in q])

    reference = rollout_links(
        model, start, duration=duration, dt=1e-3 if quick else 2.5e-4, effort=six_link_input, every=10
    )
    truth = tips(reference.q)
    rate = 1.0 / (reference.time[1] - reference.time[0])

    def off(found: np.ndarray, fs: int) -> float:
        k = round(rate / fs)
        last = found[-2 * fs :]  # one period of 2 s
        return 100 * float(np.linalg.norm(last - truth[::k][-2 * fs :], axis=1).mean()) / length

    print("rate  elements   published            same scheme, here      ours (exact links, midpoint)")
    ours = {}
    for fs in (25, 50, 100):
        rollout_links(model, start, duration=duration, dt=1.0 / fs, effort=six_link_input)
        run = min(
            (rollout_links(model, start, duration=duration, dt=1.0 / fs, effort=six_link_input) for _ in range(5)),
            key=lambda r: r.elapsed,
        )
        ours[fs] = run
        mine = f"{off(tips(run.q), fs):7.3f} % / {run.elapsed:.4f} s ({run.speed:.0f} x real time)"
        for elements in (24, 60, 120):
            if quick and (fs, elements) != (50, 60):
                continue
            mde_rollout(model, start, duration=0.1, dt=1.0 / fs, elements=elements, effort=six_link_input)
            sweep, found = mde_rollout(
                model, start, duration=duration, dt=1.0 / fs, elements=elements, effort=six_link_input
            )
            error, seconds = PUBLISHED[fs, elements]
            print(
                f"{fs:4d}  {elements:5d}      {error:6.2f} % / {seconds:5.2f} s"
                f"    {off(found, fs):7.3f} % / {sweep.elapsed:5.2f} s    {mine}"
            )
    return ours[50].speed


if __name__ == "__main__":
    main()
