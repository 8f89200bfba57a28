"""Fields to look at: strain and stress of solid elements, averaged to the surface."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import UnknownNameError

Array = np.ndarray
FIELDS = ("displacement", "strain", "stress")


def surface_field(model: Any, q: Array, effort: Array, name: str) -> Array:
    """Values per skin vertex (n,).

    "displacement": distance moved from the rest pose [m]; "strain": largest principal engineering strain [-];
    "stress": von Mises stress of the Cauchy stress [Pa]. Element values are averaged to the nodes by volume.
    """
    if name not in FIELDS:
        raise UnknownNameError("field", name, FIELDS)
    layout = model.layout
    x = layout.positions(q)
    if name == "displacement":
        return np.linalg.norm(x - layout.rest_nodes, axis=1)[layout.skin_nodes]
    total, weight = np.zeros(len(x)), np.zeros(len(x))
    for group, index, scale in zip(layout.groups, model._material, model._scale(effort)):
        F = np.einsum("eai,egaj->egij", x[group.cells], group.grads).mean(axis=1)
        if name == "strain":
            value = np.linalg.svd(F, compute_uv=False)[:, 0] - 1.0
        else:
            value = np.empty(len(F))
            for m in np.unique(index):
                chosen = index == m
                value[chosen] = scale[chosen] * _von_mises(model.materials[m], F[chosen])
        volumes = np.repeat(group.volumes, group.cells.shape[1])
        np.add.at(total, group.cells.ravel(), np.repeat(value, group.cells.shape[1]) * volumes)
        np.add.at(weight, group.cells.ravel(), volumes)
    return (total / np.maximum(weight, 1e-300))[layout.skin_nodes]


def _von_mises(material: Any, F: Array) -> Array:
    P = material.stress(F)
    J = np.linalg.det(F)
    sigma = np.einsum("eij,ekj->eik", P, F) / np.where(np.abs(J) > 1e-12, J, 1.0)[:, None, None]
    deviator = sigma - np.trace(sigma, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3.0
    return np.sqrt(1.5 * (deviator**2).sum(axis=(1, 2)))
