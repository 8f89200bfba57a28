"""Gymnasium environments of soft arms: `pliant/Reach-v0` and `pliant/Track-v0` (extra "gym").

    import gymnasium, pliant.envs
    pliant.envs.register()
    env = gymnasium.make("pliant/Reach-v0", robot="octopus_arm")

The action is one number in [-1, 1] per actuator (over its effort limits); an observation is the positions of the
tip and of the target, the tip's velocity and the last action. The reward is minus the distance over the arm's
length, less a small price of effort.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import ArgumentError, MissingExtraError

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("gymnasium", "gym") from error

Array = np.ndarray


def _octopus() -> Any:
    from pliant.models.basis import legendre
    from pliant.models.rod import RodModel
    from pliant.robots.octopus_arm import octopus_arm

    return RodModel(octopus_arm(groups=3), basis=legendre(2, strains=("bend_y", "bend_z")))


def _printed_link() -> Any:
    from pliant.robots.printed_link import link_model

    return link_model(upright=False, damping=5e-7)


MODELS: dict[str, Callable[[], Any]] = {"octopus_arm": _octopus, "printed_link": _printed_link}


class ArmEnv(gymnasium.Env):  # type: ignore[misc]
    """A soft arm that should bring its tip to a target (reach) or follow it (track).

    Args:
        robot: one of MODELS, or a function that returns a model with effort-driven, limited actuators.
        task: "reach" (fixed target) or "track" (the target moves on a circle).
        period: time of a control step [s].
        dt: time step of the mechanics [s].
        horizon: control steps per episode.
        threshold: distance that counts as reached, over the arm's length.
        render_mode: "rgb_array" or None.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 (Gymnasium's convention)

    def __init__(
        self,
        robot: str | Callable[[], Any] = "octopus_arm",
        *,
        task: str = "reach",
        period: float = 0.05,
        dt: float = 0.01,
        horizon: int = 100,
        threshold: float = 0.03,
        render_mode: str | None = None,
    ) -> None:
        if isinstance(robot, str) and robot not in MODELS:
            raise ArgumentError("robot", f"{robot!r}", ", ".join(MODELS))
        if task not in ("reach", "track"):
            raise ArgumentError("task", f"{task!r}", "'reach' or 'track'")
        if render_mode not in (None, "rgb_array"):
            raise ArgumentError("render_mode", f"{render_mode!r}", "None or 'rgb_array'")
        from pliant.solve.dynamics import Stepper

        self.model = MODELS[robot]() if isinstance(robot, str) else robot()
        self.task, self.period, self.horizon, self.threshold = task, float(period), int(horizon), float(threshold)
        self.render_mode = render_mode
        self._substeps = max(1, round(period / dt))
        self._stepper = Stepper(self.model)
        limits = np.array([a.effort_limits for a in self.model.robot.actuators], float)
        if not np.isfinite(limits).all():
            raise ArgumentError("robot", "an actuator has no effort limits", "limited actuators")
        self._low, self._high = limits.T
        x = self.model.skin_positions(self.model.rest)
        self.length = float(np.linalg.norm(np.ptp(x, axis=0)))
        nu = self.model.nu
        self.action_space = spaces.Box(-1.0, 1.0, (nu,), np.float32)
        self.observation_space = spaces.Box(-np.inf, np.inf, (9 + nu,), np.float32)
        self._state: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new episode: the arm at rest under no effort, a target drawn from where the arm can go."""
        super().reset(seed=seed)
        self._state = self._stepper.start()
        self._step, self._action = 0, np.zeros(self.model.nu)
        self._centre = self._reachable()
        self._phase = float(self.np_random.uniform(0, 2 * np.pi))
        return self._observe(), self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One control step: observation, reward, terminated, truncated, info."""
        self._action = np.clip(np.asarray(action, float), -1.0, 1.0)
        u = self._efforts(self._action)
        before = self._tip()
        failed = False
        for _ in range(self._substeps):
            after = self._stepper.step(self._state, u, self.period / self._substeps)
            if not after.ok:
                failed = True
                break
            self._state = after.but(factor=None)
        self._step += 1
        self._velocity = (self._tip() - before) / self.period
        distance = float(np.linalg.norm(self._tip() - self.target)) / self.length
        reward = -distance - 0.01 * float(np.mean(self._action**2)) - (10.0 if failed else 0.0)
        reached = self.task == "reach" and distance < self.threshold
        terminated = failed or reached
        return self._observe(), reward, terminated, self._step >= self.horizon, self._info()

    @property
    def target(self) -> Array:
        """Where the tip should be now [m] (3,)."""
        if self.task == "reach":
            return self._centre
        angle = self._phase + 2 * np.pi * self._step * self.period / 4.0
        return self._centre + 0.08 * self.length * np.array([0.0, np.cos(angle), np.sin(angle)])

    def render(self) -> Array | None:
        """A picture (h, w, 3) uint8, in mode "rgb_array"."""
        if self.render_mode != "rgb_array":
            return None
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(3.2, 3.2), dpi=100)
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_subplot(projection="3d")
        x = self.model.skin_positions(self._state.q)
        axes.plot(*x.T, lw=6, solid_capstyle="round")
        axes.scatter(*self.target, color="tab:red", s=60)
        middle = self.model.skin_positions(self.model.rest)[0]
        for name, c in zip("xyz", middle):
            getattr(axes, f"set_{name}lim")(c - self.length, c + self.length)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()

    def _efforts(self, action: Array) -> Array:
        """-1 is the lower limit, 0 no effort where that is allowed, 1 the upper limit."""
        zero = np.clip(0.0, self._low, self._high)
        return zero + np.where(action > 0, action * (self._high - zero), -action * (self._low - zero))

    def _reachable(self) -> Array:
        from pliant.solve.equilibrium import equilibrium

        for _ in range(20):
            u = self._efforts(self.np_random.uniform(-0.3, 0.3, self.model.nu))
            state = equilibrium(self.model, u)
            if state.ok:
                return np.array(self.model.locate(state, "tip").position)
        return np.array(self.model.locate(self.model.rest, "tip").position)

    def _tip(self) -> Array:
        return np.array(self.model.locate(self._state.q, "tip").position)

    def _observe(self) -> Array:
        velocity = self._velocity if self._step else np.zeros(3)
        parts = [self._tip() / self.length, self.target / self.length, velocity / self.length, self._action]
        return np.concatenate(parts).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        return {"distance": float(np.linalg.norm(self._tip() - self.target)), "time": self._step * self.period}


def register() -> None:
    """Makes `pliant/Reach-v0` and `pliant/Track-v0` known to Gymnasium (again, if called twice)."""
    for name, task in (("pliant/Reach-v0", "reach"), ("pliant/Track-v0", "track")):
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point="pliant.envs:ArmEnv", kwargs={"task": task})
