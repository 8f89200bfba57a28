"""Contact: obstacles, broad and narrow phase, contact rows."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pliant.contact.contacts import Contacts, ContactState
from pliant.contact.obstacles import Obstacle, Pose
from pliant.contact.pairs import BodyContact, ContactPairs, SelfContact
from pliant.contact.primitives import Box, Capsule, Cylinder, Plane, Sphere
from pliant.contact.shapes import Pipe, ShapeObstacle

if TYPE_CHECKING:
    from pliant.contact.detection import Detector, detect
    from pliant.contact.mesh import MeshObstacle

# These need compiled kernels; describing obstacles should not have to wait for numba.
_LATER = {"Detector": "detection", "detect": "detection", "MeshObstacle": "mesh"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"pliant.contact.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "BodyContact", "Box", "Capsule", "ContactPairs", "ContactState", "Contacts", "Cylinder", "Detector",
    "MeshObstacle", "Obstacle", "Pipe", "Plane", "Pose", "SelfContact", "ShapeObstacle", "Sphere", "detect",
]  # fmt: skip
