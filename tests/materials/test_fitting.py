"""Fitting: constants come back from exact curves, real data are matched, bad data are refused."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import materials as pm
from pliant.errors import ArgumentError, SolveError, UnknownNameError
from pliant.materials.laws import law_of

S = np.linspace(1.05, 3.0, 25)

# Dragon Skin 20, engineering strain and stress [MPa]: a few rows of the tensile test of Marechal et al., Soft
# Robotics Materials Database (github.com/LucMarechal/Soft-Robotics-Materials-Database).
DRAGON_SKIN_20 = np.array(
    [
        (0.25, 0.072147), (0.5, 0.151073), (0.750003, 0.232767), (1.0, 0.31836), (1.25, 0.41047),
        (1.5, 0.509237), (1.75, 0.61293), (2.0, 0.722257), (2.25, 0.835687), (2.5, 0.952813), (3.0, 1.194473),
    ]
)  # fmt: skip


@pytest.mark.parametrize("mode", ["uniaxial", "equibiaxial", "planar"])
def test_yeoh_comes_back(mode):
    true = pm.Yeoh((36e3, 250.0, 23.0), (1.0,)).with_poisson(0.49)
    result = pm.fit(pm.Yeoh, S, getattr(true, mode)(S), mode, poisson=0.49, density=900.0)
    assert np.allclose(result.material.c, true.c, rtol=1e-5)
    assert result.r2 == pytest.approx(1.0, abs=1e-9)
    assert result.material.density == 900.0
    assert result.monotone


def test_mooney_comes_back_from_two_tests_together():
    true = pm.MooneyRivlin(4e4, 1e4, 1.0).with_poisson(0.49)
    b = np.linspace(1.05, 2.0, 10)
    stretch = np.concatenate([S, b])
    stress = np.concatenate([true.uniaxial(S), true.equibiaxial(b)])
    modes = ["uniaxial"] * len(S) + ["equibiaxial"] * 10
    material = pm.fit("mooney-rivlin", stretch, stress, modes, poisson=0.49).material
    assert material.c10 == pytest.approx(4e4, rel=1e-5)
    assert material.c01 == pytest.approx(1e4, rel=1e-5)


@pytest.mark.parametrize(
    "law", ["linear", "corotational", "neo-hookean", "neo-hookean-log", "st-venant-kirchhoff"]
)
def test_one_constant_laws_come_back(law):
    s = np.linspace(1.02, 1.4, 10)
    true = law_of(law).from_young(2e5, 0.45)
    result = pm.fit(law, s, true.uniaxial(s), poisson=0.45)
    assert result.material.young == pytest.approx(2e5, rel=1e-9)


@pytest.mark.parametrize("terms", [1, 2])
def test_ogden_curve_comes_back(terms):
    true = pm.Ogden((4e4, 500.0)[:terms], (1.8, 5.5)[:terms], 1.0).with_poisson(0.49)
    result = pm.fit(pm.Ogden, S, true.uniaxial(S), terms=terms, poisson=0.49)
    assert result.r2 > 1 - 1e-7
    assert result.material.young == pytest.approx(true.young, rel=1e-2)


def test_real_tensile_data():
    stretch, stress = 1 + DRAGON_SKIN_20[:, 0], 1e6 * DRAGON_SKIN_20[:, 1]
    for law in (pm.Yeoh, pm.Ogden):
        result = pm.fit(law, stretch, stress)
        assert result.r2 > 0.999
        assert result.relative < 0.02
        assert result.monotone
    # A first loading curve: half of the small-strain modulus that the Mooney-Rivlin preset has.
    assert 2.5e5 < pm.fit(pm.Yeoh, stretch, stress).material.young < 5e5
    assert "R2" in str(result)


def test_stable_constants_are_the_default():
    """Unconstrained, two Ogden terms fit this tensile test better and collapse when inflated; it is said."""
    stretch, stress = 1 + DRAGON_SKIN_20[:, 0], 1e6 * DRAGON_SKIN_20[:, 1]
    free = pm.fit(pm.Ogden, stretch, stress, stable=False)
    safe = pm.fit(pm.Ogden, stretch, stress)
    assert free.r2 > safe.r2
    assert safe.monotone
    assert not free.monotone
    assert all(m * a >= 0 for m, a in zip(safe.material.mu, safe.material.alpha))
    # Mooney-Rivlin cannot stiffen: the best stable one is neo-Hookean, and the report shows how poor it is.
    mooney = pm.fit(pm.MooneyRivlin, stretch, stress)
    assert mooney.material.c01 == 0.0
    assert mooney.r2 < 0.99


def test_an_unstable_fit_is_said():
    falling = np.array([1e4, 2e4, 2.5e4, 2.4e4, 2.0e4])
    assert not pm.fit(pm.Yeoh, [1.2, 1.5, 2.0, 2.5, 3.0], falling).monotone


def test_negative_modulus_is_refused():
    with pytest.raises(SolveError, match="rise"):
        pm.fit(pm.NeoHookean, [1.1, 1.2], [-1.0, -2.0])
    with pytest.raises(SolveError, match="no solid"):
        pm.fit(pm.Yeoh, S, -pm.NeoHookean(1e5, 0.49).uniaxial(S))


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        ((pm.Yeoh, [1.1, 1.2], [1.0]), {}, "stress"),
        ((pm.Yeoh, [1.1, 1.2], [1.0, np.nan]), {}, "stress"),
        ((pm.Yeoh, [1.1, -1.2], [1.0, 2.0]), {}, "stretch"),
        ((pm.Yeoh, [1.1, 1.2], [1.0, 2.0]), {}, "stretch: too few"),
        ((pm.Linear, [1.0, 1.0], [0.0, 0.0]), {}, "stretch: no point"),
        ((pm.Yeoh, S, S, ["uniaxial"]), {}, "mode"),
        ((pm.Yeoh, S, S), {"terms": 4}, "terms"),
        ((pm.MooneyRivlin, S, S), {"terms": 2}, "terms"),
        ((pm.Yeoh, S, S), {"poisson": 0.5}, "poisson"),
        ((dict, S, S), {}, "law"),
    ],
)
def test_bad_data_are_refused(arguments, options, name):
    with pytest.raises(ArgumentError, match=f"^{name}"):
        pm.fit(*arguments, **options)


def test_unknown_names_are_listed():
    with pytest.raises(UnknownNameError, match="yeoh"):
        pm.fit("gent", S, S)
    with pytest.raises(UnknownNameError, match="planar"):
        pm.fit("yeoh", S, S, "shear")
