"""Shape from a few measurements: static fits to markers, and a dynamic observer for reduced controllers.

    static:  min_q  sum_i |x_i(q) - y_i|^2 / s^2  +  energy(q, effort) / e0          (damped Gauss-Newton)
    flow:    q' = L1 K^-1 J^T W (y - x)  +  L2 K^-1 (f - J^T W J K^-1 f),    W = (J K^-1 J^T)^-1,  f = force(q, u)

The flow measures changes of shape by their elastic energy: the first term is the cheapest change of shape that moves
the point to its marker, the second relaxes the rest of the arm to its equilibrium without moving the point.
Both use the arm's own statics where the markers say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.control.projection import motion_scale
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.state import State

Array = np.ndarray


class MarkerEstimator:
    """Configuration of an arm from the positions of some of its points.

    Args:
        model: the arm (may be coarser than the plant that is measured).
        points: names of the marked points.
        noise: standard deviation of the markers [m].
        prior: how far the shape may be from the equilibrium under the efforts [m]; noise over prior weighs
            both.
        iterations: Gauss-Newton iterations per call (warm-started).
    """

    def __init__(
        self, model: Model, points: Sequence[str], *, noise: float = 1e-3, prior: float = 1e-2, iterations: int = 3
    ) -> None:
        if noise <= 0 or prior <= 0:
            raise ArgumentError("noise", f"{noise}, prior {prior}", "positive numbers [m]")
        self.model, self.points, self.noise, self.iterations = model, tuple(points), float(noise), iterations
        self.q = np.array(model.rest, float)
        self._last: tuple[float, Array] | None = None
        self.velocity = np.zeros(model.nv)
        # energy of a typical mode displaced by `prior`: how far the shape may plausibly be from equilibrium
        K = model.stiffness(model.rest, np.zeros(model.nu))
        K = K if isinstance(K, np.ndarray) else K.toarray()
        scale = motion_scale(model)
        self._energy = float(np.median(np.diag(K) / scale**2)) * float(prior) ** 2 + 1e-30

    def update(self, markers: Array, effort: Array, time: float | None = None) -> Array:
        """The configuration nearest to the markers (n, 3) and to equilibrium under the efforts (nq,)."""
        model = self.model
        y = np.asarray(markers, float)
        if y.shape != (len(self.points), 3) or not np.isfinite(y).all():
            raise ArgumentError("markers", f"shape {y.shape} or not finite", f"({len(self.points)}, 3)")
        for _ in range(self.iterations):
            place = model.locate(self.q, self.points, jacobian=True)
            J = place.slopes[:, 3:].reshape(-1, model.nv)
            r = (y - place.position).ravel()
            K = model.stiffness(self.q, effort)
            K = K if isinstance(K, np.ndarray) else K.toarray()
            g = J.T @ r / self.noise**2 + model.force(self.q, effort) / self._energy
            H = J.T @ J / self.noise**2 + K / self._energy
            low = np.linalg.eigvalsh(H)[0]
            if low <= 0:
                H = H + (1e-9 * np.trace(H) / len(H) - low) * np.eye(len(H))
            self.q = model.retract(self.q, np.linalg.solve(H, g))
        if time is not None:
            if self._last is not None and time > self._last[0]:
                slope = (self.q - self._last[1]) / (time - self._last[0])
                self.velocity = 0.5 * self.velocity + 0.5 * slope
            self._last = (time, self.q.copy())
        return self.q


class ReducedControl:
    """A controller on a low-order model, fed by an observer that sees only a point of the high-order plant.

    Args:
        controller: controller on the reduced model.
        reduced: the reduced model of the controller.
        measure: state of the plant -> position of the point [m] (3,).
        point: name of the measured point in the reduced model.
        correction: L1 [1/s]: how fast the point follows its measurement.
        relaxation: L2 [1/s]: how fast the rest of the shape relaxes to equilibrium.
        select: maps the reduced command to the plant's (identity if None).
        substeps: observer steps per call.
    """

    def __init__(
        self,
        controller: Callable[[float, State], Array],
        reduced: Any,
        measure: Callable[[State], Array],
        *,
        point: str = "tip",
        correction: float = 30.0,
        relaxation: float = 10.0,
        select: Callable[[Array], Array] | None = None,
        substeps: int = 5,
    ) -> None:
        self.controller, self.reduced, self.measure, self.point = controller, reduced, measure, point
        self.correction, self.relaxation, self.substeps = float(correction), float(relaxation), int(substeps)
        self.select = select or (lambda u: u)
        self.q = np.array(reduced.rest, float)
        self._time: float | None = None
        self._u = np.zeros(reduced.nu)
        self.targets = getattr(controller, "targets", {})

    def __call__(self, t: float, state: State) -> Array:
        """Efforts of the plant."""
        y = np.asarray(self.measure(state), float)
        dt = 0.0 if self._time is None else t - self._time
        self._time = t
        model = self.reduced
        for _ in range(self.substeps if dt > 0 else 0):
            self.q = self.q + self._move(y, dt / self.substeps)
        seen = state.but(
            q=self.q, v=np.zeros(model.nv), u=self._u, effort=self._u, displacement=model.displacement(self.q)
        )
        self._u = np.asarray(self.controller(t, seen), float)
        return self.select(self._u)

    def _move(self, y: Array, h: float) -> Array:
        """Change of the observed configuration within a time h (nv,)."""
        model = self.reduced
        place = model.locate(self.q, self.point, jacobian=True)
        J = place.jacobian[3:]
        f, K = model.linearise(self.q, self._u)
        K = np.asarray(K)
        solved = np.linalg.solve(K + 1e-9 * np.trace(K) / len(K) * np.eye(len(K)), np.column_stack([f, J.T]))
        free, columns = solved[:, 0], solved[:, 1:]
        core = J @ columns
        # damped: a straight arm cannot follow its marker along its own axis
        pull = columns @ np.linalg.solve(core + 1e-2 * np.trace(core) / 3 * np.eye(3), y - place.position)
        relax = free - columns @ np.linalg.lstsq(core, J @ free, rcond=1e-10)[0]
        # exact decay over h, so that fast observers do not overshoot between slow ticks
        return -np.expm1(-self.correction * h) * pull - np.expm1(-self.relaxation * h) * relax
