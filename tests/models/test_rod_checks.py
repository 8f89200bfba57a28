"""RodModel against the specification's checks F4-F6, this project's FEM, and stiff motion."""

import math

import numpy as np
import pytest

import pliant as pl
from pliant.materials import Corotational, NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel
from pliant.models.rod_rollout import rollout

L = 0.12


def octopus(k, *, young=0.1e6, poisson=-0.5, points=0, moment=True):
    """The octopus arm with the printed sections: bending mu_1 I, torsion mu_1 (2 I), damping 0.4 s."""
    material = NeoHookean.from_young(young, poisson, density=1250.0)
    body = pl.RodBody("arm", L, 8.25e-3, material, damping=0.4)
    tip = pl.Wrench(name="m", point=(L, 0, 0), moment=(0, 0, 1), follower=True)
    robot = pl.Robot("octopus", (body,), actuators=(tip,) if moment else ())
    return RodModel(robot, basis=bases.legendre(k - 1, strains=bases.INEXTENSIBLE, points=points))


def tip_moment_run(model, dt=0.025):
    """Tip [mm] under the moment 75 erf(t) N mm about the third axis of the tip, 2.5 s."""
    stepper = pl.Stepper(model)
    state, out = stepper.start(None), []
    for i in range(round(2.5 / dt)):
        state = stepper.step(state, [75e-3 * math.erf((i + 1) * dt)], dt)
        assert state.ok, state.status
        out.append(1e3 * model.locate(state, "tip").position)
    return np.array(out)


def test_f4_tip_moment_converges_with_the_number_of_modes():
    """F4: tip RMS against many modes below 4 mm for k >= 6 (published: 3.25, 2.25, 3.45 mm for 6, 7, 8).

    Only the convergence is checked, against 14 modes (the source: 25), with a moment that turns with the tip. The
    published end point (38.0, 31.7, -22.0) mm was NOT reproduced: about forty readings were tried (mu_1 or E in
    bending, several torsional stiffnesses, following or dead moment, 75 or 7.5 N mm, five directions of gravity) and
    none gave it.
    With 75 N mm and mu_1 the arm turns by M L / (mu_1 I) = 25 rad; end points then depend strongly on the details.
    """
    reference = tip_moment_run(octopus(14, points=20))
    rms = []
    for k in (3, 6, 8):
        error = tip_moment_run(octopus(k, points=12)) - reference
        rms.append(np.sqrt(np.mean(np.sum(error**2, axis=1))))
    assert rms[0] > rms[1] > rms[2]
    assert rms[1] < 4.0
    assert rms[2] < 1.0


def test_f5_port_hamiltonian_energy_balance():
    """F5: dH/dt = v^T G u - v^T D v, at a point of the motion and over a whole motion."""
    tendon = pl.Cable(name="c", points=[(0, 0.004, 0.003), (L, -0.002, 0.004)], drive="effort")
    body = pl.RodBody("arm", L, 8.25e-3, NeoHookean.from_young(0.25e6, 0.45, density=1250.0), damping=0.02)
    model = RodModel(pl.Robot("arm", (body,), actuators=(tendon,)), basis=bases.legendre(2))
    none, u = np.zeros(1), np.array([2.0])

    def hamiltonian(q, v):
        return model.kinetic_energy(q, v) + model.energy(q, none)

    def power(q, v):
        return float(v @ model.actuation(q, u) @ u - v @ model.damping(q, u) @ v)

    rng = np.random.default_rng(3)
    scale = np.where(model.tables.comp < 3, 5.0, 0.05)
    q, v = rng.standard_normal((2, model.nv)) * scale
    v *= 10
    a, h = model.acceleration(q, v, u), 1e-7

    def ahead(t):
        return hamiltonian(q + t * v + 0.5 * t * t * a, v + t * a)

    assert (ahead(h) - ahead(-h)) / (2 * h) == pytest.approx(power(q, v), rel=1e-6)
    errors = []
    for dt in (2e-3, 1e-3):
        run = rollout(model, model.rest, duration=0.2, dt=dt, effort=u, tolerance=1e-12)
        assert run.ok
        # midpoint values: the port's power as the scheme sees it
        middle = [power(0.5 * (x + y), 0.5 * (s + t)) for x, y, s, t in zip(run.q, run.q[1:], run.v, run.v[1:])]
        gained = hamiltonian(run.q[-1], run.v[-1]) - hamiltonian(run.q[0], run.v[0])
        supplied = dt * sum(middle)
        errors.append(abs(gained - supplied) / abs(gained))
    assert errors[1] < 2e-3
    assert errors[0] > 3.0 * errors[1]


