"""Codes of the constitutive laws, apart from the kernels so that reading them does not import numba."""

from __future__ import annotations

LINEAR = 0
COROTATIONAL = 1
STVK = 2
NEO_HOOKEAN = 3
MOONEY_RIVLIN = 4
YEOH = 5
OGDEN = 6
NEO_HOOKEAN_LOG = 7

#: Length of the parameter vector of every law.
N_PARAMETERS = 12
