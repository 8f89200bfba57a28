"""Hooke's law: small strains and small rotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant._kernels import material_codes as codes
from pliant.materials.elastic import Elastic


@dataclass(frozen=True)
class Linear(Elastic):
    """W = mu e:e + lambda/2 (tr e)^2 with e = sym(F) - I.

    Cheap, with a constant tangent, and wrong as soon as the body turns: a rigid rotation costs energy. Use
    `Corotational` unless strains and rotations are really small.
    """

    law: ClassVar[str] = "linear"
    code: ClassVar[int] = codes.LINEAR
