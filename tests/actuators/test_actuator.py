"""Actuators are descriptions that refuse nonsense: names, drives, limits, geometry, round trip to plain values."""

import math

import numpy as np
import pytest

from pliant.actuators import (
    Cable,
    Chamber,
    DielectricLayer,
    PatchForce,
    PointForce,
    Slide,
    Stiffness,
    actuator_from_dict,
    weld,
)
from pliant.actuators.actuator import check_interval, check_name, check_points, check_vector
from pliant.errors import ArgumentError, UnknownNameError

LINE = [(0, 0, 0), (0.1, 0, 0)]
GOOD = {
    "cable": lambda **k: Cable(**{"name": "a", "points": LINE, **k}),
    "chamber": lambda **k: Chamber(**{"name": "a", **k}),
    "dielectric_layer": lambda **k: DielectricLayer(**{"name": "a", **k}),
    "point_force": lambda **k: PointForce(**{"name": "a", "point": (0, 0, 0), "direction": (0, 0, 2), **k}),
    "patch_force": lambda **k: PatchForce(
        **{"name": "a", "centre": (0, 0, 0), "radius": 0.01, "direction": (0, 3, 4), **k}
    ),
    "stiffness": lambda **k: Stiffness(**{"name": "a", "region": "top", **k}),
    "slide": lambda **k: Slide(**{"name": "a", "part": "plate", "axis": (0, 0, 5), **k}),
}


@pytest.mark.parametrize("kind", GOOD)
def test_plain_values_and_back(kind):
    actuator = GOOD[kind](rate_limit=3.0)
    data = actuator.to_dict()
    assert data["kind"] == kind
    assert actuator_from_dict(data) == actuator
    assert actuator.unit in (actuator.effort_unit, actuator.displacement_unit)
    assert actuator.limits == (
        actuator.effort_limits if actuator.drive == "effort" else actuator.displacement_limits
    )


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": "a b"},
        {"name": 3},
        {"name": "../a"},
        {"drive": "voltage"},
        {"effort_limits": (1, 0)},
        {"effort_limits": (math.nan, 1)},
        {"effort_limits": 5},
        {"displacement_limits": (0, 1, 2)},
        {"displacement_limits": "ab"},
        {"rate_limit": 0.0},
        {"rate_limit": -1.0},
        {"rate_limit": math.nan},
    ],
)
def test_common_fields_are_checked(kind, bad):
    with pytest.raises(ArgumentError):
        GOOD[kind](**bad)


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        ("cable", {"points": []}),
        ("cable", {"points": [(0, 0)]}),
        ("cable", {"points": [(0, 0, 0)]}),
        ("cable", {"points": [(0, 0, 0), (0, 0, math.nan)]}),
        ("cable", {"points": "text"}),
        ("cable", {"points": [(0, 0, 0), (0, 0, 0), (1, 0, 0)]}),
        ("cable", {"pull_point": (0, 0, 0)}),  # coincides with the first via point
        ("cable", {"pull_point": (0, math.inf, 0)}),
        ("cable", {"world": (2,)}),
        ("cable", {"world": (-1,)}),
        ("cable", {"friction": -0.1}),
        ("cable", {"friction": math.inf}),
        ("cable", {"tube_stiffness": math.nan}),
        ("chamber", {"cavity": "no good"}),
        ("chamber", {"fluid_density": -1}),
        ("chamber", {"fluid_density": math.nan}),
        ("dielectric_layer", {"normal": (0, 0, 0)}),
        ("dielectric_layer", {"thickness": 0.0}),
        ("dielectric_layer", {"permittivity": -1}),
        ("dielectric_layer", {"prestretch": math.nan}),
        ("point_force", {"direction": (0, 0, 0)}),
        ("point_force", {"point": (0, 0)}),
        ("patch_force", {"radius": 0.0}),
        ("patch_force", {"radius": math.inf}),
        ("patch_force", {"direction": (0, 0, 0)}),
        ("stiffness", {"drive": "displacement"}),
        ("stiffness", {"effort_limits": (-1.0, 1.0)}),
        ("stiffness", {"region": ""}),
        ("slide", {"axis": (0, 0, 0)}),
        ("slide", {"part": ""}),
    ],
)
def test_own_fields_are_checked(kind, bad):
    with pytest.raises(ArgumentError) as caught:
        GOOD[kind](**bad)
    assert caught.value.argument


def test_directions_are_normalised():
    assert GOOD["point_force"]().direction == (0.0, 0.0, 1.0)
    assert GOOD["patch_force"]().direction == pytest.approx((0.0, 0.6, 0.8))
    assert GOOD["slide"]().axis == (0.0, 0.0, 1.0)
    assert GOOD["dielectric_layer"](normal=(2, 0, 0)).normal == (1.0, 0.0, 0.0)


def test_unknown_kinds_and_fields_are_named():
    with pytest.raises(UnknownNameError, match="cable"):
        actuator_from_dict({"kind": "laser", "name": "a"})
    with pytest.raises(ArgumentError, match="colour"):
        actuator_from_dict({"kind": "chamber", "name": "a", "colour": "red"})
    with pytest.raises(ArgumentError):
        actuator_from_dict({"kind": "cable", "name": "a"})
    with pytest.raises(UnknownNameError):
        actuator_from_dict({"name": "a"})


def test_dielectric_layer_numbers():
    layer = GOOD["dielectric_layer"](thickness=1e-3, permittivity=4.0)
    assert layer.factor == pytest.approx(0.5 * 8.8541878128e-12 * 4.0 / 1e-6)
    assert layer.voltage(9.0) == 3.0
    assert math.isnan(layer.voltage(-1.0))
    assert layer.field(9e6, 2.0) == pytest.approx(6e6)


def test_checks_return_plain_tuples():
    assert check_name("n", "a-b_c.1") == "a-b_c.1"
    assert check_vector("v", np.array([1, 2, 3])) == (1.0, 2.0, 3.0)
    assert check_points("p", np.zeros((2, 3))) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert check_interval("i", [-np.inf, 1]) == (-np.inf, 1.0)
    for bad in ("xyz", None, [1, 2], [1, 2, np.nan], [[1, 2, 3]]):
        with pytest.raises(ArgumentError, match="v"):
            check_vector("v", bad)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: Cable(name="c", points=((0, 0, 0), (1, 0, 0)), world=("a",)), "c.world"),
        (lambda: Cable(name="c", points=((0, 0, 0), (1, 0, 0)), world=0.5), "c.world"),
        (lambda: Cable(name="c", points=((0, 0, 0), (1, 0, 0)), friction="x"), "c.friction"),
        (lambda: Cable(name="c", points=((0, 0, 0), (1, 0, 0)), rate_limit="x"), "c.rate_limit"),
        (lambda: Cable(name="c", points=((0, 0, 0), (1, 0, 0)), drive=[]), "c.drive"),
        (lambda: Chamber(name="c", fluid_density="x"), "c.fluid_density"),
        (lambda: PatchForce(name="c", centre=(0, 0, 0), radius="x", direction=(0, 0, 1)), "c.radius"),
        (lambda: weld("c", point=(0, 0, 0), other_point=(0, 0, 0), rotation="abcd"), "rotation"),
    ],
)
def test_wrong_types_are_refused_by_argument(make, argument):
    with pytest.raises(ArgumentError, match=argument):
        make()
