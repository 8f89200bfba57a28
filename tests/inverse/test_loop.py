import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.contact.obstacles import Pose
from pliant.inverse.loop import Loop, run_loop

sys.path.insert(0, str(Path(__file__).parent))
from point_robot import PointRobot


class Clock:
    """A clock that a test winds: every solve takes the next duration, sleeping takes exactly its time."""

    def __init__(self, durations):
        self.now, self.durations, self.slept, self.calls = 100.0, list(durations), [], 0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds > 0
        self.slept.append(seconds)
        self.now += seconds

    def source(self, target):
        def ask(t, state):
            self.calls += 1
            if self.durations:
                self.now += self.durations.pop(0)
            return target(t)

        return ask


def circle(t):
    return pl.PointTarget("tip", (0.02 * np.cos(3 * t), 0.02 * np.sin(3 * t), 0.01))


def test_on_time_every_cycle_starts_on_the_grid():
    clock = Clock([0.004] * 20)
    times = []
    report = run_loop(
        PointRobot(), clock.source(circle), lambda t, u, s: times.append(t),
        rate=100.0, cycles=20, clock=clock, sleep=clock.sleep,
    )  # fmt: skip
    assert np.allclose(times, 0.01 * np.arange(20))
    assert len(report) == 20
    assert report.missed == report.skipped == report.held == 0
    assert report.status == {"SINGLE": 20}
    assert np.allclose(report.compute, 0.004)
    assert np.allclose(report.late, -0.006)
    assert np.allclose(clock.slept, 0.006)


def test_a_late_cycle_skips_periods_and_never_sleeps_past_a_deadline():
    clock = Clock([0.004, 0.027, 0.004, 0.010, 0.004])
    times = []
    report = run_loop(
        PointRobot(), clock.source(circle), lambda t, u, s: times.append(t),
        rate=100.0, cycles=5, clock=clock, sleep=clock.sleep,
    )  # fmt: skip
    # the second began at 10 ms and ended at 37 ms: 20 and 30 ms are gone, the next begins at 40 ms
    assert np.allclose(times, [0.0, 0.01, 0.04, 0.05, 0.06])
    assert report.missed == 1
    assert report.skipped == 2
    assert report.worst == pytest.approx(0.027)
    assert "1 deadlines missed" in str(report)


def test_the_loop_tracks_and_stops_by_source_or_duration():
    model = PointRobot()
    clock = Clock([])
    report = run_loop(model, clock.source(circle), rate=200.0, duration=1.0, clock=clock, sleep=clock.sleep)
    assert len(report) == 200
    goal = np.array(circle(199 / 200).position)
    assert np.linalg.norm(model.locate(report.state, "tip").position - goal) < 1e-5
    stop = run_loop(model, lambda t, s: circle(t) if t < 0.049 else None, rate=100.0, clock=clock, sleep=clock.sleep)
    assert len(stop) == 5


def test_real_time_with_the_system_clock():
    report = run_loop(PointRobot(), lambda t, s: circle(t), rate=50.0, cycles=10)
    assert len(report) == 10
    assert report.median > 0


def test_what_is_sent_is_named_and_finite():
    sent = []
    loop = Loop(PointRobot(), lambda t, u, s: sent.append((t, dict(u), s)), rate=100.0, iterations=30)
    loop.cycle(0.0, circle(0.0))
    _, u, status = sent[0]
    assert list(u) == ["c1", "c2", "c3", "c4"]
    assert np.isfinite(list(u.values())).all()
    assert status == "CONVERGED"


def test_a_bad_answer_is_held_back(monkeypatch):
    from pliant.inverse import loop as module

    model, sent = PointRobot(), []
    driver = Loop(model, lambda t, u, s: sent.append(dict(u)), rate=100.0, clock=Clock([]), sleep=lambda s: None)
    good = driver.cycle(0.0, circle(0.0))
    solve = module.invert

    def broken(*arguments, **options):
        from dataclasses import replace

        return replace(solve(*arguments, **options), status=pl.Status.DIVERGED, u=np.full(4, np.nan))

    monkeypatch.setattr(module, "invert", broken)
    report = driver.run(lambda t, s: circle(t), cycles=3)
    assert report.held == 3
    assert all(np.allclose(list(u.values()), good.u) for u in sent)
    assert report.status == {"DIVERGED": 3}


