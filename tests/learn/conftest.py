"""Small datasets and models that several tests share."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.learn import (
    ConstantCurvatureArm,
    FingerManipulator,
    chamber_arm,
    fit,
    make_plan,
    record,
    sample,
    specimen,
    transfer,
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("learn")


@pytest.fixture(scope="session")
def curved_data(folder):
    """The analytical arm on a grid of 6^3."""
    return sample(ConstantCurvatureArm(), path=folder / "cc.h5", per_axis=6, workers=0)


@pytest.fixture(scope="session")
def arm_data(folder):
    """The numerical arm on a grid of 5^3, with its shape."""
    return sample(chamber_arm, path=folder / "arm.h5", per_axis=5, workers=0, shape=True)


@pytest.fixture(scope="session")
def arm(arm_data):
    """The learned numerical arm, with a Jacobian network."""
    return fit(arm_data, hidden=(12, 12), iterations=25, jacobian_network=(12,), shape_modes=6)


@pytest.fixture(scope="session")
def finger(folder):
    """The learned finger manipulator (8^3 samples with exact Jacobians)."""
    data = sample(FingerManipulator(), path=folder / "finger.h5", per_axis=8, workers=0)
    return fit(data, hidden=(20, 20), iterations=30)


@pytest.fixture(scope="session")
def robot():
    """The first specimen."""
    return specimen(1)


@pytest.fixture(scope="session")
def measured(arm, robot):
    """100 measurements of it."""
    return record(robot, make_plan("sobol", arm.ranges, count=100))


@pytest.fixture(scope="session")
def real(arm, measured):
    """The corrected arm and its report."""
    return transfer(arm, measured)


@pytest.fixture
def middle(arm):
    return np.asarray(arm.ranges).mean(axis=1)
