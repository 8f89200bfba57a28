"""St. Venant-Kirchhoff law: linear in the Green strain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant._kernels import material_codes as codes
from pliant.materials.elastic import Elastic


@dataclass(frozen=True)
class StVenantKirchhoff(Elastic):
    """W = mu E:E + lambda/2 (tr E)^2 with E = (F^T F - I)/2, P = F (2 mu E + lambda tr(E) I).

    Large rotations, small strains. It softens in compression and collapses below a stretch of about 0.58.
    """

    law: ClassVar[str] = "st-venant-kirchhoff"
    code: ClassVar[int] = codes.STVK
