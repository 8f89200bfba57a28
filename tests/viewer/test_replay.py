import numpy as np
import pytest

from pliant.viewer.browser import ViewerServer
from pliant.viewer.replay import STILL_RATE, frame_times


def test_times_start_at_zero_or_are_made_up(sweep):
    np.testing.assert_allclose(frame_times(sweep), np.linspace(0, 2, 41))
    still = [s.but(time=0.0) for s in sweep]
    np.testing.assert_allclose(frame_times(still), np.arange(41) / STILL_RATE)


def test_scrubbing_shows_states_and_moves_the_sliders(box, sweep):
    with ViewerServer(box, sweep, port=9120, solve=box.solve, targets=()) as viewer:
        viewer.frame = 20
        assert viewer.wait()
        assert viewer.state is sweep[20]
        np.testing.assert_allclose(viewer.u, sweep[20].u)
        viewer.frame = 1000
        assert viewer.wait()
        assert viewer.frame == 40


def test_playing_advances_and_a_slider_stops_it(box, sweep):
    import threading

    with ViewerServer(box, sweep, port=9121, solve=box.solve, targets=()) as viewer:
        moved = threading.Event()
        show = viewer.show_frame

        def watched(state):
            show(state)
            moved.set()

        viewer.show_frame = watched
        viewer.playing = True
        assert moved.wait(60)
        assert viewer.playing
        viewer.u = {"cable": 0.01}
        assert not viewer.playing
        assert viewer.wait()
        assert viewer.state.u[0] == pytest.approx(0.01)
