"""Rods in motion: second order, no energy out of nothing, and a fall on the floor (inertia depends on the pose)."""

import numpy as np
import pytest

import pliant as pl

NONE = np.zeros(0)
RUBBER = pl.materials.NeoHookean.from_young(1e6, 0.45, density=1100.0)


def pendulum() -> pl.RodModel:
    """A soft rod that hangs from a hinge, 60 degrees from straight down."""
    up = np.pi / 4 - np.radians(30.0)
    rod = pl.RodBody("rod", 0.5, 0.005, RUBBER, rotation=(np.cos(up), 0.0, np.sin(up), 0.0), rotates=True)
    return pl.RodModel(pl.Robot("pendulum", rod), basis=pl.basis.legendre(1))


def still(model):
    return pl.State(model.rest.copy(), np.zeros(model.nv), NONE, NONE, NONE)


def energy(model, s):
    return model.energy(s.q, NONE) + 0.5 * float(s.v @ (model.inertia(s.q) @ s.v))


def swung(model, dt, end, scheme="alpha"):
    stepper, state = pl.Stepper(model, scheme=scheme), still(model)
    states = [state]
    for _ in range(round(end / dt)):
        states.append(stepper.step(states[-1], None, dt).require())
    return states


def test_default_scheme_is_of_second_order_where_inertia_depends_on_the_pose():
    model = pendulum()
    gained = []
    for dt in (2e-3, 1e-3):
        states = swung(model, dt, 0.1)
        gained.append(abs(energy(model, states[-1]) - energy(model, states[0])))
    assert gained[0] / gained[1] > 3.5  # 1.85 with the inertia of the end of the step, and fifty times as much


def test_default_scheme_makes_no_energy():
    """It gained 12 % in six seconds."""
    model = pendulum()
    states = swung(model, 5e-3, 1.5)
    height = 1100.0 * np.pi * 0.005**2 * 0.5 * 9.81 * 0.25  # weight times half a length
    gained = np.array([energy(model, s) for s in states]) - energy(model, states[0])
    assert gained.max() < 1e-3 * height
    assert gained[-1] > -0.05 * height


@pytest.mark.parametrize("scheme", ["euler", "alpha"])
def test_a_rod_falls_on_the_floor(scheme):
    """Tilted by 20 degrees, let go 2 cm above rough ground: the blow of its end ended in an exception."""
    half = np.radians(10.0)
    rod = pl.RodBody(
        "rod", 0.5, 0.005, RUBBER, position=(0, 0, 0.02), rotation=(np.cos(half), 0.0, -np.sin(half), 0.0),
        axes=((1, 0, 0), (0, 1, 0), (0, 0, 1)), rotates=True, damping=0.005,
    )  # fmt: skip
    model = pl.RodModel(pl.Robot("falling", rod), basis=pl.basis.legendre(1))
    floor = pl.Plane(friction=0.3)
    stepper, state, forces = pl.Stepper(model, obstacles=[floor], scheme=scheme), still(model), []
    for _ in range(250):
        state = stepper.step(state, None, 2e-3).require()
        forces.append(state.contacts.forces.sum() if state.contacts is not None and len(state.contacts) else 0.0)
    assert model.skin_positions(state.q)[:, 2].min() > 0.005 - 5e-4  # on the floor, not in it
    weight = 1100.0 * np.pi * 0.005**2 * 0.5 * 9.81
    impulse = 2e-3 * (np.sum(forces) - len(forces) * weight)  # what is left of it is the fall, which began at rest
    assert abs(impulse) < 0.35 * weight * 0.5