def test_obstacles_move_with_the_time():
    floor = pl.Plane(point=(0, 0, -0.03), normal=(0, 0, 1), motion=lambda t: Pose((0, 0, 0.04 * t)))
    clock = Clock([])
    report = run_loop(
        PointRobot(), lambda t, s: pl.PointTarget("tip", (0, 0, -0.02)), rate=50.0, duration=1.0, obstacles=[floor],
        clock=clock, sleep=clock.sleep, alarm=0.02,
    )  # fmt: skip
    height = report.state.q[2]
    assert height >= -0.03 + 0.04 * 0.98 + 0.01 - 1e-6  # pushed up by the floor
    assert report.state.contacts.forces.sum() > 0


def test_bad_input():
    model = PointRobot()
    with pytest.raises(pl.ArgumentError, match="rate"):
        Loop(model, rate=0.0)
    with pytest.raises(pl.ArgumentError, match="sink"):
        Loop(model, 7)


def test_a_real_robot_streams_over_udp_with_deadline_statistics():
    import json
    import socket

    from pliant.inverse.sinks import UdpSink

    model = pl.FemModel(pl.robots.golden_beam())
    begin = pl.equilibrium(model, [5e-3, 5e-3, 5e-3])
    tip = model.locate(begin, "tip").position

    def source(t, state):
        return pl.PointTarget("tip", tuple(tip + [0.0, 1e-3 * np.sin(10 * t), 1e-3 * np.cos(10 * t)]))

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(5)
        with UdpSink("127.0.0.1", receiver.getsockname()[1]) as sink:
            report = run_loop(model, source, sink, rate=20.0, cycles=6, state=begin)
        got = [json.loads(receiver.recv(4096)) for _ in range(6)]
    assert len(report) == 6
    assert report.worst >= report.median > 0.0
    assert report.missed == int((report.late > 0).sum())
    assert all(set(m["u"]) == {"cable1", "cable2", "cable3"} for m in got)
    np.testing.assert_allclose(list(got[-1]["u"].values()), report.command.u)  # what arrives is what was solved
    reached = pl.equilibrium(model, got[-1]["u"], start=begin)
    goal = np.array(source(got[-1]["t"], None).position)
    assert np.linalg.norm(model.locate(reached, "tip").position - goal) < 0.2e-3


def test_rates_count_from_the_rest_pose_if_there_is_no_state():
    model = PointRobot()
    sent = []
    limits = [pl.RateLimit(n, 5.0, "effort") for n in model.robot.actuator_names]
    loop = Loop(model, lambda t, u, status: sent.append(list(u.values())), rate=50.0, limits=limits)
    for k in range(3):
        loop.cycle(k / 50, circle(0.0))
    assert loop.command is not None
    moved = np.abs(loop.command.effort - pl.equilibrium(model).effort)
    assert moved.max() == pytest.approx(0.3, rel=1e-6)  # three periods at 5 N/s


def test_a_sink_that_fails_ends_the_loop_and_leaves_the_statistics():
    clock, sent = Clock([0.004] * 20), []

    def sink(t, u, status):
        if len(sent) == 7:
            raise pl.ChannelError("serial port /dev/ttyUSB0", "unplugged")
        sent.append(t)

    loop = Loop(PointRobot(), sink, rate=100.0, clock=clock, sleep=clock.sleep)
    with pytest.raises(pl.ChannelError, match="unplugged") as caught:
        loop.run(clock.source(circle), cycles=20)
    assert any("7 cycles at 100 Hz" in note for note in caught.value.__notes__)
    assert loop.report is not None
    assert len(loop.report) == 7
    assert len(loop.run(clock.source(circle), cycles=0)) == 0  # and can be run again


def test_a_source_that_raises_ends_the_loop_with_its_own_error():
    def source(t, state):
        raise ZeroDivisionError("mine")

    loop = Loop(PointRobot(), rate=100.0)
    with pytest.raises(ZeroDivisionError, match="mine"):
        loop.run(source, duration=1.0)
    assert len(loop.report) == 0


def test_a_slow_sink_shows_in_the_statistics():
    clock = Clock([0.004] * 5)

    def slow(t, u, status):
        clock.now += 0.02

    report = run_loop(PointRobot(), clock.source(circle), slow, rate=100.0, cycles=5, clock=clock, sleep=clock.sleep)
    assert report.missed == 5
    assert report.worst == pytest.approx(0.024)
    assert report.skipped == 10  # each cycle takes the time of three
