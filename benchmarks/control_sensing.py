"""Rates of what runs inside a control loop: shape sensing of a reduced PneuNet (H2), predictive control, adaptation.

OMP_NUM_THREADS=1 python benchmarks/control_sensing.py
"""

from __future__ import annotations

import time

import numpy as np

import pliant as pl
from pliant.control import AdaptiveTracking, MarkerEstimator, PredictiveControl
from pliant.models.basis import legendre
from pliant.models.identify_rod import identify_rod
from pliant.models.modes import modes_from
from pliant.models.rod import RodModel
from pliant.robots.four_segment_arm import arm_channels, four_segment_arm
from pliant.robots.printed_link import link_model


def best(run, repeats: int = 30) -> float:
    """Smallest process time of several calls [s]."""
    run()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


def main(quick: bool = False) -> float:
    """Print the table; returns the rate of shape sensing [Hz]."""
    robot = pl.robots.pneunet().but(gravity=(0.0, 0.0, 0.0))
    fem = pl.FemModel(robot)
    states, state = [], None
    for p in np.linspace(0.1, 1.0, 4 if quick else 8) * 4e4:
        state = pl.equilibrium(fem, {robot.actuator_names[0]: p}, start=state, strict=True)
        states.append(state)
    x = fem.skin_positions(fem.rest)
    start = x.mean(axis=0) * [1.0, 1.0, 0.0]
    end = start + [0.0, 0.0, x[:, 2].min()]
    modes = modes_from(fem, [s.q for s in states], start, end, modes=3, stations=15)
    rod = identify_rod(fem, states, start, end, basis=modes.basis, form="matrix", stations=15)
    model = rod.model()
    sensed = MarkerEstimator(model, ("tip",), iterations=3)
    tip = model.locate(rod.coordinates[-1], ("tip",)).position
    sense = best(lambda: sensed.update(tip, states[-1].effort))
    print(f"PneuNet, {fem.nv} unknowns reduced to 3 modes: tip error {100 * rod.worst_error:.2f} % of the length")
    print(f"shape sensing from one marker, three Gauss-Newton steps  {1e3 * sense:7.3f} ms  {1 / sense:7.0f} Hz (bar 60)")

    arm_robot = four_segment_arm()
    basis = legendre(1, strains=("twist", "bend_y", "bend_z", "stretch"))
    arm = RodModel(arm_robot, basis=basis, chambers=arm_channels(arm_robot))
    held = pl.equilibrium(arm, np.full(16, 1e5), strict=True)
    control = PredictiveControl(arm, (0.1, 0.05, -0.62), limits=(0.0, 2.5e5), rate=1e6, lag=0.1)
    tick = best(lambda: control.tick(0.0, held))
    print(f"predictive control, {arm.nv} coordinates, 16 valves, 6 ticks  {1e3 * tick:7.3f} ms  {1 / tick:7.0f} Hz (bar 20)")

    link = link_model()
    zero = np.zeros(3)
    adaptive = AdaptiveTracking(
        link, lambda t: (zero, zero, zero), [50.6, 1.0, 3.7e-5, 1e-6, 0.1], kp=(5, 5e-5, 5e-5), kd=(0.1, 1e-5, 1e-5),
        adaptation=1e-3 * np.ones(5), prediction=1e3,
    )  # fmt: skip
    rest = pl.State(zero, zero, zero, zero, zero)
    clock = iter(np.arange(100000) * 1e-3)
    adapt = best(lambda: adaptive(next(clock), rest))
    print(f"adaptive control of one link, composite                  {1e3 * adapt:7.3f} ms  {1 / adapt:7.0f} Hz")
    return 1 / sense


if __name__ == "__main__":
    main()
