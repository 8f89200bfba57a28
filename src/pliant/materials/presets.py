"""Real materials with the published source of their numbers.

Numbers are as published, the bulk modulus too where one was given. The volumetric constants of the SOROTOKI
table are numerical choices that give Poisson ratios of 0.42 to 0.49, while silicones are nearly
incompressible. That makes some curves softer, Dragon Skin 30 by 11 % at a stretch of 2: ask for
`preset(name, poisson=0.4999)` to have the published curve. A `source` that says UNCHECKED names numbers
quoted from memory. Silicone batches differ by tens of per cent; for quantitative work test your own and use
`fit`.
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

_TABLE = 'Caasenbrood, "Design, Modeling, and Control Strategies for Soft Robots" (thesis), SOROTOKI presets'
_FANG = 'Fang, "Kinematics Computing for Soft Robots" (PhD thesis, TU Delft, 2022)'
#: Marks numbers that nobody on this project has compared with the document named.
UNCHECKED = "UNCHECKED"
_MPA = 1e6


def young_from_shore_a(hardness: float) -> float:
    """Young's modulus [Pa] from Shore A hardness by the relation log10(E / MPa) = 0.0235 S - 0.6403 (Ruess).

    A rough estimate, meant for 30 <= S <= 60.
    """
    s = moduli.finite("hardness", hardness)
    if not 0.0 < s < 100.0:
        raise ArgumentError("hardness", f"is {s}", "Shore A between 0 and 100")
    return float(_MPA * 10.0 ** (0.0235 * s - 0.6403))


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
        (3e-3, -0.2e-3, 0.023e-3),
        (1, 1, 1),
        1070,
        0.03,
        "The thesis also uses c1 = 8.7 kPa. At 100 % strain this law gives 8.7 kPa where the tensile "
        "test of Marechal et "
        "al., Soft Robotics Materials Database, has 14.8 kPa.",
    ),
    "ecoflex-00-30": lambda: _sorotoki((17e-3, -0.2e-3, 0.023e-3), (2, 2, 2), 1070, 0.03),
    "ecoflex-00-50": lambda: _sorotoki(
        (14.5e-3, 0.1e-3, 0.0), (10, 20, 30), 1070, 0.035, "The thesis also uses c1 = 19 kPa."
    ),
    "dragon-skin-10": lambda: _sorotoki(
        (36e-3, 0.25e-3, 0.023e-3), (1, 1, 1), 1070, 0.1, "The thesis also uses c1 = 35 kPa."
    ),
    "dragon-skin-30": lambda: _sorotoki(
        (0.1536, 1.6e-3, 0.0), (1, 10, 10), 1070, 0.1, "The thesis's optimisation study uses c1 = 96 kPa."
    ),
    "formlabs-elastic-50a": lambda: _sorotoki((0.5056, 0.0, 2.562e-3), (0.2,), 1200, 0.03),
    "elastosil-28": lambda: _sorotoki((0.11, 0.02, 0.0), (1,), 1332, 0.2),
    "rtv-615": lambda: _sorotoki(
        (0.1621, 0.0142, 0.9e-3), (1,), 1020, 0.0, f"Density {UNCHECKED} (maker's data sheet)."
    ),
    "elastosil-m4601": lambda: Yeoh(
        (0.11e6, 0.02e6),
        (2.0 / moduli.bulk_of_shear(0.22e6, 0.49),),
        density=1130.0,
        source=f"{_TABLE}, row Elastosil 28 (c1 = 0.11, c2 = 0.02 MPa), taken to be M4601 by its Shore "
        "A 28. That these "
        "are the Soft Robotics Toolkit's constants for M4601 and the density of 1.13 g/cc are "
        f"{UNCHECKED}. Poisson ratio 0.49 assumed.",
    ),
    "ecoflex-00-30-mooney": lambda: _mooney(
        0.0418,
        0.0106,
        1070.0,
        f"{_FANG}, section 3.4.1: c1 = 0.0418, c2 = 0.0106 MPa. Three times stiffer at small strain "
        "than the Yeoh "
        "preset of the same rubber. Poisson ratio 0.49 assumed.",
    ),
    "dragon-skin-20": lambda: _mooney(
        0.119,
        0.023,
        1070.0,
        f"{_FANG}, section 3.4.2: c1 = 0.119, c2 = 0.023 MPa. At 100 % strain 44 % stiffer than the "
        "tensile test of "
        "Marechal et al., Soft Robotics Materials Database (318 kPa). Density and Poisson ratio 0.49 "
        "assumed.",
    ),
    "ninjaflex-85a": lambda: _mooney(
        0.77,
        2.94,
        1190.0,
        f"{_TABLE}: C10 = 0.77, C01 = 2.94 MPa; its study uses c1 = 2.3 MPa (text also 2.8). Poisson "
        "ratio 0.49 "
        f"assumed. Density {UNCHECKED} (maker's data sheet).",
    ),
    "tpu-90": lambda: NeoHookean(6.9e6, 0.4, density=1070.0, rayleigh_mass=0.1, source=f"{_TABLE}."),
    "tpu-95a": lambda: NeoHookean(
        26e6,
        0.45,
        density=1220.0,
        source=f"{UNCHECKED}: tensile modulus 26 MPa and 1.22 g/cc of the Ultimaker TPU 95A data sheet. "
        "Linear below 20 % "
        f"strain: {_FANG}, section 2.4.1. Poisson ratio 0.45 assumed.",
    ),
    "agilus30": lambda: NeoHookean(
        young_from_shore_a(30.0),
        0.49,
        density=1140.0,
        source="Approximate: Young's modulus from Shore A 30 by Ruess's relation. Linear below 30 % "
        "strain: "
        f"{_FANG}, section 2.4.1. Density {UNCHECKED} (maker's data sheet). Poisson ratio 0.49 assumed.",
    ),
    "smooth-sil-940": lambda: _modulus_100(
        1.38e6,
        1180.0,
        f"{UNCHECKED}: 100 % modulus 200 psi and 1.18 g/cc of the Smooth-On data sheet; one-term law "
        "through it.",
    ),
    "smooth-sil-950": lambda: _modulus_100(
        1.88e6,
        1240.0,
        f"{UNCHECKED}: 100 % modulus 272 psi and 1.24 g/cc of the Smooth-On data sheet; one-term law "
        "through it.",
    ),
    "sylgard-184": lambda: NeoHookean(
        1.32e6,
        0.49,
        density=1030.0,
        source="Johnston et al., Mechanical characterization of bulk Sylgard 184 (J. Micromech. "
        "Microeng. 2014): 1.32 to "
        "2.97 MPa for curing at 25 to 200 C; the lower end is used here. Other tests spread over two "
        "orders of magnitude "
        f"(Varner and Cohen, Soft Matter 2024). Density {UNCHECKED}. Poisson ratio 0.49 assumed.",
    ),
    "sls-elastomer": lambda: StVenantKirchhoff(
        80e6,
        0.4,
        density=1100.0,
        source="Caasenbrood thesis, chapter 3, three-bellow manipulator of SLS-printed flexible TPE: E "
        "= 80 MPa, "
        "nu = 0.4. Density assumed.",
    ),
}

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
