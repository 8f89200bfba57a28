"""Strain and stress fields against a homogeneous stretch."""

import numpy as np
import pytest
from harness import box_robot

from pliant.errors import UnknownNameError
from pliant.materials import NeoHookean
from pliant.models.fem import FemModel


def test_homogeneous_stretch_gives_uniform_fields():
    material = NeoHookean.from_young(1e5, 0.3)
    for element in ("linear", "quadratic"):
        model = FemModel(box_robot((0.03, 0.01, 0.01), (3, 1, 1), material, fixations=()), element=element)
        F = np.diag([1.2, 0.95, 0.95])
        q = (model.layout.rest_nodes @ F).ravel()
        strain = model.field(q, np.zeros(0), "strain")
        assert strain == pytest.approx(0.2, rel=1e-9)
        P = material.stress(F[None])[0]
        sigma = P @ F.T / np.linalg.det(F)
        assert model.field(q, np.zeros(0), "stress") == pytest.approx(abs(sigma[0, 0] - sigma[1, 1]), rel=1e-9)
        moved = model.field(q, np.zeros(0), "displacement")
        assert moved.max() == pytest.approx(np.linalg.norm((F - np.eye(3)) @ [0.03, 0.01, 0.01]), rel=1e-9)


def test_unknown_field_is_refused():
    model = FemModel(box_robot((0.03, 0.01, 0.01), (2, 1, 1), NeoHookean.from_young(1e5, 0.3)))
    with pytest.raises(UnknownNameError, match="strain"):
        model.field(model.rest, np.zeros(0), "temperature")
