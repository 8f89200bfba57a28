"""Curves of the standard tests: nominal stress against stretch, the free faces' motion solved for."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import ArgumentError, SolveError, UnknownNameError
from pliant.materials.material import Array, Material, Mode

MODES: tuple[str, ...] = get_args(Mode)


def check_mode(mode: str) -> str:
    """The mode itself, or an UnknownNameError that lists the valid ones."""
    if mode not in MODES:
        raise UnknownNameError("test mode", mode, MODES)
    return mode


def check_stretch(stretch: ArrayLike) -> Array:
    """Stretches as floats greater than 0, or an ArgumentError."""
    try:
        s = np.asarray(stretch, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError("stretch", "must be numbers", "length over rest length, greater than 0") from None
    if not np.isfinite(s).all() or (s <= 0.0).any():
        raise ArgumentError("stretch", "must be finite and more than 0", "length over rest length; 1 is rest")
    return s


def gradient(stretch: Array, lateral: Array, mode: str) -> Array:
    """Diagonal deformation gradients (n, 3, 3) of a test: pulled along x, free along z."""
    F = np.zeros((len(stretch), 3, 3))
    F[:, 0, 0] = stretch
    F[:, 1, 1] = {"uniaxial": lateral, "equibiaxial": stretch, "planar": np.ones_like(stretch)}[mode]
    F[:, 2, 2] = lateral
    return F


def incompressible_lateral(stretch: Array, mode: str) -> Array:
    """Stretch of the free direction when the volume does not change."""
    return stretch ** {"uniaxial": -0.5, "equibiaxial": -2.0, "planar": -1.0}[mode]


def nominal_stress(material: Material, stretch: ArrayLike, mode: Mode) -> tuple[Array, Array]:
    """Nominal stress [Pa] along the pull and the stretch of the free direction, for every stretch.

    The free direction's stretch t solves P_zz(F(t)) = 0 by Newton's method from the incompressible value.

    Raises:
        SolveError: the law has no such state there (for example St. Venant-Kirchhoff crushed to nothing).
    """
    check_mode(mode)
    s = check_stretch(stretch)
    shape, s = s.shape, s.ravel()
    t = incompressible_lateral(s, mode)
    if material.law == "linear":
        t = np.ones_like(s)  # its answer may be anything, even negative; one Newton step is exact
    todo = np.ones(len(s), dtype=bool)
    tolerance = 1e-11 * (material.shear + material.bulk)
    residual = np.zeros_like(s)
    for _ in range(80):
        F = gradient(s[todo], t[todo], mode)
        r = material.stress(F)[:, 2, 2]
        A = material.tangent(F)
        slope = A[:, 8, 8] + (A[:, 8, 4] if mode == "uniaxial" else 0.0)
        step = -r / slope
        residual[todo] = np.abs(r)
        old = t[todo]
        if material.law != "linear":
            step = np.clip(step, -0.4 * old, 0.6 * old)
        t[todo] = old + step
        todo[todo] = ~((np.abs(r) <= tolerance) & (np.abs(step) <= 1e-12 * np.abs(old) + 1e-13))
        if not todo.any():
            break
    # A step that only rounding keeps alive is converged as well. A free direction that shrinks to nothing is
    # not: there the stress vanishes with the face it acts on.
    failed = todo & ~(residual <= 1e-8 * (material.shear + material.bulk))
    if material.law != "linear":
        failed |= t < 1e-3 * incompressible_lateral(s, mode)
    if failed.any():
        raise SolveError(
            f"no free {mode} state of {material.law} at stretch {s[failed][0]:g}: the law has no equilibrium "
            "there, or an unstable one",
            result=(s[failed], residual[failed]),
        )
    return material.stress(gradient(s, t, mode))[:, 0, 0].reshape(shape), t.reshape(shape)
