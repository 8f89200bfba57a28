"""Play, pause, scrub: showing the states of a trajectory over time."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.state import State

if TYPE_CHECKING:
    from pliant.viewer.browser import ViewerServer

TICK = 1 / 24  # [s] between pictures
STILL_RATE = 24.0  # states per second when a trajectory has no times


def frame_times(states: Sequence[State]) -> np.ndarray:
    """Time of each state from the first [s]; evenly spaced if the states carry no increasing times."""
    times = np.array([s.time for s in states], float)
    if len(times) > 1 and np.isfinite(times).all() and (np.diff(times) > 0).all():
        return times - times[0]
    return np.arange(len(times)) / STILL_RATE


class Replay:
    """Controls and clock of a replay."""

    def __init__(self, viewer: ViewerServer, states: Sequence[State]) -> None:
        self._viewer, self._states = viewer, list(states)
        self._times = frame_times(states)
        self._frame, self._playing, self._stopped = 0, False, False
        self._wake = threading.Condition()
        gui: Any = viewer.server.gui
        with gui.add_folder("Replay", order=-1.0):
            self._button = gui.add_button("Play")
            self._slider = gui.add_slider("frame", 0, len(states) - 1, 1, 0)
            self._speed = gui.add_slider("speed", 0.1, 4.0, 0.1, 1.0)
            self._again = gui.add_checkbox("repeat", True)
        self._button.on_click(lambda e: self._toggle())
        self._slider.on_update(self._scrubbed)
        self._thread = threading.Thread(target=self._run, name="pliant-viewer-replay", daemon=True)
        self._thread.start()

    @property
    def frame(self) -> int:
        """Index of the shown state; assign to scrub."""
        return self._frame

    @frame.setter
    def frame(self, index: int) -> None:
        self._frame = int(np.clip(index, 0, len(self._states) - 1))
        self._slider.value = self._frame
        self._viewer.show_frame(self._states[self._frame])

    @property
    def playing(self) -> bool:
        """Whether the clock runs."""
        return self._playing

    @playing.setter
    def playing(self, value: bool) -> None:
        with self._wake:
            self._playing = bool(value)
            self._button.label = "Pause" if value else "Play"
            self._wake.notify_all()

    def stop(self) -> None:
        """End the clock's thread."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
        self._thread.join(2.0)

    def _toggle(self) -> None:
        if not self._playing and self._frame == len(self._states) - 1:
            self.frame = 0
        self.playing = not self._playing

    def _scrubbed(self, event: Any) -> None:
        if event.client_id is not None:
            self.playing = False
            self.frame = int(self._slider.value)

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._playing or self._stopped)
                if self._stopped:
                    return
            clock, last = float(self._times[self._frame]), time.perf_counter()
            while self._playing and not self._stopped:
                time.sleep(TICK)
                now = time.perf_counter()
                clock, last = clock + (now - last) * float(self._speed.value), now
                if clock >= self._times[-1]:
                    if not self._again.value:
                        self.frame = len(self._states) - 1
                        self.playing = False
                        break
                    clock = 0.0
                index = int(np.searchsorted(self._times, clock, side="right")) - 1
                if index != self._frame and self._playing:
                    self.frame = index
