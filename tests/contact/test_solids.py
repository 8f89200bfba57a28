"""The compiled pass over plain solids finds what the general search finds."""

import numpy as np
import pytest

from pliant.contact import Box, Capsule, Cylinder, Plane, Sphere
from pliant.contact.analytic import Sampling, against_obstacle
from pliant.contact.contacts import Contacts
from pliant.contact.solids import against_solid
from pliant.contact.surface import Surface

HOW = Sampling(alarm=0.1, offset=0.01, minimum=False, tolerance=0.05, sag=1e-5, interiors=True)
TURN = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
SOLIDS = {
    "plane": Plane((0, 0, -0.03), (0.1, 0, 1)),
    "sphere": Sphere((0.5, 0.45, -0.28), 0.27),
    "small sphere": Sphere((0.52, 0.47, -0.03), 0.02),
    "capsule": Capsule((-0.2, 0.33, -0.12), (1.1, 0.52, -0.1), 0.1),
    "cylinder": Cylinder((-0.2, 0.5, -0.14), (1.2, 0.5, -0.14), 0.12),
    "end of a cylinder": Cylinder((0.5, 0.5, -0.5), (0.5, 0.52, -0.02), 0.13),
    "inside": Cylinder((0.2, 0.5, 0.0), (0.8, 0.5, 0.02), 0.05),
    "moved": Cylinder((0.5, -1.2, -0.14), (0.5, 0.2, -0.14), 0.12).moved((0.1, 0.0, 0.0), TURN),
}


def skin(make, noise=0.004):
    x, t = make.box((0, 0, 0), (1, 1, 0.3), (7, 6, 2))
    x = x + noise * np.random.default_rng(0).normal(size=x.shape)
    return x, Surface(t, np.zeros((0, 2), dtype=int), np.zeros(len(x)), np.zeros(len(x), dtype=int))


@pytest.mark.parametrize("name", SOLIDS)
@pytest.mark.parametrize("noise", [0.0, 0.004])
def test_both_ways_agree(make, name, noise):
    x, surface = skin(make, noise)
    solid = SOLIDS[name]
    slow = Contacts.joined(against_obstacle(surface, x, solid, 3, HOW), ["it"], [solid.pose])
    fast = Contacts.joined(against_solid(surface, x, solid, 3, HOW), ["it"], [solid.pose])
    assert np.array_equal(fast.key, slow.key)
    assert len(fast) > 2
    for field in ("gap", "normal", "weights", "point", "anchor"):
        assert np.allclose(getattr(fast, field), getattr(slow, field), atol=1e-12)
    used = fast.weights != 0.0
    assert np.array_equal(fast.vertices[used], slow.vertices[used])


def test_there_are_points_between_the_vertices_among_them(make):
    x, surface = skin(make)
    kinds = {int(k) >> 50 & 31 for s in SOLIDS.values() for c in against_solid(surface, x, s, 0, HOW) for k in c.key}
    assert kinds == {8, 9, 10}


def test_what_is_no_plain_solid_or_no_thin_skin_is_left_to_the_general_search(make):
    x, surface = skin(make)
    assert against_solid(surface, x, Box((0, 0, 0), (1, 1, 1)), 0, HOW) is None
    thick = Surface(surface.triangles, np.zeros((0, 2), dtype=int), np.full(len(x), 0.01), np.zeros(len(x), dtype=int))
    assert against_solid(thick, x, SOLIDS["sphere"], 0, HOW) is None
    found = against_solid(thick, x, SOLIDS["plane"], 0, HOW)
    assert found is not None
    assert np.allclose(found[0].gap, against_obstacle(thick, x, SOLIDS["plane"], 0, HOW)[0].gap)


def test_nothing_near_is_no_contact(make):
    x, surface = skin(make)
    assert against_solid(surface, x, Sphere((0, 0, -9), 1.0), 0, HOW) == []
