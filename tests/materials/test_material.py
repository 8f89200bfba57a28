"""Every law: energy, stress, tangent against formulas and differences; invariance; moduli; bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import materials as pm
from pliant.errors import ArgumentError
from pliant.materials.laws import LAWS

I3 = np.eye(3)


def test_energy_is_the_formula(material, reference, samples):
    F = samples(material.law)
    expected = np.array([reference(f) for f in F])
    assert np.allclose(material.energy(F), expected, rtol=1e-11, atol=1e-13)


def test_stress_and_tangent_are_derivatives(material, samples, difference):
    """B2: differences of the energy and of the stress, relative 1e-8."""
    for F in samples(material.law):
        h = 2e-3 * np.abs(np.linalg.svd(F, compute_uv=False)).min()
        P, A = material.stress(F), material.tangent(F)
        scale = np.abs(A).max()
        P_fd = difference(material.energy, F, h).reshape(3, 3)
        A_fd = difference(lambda G: material.stress(G).ravel(), F, h)
        assert np.abs(P - P_fd).max() < 1e-8 * scale
        assert np.abs(A - A_fd).max() < 1e-8 * scale


def test_tangent_is_symmetric(material, samples):
    A = material.tangent(samples(material.law))
    assert np.abs(A - np.swapaxes(A, 1, 2)).max() < 1e-13 * np.abs(A).max()


def test_rest_is_free_of_stress_and_energy(material):
    assert np.abs(material.stress(I3)).max() < 1e-14
    assert abs(material.energy(I3)) < 1e-14


def test_both_parts_are_free_of_stress_at_rest(material):
    from pliant._kernels.materials import distortion_stress, volumetric

    P = np.zeros((3, 3))
    W = distortion_stress(material.code, material.parameters, I3, P)
    U, dU, _ = volumetric(material.code, material.parameters, 1.0)
    assert abs(W) + abs(U) + abs(dU) + np.abs(P).max() < 1e-14


def test_small_strain_moduli_come_back_from_the_tangent(material):
    A = material.tangent(I3).reshape(3, 3, 3, 3)
    lam, mu = A[0, 0, 1, 1], A[0, 1, 0, 1]
    assert A[0, 1, 1, 0] == pytest.approx(mu, rel=1e-12)
    assert A[0, 0, 0, 0] == pytest.approx(lam + 2 * mu, rel=1e-12)
    assert mu == pytest.approx(material.shear, rel=1e-12)
    assert lam + 2 / 3 * mu == pytest.approx(material.bulk, rel=1e-12)
    assert mu * (3 * lam + 2 * mu) / (lam + mu) == pytest.approx(material.young, rel=1e-12)
    assert lam / (2 * (lam + mu)) == pytest.approx(material.poisson, rel=1e-12)


def test_rotation_costs_nothing_except_in_the_linear_law(material, random_rotation):
    """B4, and A1 of the inverse FEM dossier at the level of the law."""
    R = random_rotation(np.random.default_rng(3))
    stress = np.abs(material.stress(R)).max()
    if material.law == "linear":
        assert stress > 0.1
        assert material.energy(R) > 0.01
    else:
        assert stress < 1e-13
        assert abs(material.energy(R)) < 1e-13


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-0.35, 0.35), min_size=9, max_size=9), st.integers(0, 1000))
@pytest.mark.parametrize("law", [name for name in LAWS if name != "linear"])
def test_objective_and_isotropic(law, entries, seed):
    """P(Q F) = Q P(F) and P(F Q) = P(F) Q for rotations Q."""
    material = LAWS[law].from_young(2.0, 0.4)
    F = I3 + np.reshape(entries, (3, 3))
    if np.linalg.det(F) < 0.1:
        return
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    Q *= np.sign(np.linalg.det(Q))
    P = material.stress(F)
    size = 1e-9 * (1 + np.abs(P).max())
    assert np.abs(material.stress(Q @ F) - Q @ P).max() < size
    assert np.abs(material.stress(F @ Q) - P @ Q).max() < size
    assert material.energy(Q @ F) == pytest.approx(float(material.energy(F)), rel=1e-9, abs=1e-11)


def test_cauchy_stress_is_symmetric(objective, samples):
    F = samples(objective.law)
    T = objective.stress(F) @ np.swapaxes(F, 1, 2)
    assert np.abs(T - np.swapaxes(T, 1, 2)).max() < 1e-12 * np.abs(T).max()


def test_stable_laws_are_finite_for_inverted_and_flat_gradients():
    flat, zero = np.diag([1, 1, 0.0]), np.zeros((3, 3))
    F = np.array([np.diag([1, 1, -1.0]), flat, zero, -I3, np.diag([1, 0.5, -0.5])])
    for law in (pm.Corotational, pm.NeoHookean, pm.StVenantKirchhoff):
        m = law.from_young(1.0, 0.45)
        assert np.isfinite(m.energy(F)).all()
        assert np.isfinite(m.stress(F)).all()
        assert np.isfinite(m.tangent(F)).all()


def test_inadmissible_gradients_are_inf_and_nan():
    F = np.array([np.diag([1, 1, -1.0]), np.diag([1, 1, 0.0])])
    for law in (pm.NeoHookeanLog, pm.MooneyRivlin, pm.Yeoh, pm.Ogden):
        m = law.from_young(1.0, 0.45)
        assert (m.energy(F) == np.inf).all()
        assert np.isnan(m.stress(F)).all()
        assert np.isnan(m.tangent(F)).all()


def test_scaled_multiplies_stress(material, samples):
    F = samples(material.law)
    assert np.allclose(material.scaled(3.0).stress(F), 3.0 * material.stress(F), rtol=1e-12, atol=1e-12)
    assert material.scaled(3.0).young == pytest.approx(3.0 * material.young)
    assert material.scaled(3.0).density == material.density


def test_with_poisson_keeps_shear(material):
    other = material.with_poisson(0.48)
    assert other.shear == pytest.approx(material.shear)
    assert other.poisson == pytest.approx(0.48)


def test_from_young_gives_the_moduli(material):
    m = type(material).from_young(2e5, 0.45, density=900.0, rayleigh_mass=0.1)
    assert (m.young, m.poisson) == (pytest.approx(2e5), pytest.approx(0.45))
    assert (m.density, m.rayleigh_mass) == (900.0, 0.1)


def test_single_and_batched_agree(material, samples):
    F = samples(material.law)[:6]
    assert material.stress(F[2]).shape == (3, 3)
    assert np.array_equal(material.stress(F.reshape(2, 3, 3, 3))[0, 2], material.stress(F[2]))
    assert material.energy(F.reshape(2, 3, 3, 3)).shape == (2, 3)
    assert material.tangent(F[0]).shape == (9, 9)


@pytest.mark.parametrize("F", [np.eye(2), np.zeros((4, 3)), np.full((3, 3), np.nan), "abc", [[1, 2], [3]]])
def test_bad_gradients_are_refused(F):
    with pytest.raises(ArgumentError, match=r"^F"):
        pm.NeoHookean(1e5, 0.4).stress(F)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: pm.Linear(0.0, 0.3), "young"),
        (lambda: pm.Linear(float("nan"), 0.3), "young"),
        (lambda: pm.Linear("stiff", 0.3), "young"),
        (lambda: pm.Corotational(1e5, 0.5), "poisson"),
        (lambda: pm.Corotational(1e5, -1.0), "poisson"),
        (lambda: pm.NeoHookean(1e5, 0.4, density=-1.0), "density"),
        (lambda: pm.NeoHookean(1e5, 0.4, rayleigh_stiffness=-1.0), "rayleigh_stiffness"),
        (lambda: pm.NeoHookean(1e5, 0.4, source=3), "source"),
        (lambda: pm.MooneyRivlin(1.0, -2.0, 1.0), "c10 \\+ c01"),
        (lambda: pm.MooneyRivlin(1.0, 0.0, 0.0), "bulk"),
        (lambda: pm.Yeoh((), (1.0,)), "c"),
        (lambda: pm.Yeoh((1.0, 2.0, 3.0, 4.0), (1.0,)), "c"),
        (lambda: pm.Yeoh((-1.0,), (1.0,)), "c\\[0\\]"),
        (lambda: pm.Yeoh((1.0,), (0.0,)), "d\\[0\\]"),
        (lambda: pm.Ogden((1.0,), (2.0, 3.0), 1.0), "alpha"),
        (lambda: pm.Ogden((1.0,), (0.0,), 1.0), "alpha"),
        (lambda: pm.Ogden((-1.0,), (2.0,), 1.0), "mu, alpha"),
        (lambda: pm.NeoHookean(1e5, 0.4).scaled(0.0), "factor"),
    ],
)
def test_bad_constants_are_refused(make, argument):
    with pytest.raises(ArgumentError, match=f"^{argument}"):
        make()
