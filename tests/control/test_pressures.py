"""Pressure map: check 6.1-7."""

import numpy as np
import pytest

from pliant.control.pressures import PressureMap
from pliant.errors import ArgumentError


@pytest.mark.parametrize("rule", ["published", "symmetric"])
def test_6_1_7_operating_rule_and_round_trip(rule):
    m = PressureMap(2e-3, 0.03, 0.04, rule)
    force = np.random.default_rng(0).standard_normal((50, 3)) * [10, 10, 500]
    p = m.pressures(force)
    assert np.abs(p[:, 0] + p[:, 3] - p[:, 1] - p[:, 2]).max() < 1e-9
    assert np.abs(m.forces(p) - force).max() < 1e-10
    # the moments follow from the pressures alone
    tau_y = m.area * m.lever_y * (p[:, 0] + p[:, 2] - p[:, 1] - p[:, 3])
    tau_x = m.area * m.lever_x * (p[:, 0] + p[:, 1] - p[:, 2] - p[:, 3])
    assert np.allclose(tau_y, force[:, 0])
    assert np.allclose(tau_x, force[:, 1])


def test_symmetric_rule_does_not_couple_bending_and_lengthening():
    m = PressureMap(2e-3, 0.03, 0.03)
    p = m.pressures([[10.0, -4.0, 800.0]])
    assert m.area * p.sum() == pytest.approx(800.0)


def test_admissible_forces_stay_in_the_range_of_the_valves():
    m = PressureMap(2e-3, 0.03, 0.03)
    force = np.random.default_rng(1).standard_normal((200, 3)) * [40, 40, 2000]
    kept = m.admissible(force)
    assert not m.saturated(m.pressures(kept)).any()
    inside = ~m.saturated(m.pressures(force))
    assert inside.any()
    assert np.allclose(kept[inside], force[inside])


def test_bad_numbers():
    with pytest.raises(ArgumentError, match="area"):
        PressureMap(0.0, 0.03, 0.03)
