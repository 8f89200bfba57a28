"""BeamModel (A5): derivatives, Euler-Bernoulli deflections, the circle, insertion, contact, vibration, the catheter."""

import numpy as np
import pytest
from harness import check_derivatives, check_virtual_work, relative

from pliant import robots
from pliant.actuators import Cable, Chamber, LineLoad, PointForce, Slide, Wrench
from pliant.bodies import Point, RodBody
from pliant.contact import Plane
from pliant.errors import ArgumentError, UnknownNameError
from pliant.lie import exp, matrix_from_quaternion
from pliant.materials import Corotational
from pliant.models.basis import legendre
from pliant.models.beam import BeamModel
from pliant.models.contract import Model
from pliant.models.rod import RodModel
from pliant.robot import Robot
from pliant.solve.dynamics import Stepper
from pliant.solve.equilibrium import equilibrium
from pliant.solve.sensitivity import sensitivity
from pliant.state import Status

STEEL = Corotational.from_young(1e9, 0.3, density=2000)
LENGTH, RADIUS = 0.2, 0.002
EI = 1e9 * 0.25 * np.pi * RADIUS**4
GJ = 2 * STEEL.shear * 0.25 * np.pi * RADIUS**4
EA = 1e9 * np.pi * RADIUS**2


def wire(*actuators, gravity=(0, 0, 0), points=(), **changes) -> Robot:
    rod = RodBody(**{"name": "wire", "length": LENGTH, "radius": RADIUS, "material": STEEL, **changes})
    return Robot("wire", (rod,), actuators=actuators, gravity=gravity, points=points)


def push(direction, name="push", at=(LENGTH, 0, 0)) -> PointForce:
    return PointForce(name=name, point=at, direction=direction)


class Twisted(BeamModel):
    """With a moment of fixed axis on the tip; conservative as long as the rod stays in the plane of the bend."""

    moment = np.zeros(3)

    def _load(self, force):
        force[self.layout.free_v[-1, :3]] += self.moment
        return force

    def force(self, q, effort):
        return self._load(super().force(q, effort))

    def linearise(self, q, effort):
        force, K = super().linearise(q, effort)
        return self._load(force), K


def everything(elements=5) -> BeamModel:
    robot = wire(
        Cable(name="off", points=[(x, 0.001, 0.002) for x in np.linspace(0, LENGTH, 6)], pull_point=(-0.05, 0, 0.01)),
        Cable(name="jump", points=[(0.04, -0.002, 0), (0.16, 0, 0.002), (0.2, 0.05, 0.0)], world=(2,)),
        Slide(name="insert", part="wire", axis=(1, 0.5, 0)),
        push((0, 1, 1), at=(0.16, 0, 0.001)),
        gravity=(0, 0, -9.81),
        rotation=(0.9, 0.1, -0.2, 0.3),
        points=(Point("tip", (0, 0, 0), rotation=(0.5, 0.5, 0.5, 0.5)),),
    )
    rod = robot.bodies[0]
    R = matrix_from_quaternion(rod.rotation)

    def turn(points):
        return [tuple(R @ np.array(p)) for p in points]

    from dataclasses import replace

    cables = [replace(c, points=turn(c.points)) for c in robot.actuators[:2]]
    force = replace(robot.actuators[3], point=tuple(R @ np.array(robot.actuators[3].point)))
    tip = replace(robot.points[0], position=tuple(R @ np.array([LENGTH, 0.001, 0])))
    robot = robot.but(actuators=(*cables, robot.actuators[2], force), points=(tip,))
    return BeamModel(robot, elements=elements, shear=True)


