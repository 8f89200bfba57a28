"""What `invert` carries from one linearisation to the next, and the QPCC that a linearisation becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.inverse.acceleration import Acceleration
from pliant.inverse.condense import Block, Condensed
from pliant.inverse.limits import Limit
from pliant.inverse.qpcc import QPCC, QPCCSolution
from pliant.inverse.targets import Target
from pliant.state import State

Array = np.ndarray


@dataclass(frozen=True)
class Options:
    """What does not change during the iteration.

    Contacts that stick do so without a cone; where `coulomb` is set, an answer must do with the friction there is.
    """

    targets: Sequence[Target]
    limits: Sequence[Limit]
    bounds: dict[str, tuple[Array, Array]]
    rest: Sequence[Limit]
    previous: State | None
    dt: float
    fixed_effort: dict[int, float]
    fixed_displacement: dict[int, float]
    search: str
    sticking: bool
    least: bool
    closed: dict[int, float]
    coulomb: bool = False

    @property
    def rows(self) -> int:
        """Rows per contact."""
        return 3 if self.sticking else 1


@dataclass
class Work:
    """Where the iteration is."""

    q: Array
    effort: Array
    contacts: Any
    proximal: float
    small: int = 0
    turns: int = 0
    daring: bool = True  # plain steps may be taken
    dared: bool = False  # some were
    waited: int = 0  # iterations since the step was last shorter, or the cost much lower, than all before
    shortest: float = float("inf")
    lowest: float = float("inf")
    moved: float = float("nan")  # how far the last step moved the robot [m]
    cost: float | None = None
    solution: QPCCSolution | None = None
    problem: QPCC | None = None
    condensed: Condensed | None = None
    turned: Callable[[Array], Array] | None = None  # what contact forces lose by turning in a motion (nv,) -> (nv,)
    stroke: Array | None = None
    bend: Array | None = None  # rows that stand for the curvature of the targets, zero at the present efforts
    held: Array | None = None  # keys of the contacts that the last linearisation closed, pressing or not
    acceleration: Acceleration = field(default_factory=Acceleration)
    names: list[str] = field(default_factory=list)
    timing: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def go(self, q: Array, effort: Array, contacts: Any) -> None:
        """Go on from elsewhere."""
        self.q, self.effort, self.contacts, self.held = q, effort, contacts, None

    def begin_anew(self) -> None:
        """Forget how the iteration went so far, for other targets or another start."""
        self.cost, self.small, self.proximal = None, 0, 1e-9
        self.waited, self.shortest, self.lowest = 0, float("inf"), float("inf")
        self.notes.clear()

    def spend(self, phase: str, seconds: float) -> None:
        """Count time spent in a phase."""
        self.timing[phase] = self.timing.get(phase, 0.0) + seconds


def problem_of(condensed: Condensed, work: Work, options: Options, shift: Any, remain: float) -> QPCC:
    """The QPCC of a linearisation."""
    e, a, c, g, x = condensed.objective, condensed.displacement, condensed.contact, condensed.limits, condensed.exact
    low, high = options.bounds["effort"]
    if options.fixed_effort:
        low, high = low.copy(), high.copy()
        for i, value in options.fixed_effort.items():
            low[i] = high[i] = value
    shortest, longest = options.bounds["displacement"]
    C, d, work.names = _rows_of(g, x, remain * condensed.exact_now)
    if condensed.springs:
        low, high = low.copy(), high.copy()
        for i, k in condensed.springs.items():
            # the unknown holds the spring's force too; a limit on the true effort is a row
            row = -k * np.concatenate([a.effort[i], a.contact[i]])
            row[i] += 1.0
            free = k * (condensed.coordinate[i] - a.free[i])
            for sign, bound in ((1.0, low[i]), (-1.0, high[i])):
                if np.isfinite(bound):
                    C, d = np.vstack([C, sign * row]), np.append(d, sign * (bound - free))
                    work.names.append(f"effort of {a.names[i]}")
            low[i], high[i] = -np.inf, np.inf
    Wea, Wec, de = e.effort, e.contact, e.free - shift
    if not e.free.size and x.free.size:
        # equalities alone leave nothing to minimise: their squares, which they bring to zero, measure the efforts
        Wea, Wec, de = x.effort, x.contact, x.free - remain * condensed.exact_now
    if work.bend is not None and len(work.bend):
        Wea, Wec = np.vstack([Wea, work.bend]), np.vstack([Wec, np.zeros((len(work.bend), Wec.shape[1]))])
        de = np.concatenate([de, -work.bend @ work.effort])
    gap = c.free
    if remain and gap.size:
        gap = gap.copy()
        gap[:: options.rows] -= remain * np.minimum(work.contacts.gap, 0.0)
    fields = {
        "Wea": Wea, "Wec": Wec, "de": de,
        "Waa": 0.5 * (a.effort + a.effort.T), "Wac": a.contact, "da": a.free,
        "Wca": c.effort, "Wcc": 0.5 * (c.contact + c.contact.T), "dc": gap,
        "effort_min": low, "effort_max": np.maximum(high, low),
        "displacement_min": shortest, "displacement_max": np.maximum(longest, shortest),
        "C": C, "d": d, "energy": 0.0, "proximal": work.proximal, "reference": work.effort,
        "rows_per_contact": options.rows, "friction": None,
    }  # fmt: skip
    # Sums tell whether everything is finite; if not, the checks say what is not.
    total = condensed.compliance.total + np.add.reduce(np.concatenate((de, a.free, gap, C.ravel())))
    return QPCC.trusted(**fields) if np.isfinite(total) else QPCC(**fields)


def _rows_of(limits: Block, exact: Block, kept: Array) -> tuple[Array, Array, list[str]]:
    """Rows C [efforts; contact forces] >= d of limits, and of equalities that may keep a part of what they miss.

    Returns C, d and the names of the rows.
    """
    nu, width = limits.effort.shape[1], limits.effort.shape[1] + limits.contact.shape[1]
    if not len(limits.free) and not len(exact.free):
        return np.zeros((0, width)), np.zeros(0), []
    below, above = np.flatnonzero(np.isfinite(limits.low)), np.flatnonzero(np.isfinite(limits.high))
    must = kept - exact.free
    parts = [
        (limits.effort[below], limits.contact[below], (limits.low - limits.free)[below], 1.0),
        (limits.effort[above], limits.contact[above], (limits.high - limits.free)[above], -1.0),
        (exact.effort, exact.contact, must, 1.0),
        (exact.effort, exact.contact, must, -1.0),
    ]
    count = len(below) + len(above) + 2 * len(must)
    C, d, at = np.empty((count, width)), np.empty(count), 0
    for effort, contact, bound, sign in parts:
        if end := len(bound):
            np.multiply(effort, sign, out=C[at : at + end, :nu])
            np.multiply(contact, sign, out=C[at : at + end, nu:])
            np.multiply(bound, sign, out=d[at : at + end])
            at += end
    names = [limits.names[i] for i in (*below, *above)]
    return C, d, [*names, *exact.names, *exact.names]


def notices(work: Work, model: Any) -> list[str]:
    """What the QPCC says, with names instead of row numbers; of several rows of a limit, the one that is worst off."""
    worst: dict[str, tuple[float, str]] = {}
    for text in () if work.solution is None else work.solution.notices:
        for i, name in enumerate(work.names):
            text = text.replace(f"row {i} of C ", f"the limit of the {name} ")
        for i, name in enumerate(model.robot.actuator_names):
            text = text.replace(f"of actuator {i} ", f"of {name} ")
        what, by, amount = text.partition(" was relaxed by ")
        size = float(amount) if by else 0.0
        if what not in worst or worst[what][0] < size:
            worst[what] = size, text
    return [text for _, text in worst.values()]
