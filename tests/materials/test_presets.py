"""Presets: present, sourced, stable in use."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import materials as pm
from pliant.errors import ArgumentError, UnknownNameError


@pytest.mark.parametrize("name", pm.preset_names())
def test_every_preset_is_usable(name):
    m = pm.preset(name)
    assert len(m.source) > 20
    assert 5e3 < m.young < 1e8
    assert 0.35 < m.poisson < 0.5
    assert 900 < m.density < 1400
    assert pm.material_from_dict(m.to_dict()) == m
    top = 1.3 if m.law == "st-venant-kirchhoff" else 2.5
    assert (np.diff(m.uniaxial(np.linspace(0.8, top, 30))) > 0).all()


def test_wanted_materials_are_there():
    wanted = {"ecoflex-00-10", "ecoflex-00-30", "ecoflex-00-50"}
    wanted |= {"dragon-skin-10", "dragon-skin-20", "dragon-skin-30"}
    wanted |= {"elastosil-m4601", "elastosil-28", "agilus30", "ninjaflex-85a", "tpu-90", "smooth-sil-940"}
    wanted |= {"smooth-sil-950", "formlabs-elastic-50a", "rtv-615", "sylgard-184", "sls-elastomer"}
    assert wanted <= set(pm.preset_names())


def test_constants_of_the_geometric_dossier():
    assert pm.preset("ecoflex-00-30-mooney").young == pytest.approx(0.314e6, rel=0.01)
    assert pm.preset("dragon-skin-20").young == pytest.approx(0.852e6, rel=0.01)


def test_names_are_forgiving():
    assert pm.preset("Ecoflex 00-30") == pm.preset("ecoflex_00_30") == pm.preset("ecoflex-00-30")
    assert pm.preset("DragonSkin 10") == pm.preset("dragon-skin-10")


def test_poisson_option():
    assert pm.preset("dragon-skin-30").poisson < 0.45
    assert pm.preset("dragon-skin-30", poisson=0.499).poisson == pytest.approx(0.499)


def test_hundred_percent_modulus_is_met():
    assert pm.preset("smooth-sil-950", poisson=0.4999).uniaxial(2.0) == pytest.approx(1.88e6, rel=2e-3)


def test_unknown_names_are_listed():
    for bad in ("jelly", None, 3):
        with pytest.raises(UnknownNameError) as caught:
            pm.preset(bad)
        assert "ecoflex-00-30" in caught.value.valid


def test_shore_conversion():
    assert pm.young_from_shore_a(30) == pytest.approx(1.16e6, rel=0.01)
    with pytest.raises(ArgumentError, match=r"^hardness"):
        pm.young_from_shore_a(120)
