"""Links against arcs, and the task-space controller: accuracy and cost, beside the published figures.

OMP_NUM_THREADS=1 python benchmarks/control_link.py
"""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import numpy as np

from pliant.control import FrameSensor, PressureMap, TaskSpacePid
from pliant.models.link import LinkModel
from pliant.models.segments import estimate_links
from pliant.robots.four_segment_arm import AREA, LEVER, arm_channels, four_segment_arm


def example(name: str):
    """A numbered example as a module."""
    path = Path(__file__).resolve().parents[1] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def best(run, repeats: int = 200) -> float:
    """Smallest time of several calls [s]."""
    run()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def main(quick: bool = False) -> float:
    """Print the tables; returns the time of one control tick [ms]."""
    robot = four_segment_arm()
    link = LinkModel(robot, chambers=arm_channels(robot))
    q = link.rest + np.tile([0.0, 0.3, -0.2, 0.01, 0.02], 4)
    frames = link.frames(q)
    pid = TaskSpacePid(
        link, FrameSensor(link, ["frame1"], frames[0]), (0.1, 0.0, -0.6), PressureMap(AREA, LEVER, LEVER),
        stiffness="tangent",
    )  # fmt: skip
    print(f"state from frames          {1e6 * best(lambda: estimate_links(frames, joint=link.joint)):7.0f} us")
    print(f"tip and Jacobian           {1e6 * best(lambda: link.locate(q, 'tip', jacobian=True)):7.0f} us")
    print(f"force and stiffness        {1e6 * best(lambda: link.linearise(q, np.zeros(16))):7.0f} us")
    tick = best(lambda: pid.tick(0.0, frames))
    print(f"whole control tick         {1e6 * tick:7.0f} us   (target of the dossier: under 1 ms)")
    print("\nlinks against arcs (published: link 3 % of the length, arcs 3.7 or 6.7 times worse)")
    example("60_link_or_arc").main(quick=True)
    print("\nreach and star (published: 6.75 mm and 3.34 s; baseline 16.07 mm and 6.88 s)")
    example("61_star_under_load").main(quick=quick)
    return 1e3 * tick


if __name__ == "__main__":
    main()
