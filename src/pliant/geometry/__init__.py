"""Tet meshes, labelled regions, cavities, signed-distance shapes, meshing, file formats."""

from pliant.geometry.mesh import TetMesh
from pliant.geometry.primitives import (
    Bellow,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Gyroid,
    HalfSpace,
    Helix,
    Sphere,
    Torus,
)
from pliant.geometry.profiles import Circle, Polygon, Profile, Rectangle
from pliant.geometry.quality import MeshQuality
from pliant.geometry.shapes import Shape

__all__ = [
    "Bellow",
    "Box",
    "Capsule",
    "Circle",
    "Cone",
    "Cylinder",
    "Ellipsoid",
    "Gyroid",
    "HalfSpace",
    "Helix",
    "MeshQuality",
    "Polygon",
    "Profile",
    "Rectangle",
    "Shape",
    "Sphere",
    "TetMesh",
    "Torus",
]
