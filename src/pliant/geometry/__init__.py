"""Tet meshes, labelled regions, cavities, signed-distance shapes, meshing, file formats."""

from pliant.geometry.files import read_mesh, read_surface, write_mesh, write_surface
from pliant.geometry.marching import shape_surface
from pliant.geometry.mesh import TetMesh
from pliant.geometry.meshing import MeshFit, mesh_fit, mesh_shape, mesh_surface
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
from pliant.geometry.structured import (
    cylinder_mesh,
    cylinder_shell_mesh,
    extruded_mesh,
    sphere_shell_mesh,
    tube_mesh,
)
from pliant.geometry.surface import SurfaceShape

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
    "MeshFit",
    "MeshQuality",
    "Polygon",
    "Profile",
    "Rectangle",
    "Shape",
    "Sphere",
    "SurfaceShape",
    "TetMesh",
    "Torus",
    "cylinder_mesh",
    "cylinder_shell_mesh",
    "extruded_mesh",
    "mesh_fit",
    "mesh_shape",
    "mesh_surface",
    "read_mesh",
    "read_surface",
    "shape_surface",
    "sphere_shell_mesh",
    "tube_mesh",
    "write_mesh",
    "write_surface",
]
