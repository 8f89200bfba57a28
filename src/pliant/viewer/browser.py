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
from pliant.viewer.crowd import Crowd
from pliant.viewer.panel import Panel
from pliant.viewer.readings import misses, reading_html
from pliant.viewer.rehearsal import rehearse
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
END_PATIENCE = 2.0  # [s] for what still runs when the viewer is stopped
STRIDE = 0.03  # how far an obstacle comes near the robot between two solves, relative to its size


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
    try:  # from the moment that it says how, Ctrl-C ends it
        print(f"{model.robot.name}: {viewer.url}" + (f"  ({', '.join(remarks)})" if remarks else ""), flush=True)
        if open_browser:
            webbrowser.open(viewer.url)
        if block:
            viewer.join()
    except KeyboardInterrupt:
        if not block:
            raise
    finally:
        if block:
            viewer.stop()
    return viewer


class ViewerServer:
    """A running viewer; see `view` for the arguments.

    Args:
        solve: solver `(model, u, *, obstacles, start) -> State`; by default `pliant.equilibrium`.
        invert: inverse `(model, state, targets, *, limits, own_limits, obstacles, search, iterations) -> Command`;
            by default `pliant.invert`.
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
        self._crowd = Crowd(obstacles, stride=STRIDE * self.scene.size)
        self._known = self._good_known = self._crowd.begin  # where the shown and the last good state met the obstacles
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
        if self._invert is inverse and self._panel.aimed_targets():
            self._worker.submit("rehearse", self._rehearse)

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
        return self._crowd.at(self._crowd.wish)

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
        self._worker.submit("draw", lambda: self._accept(state, known=self._crowd.wish))

    def show_frame(self, state: State) -> None:
        """Show a state of a trajectory and move the sliders along."""
        self._panel.command = np.asarray(state.u, float)
        self._reaching = False
        self._worker.submit("draw", lambda: self._accept(state, known=self._crowd.wish))

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
        self._panel.say_goodbye()
        self._worker.stop(END_PATIENCE)
        self._painter.stop(END_PATIENCE)
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def __enter__(self) -> ViewerServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ---- wishes; called from the page's threads ---------------------------------------------
    def request_solve(self) -> None:
        """Solve for the sliders, as soon as the solver is free; only the latest request counts."""
        u, wish = self._panel.command, self._wished_contact()
        self._reaching = False
        if self._replay:
            self._replay.playing = False
        self._worker.submit("solve", lambda: self._run_solve(u, wish))

    def request_inverse(self, *, final: bool = True, search: str = "local") -> None:
        """Reach for the targets; fewer iterations while a drag goes on, `search` as in `pliant.invert`."""
        targets, wish = self._panel.aimed_targets(), self._wished_contact()
        held = self._panel.limits_on
        self._reaching = True
        options = {"limits": self._limits if held else (), "own_limits": held, "search": search}
        if self._replay:
            self._replay.playing = False
        self._worker.submit("solve", lambda: self._run_inverse(targets, wish, options, final=final))

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
        self._worker.submit("solve", lambda: self._accept(self._rest_state, known=self._crowd.begin))

    def move_obstacle(self, index: int, step: Array, *, final: bool = True) -> None:
        """Move an obstacle by a step [m] (3,) and solve again (see `request_again`)."""
        self._crowd.drag(index, step)
        self.request_again(final=final)

    def redraw(self) -> None:
        """Draw the present state again (after a change of colours, ...)."""
        self._worker.submit("draw", lambda: self._show(self._state))

    def cast_shadows(self, on: bool) -> None:
        """Draw with shadows or without."""
        self._stage.cast_shadows(on)

    # ---- work; only on the solver's thread ----------------------------------------------------
    def _run_solve(self, u: Array, wish: Array | None) -> None:
        interrupt = {"stale": partial(self._stale, SLIDER_PATIENCE)} if self._solve is statics else {}
        with self._busy(), contextlib.suppress(Superseded):
            for known, last in self._strides(wish):
                state = self._solve(
                    self.model, u, obstacles=self._met(known), start=self._state, **interrupt
                )
                if not (state.ok and np.isfinite(state.q).all()):
                    return self._fail(str(state.status))
                if state.elapsed == 0.0:
                    state = state.but(elapsed=time.perf_counter() - self._began)
                self._accept(state, known=known)
                if not last and self._worker.waiting("solve"):
                    return None  # that one goes on from here

    def _rehearse(self) -> None:
        """Let the first drag find all that it needs loaded; what goes wrong here is told by the drag itself."""
        touch = len(self._crowd) > 0 and not self._forceless
        with self._busy("Getting ready: on a new machine this takes a minute."), contextlib.suppress(Exception):
            rehearse(self.model, self._state, self._panel.aimed_targets(), contact=touch)
        self._panel.show_idle()

    def _run_inverse(
        self, targets: list[Any], wish: Array | None, options: Mapping[str, Any], *, final: bool
    ) -> None:
        on_the_way: dict[str, Any] = {**options, "iterations": DRAG_ITERATIONS}
        # A drag's few iterations are never in vain: they move the robot. Only the end of the viewer ends them.
        at_the_end = dict(options) if final else on_the_way
        if self._invert is inverse:
            on_the_way["stale"] = self._ended.is_set
            at_the_end["stale"] = self._stale if final else self._ended.is_set
        with self._busy(), contextlib.suppress(Superseded):
            for known, last in self._strides(wish):
                now = {**(at_the_end if last else on_the_way), "obstacles": self._met(known)}
                command = self._invert(self.model, self._state, targets, **now)
                if final and last and not command.ok and self._state is not self._rest_state:
                    # Far from its limits, or wedged behind an obstacle: the first state may be a better start.
                    fresh = self._invert(self.model, self._rest_state, targets, **now)
                    command = fresh if fresh.ok else command
                taken = self._take(command, targets, known, final=final and last)
                if not taken or (not last and self._worker.waiting("solve")):
                    return  # that one goes on from here

    def _strides(self, wish: Array | None) -> Iterator[tuple[Array | None, bool]]:
        """Places of the obstacles on the way to where they are wished, and whether it is the last; None: no contact."""
        while True:
            if wish is None or np.array_equal(wish, self._known):
                yield wish, True
                return
            known = self._crowd.towards(self._known, wish, self.model.skin_positions(self._state.q))
            yield known, known is wish
            if known is wish:
                return

    def _met(self, known: Array | None) -> tuple[Any, ...]:
        return () if known is None else self._crowd.at(known)

    def _stale(self, patience: float = PATIENCE) -> bool:
        """Whether the solve that runs is worth no more: it has had its time [s] and a newer wish waits, or all ends."""
        late = time.perf_counter() - self._began > patience
        return self._ended.is_set() or (late and self._worker.waiting("solve"))

    def _take(self, command: Command, targets: list[Any], known: Array | None, *, final: bool) -> bool:
        # While a drag goes on a few iterations only approach; the release must converge or says so.
        if not np.isfinite(command.state.q).all() or (final and not command.ok):
            self._fail(str(command.status))
            return False
        self._panel.command = np.asarray(command.u, float)
        self._aimed = tuple(targets)
        self._accept(command.state, command=command, known=known)
        return True

    @contextlib.contextmanager
    def _busy(self, words: str = "Solving ...") -> Iterator[None]:
        """Tell the page when a solve takes long (the first one of a machine compiles kernels)."""
        timer = threading.Timer(BUSY_AFTER, self._panel.show_busy, (words,))
        timer.daemon = True
        timer.start()
        self._began = time.perf_counter()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # or its words could come after the answer

    def _accept(self, state: State, *, command: Command | None = None, known: Array | None = None) -> None:
        """Show a state; `known`: where it met the obstacles, None if it did not."""
        self._state, self._command, self._trouble = state, command, ""
        self._known = self._known if known is None else known
        if state.ok:
            self._good, self._good_known = state, self._known
        self._show(state)

    def _fail(self, words: str) -> None:
        self._trouble = words[:1].upper() + words[1:]
        if self._state is not self._good:  # a drag had left it between two equilibria
            self._state, self._known, self._command = self._good, self._good_known, None
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

    def _wished_contact(self) -> Array | None:
        return self._crowd.wish if self._panel.contact_on else None

    def _unactuated(self) -> State:
        """The equilibrium without actuation; the rest shape if there is none."""
        u = np.zeros(self.model.nu)
        try:
            state = self._solve(self.model, u, obstacles=self.obstacles, start=None)
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
