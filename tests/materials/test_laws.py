"""File form of the laws."""

from __future__ import annotations

import tomllib

import pytest

from pliant import materials as pm
from pliant.errors import ArgumentError, UnknownNameError
from pliant.materials.laws import LAWS


def test_round_trip(material):
    m = material.replace(density=950.0, rayleigh_mass=0.2, source='a "test"')
    data = m.to_dict()
    assert data["law"] == m.law
    assert pm.material_from_dict(data) == m


def test_only_plain_values_are_written(material):
    assert all(isinstance(v, float | int | str | list) for v in material.to_dict().values())


@pytest.mark.parametrize("law", LAWS)
def test_short_form_by_moduli(law):
    m = pm.material_from_dict(tomllib.loads(f'law = "{law}"\nyoung = 2e5\npoisson = 0.45\ndensity = 1000'))
    assert m.law == law
    assert (m.young, m.poisson, m.density) == (pytest.approx(2e5), pytest.approx(0.45), 1000.0)


def test_short_form_by_preset():
    m = pm.material_from_dict({"preset": "dragon-skin-10", "density": 1000.0, "poisson": 0.49})
    assert m.density == 1000.0
    assert m.poisson == pytest.approx(0.49)
    assert m.c == pm.preset("dragon-skin-10").c


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, "material.law"),
        ({"law": "linear"}, "material.young"),
        ({"law": "yeoh", "c": [1.0]}, "material.d"),
        ({"law": "linear", "young": 1.0, "poisson": 0.3, "colour": "red"}, "material.colour"),
        ({"preset": "tpu-90", "young": 3.0}, "material.young"),
        ({"law": "linear", "young": "soft", "poisson": 0.3}, "young"),
        ({"law": "yeoh", "c": "text", "d": [1.0]}, "c: "),
        ([1, 2], "material: "),
    ],
)
def test_bad_tables_are_refused(data, problem):
    with pytest.raises(ArgumentError, match=f"^{problem}"):
        pm.material_from_dict(data)


def test_unknown_law_lists_the_valid_ones():
    with pytest.raises(UnknownNameError, match=r"linear, corotational"):
        pm.material_from_dict({"law": "steel"})
