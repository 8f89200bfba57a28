"""Dynamics: let go of a sagging beam and watch it swing.

`simulate` integrates the motion implicitly; every time step is solved to convergence, so the time step is chosen for
the motion that one wants to see, not for stability. The default scheme "alpha" is second order and damps only what
the step cannot resolve; "trapezoidal" does not damp at all and "euler" damps strongly.

A clamped beam hangs in equilibrium under a sixth of the earth's gravity; gravity is switched off, and the frequency of
the swing is compared with that of a clamped Euler-Bernoulli beam, f = 1.875^2 / (2 pi L^2) sqrt(EI / (rho A)). Linear
tetrahedra would make the beam far too stiff (try it); quadratic ones are within a few per cent.
"""

from __future__ import annotations

import math

import numpy as np

import pliant as pl

EXPECTED = (0.9, 1.1)


def main(quick: bool = False) -> float:
    """Release the beam; returns its frequency over that of beam theory [-]."""
    length, side = 0.1, 0.015
    material = pl.materials.NeoHookean.from_young(350e3, 0.45, density=1100.0)
    robot = pl.robots.beam(length=length, width=side, height=side, material=material, size=0.005).but(actuators=())
    hanging = pl.FemModel(robot.but(gravity=(0.0, 0.0, -1.62)), element="quadratic")
    start = pl.equilibrium(hanging)
    print(f"{hanging!r}\nstart: {start.status}, tip at {np.round(1e3 * hanging.locate(start, 'tip').position, 2)} mm")

    # The same mesh without gravity: a state of one model is a state of the other.
    free = pl.FemModel(robot.but(gravity=(0.0, 0.0, 0.0)), element="quadratic")
    duration, dt = (0.25, 5e-3) if quick else (1.0, 2e-3)
    run = pl.simulate(free, start=start, duration=duration, dt=dt)

    height = run.points["tip"][:, 2]
    changes = np.flatnonzero(np.diff(np.sign(height)))
    crossings = run.time[changes] - height[changes] * np.diff(run.time)[changes] / np.diff(height)[changes]
    measured = 0.5 / float(np.diff(crossings).mean())
    area, second = side**2, side**4 / 12
    theory = 1.8751**2 / (2 * math.pi * length**2) * math.sqrt(350e3 * second / (1100.0 * area))
    print(f"{len(run) - 1} steps, all converged: {run.ok}; {run.speed:.2f} times real time")
    print(f"frequency {measured:.2f} Hz, beam theory {theory:.2f} Hz")
    return measured / theory


if __name__ == "__main__":
    main()
