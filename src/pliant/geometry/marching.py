"""Watertight triangle surfaces of shapes, for printing and viewing."""

from __future__ import annotations

import numpy as np

from pliant.geometry.meshing import mesh_shape
from pliant.geometry.shapes import Shape


def shape_surface(shape: Shape, size: float, *, features: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """The closed surface of a shape as triangles.

    The boundary of the tet lattice that fills the shape, so it is watertight, manifold and well shaped.

    Args:
        shape: the body, with finite bounds.
        size: wanted edge length [m].
        features: let vertices slide to sharp edges and corners.

    Returns:
        (vertices (n, 3) [m], triangles (k, 3) oriented outward).

    Raises:
        MeshError: the size cannot resolve the shape; the message names one that can.
    """
    mesh = mesh_shape(shape, size, optimise=False, features=features)
    used, inverse = np.unique(mesh.boundary(), return_inverse=True)
    return mesh.nodes[used], inverse.reshape(-1, 3).astype(np.int64)
