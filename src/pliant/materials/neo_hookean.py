"""Neo-Hookean laws: the stable one, finite for every F, and the classical one with log J."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant._kernels import material_codes as codes
from pliant.materials.elastic import Elastic


@dataclass(frozen=True)
class NeoHookean(Elastic):
    """Stable neo-Hookean law (Smith, de Goes, Kim 2018), finite and smooth for every F, inverted ones too.

    W = m/2 (I1 - 3) - m/2 log((I1 + 1)/4) + l/2 (J - 1)^2 - 3/4 m (J - 1) with m = 4/3 mu, l = lambda +
    5/6 mu, so that `young` and `poisson` are the true small-strain constants. U = bulk/2 (J - 1)^2. At
    large stretch it is up to a third stiffer than the classical law (m against mu); `MooneyRivlin` with
    c01 = 0 has that curve.
    """

    law: ClassVar[str] = "neo-hookean"
    code: ClassVar[int] = codes.NEO_HOOKEAN


@dataclass(frozen=True)
class NeoHookeanLog(Elastic):
    """Classical compressible neo-Hookean law, for J > 0 only.

    W = mu/2 (I1 - 3) - mu log J + lambda/2 (log J)^2, P = mu (F - F^-T) + lambda log J F^-T.
    """

    law: ClassVar[str] = "neo-hookean-log"
    code: ClassVar[int] = codes.NEO_HOOKEAN_LOG