def full(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def bent(model, size, seed=0):
    rng = np.random.default_rng(seed)
    d = size * rng.standard_normal(model.nv)
    d[model.layout.free_v[:, 3:]] *= 0.01
    return model.retract(model.rest, d)


# ---- derivatives -------------------------------------------------------------------------------------------------
def test_it_is_a_model():
    assert isinstance(everything(), Model)


def test_derivatives_and_virtual_work():
    model = everything()
    q, effort = bent(model, 0.3), np.array([1.0, 2.0, 0.5, 0.3])
    check_derivatives(model, q, effort, h=1e-6, symmetric_only=True)
    check_virtual_work(model, q, effort)


def moved(model, q, dq):
    """Every node moved by itself: rotation by the exponential, translation along the tangent."""
    L = model.layout
    out = model.retract(q, dq)
    out[L.free_q[:, :3]] = q[L.free_q[:, :3]] + dq[L.free_v[:, 3:]]
    return out


def test_stiffness_is_the_second_derivative_of_the_energy():
    model = everything(elements=3)
    q, effort = bent(model, 0.3), np.array([1.0, 2.0, 0.5, 0.3])
    K = full(model.stiffness(q, effort))
    rng = np.random.default_rng(1)
    for _ in range(3):
        d = rng.standard_normal(model.nv)
        d[model.layout.free_v[:, 3:]] *= 0.01
        h = 1e-3
        e = [model.energy(moved(model, q, s * h * d), effort) for s in (-2, -1, 0, 1, 2)]
        curvature = (-e[0] + 16 * e[1] - 30 * e[2] + 16 * e[3] - e[4]) / (12 * h * h)
        assert d @ K @ d == pytest.approx(curvature, rel=1e-6)


def test_stiffness_is_exact_at_equilibrium():
    model = everything()
    state = equilibrium(model, {"push": 0.3, "insert": 0.02, "off": 1e-3, "jump": 2e-3}, strict=True)
    check_derivatives(model, state.q, state.effort, h=1e-6, tolerance=1e-5)


def test_rigid_motion_costs_nothing_and_leaves_six_modes():
    model = BeamModel(wire())
    turn = exp(np.array([0.3, 1.1, -0.7]))
    q = model.rest.copy()
    L = model.layout
    for node, ids in zip(L.free, L.free_q):
        from pliant.lie import quaternion_from_matrix

        q[ids[:3]] = turn @ L.rest_p[node]
        q[ids[3:]] = quaternion_from_matrix(turn @ matrix_from_quaternion(L.rest_Q[node]))
    elements = np.empty((len(L.ends), 12, 12))
    from pliant._kernels.beam import element_forces

    force = np.zeros((len(L.rest_p), 6))
    p, Q = model.poses(q)
    Q[0] = quaternion_from_matrix(turn)
    energy = element_forces(p, Q, L.ends, L.lengths, L.stiffness, L.strain, 1, force, elements)
    assert energy < 1e-20 * EA
    values = np.linalg.eigvalsh(elements[0])
    assert (np.abs(values) < 1e-8 * values.max()).sum() == 6


@pytest.mark.parametrize("count", [12, 60])
def test_matrix_is_block_tridiagonal(count):
    model = BeamModel(wire(push((0, 0, 1))), elements=count)
    K = full(model.stiffness(bent(model, 0.1), np.array([1.0])))
    node = np.repeat(np.arange(count), 6)
    assert np.abs(K[np.abs(node[:, None] - node) > 1]).max() == 0.0


# ---- classical solutions ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("elements", [1, 4, 10])
def test_cantilever_deflection_and_slope_are_nodally_exact(elements):
    """P L^3 / 3 E I and P L^2 / 2 E I for a small load, whatever the number of elements."""
    model = BeamModel(wire(push((0, 0, 1))), elements=elements)
    P = 1e-6
    state = equilibrium(model, P, strict=True)
    tip = model.locate(state, "tip")
    assert tip.position[2] == pytest.approx(P * LENGTH**3 / (3 * EI), rel=1e-6)
    assert tip.rotation[2, 0] == pytest.approx(P * LENGTH**2 / (2 * EI), rel=1e-6)


def test_shear_adds_its_share():
    P = 1e-6
    thick = {"radius": 0.02}
    plain, shear = (BeamModel(wire(push((0, 0, 1)), **thick), elements=5, shear=s) for s in (False, True))
    tips = [m.locate(equilibrium(m, P, strict=True), "tip").position[2] for m in (plain, shear)]
    area = np.pi * 0.02**2
    assert tips[1] - tips[0] == pytest.approx(P * LENGTH / (0.9 * STEEL.shear * area), rel=1e-6)


def test_stretch_and_twist():
    model = BeamModel(wire(push((1, 0, 0))), elements=3)
    state = equilibrium(model, 1.0, strict=True)
    assert state.displacement[0] == pytest.approx(1.0 * LENGTH / EA, rel=1e-6)
    model = Twisted(wire(), elements=3)
    model.moment = np.array([1e-3, 0, 0])
    R = model.locate(equilibrium(model, strict=True), "tip").rotation
    assert np.arctan2(R[2, 1], R[1, 1]) == pytest.approx(1e-3 * LENGTH / GJ, rel=1e-9)


@pytest.mark.parametrize("elements", [4, 12])
def test_A5_end_moment_closes_a_circle(elements):
    """Newton's method needs one step: the nodes turn by what the moment asks for, and the chain follows."""
    model = Twisted(wire(), elements=elements)
    model.moment = np.array([0.0, 0.0, 2 * np.pi * EI / LENGTH])
    q, none = model.rest, np.zeros(0)
    for _ in range(3):
        force, K = model.linearise(q, none)
        q = model.retract(q, np.linalg.solve(full(K), force))
    assert np.abs(model.force(q, none)).max() < 1e-9 * np.abs(model.moment).max()
    tip = model.locate(q, "tip")
    assert np.abs(tip.position).max() < 1e-8 * LENGTH
    assert np.abs(tip.rotation - np.eye(3)).max() < 1e-8
    p = model.skin_positions(q)[:-1]
    radius = np.linalg.norm(p - p.mean(axis=0), axis=1)
    assert np.ptp(radius) < 1e-8 * LENGTH
    if elements == 12:
        assert radius.mean() == pytest.approx(LENGTH / (2 * np.pi), rel=0.02)


def test_large_deflection_converges_to_the_elastica():
    """Tip force alpha = P L^2 / E I = 1: w / L = 0.30172, u / L = 0.05643 (Bisshopp and Drucker)."""
    P = EI / LENGTH**2
    errors = []
    for n in (5, 10, 20):
        model = BeamModel(wire(push((0, 0, 1))), elements=n)
        tip = model.locate(equilibrium(model, P, strict=True), "tip").position
        errors.append(np.abs([tip[2] / LENGTH - 0.30172, (LENGTH - tip[0]) / LENGTH - 0.05643]).max())
    assert errors[-1] < 1e-4
    assert errors[1] < 0.4 * errors[0]


def test_buckling_load():
    """Euler's pi^2 E I / 4 L^2: the stiffness loses definiteness there, within the error of the mesh."""
    model = BeamModel(wire(push((-1, 0, 0))), elements=20)
    critical = np.pi**2 * EI / (4 * LENGTH**2)
    for factor, stable in ((0.97, True), (1.03, False)):
        straight = model.rest.copy()
        straight[model.layout.free_q[:, 0]] *= 1 - factor * critical / EA
        assert np.abs(model.force(straight, np.array([factor * critical]))).max() < 1e-9
        K = full(model.stiffness(straight, np.array([factor * critical])))
        assert (np.linalg.eigvalsh(K).min() > 0) == stable


def test_sag_under_own_weight():
    model = BeamModel(wire(gravity=(0, 0, -1e-3)), elements=40)
    w = 2000 * np.pi * RADIUS**2 * 1e-3
    state = equilibrium(model, strict=True)
    assert model.locate(state, "tip").position[2] == pytest.approx(-w * LENGTH**4 / (8 * EI), rel=2e-3)


def test_dead_loads_along_the_length_and_at_a_point():
    loads = (
        LineLoad(name="wind", force=(0, 0.3, -1.0)),
        Wrench(name="weight", point=(0.15, 0.001, 0), force=(0, 0, -2.0)),
    )
    model = BeamModel(wire(*loads), elements=5)
    q, effort = bent(model, 0.3), np.array([0.7, 0.4])
    check_derivatives(model, q, effort, h=1e-6, symmetric_only=True)
    check_virtual_work(model, q, effort)
    same = BeamModel(wire(push((0, 0, -2.0), at=(0.15, 0.001, 0))), elements=5)  # a force along a unit direction
    assert relative(model.force(q, np.array([0.0, 0.4])), same.force(q, np.array([0.8]))) < 1e-12
    wind = wire(LineLoad(name="wind", force=(0, 0, -1.0)))
    fine = BeamModel(wind, elements=40)
    sag = -fine.locate(equilibrium(fine, {"wind": 0.05}, strict=True), "tip").position[2]
    assert sag == pytest.approx(0.05 * LENGTH**4 / (8 * EI), rel=1e-3)
    rod = RodModel(wind, basis=legendre(7))
    tips = [m.locate(equilibrium(m, {"wind": 20.0}, strict=True), "tip").position for m in (fine, rod)]
    assert tips[1][2] < -0.5 * LENGTH
    assert np.linalg.norm(tips[0] - tips[1]) < 1e-3 * LENGTH


def test_rest_curvature_needs_no_force():
    model = BeamModel(wire(rest_curvature=(3.0, 2.0, 10.0)))
    assert np.abs(model.force(model.rest, np.zeros(0))).max() < 1e-9 * EA
    assert equilibrium(model, strict=True).iterations <= 1


def test_free_vibration():
    model = BeamModel(wire(push((0, 0, 1))), elements=12)
    area = np.pi * RADIUS**2
    expected = 1.875104**2 / (2 * np.pi * LENGTH**2) * np.sqrt(EI / (2000 * area))
    state = equilibrium(model, 1e-4, strict=True)
    stepper = Stepper(model, scheme="trapezoidal")
    z, t = [state.displacement[0]], [0.0]
    for _ in range(120):
        state = stepper.step(state, 0.0, 1 / expected / 40)
        assert state.ok
        z.append(state.displacement[0])
        t.append(state.time)
    z, t = np.array(z), np.array(t)
    cross = [t[i] + (t[i + 1] - t[i]) * z[i] / (z[i] - z[i + 1]) for i in range(len(z) - 1) if z[i] * z[i + 1] < 0]
    assert 0.5 / np.mean(np.diff(cross)) == pytest.approx(expected, rel=0.01)


# ---- drives --------------------------------------------------------------------------------------------------------
def test_catheter_bends_towards_the_pulled_cable_and_is_inserted():
    model = BeamModel(robots.catheter())
    assert (len(model.layout.rest_p), model.nu) == (11, 5)
    assert model.nv == 61  # the base of the 66 of the source is held but for the insertion
    for name, axis, sign in (("up", 2, 1), ("left", 1, 1), ("down", 2, -1), ("right", 1, -1)):
        others = {c: -3e-3 for c in ("up", "left", "down", "right")}
        state = equilibrium(model, {**others, name: 2e-3}, strict=True)
        assert sign * model.locate(state, "tip").position[axis] > 0.03
        assert state.effort.min() > -1e-9 or state.effort[:4].min() >= 0
    base = model.locate(equilibrium(model, {"insert": 0.0}, strict=True), "tip").position
    moved = equilibrium(model, {"insert": 0.05}, strict=True)
    assert model.locate(moved, "tip").position - base == pytest.approx([0.05, 0, 0], abs=1e-9)
    assert moved.displacement[4] == pytest.approx(0.05)


def test_sensitivity_of_the_catheter():
    model = BeamModel(robots.catheter())
    u = np.array([2e-3, 0.5e-3, -1e-3, -1e-3, 0.03])
    state = equilibrium(model, u, strict=True)
    exact = sensitivity(model, state).of("tip")[3:]
    h = 1e-6
    for i in (0, 4):
        e = np.zeros(5)
        e[i] = h
        a, b = (model.locate(equilibrium(model, u + s * e, start=state, strict=True), "tip").position for s in (1, -1))
        assert relative(exact[:, i], (a - b) / (2 * h)) < 1e-6


def test_heavy_beam_lifts_off_the_plane_where_it_should():
    """Clamped horizontally at height h over a floor: it touches down at a = (72 EI h / w)^(1/4).

    There the floor pushes with w a / 3 in a point, and the clamp carries the other 2 w a / 3 of the free length.
    """
    E, rho, R, L, h = 2e6, 1100.0, 0.003, 0.5, 0.004
    rod = RodBody("wire", length=L, radius=R, material=Corotational.from_young(E, 0.45, density=rho))
    EI, w = E * np.pi * R**4 / 4, rho * np.pi * R**2 * 9.81
    a = (72 * EI * h / w) ** 0.25
    floor = [Plane(point=(0, 0, -h - R), normal=(0, 0, 1))]
    for elements in (40, 80):
        model = BeamModel(Robot("wire", (rod,)), elements=elements)
        state = equilibrium(model, obstacles=floor, strict=True)
        contacts, step = state.contacts, L / elements
        x = model.skin_positions(state.q)[contacts.vertices[:, 0], 0]
        assert contacts.max_penetration < 1e-9
        assert contacts.forces.sum() == pytest.approx(w * L - 2 / 3 * w * a, rel=1e-3)
        assert x[contacts.forces > 0].min() == pytest.approx(a, abs=step)
        edge = np.abs(x - a) < 2.0 * step  # the push at the edge, and what lies on the floor beside it
        assert contacts.forces[edge].sum() == pytest.approx(w * a / 3 + w * (x[edge].max() + step / 2 - a), rel=0.1)


def test_wire_rests_on_a_plane():
    model = BeamModel(wire(push((0, 0, -1))))
    floor = [Plane(point=(0, 0, -0.02), normal=(0, 0, 1))]
    free = equilibrium(model, 0.1, strict=True)
    assert model.locate(free, "tip").position[2] < -0.02
    state = equilibrium(model, 0.1, obstacles=floor, strict=True)
    lowest = (model.skin_positions(state.q)[:, 2] - RADIUS).min()
    assert lowest == pytest.approx(-0.02, abs=1e-6)
    assert state.contacts.forces.sum() > 0.0


def test_two_rods_and_readings():
    a = RodBody("a", 0.1, 0.002, STEEL)
    b = RodBody("b", 0.1, 0.002, STEEL, position=(0, 0.05, 0))
    force = PointForce(name="push", point=(0.1, 0.05, 0), direction=(0, 0, 1), body="b")
    tie = Cable(name="tie", points=[(0.1, 0, 0), (0.1, 0.05, 0)])
    model = BeamModel(Robot("two", (a, b), actuators=(force, tie), gravity=(0, 0, 0)), elements={"a": 4})
    assert len(model.layout.rest_p) == 5 + 11
    state = equilibrium(model, {"push": 0.1, "tie": 1e-3}, strict=True)
    assert state.status is Status.CONVERGED
    read = model.read(state)
    assert read["tie.length"] == pytest.approx(0.049)
    assert read["tie.tension"] == pytest.approx(state.effort[1])
    assert model.locate(state, ["a.tip", "b.tip"]).position.shape == (2, 3)
    assert model.cable_paths(state.q)["tie"].shape == (2, 3)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: BeamModel(robots.golden_beam()), ArgumentError),
        (lambda: BeamModel(wire(), elements=0), ArgumentError),
        (lambda: BeamModel(wire(), elements=2.5), ArgumentError),
        (lambda: BeamModel(wire(), elements={"other": 3}), UnknownNameError),
        (lambda: BeamModel(wire(Chamber(name="c"))), ArgumentError),
        (lambda: BeamModel(wire(push((0, 0, 1), at=(1, 1, 1)))), ArgumentError),
        (lambda: BeamModel(wire(LineLoad(name="l", force=(0, 0, 1), follower=True))), ArgumentError),
        (lambda: BeamModel(wire(Wrench(name="w", point=(0, 0, 0), moment=(0, 0, 1)))), ArgumentError),
        (lambda: BeamModel(wire(LineLoad(name="l", force=(0, 0, 1), body="other"))), UnknownNameError),
        (lambda: BeamModel(wire(Cable(name="c", points=[(0, 0, 0), (0.1, 0, 0)], friction=0.1))), ArgumentError),
        (lambda: BeamModel(wire()).locate(BeamModel(wire()).rest, "nose"), UnknownNameError),
        (lambda: BeamModel(wire()).force(np.zeros(3), np.zeros(0)), ArgumentError),
        (lambda: robots.catheter(offset=1.0), ArgumentError),
        (lambda: robots.catheter(stations=1), ArgumentError),
    ],
)
def test_bad_input(make, error):
    with pytest.raises(error):
        make()


def test_rods_on_rods_are_refused():
    a = RodBody("a", 0.1, 0.002, STEEL)
    with pytest.raises(ArgumentError, match="parent"):
        BeamModel(Robot("two", (a, RodBody("b", 0.1, 0.002, STEEL, parent="a"))))
