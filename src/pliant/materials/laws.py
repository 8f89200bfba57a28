"""The laws by name, and their file form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from pliant.errors import ArgumentError, UnknownNameError
from pliant.materials.corotational import Corotational
from pliant.materials.linear import Linear
from pliant.materials.material import Material
from pliant.materials.mooney_rivlin import MooneyRivlin
from pliant.materials.neo_hookean import NeoHookean, NeoHookeanLog
from pliant.materials.ogden import Ogden
from pliant.materials.st_venant_kirchhoff import StVenantKirchhoff
from pliant.materials.yeoh import Yeoh

#: Every law by the name that robot files use under the key "law".
LAWS: dict[str, type[Material]] = {
    c.law: c
    for c in (Linear, Corotational, StVenantKirchhoff, NeoHookean, NeoHookeanLog, MooneyRivlin, Yeoh, Ogden)
}


def law_of(name: str) -> type[Material]:
    """The class of a law by name."""
    if not isinstance(name, str) or name not in LAWS:
        raise UnknownNameError("material law", name, LAWS)
    return LAWS[name]


def material_from_dict(data: Mapping[str, Any]) -> Material:
    """Read what `Material.to_dict` wrote, or one of two short forms.

    Every law may be given by `young` and `poisson` instead of its own constants, and a `preset` may stand
    instead of `law`; further keys then override its density, damping, source and Poisson ratio.

    Raises:
        ArgumentError, UnknownNameError: a key is missing, unknown or has an impossible value.
    """
    if not isinstance(data, Mapping):
        raise ArgumentError("material", f"is a {type(data).__name__}", 'a table with the key "law"')
    values = dict(data)
    common = {f.name for f in fields(Material)}
    if "preset" in values:
        from pliant.materials.presets import preset

        name = values.pop("preset")
        poisson = values.pop("poisson", None)
        _reject(values, common, f"preset {name}")
        return preset(name, poisson=poisson).replace(**values)
    if "law" not in values:
        raise ArgumentError("material.law", "is missing", ", ".join(LAWS))
    law = law_of(values.pop("law"))
    own = {f.name for f in fields(law)} - common
    short = {"young", "poisson"}
    if own != short and short <= values.keys():
        _reject(values, common | short, law.law)
        return law.from_young(values.pop("young"), values.pop("poisson"), **values)
    _reject(values, common | own, law.law)
    missing = [f.name for f in fields(law) if f.default is MISSING and f.name not in values]
    if missing:
        raise ArgumentError(
            f"material.{missing[0]}", f"is missing for the law {law.law}", f"keys {', '.join(sorted(own))}"
        )
    return law(**values)


def _reject(values: Mapping[str, Any], valid: set[str], owner: str) -> None:
    unknown = sorted(str(k) for k in values if k not in valid)
    if unknown:
        raise ArgumentError(f"material.{unknown[0]}", f"is no key of {owner}", ", ".join(sorted(valid)))
