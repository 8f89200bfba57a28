"""Real materials with the published source of their numbers.

Numbers are as published, the bulk modulus too where one was given: the volumetric constants of the SOROTOKI
table are numerical choices that give Poisson ratios of 0.42 to 0.49, while silicones measure 0.499 and above. That
makes some curves softer, Dragon Skin 30 by 11 % at a stretch of 2: ask for `preset(name, poisson=0.499)` to
have the published curve. Silicone batches differ by tens of per cent; for quantitative work test your own and
use `fit`.
"""

from __future__ import annotations

from collections.abc import Callable

from pliant.errors import ArgumentError, UnknownNameError
from pliant.materials import moduli
from pliant.materials.material import Material
from pliant.materials.mooney_rivlin import MooneyRivlin
from pliant.materials.neo_hookean import NeoHookean
from pliant.materials.st_venant_kirchhoff import StVenantKirchhoff
from pliant.materials.yeoh import Yeoh

_TABLE = "Caasenbrood, Design, modelling and control of soft robots (thesis), SOROTOKI material presets"
_FANG = "Fang, Geometric computing for soft robots (PhD thesis, TU Delft, 2022)"
_MPA = 1e6


def young_from_shore_a(hardness: float) -> float:
    """Young's modulus [Pa] from Shore A hardness by Gent's relation (Rubber Chem. Technol. 31, 1958, 896).

    E = 0.0981 (56 + 7.66 S) / (0.137505 (254 - 2.54 S)) MPa. Rough: perhaps 30 % for 20 < S < 80.
    """
    s = moduli.finite("hardness", hardness)
    if not 0.0 < s < 100.0:
        raise ArgumentError("hardness", f"is {s}", "Shore A between 0 and 100")
    return _MPA * 0.0981 * (56.0 + 7.66 * s) / (0.137505 * (254.0 - 2.54 * s))


def _sorotoki(
    c: tuple[float, ...], d: tuple[float, ...], density: float, damping: float, note: str = ""
) -> Yeoh:
    """Yeoh constants c [MPa], d [1/MPa] of the SOROTOKI table; damping is per mass [1/s]."""
    return Yeoh(
        tuple(_MPA * x for x in c),
        tuple(x / _MPA for x in d),
        density=density,
        rayleigh_mass=damping,
        source=f"{_TABLE}.{' ' + note if note else ''}",
    )


def _mooney(c10: float, c01: float, density: float, source: str) -> MooneyRivlin:
    """Mooney-Rivlin constants [MPa], published without a bulk modulus: Poisson ratio 0.49 assumed."""
    bulk = moduli.bulk_of_shear(2.0 * _MPA * (c10 + c01), 0.49)
    return MooneyRivlin(_MPA * c10, _MPA * c01, bulk, density=density, source=source)


def _modulus_100(stress: float, density: float, source: str) -> Yeoh:
    """One-term law through the nominal stress [Pa] at 100 % strain, 2 c (2 - 1/4); Poisson ratio 0.49."""
    c = stress / 3.5
    return Yeoh((c,), (2.0 / moduli.bulk_of_shear(2.0 * c, 0.49),), density=density, source=source)


