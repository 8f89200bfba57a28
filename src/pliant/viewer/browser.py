"""`view`: the robot in a page of the browser, with a slider per actuator, targets to drag and a replay.

Threads: the page's callbacks only note what is wanted; one thread owns the model (solving, inverting,
computing pictures) and always takes the latest wish; another one sends pictures to the page. So the page
never waits for a solve, and a slider that moves faster than the solver skips what lies between.
"""

from __future__ import annotations

import contextlib
import io
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pliant.errors import ArgumentError, MissingExtraError, PliantError, UnknownNameError
from pliant.models.contract import Model
from pliant.state import Command, State
from pliant.viewer.panel import Panel
from pliant.viewer.readings import misses, reading_html
from pliant.viewer.replay import Replay
from pliant.viewer.scene import Picture, Scene, states_of
from pliant.viewer.stage import Stage
from pliant.viewer.supersede import Superseded, inverse, statics
from pliant.viewer.worker import LatestWorker

Array = np.ndarray
BUSY_AFTER = 0.5  # [s]
PATIENCE = 0.3  # [s] a release that takes longer to converge is given up for a newer wish
SLIDER_PATIENCE = 2.0  # [s] the same for sliders, whose every solve converges: shorter ones are shown on the way
DRAG_ITERATIONS = 4  # of the inverse while the mouse moves; the release converges


def view(
    model: Model,
    state_or_trajectory: Any = None,
    *,
    obstacles: Sequence[Any] = (),
    targets: Sequence[Any] | None = None,
    limits: Sequence[Any] = (),
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    block: bool = True,
) -> ViewerServer:
    """Show a model in the browser.

    Args:
        model: any model of the contract.
        state_or_trajectory: what to show first; by default the equilibrium without actuation.
        obstacles: what is in the way; they can be dragged.
        targets: targets to drag, or names of points; None offers the point "tip", or the last one.
        limits: limits of the inverse, besides those that the actuators state.
        host: address to serve on; "0.0.0.0" lets other machines in.
        port: port to serve on; the next free one is taken if it is busy.
        open_browser: open the page in the default browser.
        block: return only when the viewer is stopped (Ctrl-C).

    Returns:
        The running viewer, with `url`, `update(state)`, `stop()` and assignable properties.
    """
    viewer = ViewerServer(
        model, state_or_trajectory, obstacles=obstacles, targets=targets, limits=limits, host=host, port=port
    )
    remarks = [f"port {port} is taken"] * (viewer.server.get_port() != port) + ["Ctrl-C ends"] * block
    print(f"{model.robot.name}: {viewer.url}" + (f"  ({', '.join(remarks)})" if remarks else ""), flush=True)
    if open_browser:
        webbrowser.open(viewer.url)
    if block:
        try:
            viewer.join()
        except KeyboardInterrupt:
            pass
        finally:
            viewer.stop()
    return viewer


