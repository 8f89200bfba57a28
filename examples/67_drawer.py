"""Opening a drawer: contact with the task-space controller of the link model.

The arm goes to the handle of a drawer and takes it; then its target moves in the pulling direction. The controller
knows nothing of the drawer: the residual error becomes force through its accumulating pressures until the drawer gives
way. The drawer resists with 6 N and a spring of 60 N/m.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.control import FrameSensor, PressureMap, TaskSpacePid
from pliant.robots.four_segment_arm import AREA, LEVER

EXPECTED = (60.0, 85.0)  # mm that the drawer is open
HANDLE, PULL = np.array([0.12, 0.05, -0.63]), np.array([-1.0, 0.0, 0.0])


class Drawer:
    """The controller of the arm, and the drawer as a force on its tip once the handle is taken."""

    def __init__(self, arm: pl.RodModel, pid: TaskSpacePid) -> None:
        self.arm, self.pid, self.grasped, self.opening = arm, pid, None, 0.0
        self.targets = {"tip": self.wanted}
        self.history: list[tuple[float, float, float]] = []

    def wanted(self, t: float) -> np.ndarray:
        """First the handle, then a point 80 mm in the pulling direction."""
        if self.grasped is None or t < self.grasped:
            return HANDLE
        return HANDLE + 0.08 * PULL * min(1.0, (t - self.grasped) / 2.0)

    def __call__(self, t: float, state: pl.State) -> np.ndarray:
        """Pressures, and the drawer's force on the tip [N]."""
        tip = self.arm.locate(state, "tip").position
        if self.grasped is None and np.linalg.norm(tip - HANDLE) < 2e-3:
            self.grasped = t
        self.opening = 0.0 if self.grasped is None else float((tip - HANDLE) @ PULL)
        force = 0.0 if self.grasped is None else np.clip(6.0 * self.opening / 2e-3, -6, 6) + 60.0 * max(self.opening, 0)
        self.history.append((t, self.opening, float(force)))
        return np.append(self.pid(t, state), force)


def main(quick: bool = False) -> float:
    """Open it; returns the opening [mm]."""
    robot = pl.robots.four_segment_arm()
    channels = pl.robots.arm_channels(robot)
    push = pl.PointForce(name="drawer", point=(0.0, 0.0, -0.6), direction=tuple(-PULL), body="segment4")
    arm = pl.RodModel(
        robot.but(actuators=(*robot.actuators, push)),
        basis=pl.basis.legendre(0, strains=("twist", "bend_y", "bend_z", "stretch")),
        chambers=channels,
    )
    link = pl.LinkModel(robot, chambers=channels)
    see = FrameSensor(arm, [f"frame{i}" for i in range(1, 5)], link.frames(link.rest)[0])
    pid = TaskSpacePid(link, see, HANDLE, PressureMap(AREA, LEVER, LEVER), stiffness="tangent", kp=2.5)
    drawer = Drawer(arm, pid)
    pid.reference = drawer.wanted
    start = pl.equilibrium(arm, [*np.full(16, 1e5), 0.0])
    run = pl.simulate(arm, drawer, duration=9.0, dt=0.01, start=start, every=5)
    print(f"{run.status[-1]}; handle taken at {drawer.grasped:.2f} s, open by {1e3 * drawer.opening:.1f} mm")
    if not quick:
        draw(run, np.array(drawer.history))
    return 1e3 * drawer.opening


def draw(run: pl.Trajectory, history: np.ndarray) -> None:
    """Error of the tip, opening and force over time."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    left.semilogy(run.time, 1e3 * run.error("tip"))
    left.set(xlabel="time [s]", ylabel="error of the tip [mm]")
    right.plot(history[:, 0], 1e3 * history[:, 1], label="opening [mm]")
    right.plot(history[:, 0], history[:, 2], label="force of the drawer [N]")
    right.set(xlabel="time [s]")
    right.legend()
    for ax in (left, right):
        ax.grid(alpha=0.3)
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/drawer.png", dpi=130)
    print("wrote out/drawer.png")


if __name__ == "__main__":
    main()
