"""Loop: the inverse at a fixed rate, streaming actuation to a sink, with deadline statistics."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pliant.checks import count, positive, several
from pliant.errors import ArgumentError
from pliant.inverse.follow import beginning
from pliant.inverse.invert import invert
from pliant.inverse.limits import Limit, at_time
from pliant.inverse.sinks import Sink
from pliant.inverse.targets import Target
from pliant.models.contract import Model
from pliant.solve.commands import check_state
from pliant.solve.problem import Problem, surroundings
from pliant.state import Command, State, Status

Array = np.ndarray
Source = Callable[[float, State], Any]
SinkLike = Sink | Callable[[float, Mapping[str, float], str], None]


@dataclass(frozen=True, eq=False)
class LoopReport:
    """How a loop kept its rate.

    Attributes:
        rate: wanted [1/s].
        compute: time spent in each cycle [s] (n,).
        late: how long after its deadline each cycle ended [s], negative when early (n,).
        skipped: periods left out because an earlier cycle overran them.
        held: cycles whose answer was not usable, in which the last good command was sent again.
        status: how the solves ended, name -> count.
        state: the last good state.
        command: the last command.
    """

    rate: float
    compute: Array
    late: Array
    skipped: int
    held: int
    status: Mapping[str, int]
    state: State | None
    command: Command | None

    def __len__(self) -> int:
        return len(self.compute)

    @property
    def missed(self) -> int:
        """Cycles that ended after their deadline."""
        return int((self.late > 0).sum())

    @property
    def median(self) -> float:
        """Median time per cycle [s]."""
        return float(np.median(self.compute)) if len(self) else float("nan")

    @property
    def worst(self) -> float:
        """Longest cycle [s]."""
        return float(self.compute.max()) if len(self) else float("nan")

    def percentile(self, p: float) -> float:
        """Time per cycle that p percent of the cycles keep [s]."""
        return float(np.percentile(self.compute, p)) if len(self) else float("nan")

    def __str__(self) -> str:
        ms = 1e3
        return (
            f"{len(self)} cycles at {self.rate:g} Hz: median {ms * self.median:.2f} ms, "
            f"99 % {ms * self.percentile(99):.2f} ms, worst {ms * self.worst:.2f} ms; "
            f"{self.missed} deadlines missed, {self.skipped} periods skipped, {self.held} answers held back; "
            f"{dict(self.status)}"
        )


@dataclass
class _Record:
    compute: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    skipped: int = 0
    held: int = 0
    status: Counter = field(default_factory=Counter)


class Loop:
    """A robot driven by the inverse at a fixed rate.

    One cycle asks the source for targets, solves, and sends. Deadlines lie on a fixed grid: a late cycle starts the
    next one at the next grid time that is still ahead, so delays do not add up and no time is slept through. An
    answer that is not finite, or whose solve diverged, is never sent; the last good command is sent again instead.

    Args:
        model: any mechanical model.
        sink: where commands go (see `sinks`), or a function (time, u, status); None sends nothing.
        rate: cycles per second [1/s].
        state: where the robot is; the rest pose if None.
        limits: in addition to the limits that the actuators carry.
        obstacles: those with a motion are moved with the time.
        prescribed: actuators that are not solved for: name -> value in the unit of its drive. The attribute of that
            name may be set between cycles (by the source, for one), so that actuators change hands while it runs.
        iterations: linearisations per cycle; 1 for the highest rates.
        friction, redundancy, dynamic, alarm: see `invert`.
        clock: returns a time [s] that never runs backwards.
        sleep: waits for a duration [s].
    """

    def __init__(
        self,
        model: Model,
        sink: SinkLike | None = None,
        *,
        rate: float = 50.0,
        state: State | None = None,
        limits: Sequence[Limit] = (),
        obstacles: Sequence[Any] = (),
        prescribed: Mapping[str, float] | None = None,
        iterations: int = 1,
        friction: Literal["auto", "none", "stick"] = "auto",
        redundancy: Literal["least change", "least effort"] = "least change",
        dynamic: bool = False,
        alarm: float | None = None,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self.rate = positive("rate", rate)
        self.limits = list(several("limits", limits, "evaluate", "EffortLimit, ..."))
        self.prescribed = prescribed
        self.command: Command | None = None
        self.report: LoopReport | None = None
        self.iterations = count("iterations", iterations)
        self._send = _sender(sink)
        self._obstacles = surroundings(obstacles)
        self._moving = any(getattr(o, "motion", None) is not None for o in self._obstacles)
        self._problem = Problem(model, [_at(o, 0.0) for o in self._obstacles], alarm=alarm)
        check_state(model, state)
        self.state = beginning(self._problem, state, self.limits)
        self._options: dict[str, Any] = {"friction": friction, "redundancy": redundancy, "dynamic": dynamic}
        self._clock, self._sleep = clock, sleep
        self._names = model.robot.actuator_names

    def place(self, obstacles: Sequence[Any]) -> None:
        """Move the obstacles: the same ones at other poses (a tracked obstacle)."""
        self._obstacles = tuple(obstacles)
        self._problem.place([_at(o, 0.0) for o in obstacles])

    def cycle(self, now: float, targets: Target | Sequence[Target]) -> Command:
        """One solve and one message, at a time since the start [s]."""
        if self._moving:
            self._problem.place([_at(o, now) for o in self._obstacles])
        command = invert(
            self.model, self.state, targets, limits=at_time(self.limits, now), problem=self._problem,
            prescribed=self.prescribed, iterations=self.iterations, search="local", dt=1.0 / self.rate, **self._options,
        )  # fmt: skip
        if _usable(command):
            self.state, self.command = command.state, command
        if self._send is not None and self.command is not None:
            u = {n: float(v) for n, v in zip(self._names, self.command.u)}
            self._send(now, u, command.status.name)
        return command

    def run(self, source: Source, *, duration: float | None = None, cycles: int | None = None) -> LoopReport:
        """Run until the source returns None, or for a duration [s], or for a number of cycles.

        Args:
            source: called as `source(time, state)`; returns a target, several targets, or None to stop.
            duration: longest time [s].
            cycles: largest number of cycles.

        Whatever the source or the sink raises ends the loop and is passed on, with the statistics so far as a note;
        `report` keeps them.
        """
        record = _Record()
        try:
            self._run(source, record, duration, cycles)
        except BaseException as error:
            error.add_note(f"the loop until then: {self._sum_up(record)}")
            raise
        finally:
            self.report = self._sum_up(record)
        return self.report

    def _run(self, source: Source, record: _Record, duration: float | None, cycles: int | None) -> None:
        period = 1.0 / self.rate
        start = self._clock()
        index = 0  # of the period on the grid
        while cycles is None or len(record.compute) < cycles:
            now = index * period
            if duration is not None and now >= duration - 1e-12:
                break
            wait = start + now - self._clock()
            if wait > 0:
                self._sleep(wait)
            begin = self._clock()
            targets = source(now, self.state)  # type: ignore[arg-type]
            if targets is None:
                break
            command = self.cycle(now, targets)
            end = self._clock()
            record.compute.append(end - begin)
            record.late.append(end - (start + now + period))
            record.status[command.status.name] += 1
            record.held += not _usable(command)
            behind = int(np.floor((end - start) / period + 1e-9))
            following = max(index + 1, behind if end - start <= behind * period + 1e-9 else behind + 1)
            record.skipped += following - index - 1
            index = following

    def _sum_up(self, record: _Record) -> LoopReport:
        return LoopReport(
            self.rate, np.array(record.compute), np.array(record.late), record.skipped, record.held,
            dict(record.status), self.state, self.command,
        )  # fmt: skip


def run_loop(
    model: Model, source: Source, sink: SinkLike | None = None, *, rate: float, duration: float | None = None,
    cycles: int | None = None, **options: Any,
) -> LoopReport:  # fmt: skip
    """Drive a robot by the inverse at a fixed rate; `Loop(model, sink, rate=rate, **options).run(source, ...)`."""
    return Loop(model, sink, rate=rate, **options).run(source, duration=duration, cycles=cycles)


def _at(obstacle: Any, now: float) -> Any:
    return obstacle.at(now) if getattr(obstacle, "motion", None) is not None else obstacle


def _usable(command: Command) -> bool:
    bad = command.status in (Status.DIVERGED, Status.INVERTED, Status.SINGULAR, Status.PENETRATING)
    return not bad and bool(np.isfinite(command.u).all() and np.isfinite(command.state.q).all())


def _sender(sink: SinkLike | None) -> Callable[[float, Mapping[str, float], str], None] | None:
    if sink is None:
        return None
    send = getattr(sink, "send", sink)
    if not callable(send):
        raise ArgumentError("sink", f"{sink!r}", "an object with send(time, u, status), or a function")
    return send