class ViewerServer:
    """A running viewer; see `view` for the arguments.

    Args:
        solve: solver `(model, u, *, obstacles, start) -> State`; by default `pliant.equilibrium`.
        invert: inverse `(model, state, targets, *, limits, own_limits, obstacles, iterations) -> Command`; by
            default `pliant.invert`.
    """

    def __init__(
        self,
        model: Model,
        state_or_trajectory: Any = None,
        *,
        obstacles: Sequence[Any] = (),
        targets: Sequence[Any] | None = None,
        limits: Sequence[Any] = (),
        host: str = "127.0.0.1",
        port: int = 8080,
        solve: Callable[..., State] | None = None,
        invert: Callable[..., Command] | None = None,
    ) -> None:
        try:
            import viser
        except ImportError:
            raise MissingExtraError("viser", "view") from None
        if not 0 < port < 65536:
            raise ArgumentError("port", f"{port}", "1 to 65535")
        self.model, self.robot = model, model.robot
        self._forceless = bool(getattr(model, "forceless", False))
        self._solve, self._limits = solve or statics, tuple(limits)
        self._invert = invert or inverse
        self.scene = Scene(model, obstacles=obstacles)
        self._obstacles = list(obstacles)
        self._states = [] if state_or_trajectory is None else states_of(state_or_trajectory)
        self._state = self._states[0] if self._states else self._unactuated()
        self._rest_state = self._good = self._state
        self._command: Command | None = None
        self._aimed: tuple[Any, ...] = ()  # the targets of that command
        self._trouble = ""
        self._reaching = False  # whether the present wish is to reach the targets, not to obey the sliders
        self._drawn = 0
        self._began = time.perf_counter()  # when the last solve began
        self._ended = threading.Event()
        with contextlib.redirect_stdout(io.StringIO()):  # the viewer prints its own address
            self.server = viser.ViserServer(host=host, port=port, verbose=False)
        self._worker = LatestWorker("pliant-viewer-solver", failed=self._job_failed)
        self._painter = LatestWorker("pliant-viewer-painter", failed=self._job_failed)
        self._stage = Stage(self.server, self.scene)
        self._panel = Panel(self, targets=targets)
        self._replay = Replay(self, self._states) if len(self._states) > 1 else None
        self._worker.submit("draw", lambda: self._show(self._state))

    # ---- what a user reads and assigns ------------------------------------------------------
    @property
    def url(self) -> str:
        """Address of the page."""
        host = self.server.get_host()
        return f"http://{'localhost' if host in ('0.0.0.0', '127.0.0.1') else host}:{self.server.get_port()}"

    @property
    def state(self) -> State:
        """The state that is shown: the last good one."""
        return self._state

    @property
    def command(self) -> Command | None:
        """What the inverse found last, or None if the state did not come from an inverse."""
        return self._command

    @property
    def trouble(self) -> str:
        """Why the last request failed, in words; empty if it did not."""
        return self._trouble

    @property
    def drawn(self) -> int:
        """Number of pictures sent to the page so far."""
        return self._drawn

    @property
    def u(self) -> Array:
        """Command per actuator [SI unit of its drive] (nu,); assign an array or names and values to solve."""
        return self._panel.command

    @u.setter
    def u(self, value: Array | Mapping[str, float]) -> None:
        command = self._panel.command
        if isinstance(value, Mapping):
            for name, number in value.items():
                command[self.robot.actuator_index(name)] = float(number)
        else:
            given = np.asarray(value, float)
            if given.shape != command.shape:
                raise ArgumentError("u", f"shape {given.shape}", f"{command.shape}, one value per actuator")
            command = given
        if not np.isfinite(command).all():
            raise ArgumentError("u", "not finite", "finite numbers")
        self._panel.command = command
        self.request_solve()

    @property
    def field(self) -> str:
        """Field by which the body is coloured; assign to change."""
        return self._panel.field

    @field.setter
    def field(self, name: str) -> None:
        if name not in self.scene.fields:
            raise UnknownNameError("field", name, self.scene.fields)
        self._panel.field = name
        self.redraw()

    @property
    def obstacles(self) -> tuple[Any, ...]:
        """The obstacles as they are now (they can be dragged)."""
        return tuple(self._obstacles)

    @property
    def frame(self) -> int:
        """Index of the shown state of a trajectory; assign to scrub."""
        return self._replay.frame if self._replay else 0

    @frame.setter
    def frame(self, index: int) -> None:
        if self._replay:
            self._replay.frame = index

    @property
    def playing(self) -> bool:
        """Whether a trajectory plays; assign to play or pause."""
        return self._replay is not None and self._replay.playing

    @playing.setter
    def playing(self, value: bool) -> None:
        if self._replay:
            self._replay.playing = bool(value)

    def update(self, state: State) -> None:
        """Show a state that was computed elsewhere."""
        if np.shape(state.q) != np.shape(self._state.q):
            raise ArgumentError("state", f"q has shape {np.shape(state.q)}", f"{np.shape(self._state.q)}")
        self._worker.submit("draw", lambda: self._accept(state))

    def show_frame(self, state: State) -> None:
        """Show a state of a trajectory and move the sliders along."""
        self._panel.command = np.asarray(state.u, float)
        self._reaching = False
        self._worker.submit("draw", lambda: self._accept(state))

    def wait(self, timeout: float | None = 60.0) -> bool:
        """Wait until all that was asked is solved and sent; False if the timeout [s] passed first."""
        return self._worker.wait(timeout) and self._painter.wait(timeout)

    def join(self) -> None:
        """Wait until the viewer is stopped."""
        while not self._ended.wait(0.5):
            pass

    def stop(self) -> None:
        """End the viewer and its page."""
        if self._ended.is_set():
            return
        self._ended.set()
        if self._replay:
            self._replay.stop()
        self._worker.stop()
        self._painter.stop()
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def __enter__(self) -> ViewerServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ---- wishes; called from the page's threads ---------------------------------------------
    def request_solve(self) -> None:
        """Solve for the sliders, as soon as the solver is free; only the latest request counts."""
        u, obstacles = self._panel.command, self._active_obstacles()
        self._reaching = False
        if self._replay:
            self._replay.playing = False
        self._worker.submit("solve", lambda: self._run_solve(u, obstacles))

    def request_inverse(self, *, final: bool = True, search: str = "local") -> None:
        """Reach for the targets; fewer iterations while a drag goes on, `search` as in `pliant.invert`."""
        targets, obstacles = self._panel.aimed_targets(), self._active_obstacles()
        held = self._panel.limits_on
        self._reaching = True
        options = {
            "obstacles": obstacles,
            "limits": self._limits if held else (),
            "own_limits": held,
            **({} if final else {"iterations": DRAG_ITERATIONS}),
            **({} if search == "local" else {"search": search}),
        }
        if final and self._invert is inverse:  # a drag's few iterations are never in vain: they move the robot
            options["stale"] = self._stale
        if self._replay:
            self._replay.playing = False
        self._worker.submit("solve", lambda: self._run_inverse(targets, options, final=final))

    def request_again(self, *, final: bool = True) -> None:
        """Solve again after the scene changed: for the targets if they were dragged last, else for the sliders."""
        if self._reaching:
            self.request_inverse(final=final)
        else:
            self.request_solve()

    def request_reset(self) -> None:
        """Back to the first state."""
        self._reaching = False
        self._panel.command = np.asarray(self._rest_state.u, float)
        if self._replay:
            self._replay.frame = 0
        self._worker.submit("solve", lambda: self._accept(self._rest_state))

    def move_obstacle(self, index: int, obstacle: Any, *, final: bool = True) -> None:
        """Replace an obstacle and solve again (see `request_again`)."""
        self._obstacles[index] = obstacle
        self.request_again(final=final)

    def redraw(self) -> None:
        """Draw the present state again (after a change of colours, ...)."""
        self._worker.submit("draw", lambda: self._show(self._state))

    # ---- work; only on the solver's thread ----------------------------------------------------
    def _run_solve(self, u: Array, obstacles: tuple[Any, ...]) -> None:
        interrupt = {"stale": partial(self._stale, SLIDER_PATIENCE)} if self._solve is statics else {}
        with self._busy(), contextlib.suppress(Superseded):
            state = self._solve(self.model, u, obstacles=obstacles, start=self._state, **interrupt)
            if state.elapsed == 0.0:
                state = state.but(elapsed=time.perf_counter() - self._began)
            if state.ok and np.isfinite(state.q).all():
                self._accept(state)
            else:
                self._fail(str(state.status))

    def _run_inverse(self, targets: list[Any], options: Mapping[str, Any], *, final: bool) -> None:
        with self._busy(), contextlib.suppress(Superseded):
            command = self._invert(self.model, self._state, targets, **options)
            if final and not command.ok and self._state is not self._rest_state:
                # Far from its limits, or wedged behind an obstacle: the first state may be a better start.
                fresh = self._invert(self.model, self._rest_state, targets, **options)
                command = fresh if fresh.ok else command
            self._take(command, targets, final=final)

    def _stale(self, patience: float = PATIENCE) -> bool:
        """Whether the solve that runs is worth no more: it has had its time [s], and a newer wish waits."""
        return time.perf_counter() - self._began > patience and self._worker.waiting("solve")

    def _take(self, command: Command, targets: list[Any], *, final: bool) -> None:
        # While a drag goes on a few iterations only approach; the release must converge or says so.
        if not np.isfinite(command.state.q).all() or (final and not command.ok):
            self._fail(str(command.status))
            return
        self._panel.command = np.asarray(command.u, float)
        self._aimed = tuple(targets)
        self._accept(command.state, command=command)

    @contextlib.contextmanager
    def _busy(self) -> Iterator[None]:
        """Tell the page when a solve takes long (the first one of a machine compiles kernels)."""
        timer = threading.Timer(BUSY_AFTER, self._panel.show_busy)
        timer.daemon = True
        timer.start()
        self._began = time.perf_counter()
        try:
            yield
        finally:
            timer.cancel()

    def _accept(self, state: State, *, command: Command | None = None) -> None:
        self._state, self._command, self._trouble = state, command, ""
        if state.ok:
            self._good = state
        self._show(state)

    def _fail(self, words: str) -> None:
        self._trouble = words[:1].upper() + words[1:]
        if self._state is not self._good:  # a drag had left it between two equilibria
            self._state, self._command = self._good, None
            self._panel.command = np.asarray(self._good.u, float)
            self.redraw()
        self._panel.readings = reading_html(
            self.robot, self._state, trouble=self._trouble, forceless=self._forceless
        )

    def _job_failed(self, error: BaseException) -> None:
        words = str(error) if isinstance(error, PliantError) else f"{type(error).__name__}: {error}"
        self._fail(words)

    def _show(self, state: State) -> None:
        picture = self.scene.picture(state, field=self._panel.field, obstacles=())
        missed = misses(self.model, state, self._aimed) if self._command is not None else None
        text = reading_html(
            self.robot, state, command=self._command, missed=missed, trouble=self._trouble, forceless=self._forceless
        )
        follow = self._command is None  # after an inverse the target stays where it was dragged
        self._painter.submit("paint", lambda: self._paint(picture, text, follow=follow))

    def _paint(self, picture: Picture, text: str, *, follow: bool) -> None:
        self._panel.readings = text
        self._stage.opacity = self._panel.opacity
        self._stage.show_points = self._panel.points_on
        if follow:
            self._panel.follow(picture.points)
        self._stage.draw(picture)
        self._panel.colour_bar(picture, self._stage.span)
        self._drawn += 1

    def _active_obstacles(self) -> tuple[Any, ...]:
        return tuple(self._obstacles) if self._panel.contact_on else ()

    def _unactuated(self) -> State:
        """The equilibrium without actuation; the rest shape if there is none."""
        u = np.zeros(self.model.nu)
        try:
            state = self._solve(self.model, u, obstacles=tuple(self._obstacles), start=None)
            if state.ok:
                return state
        except PliantError:
            pass
        q = np.asarray(self.model.rest, float)
        zero = np.zeros(self.model.nu)
        return State(
            q=q,
            v=np.zeros(self.model.nv),
            u=u,
            effort=zero,
            displacement=zero,
            notes=("this is the rest shape: no equilibrium was found without actuation",),
        )