def test_f6_fine_cross_sections_and_eight_modes_run():
    """F6 asks for real time with k <= 8 and a step of 1 mm along the arm: benchmarks/rods.py times this case."""
    model = octopus(8, points=60, moment=False)  # 61 steps of 2 mm, of fourth order
    run = rollout(model, model.rest, duration=0.1, dt=1e-2)
    assert run.ok
    coarse = octopus(8, moment=False)
    other = rollout(coarse, coarse.rest, duration=0.1, dt=1e-2)
    tips = [m.locate(r.q[-1], "tip").position for m, r in ((model, run), (coarse, other))]
    assert np.allclose(*tips, atol=1e-6)


def slender(cable=()):
    """The same beam as a solid and as a rod: square section a, and a circle of the same E I and weight."""
    a, length, young, density = 0.01, 0.2, 2e6, 1100.0
    mesh = pl.TetMesh.box((length, a, a), (30, 2, 2), (0, -a / 2, -a / 2))
    held = np.flatnonzero(mesh.nodes[:, 0] < 1e-9)
    solid = pl.SoftBody("beam", mesh.with_node_set("base", held), Corotational.from_young(young, 0.3, density=density))
    tip = (pl.Point("end", (length, 0, 0)),)
    fem = pl.FemModel(
        pl.Robot("beam", (solid,), (pl.Fixation("base"),), actuators=cable, points=tip), element="quadratic"
    )
    radius = (a**4 / (3 * np.pi)) ** 0.25
    same = NeoHookean.from_young(young, 0.3, density=density * a**2 / (np.pi * radius**2))
    body = pl.RodBody("beam", length, radius, same)
    rod = RodModel(pl.Robot("beam", (body,), actuators=cable, points=tip), basis=bases.legendre(4))
    return fem, rod


def test_rod_agrees_with_fem_on_gravity_sag():
    """Within 1 % of the sag of the solid."""
    fem, rod = slender()
    solid = fem.locate(pl.equilibrium(fem).require(), "end").position
    curve = rod.locate(pl.equilibrium(rod).require(), "end").position
    sag = abs(solid[2])
    assert sag > 0.03
    assert np.linalg.norm(solid - curve) < 0.01 * sag


def test_rod_agrees_with_fem_on_a_cable():
    """A tendon along the beam, 1.2 N: within 1 % of the motion that it makes.

    (The length pulled in is not compared: the solid yields where the cable's end presses on it.)
    """
    line = [(x, 0.0, 0.004) for x in np.linspace(0, 0.2, 31)]
    cable = (pl.Cable(name="c", points=line, drive="effort"),)
    fem, rod = slender(cable)
    ends = []
    for model in (fem, rod):
        state = pl.equilibrium(model, {"c": 1.2}).require()
        rest = pl.equilibrium(model, {"c": 0.0}).require()
        ends.append(model.locate(state, "end").position - model.locate(rest, "end").position)
    moved = np.linalg.norm(ends[0])
    assert moved > 0.03
    assert np.linalg.norm(ends[0] - ends[1]) < 0.01 * moved


def test_stiff_rod_is_second_order_at_5_ms():
    """100 times stiffer and lightly damped, released from the shape of a hanging weight: error falls as dt^2."""
    material = NeoHookean.from_young(60e6, 0.45, density=1050.0)
    body = pl.RodBody("arm", 0.3, 0.02, material, damping=1e-4)
    push = pl.PointForce(name="p", point=(0.3, 0, 0), direction=(0, 0.6, 0.8))
    basis = bases.legendre(2, strains=bases.INEXTENSIBLE)
    loaded = RodModel(pl.Robot("arm", (body,), actuators=(push,)), basis=basis)
    start = pl.equilibrium(loaded, {"p": 40.0}).require()
    model = RodModel(pl.Robot("arm", (body,)), basis=basis)
    tips = {}
    for dt in (5e-3, 2.5e-3, 1.25e-3, 0.625e-3, 5e-5):
        run = rollout(model, start.q, duration=0.2, dt=dt, tolerance=1e-10)
        assert run.ok
        tips[dt] = np.array([model.locate(q, "tip").position for q in run.q[:: round(5e-3 / dt)]])
    exact = tips.pop(5e-5)
    errors = np.array([np.sqrt(np.mean(np.sum((x - exact) ** 2, axis=1))) for x in tips.values()])
    assert np.all(errors[:-1] / errors[1:] > 3.0)
    assert errors[2] < 0.01 * np.ptp(exact[:, 2])
