"""Contacts: tangents, totals, states, matching."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.contact import Contacts, ContactState, Plane, detect
from pliant.contact.contacts import FRICTIONLESS, OPEN, SLIDE, STICK, tangent_basis
from pliant.errors import ArgumentError, UnknownNameError


def some(m=4, friction=0.5, seed=0):
    rng = np.random.default_rng(seed)
    n = rng.normal(size=(m, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    x = rng.normal(size=(m, 3))
    return Contacts.build(
        gap=rng.normal(size=m), normal=n, vertices=np.arange(m)[:, None], weights=np.ones((m, 1)), position=x,
        point=x, obstacle=np.arange(m) % 2, key=np.arange(m) * 7, friction=np.full(m, friction),
        names=("floor", "wall"), poses=(None, None),
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.tuples(*(st.floats(-1, 1) for _ in range(3))).filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_tangents_are_right_handed(v):
    n = np.array([v]) / np.linalg.norm(v)
    t, s = tangent_basis(n)[0]
    assert np.allclose([t @ t, s @ s, t @ s, t @ n[0], s @ n[0]], [1, 1, 0, 0, 0], atol=1e-12)
    assert np.allclose(np.cross(t, s), n[0], atol=1e-12)


def test_tangents_at_the_poles():
    for z in (1.0, -1.0):
        t, s = tangent_basis(np.array([[0, 0, z]]))[0]
        assert np.allclose(np.cross(t, s), [0, 0, z])


def test_states_follow_from_forces():
    c = some(4).with_forces([0, 1, 1, 2], [[0, 0], [0.1, 0], [0.5, 0], [0, 0]])
    assert list(c.states) == [OPEN, STICK, SLIDE, STICK]
    assert np.allclose(c.cone_ratio[1:], [0.2, 1.0, 0.0])
    assert np.isnan(c.cone_ratio[0])
    smooth = some(2, friction=0.0).with_forces([0.0, 1.0])
    assert list(smooth.states) == [OPEN, FRICTIONLESS]
    assert ContactState(smooth.states[1]).name == "FRICTIONLESS"
    given_states = some(2).with_forces([1.0, 1.0], states=[SLIDE, STICK])
    assert list(given_states.states) == [SLIDE, STICK]


def test_wrench_totals():
    c = some(3).with_forces([1.0, 2.0, 3.0], np.ones((3, 2)))
    f = c.force_vectors
    expected = np.concatenate([np.cross(c.point, f).sum(axis=0), f.sum(axis=0)])
    assert np.allclose(c.wrench(), expected)
    parts = c.wrench(obstacle="floor") + c.wrench(obstacle=1)
    assert np.allclose(parts, expected)
    with pytest.raises(UnknownNameError, match="floor, wall"):
        c.wrench(obstacle="ceiling")
    shifted = c.wrench(about=(1, 2, 3))
    assert np.allclose(shifted[:3], expected[:3] - np.cross([1, 2, 3], expected[3:]))


def test_virtual_work_of_rows(make):
    x, t = make.box((0, 0, 0), (1, 1, 1), (2, 2, 2))
    model = make.model(x, t)
    c = detect(model, model.rest, [Plane((0, 0, 0), (0.2, 0.1, 1), friction=0.3)], alarm=0.3)
    rng = np.random.default_rng(0)
    c = c.with_forces(rng.uniform(size=len(c)), rng.normal(size=(len(c), 2)))
    packed = np.concatenate([c.forces[:, None], c.tangential], axis=1).ravel()
    generalised = (c.frictional_rows(model, model.rest).T @ packed).reshape(-1, 3)
    assert np.allclose(generalised.sum(axis=0), c.wrench()[3:])
    moment = np.cross(x[c.vertices[:, 0]], c.force_vectors).sum(axis=0)
    assert np.allclose(np.cross(x, generalised).sum(axis=0), moment)


def test_matching_turns_tangential_forces_with_the_frame():
    before = some(3).with_forces([1.0, 2.0, 3.0], [[0.1, 0.2], [0.3, 0.0], [0.0, 0.1]])
    tilted = before.normal + 1e-3 * np.random.default_rng(1).normal(size=(3, 3))
    tilted /= np.linalg.norm(tilted, axis=1)[:, None]
    order = [2, 0, 1]
    after = Contacts.build(
        gap=np.zeros(3), normal=tilted[order], vertices=before.vertices[order], weights=np.ones((3, 1)),
        position=before.anchor[order] + 0.1, point=before.point[order], obstacle=before.obstacle[order],
        key=before.key[order], friction=before.friction, names=before.names, poses=before.poses,
    ).matched(before)  # fmt: skip
    assert np.allclose(after.forces, [3, 1, 2])
    assert np.allclose(after.force_vectors, before.force_vectors[order], atol=1e-2)
    assert np.allclose(after.anchor, before.anchor[order])
    fresh = after.reanchored(np.zeros((3, 3)), which=[True, False, False])
    assert np.allclose(fresh.anchor[0], 0.0)
    assert np.allclose(fresh.anchor[1], after.anchor[1])


def test_unknown_keys_start_from_nothing():
    before = some(3).with_forces([1.0, 2.0, 3.0])
    other = some(2)
    shifted = Contacts(**{**other.__dict__, "key": np.array([1, 7])}).matched(before)
    assert np.allclose(shifted.forces, [0.0, 2.0])
    assert shifted.states[0] == OPEN
    assert other.matched(None) is other


def test_selected_and_joined():
    c = some(4).with_forces([1.0, 2.0, 3.0, 4.0])
    part = c.selected(c.forces > 2)
    assert np.allclose(part.forces, [3, 4])
    wide = c.widened(3)
    assert wide.vertices.shape == (4, 3)
    both = Contacts.joined([part, wide.selected([0])], c.names, c.poses)
    assert np.allclose(both.forces, [3, 4, 1])
    assert both.vertices.shape == (3, 3)


def test_bad_shapes():
    c = some(3)
    with pytest.raises(ArgumentError, match="forces"):
        c.with_forces([1.0])
    with pytest.raises(ArgumentError, match="tangential"):
        c.with_forces([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match="states"):
        c.with_forces([1.0, 1.0, 1.0], states=[1])
