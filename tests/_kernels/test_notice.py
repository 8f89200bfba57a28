"""The line that says that kernels are being compiled."""

import io
import sys

import numpy as np
import pytest
from numba import njit
from numba.core import event

from pliant._kernels import notice


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def heard():
    said, clock = [], Clock()
    return said, clock, notice.CompileNotice(said.append, clock)


def test_long_compiling_is_said_once_while_it_goes_on(heard):
    said, clock, listener = heard
    listener.on_start(None)
    clock.now = 2.0
    listener.on_start(None)  # one function inside of another counts once
    assert said == []
    clock.now = 3.5
    listener.on_end(None)
    assert said == [notice.TEXT]
    listener.on_end(None)
    clock.now = 100.0
    listener.on_start(None)
    listener.on_end(None)
    assert len(said) == 1


def test_short_compilings_add_up_and_the_time_between_does_not_count(heard):
    said, clock, listener = heard
    for begin in (0.0, 100.0, 200.0):
        clock.now = begin
        listener.on_start(None)
        clock.now = begin + 1.4
        listener.on_end(None)
        assert len(said) == (begin == 200.0)


def test_numba_tells_the_listener():
    seen = []

    class Seen(event.Listener):
        def on_start(self, event):
            seen.append(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event):
            pass

    @njit
    def one_more(x):
        return x + 1

    with event.install_listener("numba:compile", Seen()):
        assert one_more(np.float64(1.0)) == 2.0
    assert "one_more" in seen


@pytest.mark.parametrize(
    ("program", "terminal", "shown"), [("x.py", True, True), ("x.py", False, False), ("pliant", False, True)]
)
def test_only_where_somebody_reads_it(monkeypatch, program, terminal, shown):
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "argv", [f"/usr/bin/{program}"])
    notice._say(notice.TEXT)
    assert (notice.TEXT in stream.getvalue()) is shown


@pytest.mark.parametrize("base", ["lie", "materials_invariants", "network", "bvh", "lapack"])
def test_modules_that_others_build_on_bring_it(base):
    module = __import__(f"pliant._kernels.{base}", fromlist=["notice"])
    assert module.notice is notice
