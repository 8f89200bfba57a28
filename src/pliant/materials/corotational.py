"""Co-rotational law: Hooke's law in the frame that turns with the material."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant._kernels import material_codes as codes
from pliant.materials.elastic import Elastic


@dataclass(frozen=True)
class Corotational(Elastic):
    """W = mu |S - I|^2 + lambda/2 tr(S - I)^2 with F = R S.

    Large rotations, moderate strains; defined for every F, inverted ones too. The tangent includes the
    derivative of R. Stress grows linearly with stretch, so it is not a rubber.
    """

    law: ClassVar[str] = "corotational"
    code: ClassVar[int] = codes.COROTATIONAL
