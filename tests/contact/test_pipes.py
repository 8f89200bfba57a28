"""The compiled pass of curves in a pipe finds what the general detection finds."""

import numpy as np
import pytest

import pliant as pl
from pliant._kernels.pipe import pipe_nearest
from pliant.contact.analytic import Sampling, against_obstacle
from pliant.contact.contacts import Contacts
from pliant.contact.pipes import against_pipe
from pliant.contact.surface import surface_of
from pliant.state import Skin

COLUMNS = (
    "gap", "normal", "vertices", "weights", "point", "obstacle", "key", "friction", "tangents", "anchor",
    "anchor_weights",
)  # fmt: skip


def how(**changes):
    options = {"alarm": 0.004, "offset": 1e-4, "minimum": False, "tolerance": 0.05, "sag": 1e-7, "interiors": True}
    return Sampling(**{**options, **changes})


def wall(**options):
    up, down = ([(0.12, 0, 0), (0.14, 0, z), (0.17, 0, 4 * z)] for z in (0.01, -0.01))
    return pl.Pipe(centreline=[(-0.05, 0, 0), (0.12, 0, 0)], radius=0.005, branches=[(up, 0.005), (down, 0.004)],
                   friction=0.3, **options)  # fmt: skip


def curve(rng, n=40):
    """A wavy tapered curve, partly in the branches and partly in the wall."""
    t = np.linspace(0.0, 1.0, n)
    x = np.column_stack([0.17 * t, 0.005 * np.sin(9 * t), 0.03 * np.maximum(t - 0.6, 0.0) + 0.003 * np.cos(7 * t)])
    x += 3e-4 * rng.normal(size=x.shape)
    ends = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return x, surface_of(Skin(np.zeros((0, 3), np.int64), ends, np.linspace(1e-3, 5e-4, n), np.zeros(n, np.int64)))


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("interiors", [False, True])
def test_same_contacts_as_the_general_detection(moved, interiors):
    rng = np.random.default_rng(1)
    x, surface = curve(rng)
    pipe = wall()
    if moved:
        pipe = pipe.moved((0.1, -0.2, 0.05), rotation=(0.8, 0.0, 0.6, 0.0))
        x = pipe.pose.apply(x)
    options = how(interiors=interiors)
    (found,) = against_pipe(surface, x, pipe, 3, options)
    expected = Contacts.joined(against_obstacle(surface, x, pipe, 3, options), (), ())
    assert len(found) > 20
    assert (np.count_nonzero(found.weights, axis=1) == 2).any() == interiors
    assert (found.gap < 0.0).any()
    for name in COLUMNS:
        assert np.allclose(getattr(found, name), getattr(expected, name), rtol=0.0, atol=1e-12), name


def test_nothing_near_gives_no_contacts():
    x, surface = curve(np.random.default_rng(1))
    wide = pl.Pipe(centreline=[(-1, 0, 0), (1, 0, 0)], radius=0.5)
    assert against_pipe(surface, x, wide, 0, how()) == []


def test_what_it_leaves_to_the_general_detection():
    x, surface = curve(np.random.default_rng(1))
    assert against_pipe(surface, x, pl.Sphere(radius=0.01), 0, how()) is None
    assert against_pipe(surface, x, wall(), 0, how(minimum=True)) is None
    box = surface_of(Skin(np.array([[0, 1, 2]]), np.zeros((0, 2), np.int64), np.zeros(3), np.zeros(3, np.int64)))
    assert against_pipe(box, x[:3], wall(), 0, how()) is None


def test_segments_that_begin_and_end_in_one_tube_are_lowest_at_an_end():
    """They are not searched; all others are, and some are lowest between their ends."""
    rng = np.random.default_rng(3)
    pipe = wall()
    start = np.column_stack([rng.uniform(0.0, 0.17, 1000), *rng.uniform(-0.012, 0.012, (2, 1000))])
    corners = np.stack([start, start + rng.uniform(-0.02, 0.02, start.shape)], axis=1)
    thickness = rng.uniform(0.0, 1e-3, (1000, 2))
    t = np.linspace(0.0, 1.0, 401)
    every = np.stack([1.0 - t, t], axis=1)

    def gap(weights):
        points = np.einsum("mgk,mki->mgi", weights, corners)
        room = pipe.distance(points.reshape(-1, 3)).reshape(weights.shape[:2])
        return room - np.einsum("mgk,mk->mg", weights, thickness)

    weights = pipe.lowest_on_segments(corners, thickness)
    sampled = gap(np.broadcast_to(every, (1000, *every.shape))).min(axis=1)
    tube = pipe_nearest(corners.reshape(-1, 3), *pipe.tubes)[2].reshape(-1, 2)
    single = tube[:, 0] == tube[:, 1]
    assert 300 < single.sum() < 900
    assert np.all(gap(weights[:, None])[single, 0] <= sampled[single] + 1e-12)
    assert (weights[single].max(axis=1) == 1.0).all()
    assert (weights[~single].max(axis=1) < 1.0).sum() > 10
