"""Whole laws, distortion plus volume, over many deformation gradients: what `Material.energy` calls."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.materials import distortion_energy, distortion_stress, distortion_tangent, volumetric
from pliant._kernels.materials_invariants import add_cofactor_derivative, cofactor, determinant


@njit(cache=True, error_model="numpy")
def energy_batch(code, p, F, W):
    """Energy densities W (n,) [J/m^3] of F (n, 3, 3); inf where F is inadmissible."""
    for e in range(F.shape[0]):
        W[e] = distortion_energy(code, p, F[e]) + volumetric(code, p, determinant(F[e]))[0]


@njit(cache=True, error_model="numpy")
def stress_batch(code, p, F, P):
    """First Piola-Kirchhoff stresses P (n, 3, 3) [Pa] of F (n, 3, 3); nan where F is inadmissible."""
    for e in range(F.shape[0]):
        P[e] = np.nan
        distortion_stress(code, p, F[e], P[e])
        dU = volumetric(code, p, determinant(F[e]))[1]
        for k, c in enumerate(cofactor(F[e])):
            P[e, k // 3, k % 3] += dU * c


@njit(cache=True, error_model="numpy")
def tangent_batch(code, p, F, P, A):
    """Stresses P (n, 3, 3) and tangents A (n, 9, 9) [Pa] of F (n, 3, 3); nan where F is inadmissible."""
    for e in range(F.shape[0]):
        P[e] = np.nan
        A[e] = np.nan
        distortion_tangent(code, p, F[e], P[e], A[e])
        _, dU, ddU = volumetric(code, p, determinant(F[e]))
        for r, c in enumerate(cofactor(F[e])):
            P[e, r // 3, r % 3] += dU * c
            for s, d in enumerate(cofactor(F[e])):
                A[e, r, s] += ddU * c * d
        add_cofactor_derivative(dU, F[e], A[e])
