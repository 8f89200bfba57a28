"""Constitutive laws of soft bodies: energy, stress, exact tangent; real materials; fitting to tests."""

from pliant.materials.corotational import Corotational
from pliant.materials.fitting import Fit, fit
from pliant.materials.laws import material_from_dict
from pliant.materials.linear import Linear
from pliant.materials.material import Material
from pliant.materials.mooney_rivlin import MooneyRivlin
from pliant.materials.neo_hookean import NeoHookean, NeoHookeanLog
from pliant.materials.ogden import Ogden
from pliant.materials.presets import preset, preset_names, young_from_shore_a
from pliant.materials.st_venant_kirchhoff import StVenantKirchhoff
from pliant.materials.yeoh import Yeoh

__all__ = [
    "Corotational",
    "Fit",
    "Linear",
    "Material",
    "MooneyRivlin",
    "NeoHookean",
    "NeoHookeanLog",
    "Ogden",
    "StVenantKirchhoff",
    "Yeoh",
    "fit",
    "material_from_dict",
    "preset",
    "preset_names",
    "young_from_shore_a",
]
