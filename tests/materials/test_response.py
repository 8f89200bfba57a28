"""Curves of the standard tests against closed forms and the oracles of the dossier."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import materials as pm
from pliant.errors import ArgumentError, SolveError, UnknownNameError
from pliant.materials.response import nominal_stress

STRETCH = np.array([0.7, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0])
NU = 0.499999

# design-model-control.md section 5.2: nominal stress [kPa] at stretch 1.5, 2, 3
ORACLES = {
    "dragon-skin-10": (76.67, 130.47, 244.98),
    "dragon-skin-30": (328.21, 560.00, 1010.73),
    "ecoflex-00-30": (35.45, 57.67, 100.53),
    "ecoflex-00-50": (30.86, 52.15, 91.48),
    "formlabs-elastic-50a": (1072.9, 1877.2, 4894.9),
    "elastosil-28": (281.48, 665.00, 2176.3),
}


@pytest.mark.parametrize("name", ORACLES)
def test_uniaxial_oracles(name):
    """B3: within 0.5 %, near-incompressible."""
    curve = pm.preset(name, poisson=0.49995).uniaxial([1.5, 2.0, 3.0]) / 1e3
    assert np.allclose(curve, ORACLES[name], rtol=5e-3)


@pytest.mark.parametrize("name", ORACLES)
def test_small_strain_modulus_of_the_oracles(name):
    m = pm.preset(name, poisson=0.49995)
    assert m.young == pytest.approx(6 * m.c[0], rel=1e-3)


def incompressible(m, x, mode):
    """Closed forms for c10, c01 or Ogden terms."""
    across = {"uniaxial": x**-0.5, "equibiaxial": x, "planar": np.ones_like(x)}[mode]
    a, b, c = x, across, 1 / (x * across)
    if m.law == "ogden":
        return sum(mu * (a**k - c**k) for mu, k in zip(m.mu, m.alpha)) / x
    if m.law == "mooney-rivlin":
        return 2 * (m.c10 * (a**2 - c**2) + m.c01 * (c**-2.0 - a**-2.0)) / x
    y = a**2 + b**2 + c**2 - 3
    return 2 * (a**2 - c**2) * sum((i + 1) * k * y**i for i, k in enumerate(m.c)) / x


@pytest.mark.parametrize("mode", ["uniaxial", "equibiaxial", "planar"])
@pytest.mark.parametrize(
    "m",
    [
        pm.MooneyRivlin(0.7, 0.2, 1.0),
        pm.Yeoh((0.7, 0.02, 0.001), (1.0,)),
        pm.Ogden((0.6, 0.01, -0.1), (1.5, 4.0, -2.0), 1.0),
    ],
    ids=lambda m: m.law,
)
def test_incompressible_limit(m, mode):
    curve = getattr(m.with_poisson(NU), mode)(STRETCH)
    expected = incompressible(m, STRETCH, mode)
    assert np.allclose(curve, expected, rtol=2e-4, atol=1e-5)


def test_linear_law_has_exact_hooke_curve():
    m = pm.Linear(2e5, 0.3)
    stress, lateral = nominal_stress(m, STRETCH, "uniaxial")
    assert np.allclose(stress, 2e5 * (STRETCH - 1), rtol=1e-12, atol=1e-6)
    assert np.allclose(lateral, 1 - 0.3 * (STRETCH - 1), rtol=1e-12)


def test_corotational_bar_is_hooke_too():
    m = pm.Corotational(2e5, 0.3)
    assert np.allclose(m.uniaxial(STRETCH), 2e5 * (STRETCH - 1), rtol=1e-9, atol=1e-5)


def test_stvk_bar():
    s = np.array([0.8, 1.0, 1.5, 2.0])
    curve = pm.StVenantKirchhoff(2e5, 0.3).uniaxial(s)
    assert np.allclose(curve, 2e5 * s * (s**2 - 1) / 2, rtol=1e-9, atol=1e-5)


def test_free_faces_are_free(material):
    s = np.array([0.9, 1.2, 1.35])
    for mode in ("uniaxial", "equibiaxial", "planar"):
        stress, t = nominal_stress(material, s, mode)
        across = {"uniaxial": t, "equibiaxial": s, "planar": np.ones(3)}[mode]
        F = np.array([np.diag(d) for d in zip(s, across, t)])
        P = material.stress(F)
        assert np.abs(P[:, 2, 2]).max() < 1e-9
        assert np.allclose(P[:, 0, 0], stress)


def test_small_strain_slope_is_young(material):
    e = 1e-6
    assert material.uniaxial(1 + e) / e == pytest.approx(material.young, rel=1e-4)
    assert material.equibiaxial(1 + e) / e == pytest.approx(material.young / (1 - material.poisson), rel=1e-4)
    assert material.planar(1 + e) / e == pytest.approx(material.young / (1 - material.poisson**2), rel=1e-4)


def test_shapes_follow_the_input():
    m = pm.preset("ecoflex-00-30")
    assert m.uniaxial(1.5).shape == ()
    assert m.uniaxial(np.full((2, 3), 1.5)).shape == (2, 3)


def test_no_equilibrium_is_said():
    with pytest.raises(SolveError, match="st-venant-kirchhoff"):
        pm.StVenantKirchhoff(1.0, 0.45).uniaxial(3.0)


def test_bad_input():
    m = pm.NeoHookean(1.0, 0.3)
    for bad in (0.0, -1.0, np.nan, "long"):
        with pytest.raises(ArgumentError, match=r"^stretch"):
            m.uniaxial(bad)
    with pytest.raises(UnknownNameError, match=r"uniaxial, equibiaxial, planar"):
        nominal_stress(m, 1.1, "shear")
