"""Predefined pairs and markers."""

import numpy as np
import pytest

from pliant.contact import BodyContact, ContactPairs, SelfContact, detect
from pliant.errors import ArgumentError


def test_pairs_have_a_gap_along_the_normal(make):
    x = np.array([[0, 0, 0], [0, 0, 0.1], [1, 0, 0], [1, 0, 0.2]], float)
    model = make.model(x)
    pairs = ContactPairs([[1, 0], [3, 2]], friction=0.2)
    contacts = detect(model, model.rest, [pairs], alarm=0.01, contact_distance=0.01)
    assert np.allclose(contacts.gap, [0.09, 0.19])
    assert np.allclose(contacts.normal, [0, 0, 1])
    assert np.allclose(contacts.friction, 0.2)
    closed = x + np.array([[0, 0, 0.05], [0, 0, -0.1], [0, 0, 0], [0, 0, 0]])
    later = detect(model, closed.ravel(), [pairs], alarm=0.01)
    assert np.allclose(later.gap, [-0.05, 0.2])  # crossing over gives a negative gap, not a turned normal
    rows = later.rows(model, model.rest).toarray()
    assert np.allclose(rows @ closed.ravel(), later.gap)


def test_pairs_with_given_normals(make):
    x = np.zeros((2, 3))
    model = make.model(x)
    contacts = detect(model, model.rest, [ContactPairs([[0, 1]], normals=(0, 2, 0))], alarm=0.1)
    assert np.allclose(contacts.normal, [[0, 1, 0]])
    with pytest.raises(ArgumentError, match="normals"):
        detect(model, model.rest, [ContactPairs([[0, 1]])], alarm=0.1)


def test_pairs_from_places(make):
    x, _ = make.box((0, 0, 0), (1, 1, 1), (1, 1, 1))
    model = make.model(x)
    pairs = ContactPairs.nearest(model, [[0, 0, 0.99]], [[0.01, 0, 0]], within=0.1)
    assert np.allclose(x[pairs.pairs[0]], [[0, 0, 1], [0, 0, 0]])
    with pytest.raises(ArgumentError, match="first"):
        ContactPairs.nearest(model, [[0, 0, 5]], [[0, 0, 0]], within=0.1)


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: ContactPairs([[0, 0]]), "pairs"),
        (lambda: ContactPairs([[0.5, 1.0]]), "pairs"),
        (lambda: ContactPairs([0, 1]), "pairs"),
        (lambda: ContactPairs([[0, 1]], normals=(0, 0, 0)), "normals"),
        (lambda: ContactPairs([[0, 1]], friction=np.nan), "friction"),
        (lambda: BodyContact(1, 1), "body_b"),
        (lambda: SelfContact(separation=-1.0), "separation"),
        (lambda: SelfContact(friction=-1.0), "friction"),
    ],
)
def test_bad_input(build, argument):
    with pytest.raises(ArgumentError) as error:
        build()
    assert error.value.argument == argument


def test_pairs_out_of_range(make):
    model = make.model(np.zeros((2, 3)))
    with pytest.raises(ArgumentError, match="pairs"):
        detect(model, model.rest, [ContactPairs([[0, 7]])], alarm=0.1)
