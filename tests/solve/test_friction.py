"""Coulomb friction in statics: converges like contact without friction, obeys the cone, remembers where it stuck."""

import numpy as np
from harness import golden_beam

import pliant as pl
from pliant.contact.contacts import ContactState


def test_sliding_and_sticking_contacts_take_few_iterations():
    model = pl.FemModel(golden_beam())
    plane = pl.Plane(point=(0, 0, -0.012), normal=(0, 0, 1), friction=0.5)
    state = pl.equilibrium(model, obstacles=[plane])
    assert state.ok
    for u in (0.002, 0.004, 0.006):
        state = pl.equilibrium(model, {"c2": u, "c3": u}, obstacles=[plane], start=state)
        assert state.ok
        assert state.iterations <= 12
        contacts = state.contacts
        closed = contacts.forces > 0
        assert closed.any()
        tangential = np.linalg.norm(contacts.tangential[closed], axis=1)
        assert (tangential <= 0.5 * contacts.forces[closed] * (1 + 1e-6)).all()
        assert contacts.max_penetration < 1e-9


def test_a_small_reversal_sticks_and_a_large_change_slides():
    model = pl.FemModel(golden_beam())
    plane = pl.Plane(point=(0, 0, -0.012), normal=(0, 0, 1), friction=0.5)
    state = pl.equilibrium(model, {"c2": 0.004, "c3": 0.004}, obstacles=[plane])
    for u, expected in ((0.0039995, ContactState.STICK), (0.008, ContactState.SLIDE)):
        after = pl.equilibrium(model, {"c2": u, "c3": u}, obstacles=[plane], start=state)
        assert after.ok
        closed = after.contacts.forces > 0
        assert (after.contacts.states[closed] == expected).all()
