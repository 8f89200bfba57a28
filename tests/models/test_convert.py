"""Conversions between links, arcs and strains of the same arm."""

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.models import basis
from pliant.models.convert import arcs_of, configuration_of, frames_of, links_of
from pliant.models.link import LinkModel
from pliant.models.pcc import PccModel
from pliant.models.rod import RodModel
from pliant.robots.four_segment_arm import arm_channels, four_segment_arm

FRAMES = tuple(f"frame{i}" for i in range(1, 5))


@pytest.fixture(scope="module")
def arm():
    robot = four_segment_arm()
    channels = arm_channels(robot)
    return (
        LinkModel(robot, chambers=channels, joint="constant_velocity"),
        PccModel(robot, chambers=channels),
        RodModel(robot, basis=basis.legendre(1), chambers=channels),
    )


def test_arc_to_link_and_back(arm):
    link, pcc, _ = arm
    q = np.random.default_rng(0).standard_normal((4, 3)) * [0.02, 4.0, 4.0]
    base = link.frames(link.rest)[0]
    frames = frames_of(pcc, q.ravel(), FRAMES, base)
    assert np.abs(arcs_of(frames, link.lengths) - q).max() < 1e-8
    linked = links_of(frames, link, straight=1e-3)
    assert np.abs(link.frames(linked) - frames).max() < 1e-9  # the theorem, for full poses
    assert np.allclose(linked.reshape(4, 4)[:, 0], linked.reshape(4, 4)[:, 3], atol=1e-9)


def test_rod_from_frames(arm):
    link, pcc, rod = arm
    q = np.random.default_rng(1).standard_normal((4, 3)) * [0.02, 3.0, 3.0]
    frames = frames_of(pcc, q.ravel(), FRAMES, link.frames(link.rest)[0])
    found = configuration_of(rod, FRAMES, frames[1:])
    assert np.abs(frames_of(rod, found, FRAMES)[1:] - frames[1:]).max() < 1e-6


def test_bad_frames(arm):
    with pytest.raises(ArgumentError, match="frames"):
        arcs_of(np.eye(4), [0.1])
    with pytest.raises(ArgumentError, match="poses"):
        configuration_of(arm[2], FRAMES, np.zeros((1, 4, 4)))
