"""Acceptance checks of the inverse (spec inverse-fem 19), each named after its check; golden values of section 17.

| check | where | what it compares |
|---|---|---|
| C1 | here (2) | golden tensions and tip of 17.2, strokes to 1e-9 m; no bias of the energy term (6.6) |
| C2 | here | four pressures of the tower, two of them negative, to 1e-6 |
| C3 | here | three moduli to 1e-5 |
| C4 | here | closest point against 216 sampled tensions |
| C5 | here (2), test_qp, test_qpcc | continuous and unique with redundant cables |
| C6 | test_qp | 12 unknowns, 24 constraints, fewer than 10 iterations |
| D1 | here (2), solve/test_complementarity | Signorini on the whole skin, re-checked forward |
| D2 | here (3) | golden contact forces of 17.5; tower and finger round trips |
| D3 | test_qpcc | reduced against full piece (time ratios: benchmarks/qpcc.py) |
| D4 | test_qpcc (2) | enumeration, monotone, finite |
| D5 | here (2), test_qpcc | continuous piecewise cost; two local minima of a beam, proved by sampling around them |
| D6 | here | sign of a condensed Jacobian with and without a support |
| D7 | contact/test_detection (2) | one contact between convex bodies; volume contacts against pixel size |
| E1 | here, test_qpcc_sticking | stuck points stay, open ones carry nothing; enumeration |
| E2 | test_contact_applications | ring rolls on the flat and up a slope |
| E3 | test_contact_applications | sphere of 20 moduli and a pressure rolls |
| E4 | test_contact_applications | trunk moves a held cup: mean errors in mm and degrees |
| E5 | test_contact_applications, test_qpcc_sticking | grasp floor held; without it the cup is dropped |
| E6 | test_qpcc, test_qpcc_sticking | reduced energy form never indefinite |
| E7 | here (2), test_qpcc_sticking | ramp and hold of 17.8: strokes held, no pull, no penetration, cone ratio logged |
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from harness import golden_beam, golden_mesh

import pliant as pl
from pliant.inverse.qpcc import CLOSED, FRICTIONLESS, piecewise_cost, solve_qpcc
from pliant.materials import Corotational
from pliant.solve.problem import Problem

STROKES = np.array([5e-3, 10e-3, 15e-3])


class Padded(pl.FemModel):
    """The golden beam whose contact candidates are the 9 bottom nodes with 40 <= x <= 60 mm (spec 17.5)."""

    def __init__(self, robot):
        super().__init__(robot)
        x = self.layout.rest_nodes
        chosen = (x[:, 2] < -0.0074) & (x[:, 0] > 0.04) & (x[:, 0] < 0.06)
        self.layout.skin_nodes = np.flatnonzero(chosen)
        self.layout.skin_triangles = np.zeros((0, 3), np.int64)


@pytest.fixture(scope="module")
def beam():
    return pl.FemModel(golden_beam())


@pytest.fixture(scope="module")
def padded():
    return Padded(golden_beam())


PAD = pl.Plane(point=(0, 0, -0.012), normal=(0, 0, 1))


def recheck(model, command, obstacles=(), alarm=None, drive="effort"):
    """The state of an independent forward solve under the command, from the rest pose."""
    robot = model.robot.but(actuators=tuple(replace(a, drive=drive) for a in model.robot.actuators))
    forward = type(model)(robot)
    u = command.effort if drive == "effort" else command.displacement
    state = pl.equilibrium(forward, u, obstacles=obstacles, alarm=alarm, start=None)
    if not state.ok:
        state = pl.equilibrium(forward, u, obstacles=obstacles, alarm=alarm, start=command.state)
    assert state.ok
    return state


def complementary(contacts, scale):
    """Signorini to rounding: no penetration, no pull, no force at a distance."""
    assert contacts.gap.min(initial=0.0) > -1e-6 * scale
    assert contacts.forces.min(initial=0.0) >= 0.0
    assert np.abs(contacts.gap * contacts.forces).max(initial=0.0) < 1e-7 * scale


# ---- without contact ---------------------------------------------------------------------------------------
def test_c1_golden_forward_and_round_trip(beam):
    state = pl.equilibrium(beam, STROKES)
    tip = beam.locate(state, "tip").position
    assert np.allclose(state.effort, [1.71789, 1.15047, 3.27295], atol=6e-6)
    assert np.allclose(tip, [89.4445e-3, -9.0660e-3, -20.7812e-3], atol=6e-8)
    command = pl.invert(beam, None, pl.PointTarget("tip", tip))
    assert command.status is pl.Status.CONVERGED
    assert np.allclose(command.displacement, STROKES, atol=1e-9)
    assert np.abs(command.error).max() < 1e-12
    again = recheck(beam, command, drive="displacement")
    assert np.allclose(beam.locate(again, "tip").position, tip, atol=1e-10)


def test_c1_bias_of_the_energy_term_is_gone(beam):
    """Spec 6.6: the classical term with factor 1e-3 leaves 0.541 mm; ours leaves nothing, least effort included."""
    tip = beam.locate(pl.equilibrium(beam, STROKES), "tip").position
    for redundancy in ("least change", "least effort"):
        command = pl.invert(beam, None, pl.PointTarget("tip", tip), redundancy=redundancy)
        assert np.abs(command.error).max() < 1e-9


def test_c2_four_pressures_with_negative_ones():
    robot = pl.robots.tower()
    robot = robot.but(actuators=tuple(replace(a, effort_limits=(-60e3, 60e3)) for a in robot.actuators))
    model = pl.FemModel(robot)
    pressure = np.array([2.5e3, -3.0e3, -3.5e3, 2.0e3])
    names = ("tip", "middle")
    wanted = model.locate(pl.equilibrium(model, pressure, strict=True), names).position
    command = pl.invert(model, None, pl.PointsTarget(names, wanted), strict=True)
    assert np.allclose(command.effort, pressure, rtol=1e-6)
    again = recheck(model, command)
    assert np.allclose(model.locate(again, names).position, wanted, atol=1e-9)


def test_c3_three_moduli():
    mesh = golden_mesh()
    x = mesh.nodes[mesh.tets].mean(axis=1)[:, 0]
    for name, low, high in (("a", -1, 0.0334), ("b", 0.0334, 0.0668), ("c", 0.0668, 1)):
        mesh = mesh.with_region(name, np.flatnonzero((x >= low) & (x < high)))
    nearest = [mesh.nodes[np.argmin(np.linalg.norm(mesh.nodes - [p, 0, 0], axis=1))] for p in (0.0333, 0.0666, 0.1)]
    names = ("p1", "p2", "p3")
    robot = pl.Robot(
        "moduli",
        (pl.SoftBody("body", mesh, Corotational.from_young(1e6, 0.45, density=1100)),),
        (pl.Fixation("base"),),
        actuators=tuple(pl.Stiffness(name=f"E{n}", region=n) for n in "abc"),
        points=tuple(pl.Point(n, tuple(p)) for n, p in zip(names, nearest)),
    )
    model = pl.FemModel(robot)
    true = np.array([0.1, 0.5, 0.2])
    wanted = model.locate(pl.equilibrium(model, true - 1.0, strict=True), names).position
    command = pl.invert(model, None, pl.PointsTarget(names, wanted), strict=True)
    assert np.allclose(command.effort + 1.0, true, rtol=1e-5)  # the bar is 0.1 %
    again = recheck(model, command)
    assert np.allclose(model.locate(again, names).position, wanted, atol=1e-8)


def test_c4_unreachable_target_is_the_closest_point(beam):
    """Compared with a dense sampling of the tensions: nothing sampled is closer."""
    robot = golden_beam()
    robot = robot.but(actuators=tuple(replace(a, drive="effort", effort_limits=(0, 1.5)) for a in robot.actuators))
    model = pl.FemModel(robot)
    for far in ((0.11, -0.01, 0.02), (0.06, 0.06, -0.06)):
        command = pl.invert(model, None, pl.PointTarget("tip", far))
        assert command.status is pl.Status.UNREACHABLE
        assert (command.effort >= -1e-12).all()
        assert (command.effort <= 1.5 + 1e-12).all()
        best = np.linalg.norm(command.error)
        state = None
        for level in np.ndindex(6, 6, 6):
            state = pl.equilibrium(model, np.array(level) * 0.3, start=state, strict=True)
            distance = np.linalg.norm(model.locate(state, "tip").position - far)
            assert distance > best - 1e-9
        again = recheck(model, command)
        assert abs(np.linalg.norm(model.locate(again, "tip").position - far) - best) < 1e-9


def test_c5_redundant_actuators_are_continuous(beam):
    """One row, three cables: small moves of the target move the cables little, whichever the secondary goal."""
    for redundancy in ("least change", "least effort"):
        state, before = None, None
        for z in -0.02 + 1e-4 * np.arange(6):
            command = pl.invert(beam, state, pl.PointTarget("tip", (0, 0, z), axes="z"), redundancy=redundancy)
            assert command.status is pl.Status.CONVERGED
            if before is not None:
                assert np.abs(command.effort - before).max() < 0.05
            state, before = command.state, command.effort
        again = recheck(beam, command)
        assert beam.locate(again, "tip").position[2] == pytest.approx(z, abs=1e-8)


def test_c5_least_effort_is_unique_and_least(beam):
    target = pl.PointTarget("tip", (0, 0, -0.02), axes="z")
    bent = pl.equilibrium(beam, STROKES)
    commands = [pl.invert(beam, s, target, redundancy="least effort") for s in (None, bent)]
    assert all(c.status is pl.Status.CONVERGED for c in commands)
    assert np.allclose(commands[0].effort, commands[1].effort, atol=1e-4)
    again = recheck(beam, commands[0])
    assert beam.locate(again, "tip").position[2] == pytest.approx(-0.02, abs=1e-8)
    plain = pl.invert(beam, bent, target)
    W = commands[0].problem.Waa
    assert commands[0].effort @ W @ commands[0].effort <= plain.effort @ W @ plain.effort + 1e-9


# ---- contact ------------------------------------------------------------------------------------------------
def test_d1_d2_golden_contact_forward_and_round_trip(padded):
    state = pl.equilibrium(padded, STROKES, obstacles=[PAD], alarm=0.05, strict=True)
    tip = padded.locate(state, "tip").position
    assert np.allclose(state.effort, [1.32570, 1.36507, 3.45330], atol=6e-6)
    assert np.allclose(tip, [90.3987e-3, -10.1899e-3, -15.3088e-3], atol=6e-8)
    forces = np.zeros(9)
    forces[state.contacts.vertices[:, 0]] = state.contacts.forces
    assert np.allclose(forces[forces > 0], [93.95e-3, 246.93e-3, 142.72e-3], atol=6e-6)
    command = pl.invert(padded, None, pl.PointTarget("tip", tip), obstacles=[PAD], alarm=0.05)
    assert command.status is pl.Status.CONVERGED
    assert np.allclose(command.displacement, STROKES, atol=1e-8)
    assert np.abs(command.error).max() < 1e-10
    assert np.allclose(np.sort(command.state.contacts.forces)[-3:], np.sort(forces)[-3:], atol=1e-6)
    complementary(command.state.contacts, 0.1)
    again = recheck(padded, command, [PAD], 0.05)
    complementary(again.contacts, 0.1)
    assert np.allclose(padded.locate(again, "tip").position, tip, atol=1e-9)


def test_d1_whole_skin_against_obstacles(beam):
    """Plane and sphere against the whole surface: complementarity, target, limits, all re-checked."""
    obstacles = [PAD, pl.Sphere(centre=(0.06, -0.03, -0.01), radius=0.015)]
    state = pl.equilibrium(beam, STROKES, obstacles=obstacles, strict=True)
    assert (state.contacts.forces > 0).any()
    tip = beam.locate(state, "tip").position
    command = pl.invert(beam, None, pl.PointTarget("tip", tip), obstacles=obstacles)
    assert command.ok
    complementary(command.state.contacts, 0.1)
    again = recheck(beam, command, obstacles)
    reached = beam.locate(again, "tip").position
    assert np.allclose(reached, beam.locate(command.state, "tip").position, atol=1e-8)
    assert np.linalg.norm(reached - tip) < 1e-6


def test_d2_tower_round_trip_through_self_contact():
    model = pl.FemModel(pl.robots.tower())
    pressure = np.array([20e3, 18e3, 24e3, 22e3])
    names, touching = ("tip", "middle"), [pl.SelfContact()]
    state = pl.equilibrium(model, pressure, obstacles=touching, strict=True)
    assert (state.contacts.forces > 0).sum() >= 5
    wanted = model.locate(state, names).position
    command = pl.invert(model, None, pl.PointsTarget(names, wanted), obstacles=touching)
    assert command.status is pl.Status.CONVERGED
    assert np.allclose(command.effort, pressure, rtol=1e-3)
    complementary(command.state.contacts, 0.1)
    again = recheck(model, command, touching)
    assert np.allclose(model.locate(again, names).position, wanted, atol=1e-6)


def test_d2_finger_round_trip_against_an_obstacle():
    model = pl.FemModel(pl.robots.finger(cables=2, size=0.0075))
    strokes = np.array([18e-3, 18e-3])
    obstacle = [pl.Plane(point=(0.045, 0, 0), normal=(-1, 0, 0))]
    free = pl.equilibrium(model, strokes, strict=True)
    state = pl.equilibrium(model, strokes, obstacles=obstacle, strict=True)
    assert (state.contacts.forces > 1e-6).any()
    tip = model.locate(state, "tip").position
    assert np.linalg.norm(tip - model.locate(free, "tip").position) > 1e-3
    command = pl.invert(model, None, pl.PointTarget("tip", tip), obstacles=obstacle)
    assert command.ok
    assert np.abs(command.error).max() < 1e-6
    assert np.allclose(command.displacement, strokes, rtol=1e-3)
    complementary(command.state.contacts, 0.1)
    again = recheck(model, command, obstacle, drive="displacement")
    assert np.allclose(model.locate(again, "tip").position, tip, atol=2e-6)
    complementary(again.contacts, 0.1)


def two_cable_problem(target):
    """The condensed two-cable beam between two obstacles of spec 9.8, as a QPCC."""
    model = pl.FemModel(pl.robots.beam())
    model = pl.FemModel(
        model.robot.but(
            gravity=(0, 0, 0),
            actuators=tuple(
                replace(a, drive="effort", effort_limits=(0, 8), displacement_limits=(-np.inf, np.inf))
                for a in model.robot.actuators
            ),
        )
    )
    obstacles = [
        pl.Sphere(centre=(0.05, 0, -0.0295), radius=0.02),
        pl.Sphere(centre=(0.085, 0, 0.0295), radius=0.02),
    ]
    command = pl.invert(model, None, pl.PointTarget("tip", target), obstacles=obstacles, iterations=1, alarm=0.02)
    return command.problem


def test_d5_piecewise_cost_of_the_two_cable_beam():
    problem = two_cable_problem((0.1, 0.0, 0.02))
    grid = [np.linspace(0, 8, 41)] * 2
    picture = piecewise_cost(problem, grid)
    assert len(picture.sets) > 2
    steps = np.abs(np.diff(picture.cost, axis=0)).max() / np.ptp(picture.cost)
    finer = piecewise_cost(problem, [np.linspace(0, 8, 81)] * 2)
    assert np.abs(np.diff(finer.cost, axis=0)).max() / np.ptp(finer.cost) < 0.7 * steps  # continuous


def test_d5_two_local_minima_of_a_beam_between_obstacles():
    """Spec 9.8: a support below and a stop above give the upper cable two local minima; each is proved by sampling."""
    robot, top = pl.robots.beam().but(gravity=(0, 0, 0)), 12.0
    cables = tuple(
        replace(a, drive="effort", effort_limits=(0.0, top), displacement_limits=(-np.inf, np.inf))
        for a in robot.actuators
    )
    model = pl.FemModel(robot.but(actuators=cables))
    posts = [
        pl.Cylinder(a=(0.05, -0.03, -0.0177), b=(0.05, 0.03, -0.0177), radius=0.01),
        pl.Cylinder(a=(0.075, -0.03, 0.018), b=(0.075, 0.03, 0.018), radius=0.01),
    ]
    target = pl.PointTarget("tip", (0.1, 0.0, 0.01), axes="xz")
    problem = pl.invert(model, None, target, obstacles=posts, iterations=1, alarm=0.03).problem
    found = [solve_qpcc(problem, start=start) for start in ([0.0, 0.0], [top, 0.0], [0.0, top], [top, top])]
    first, last = min(found, key=lambda s: s.effort[0]), max(found, key=lambda s: s.effort[0])
    assert last.effort[0] - first.effort[0] > 1.0  # [N]: far apart
    assert abs(last.objective - first.objective) > 1e-3 * first.objective
    for solution in (first, last):
        for angle in np.linspace(0, 2 * np.pi, 33)[:-1]:
            for radius in (0.01, 0.1):
                near = np.clip(solution.effort + radius * np.array([np.cos(angle), np.sin(angle)]), 0, top)
                cost = piecewise_cost(problem, [near[:1], near[1:]]).cost[0, 0]
                assert cost > solution.objective or np.allclose(near, solution.effort)
    best = solve_qpcc(problem, search="multistart")
    assert best.objective <= min(first.objective, last.objective) * (1 + 1e-9)


def test_d6_sign_inversion_by_a_blocking_obstacle():
    """A short lower cable lowers the tip; with a support farther out it lifts it instead (spec 9.1)."""
    xs = np.linspace(0, 0.1, 13)[1:4]
    short = pl.Cable(name="short", points=[(x, 0, -0.0075) for x in xs], pull_point=(-0.005, 0, -0.0075))
    model = pl.FemModel(golden_beam(actuators=(short,), gravity=(0, 0, 0)))
    target = pl.PointTarget("tip", (0.1, 0, 0))
    rows, moved = {}, {}
    for name, obstacles in (("free", []), ("blocked", [pl.Sphere(centre=(0.06, 0, -0.0275), radius=0.02)])):
        base = pl.equilibrium(model, [1e-3], obstacles=obstacles, strict=True)
        more = pl.equilibrium(model, [1.1e-3], obstacles=obstacles, start=base, strict=True)
        moved[name] = (model.locate(more, "tip").position - model.locate(base, "tip").position)[2]
        command = pl.invert(model, base, target, obstacles=obstacles, iterations=1)
        p = command.problem
        on = base.contacts.forces > 0 if obstacles else np.zeros(0, bool)
        W = np.block([[p.Waa, p.Wac[:, on]], [p.Wca[on], p.Wcc[np.ix_(on, on)]]])
        rows[name] = (np.hstack([p.Wea, p.Wec[:, on]]) @ np.linalg.inv(W))[2, 0]
    assert moved["free"] < -1e-5
    assert rows["free"] < 0
    assert moved["blocked"] > 1e-6
    assert rows["blocked"] > 0


# ---- sticking -------------------------------------------------------------------------------------------------
def test_e1_sticking_contacts_do_not_move(padded):
    """One step of the inverse with sticking contact: stuck points stay, released ones carry nothing."""
    rough = [pl.Plane(point=(0, 0, -0.012), normal=(0, 0, 1), friction=0.8)]
    state = pl.equilibrium(padded, STROKES, obstacles=rough, alarm=0.05, strict=True)
    tip = padded.locate(state, "tip").position
    command = pl.invert(
        padded, state, pl.PointTarget("tip", tip + [0, 2e-4, 2e-4]), obstacles=rough, alarm=0.05, friction="stick"
    )
    assert command.ok
    contacts = command.state.contacts
    closed = command.solution.contact_set == CLOSED
    assert closed.any()
    slip = contacts.slip(padded.skin_positions(command.state.q))
    assert np.abs(slip[closed]).max() < 1e-9
    assert np.abs(contacts.gap[closed]).max() < 1e-9
    assert (contacts.forces[~closed] == 0).all()
    assert np.abs(contacts.tangential[~closed]).max(initial=0.0) == 0.0


def test_e7_pad_with_sticking_contact_runs_through(padded):
    """The 200-step ramp of spec 17.8: at every step a forward state, and one inverse step with sticking contact."""
    rough = [pl.Plane(point=(0, 0, -0.012), normal=(0, 0, 1), friction=0.5)]
    driven = padded.robot.actuators
    loose = Padded(padded.robot.but(actuators=tuple(replace(a, drive="effort") for a in driven)))
    state = pl.equilibrium(loose, np.zeros(3), obstacles=rough, alarm=0.05, strict=True)
    start = state.displacement
    assert np.allclose(1e3 * start, [-0.552, 0.794, 0.442], atol=6e-4)  # golden
    problem = Problem(padded, rough, alarm=0.05)
    state, ratios, closed = state.but(u=start), [], []
    for t in np.linspace(0, 1, 201)[1:]:
        state = pl.equilibrium(padded, start + t * (STROKES - start), obstacles=rough, alarm=0.05, start=state)
        assert state.ok
        assert state.contacts.gap.min() > -1e-7
        assert state.contacts.forces.min() >= 0.0
        tip = padded.locate(state, "tip").position + [0.0, 0.0, 1e-4]
        command = pl.invert(padded, state, pl.PointTarget("tip", tip), problem=problem, iterations=1, friction="stick")
        assert np.isfinite(command.effort).all()
        assert command.solution.contact[::3].min() > -1e-12
        assert command.solution.gap[::3].min() > -1e-9
        carrying = command.solution.contact[::3] > 1e-9
        closed.append(int(carrying.sum()))
        ratios.append(float(command.solution.friction_ratio[carrying].max(initial=0.0)))
    assert closed[0] == 0
    assert max(closed) >= 2
    assert np.isfinite(ratios).all()
    assert max(ratios) > 0.5  # sticking asks for more than the cone allows: it is logged, not bounded


def two_state_sets(problem, strokes):
    """How many of the sets of sticking contacts satisfy strokes, gaps and normal forces (spec 17.8)."""
    found = 0
    for states in itertools.product((False, True), repeat=problem.contacts):
        rows = np.flatnonzero(np.repeat(states, 3))
        W = np.block(
            [[problem.Waa, problem.Wac[:, rows]], [problem.Wca[rows], problem.Wcc[np.ix_(rows, rows)]]]
        )  # fmt: skip
        x = np.linalg.solve(W, np.concatenate([strokes - problem.da, -problem.dc[rows]]))
        forces = np.zeros(len(problem.dc))
        forces[rows] = x[3:]
        gap = problem.dc + problem.Wca @ x[:3] + problem.Wcc @ forces
        found += forces[::3].min() >= -1e-12 and gap[::3].min() >= -1e-12
    return found


def test_e7_strokes_asked_of_sticking_contact(padded):
    """The ramp of 17.8 and its hold with strokes that must hold: where two states have no answer, the third has one."""
    rough = [pl.Plane(point=(0, 0, -0.012), normal=(0, 0, 1), friction=0.5)]
    loose = Padded(padded.robot.but(actuators=tuple(replace(a, drive="effort") for a in padded.robot.actuators)))
    state = pl.equilibrium(loose, np.zeros(3), obstacles=rough, alarm=0.05, strict=True)
    start, names = state.displacement, padded.robot.actuator_names
    problem = Problem(padded, rough, alarm=0.05)
    touched, third, ratios = [], [], []
    for k in range(260):
        strokes = start + min(1.0, (k + 1) / 200) * (STROKES - start)
        goals = [pl.DisplacementTarget(a, float(v), exact=True) for a, v in zip(names, strokes)]
        command = pl.invert(padded, state, goals, problem=problem, iterations=1, friction="stick", own_limits=False)
        solution = command.solution
        assert solution.status.success
        assert np.abs(solution.displacement - strokes).max() < 1e-9
        assert solution.contact[::3].min() > -1e-12
        assert solution.gap[::3].min() > -1e-9
        if solution.contact.any():
            touched.append(k)
        if (solution.contact_set == FRICTIONLESS).any():
            third.append(k)
            if len(third) == 1:
                assert two_state_sets(command.problem, strokes) == 0
        ratios.append(float(solution.friction_ratio.max()))
        state = command.state
    assert touched[0] == third[0] == 50  # golden: at the first touch no set of two states is valid
    assert len(touched) == 210
    assert len(third) < 60
    assert (solution.contact_set == CLOSED).sum() == 3  # and in the end three contacts stick, as in the source
    assert np.isfinite(ratios[-1])
    assert ratios[-1] > 0.5
    assert any("largest tangential to normal" in note for note in command.notes)  # beyond the cone, and logged