_PRESETS: dict[str, Callable[[], Material]] = {
    "ecoflex-00-10": lambda: _sorotoki(
        (3e-3, -0.2e-3, 0.023e-3), (1, 1, 1), 1070, 0.03,
        "Much softer than the maker's 100 % modulus (8 psi = 55 kPa; this law: 9 kPa); the thesis also "
        "uses "
        "c1 = 8.7 kPa. Check before you rely on it.",
    ),
    "ecoflex-00-30": lambda: _sorotoki(
        (17e-3, -0.2e-3, 0.023e-3), (2, 2, 2), 1070, 0.03,
        "Maker's 100 % modulus 10 psi = 69 kPa; this law 58 kPa."
    ),
    "ecoflex-00-50": lambda: _sorotoki(
        (14.5e-3, 0.1e-3, 0.0), (10, 20, 30), 1070, 0.035,
        "Thesis also uses c1 = 19 kPa. Maker's 100 % modulus 12 psi = 83 kPa; this law 52 kPa.",
    ),
    "dragon-skin-10": lambda: _sorotoki(
        (36e-3, 0.25e-3, 0.023e-3), (1, 1, 1), 1070, 0.1,
        "Thesis text also c1 = 35 kPa. Maker's 100 % modulus 22 psi = 152 kPa; this law 130 kPa.",
    ),
    "dragon-skin-30": lambda: _sorotoki(
        (0.1536, 1.6e-3, 0.0), (1, 10, 10), 1070, 0.1,
        "Thesis optimisation study uses c1 = 96 kPa. Maker's 100 % modulus 86 psi = 593 kPa; this law 560 "
        "kPa.",
    ),
    "formlabs-elastic-50a": lambda: _sorotoki((0.5056, 0.0, 2.562e-3), (0.2,), 1200, 0.03),
    "elastosil-28": lambda: _sorotoki((0.11, 0.02, 0.0), (1,), 1332, 0.2),
    "rtv-615": lambda: _sorotoki(
        (0.1621, 0.0142, 0.9e-3), (1,), 1020, 0.0, "Density: Momentive RTV615 data sheet, 1.02 g/cc."
    ),
    "elastosil-m4601": lambda: Yeoh(
        (0.11e6, 0.02e6), (2.0 / moduli.bulk_of_shear(0.22e6, 0.49),), density=1130.0,
        source="Yeoh C1 = 0.11 MPa, C2 = 0.02 MPa: Polygerinos et al., Towards a soft pneumatic glove for "
        "hand "
        "rehabilitation (IROS 2013) and the Soft Robotics Toolkit's PneuNet model. Poisson ratio 0.49 "
        "assumed, "
        "density approximate (Wacker data sheet, 1.13 g/cc).",
    ),
    "ecoflex-00-30-mooney": lambda: _mooney(
        0.0418, 0.0106, 1070.0,
        f"{_FANG}, section 3.4.1: c1 = 0.0418, c2 = 0.0106 MPa. "
        "Three times stiffer at small strain than the Yeoh preset of the same rubber. Poisson ratio 0.49 "
        "assumed.",
    ),
    "dragon-skin-20": lambda: _mooney(
        0.119, 0.023, 1080.0,
        f"{_FANG}, section 3.4.2: c1 = 0.119, c2 = 0.023 MPa. "
        "Stiffer than the maker's 100 % modulus (49 psi = 338 kPa; this law 457 kPa). Poisson ratio 0.49 "
        "assumed.",
    ),
    "ninjaflex-85a": lambda: _mooney(
        0.77, 2.94, 1190.0,
        f"{_TABLE}; its study uses c1 = 2.3 MPa (text also 2.8). Stiffer than the maker's tensile modulus "
        "of 12 MPa. "
        "Poisson ratio 0.49 assumed; density: NinjaTek data sheet.",
    ),
    "tpu-90": lambda: NeoHookean(6.9e6, 0.4, density=1070.0, rayleigh_mass=0.1, source=f"{_TABLE}."),
    "tpu-95a": lambda: NeoHookean(
        26e6, 0.45, density=1220.0,
        source="Ultimaker TPU 95A data sheet: tensile modulus 26 MPa, density 1.22 g/cc. Linear below 20 "
        "% strain (Fang 2022, section 2.4.1). Poisson ratio 0.45 assumed.",
    ),
    "agilus30": lambda: NeoHookean(
        young_from_shore_a(30.0), 0.49, density=1140.0,
        source="Approximate: Stratasys data sheet gives Shore A 30 and 1.14 g/cc but no modulus; Young's "
        "modulus by Gent's "
        "relation. Linear below 30 % strain (Fang, section 2.4.1); strongly viscoelastic, which is not "
        "modelled.",
    ),
    "smooth-sil-940": lambda: _modulus_100(
        1.38e6, 1180.0,
        "Approximate: Smooth-On data sheet, 100 % modulus 200 psi = 1.38 MPa, 1.18 g/cc, one-term law."
    ),
    "smooth-sil-950": lambda: _modulus_100(
        1.88e6, 1240.0,
        "Approximate: Smooth-On data sheet, 100 % modulus 272 psi = 1.88 MPa, 1.24 g/cc, one-term law."
    ),
    "sylgard-184": lambda: NeoHookean(
        1.32e6, 0.499, density=1030.0,
        source="Johnston et al., Mechanical characterization of bulk Sylgard 184 (J. Micromech. Microeng. "
        "24, 2014, "
        "035017): E = 1.32 MPa cured at 25 C, rising to 2.97 MPa at 200 C. Density: Dow data sheet, 1.03 "
        "g/cc. The "
        "measured bulk modulus (117 MPa and more) would be a Poisson ratio of 0.498 and above.",
    ),
    "sls-elastomer": lambda: StVenantKirchhoff(
        80e6, 0.4, density=1100.0,
        source="Caasenbrood thesis, chapter 3 (three-bellow manipulator, SLS-printed flexible TPE): E = "
        "80 MPa, nu = 0.4. "
        "Density assumed.",
    ),
}  # fmt: skip

_ALIASES = {"pdms": "sylgard-184", "ninjaflex": "ninjaflex-85a", "agilus-30": "agilus30"}


def preset_names() -> tuple[str, ...]:
    """Names of all presets."""
    return tuple(sorted(_PRESETS))


def preset(name: str, *, poisson: float | None = None) -> Material:
    """A real material by name, for example "ecoflex-00-30"; its `source` says where the numbers come from.

    Args:
        name: one of `preset_names()`; case, blanks and underscores do not matter.
        poisson: small-strain Poisson ratio to use instead of the published volumetric constants.

    Raises:
        UnknownNameError: there is no such preset; the valid names are listed.
    """
    key = name.strip().lower().replace(" ", "-").replace("_", "-") if isinstance(name, str) else ""
    key = _ALIASES.get(key, key).replace("dragonskin", "dragon-skin")
    if key not in _PRESETS:
        raise UnknownNameError("material preset", name, preset_names())
    material = _PRESETS[key]()
    return material if poisson is None else material.with_poisson(poisson)
