"""SolidModel: everything that models of solid bodies share, whatever their elastic energy.

The node positions x follow from q (see `Layout`); the energy is a function of x. A subclass gives the elastic
energy through three methods; actuators, gravity, rigid parts, points, surface and masses are here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant import checks
from pliant._kernels.material_codes import LINEAR
from pliant._kernels.skin import skin_entries
from pliant._kernels.viscous import viscous_stiffness
from pliant.actuators import Cable, Chamber
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.algebra.trusted import trusted_csr
from pliant.errors import ArgumentError, UnknownNameError
from pliant.lie import matrix_from_quaternion
from pliant.models.binding import bind, elements_of
from pliant.models.layout import Layout
from pliant.models.placing import Points
from pliant.models.prism_shear import shear_reliefs
from pliant.models.sizes import LaidOut
from pliant.models.solid_masses import SolidMasses
from pliant.models.sparsity import Sparsity
from pliant.robot import Robot
from pliant.state import Placement, Skin

Array = np.ndarray


class SolidModel(LaidOut):
    """Mechanics of solid bodies; see `pliant.models.contract.Model` for the meaning of the methods.

    Args:
        robot: the description.
        element: "linear" or "quadratic" tetrahedra.
        mass: "lumped" or "consistent" mass matrix.
    """

    def __init__(self, robot: Robot, *, element: str = "linear", mass: str = "lumped") -> None:
        if element not in ("linear", "quadratic"):
            raise ArgumentError("element", f"{element!r}", "'linear' or 'quadratic'")
        if mass not in ("lumped", "consistent"):
            raise ArgumentError("mass", f"{mass!r}", "'lumped' or 'consistent'")
        self.robot = robot
        self.element = element
        self.layout = Layout(robot, element)
        self._bind()
        self._embeddings = {
            p.name: (self.layout.embed_point(p), matrix_from_quaternion(p.rotation)) for p in robot.points
        }
        self._placed: dict[tuple[str, ...], Points] = {}
        self._tabulate_materials()
        self.sparsity = Sparsity(self.layout, [*self._couplings, *self._springs], self._element_cells())
        self._masses = SolidMasses(
            self.layout, self.materials, self._material, self.sparsity, consistent=mass == "consistent"
        )
        self._gravity_load = self._masses.loads[:, None] * np.array(robot.gravity)
        self.mass_total = self._masses.total

    # ---- what a subclass gives ----------------------------------------------------------------------
    def _elastic_energy(self, x: Array, scale: list[Array]) -> float:
        raise NotImplementedError

    def _elastic_force(self, x: Array, scale: list[Array], out: Array) -> float:
        """out -= d energy / d x; returns the energy."""
        raise NotImplementedError

    def _elastic_tangent(self, x: Array, scale: list[Array], slots: list[Array], data: Array, out: Array) -> float:
        """Tangent into data at the slots of each group, and the force as above."""
        raise NotImplementedError

    def _damped_tangent(
        self, x: Array, scale: list[Array], slots: list[Array], data: Array, out: Array, moduli: Array
    ) -> None:
        """The same with a viscous stiffness, moduli lambda and mu [Pa] per material (nm, 2), added to the tangent."""
        self._elastic_tangent(x, scale, slots, data, out)
        for g, m, s, place in zip(self.layout.groups, self._material, scale, slots):
            self._add_viscous(x, g, s, moduli[m], place, data)

    def _region_energy(self, x: Array, regions: list[Array]) -> float:
        """Unscaled elastic energy of some elements, given as one index array per group [J]."""
        raise NotImplementedError

    def _region_energies(self, x: Array, regions: list[list[Array]]) -> list[float]:
        """`_region_energy` of several regions; a subclass may share work between them."""
        return [self._region_energy(x, r) for r in regions]

    def _region_force(self, x: Array, region: list[Array], out: Array) -> None:
        """out -= d (unscaled energy of some elements) / d x."""
        chosen = [np.zeros(len(m)) for m in self._material]
        for s, ids in zip(chosen, region):
            s[ids] = 1.0
        self._elastic_force(x, chosen, out)

    def _element_cells(self) -> list[Array]:
        return [g.cells for g in self.layout.groups]

    # ---- binding -------------------------------------------------------------------------------------
    def _bind(self) -> None:
        binding = bind(self.layout, self._bind_other)
        self._bound, self._gauges = binding.actuators, binding.gauges
        self._springs = (*binding.springs, *shear_reliefs(self.layout))
        self._couplings = binding.couplings

    def _bind_other(self, actuator: Any) -> tuple[str, Any]:
        raise ArgumentError(
            actuator.name,
            f"{type(self).__name__} has no {actuator.kind!r} actuators",
            "Cable, Chamber, PointForce, PatchForce, Stiffness, Slide",
        )

    def _elements_of(self, region: str, body: str) -> list[Array]:
        return elements_of(self.layout, region, body)

    def _tabulate_materials(self) -> None:
        """Material of every element, per group, and what the kernels ask of the materials."""
        materials: list[Any] = []
        self._material: list[Array] = []
        for owner, group in self.layout.group_regions:
            index = np.full(len(group.cells), len(materials))
            materials.append(owner.material)
            for region, material in owner.materials.items():
                index[np.isin(group.ids, owner.mesh.regions[region])] = len(materials)
                materials.append(material)
            self._material.append(index.astype(np.int64))
        self.materials = tuple(materials)
        self._codes = np.array([m.code for m in materials], dtype=np.int64)
        self._params = np.array([m.parameters for m in materials])

    @property
    def nodes(self) -> int:
        """Number of nodes, held ones included."""
        return len(self.layout.rest_nodes)

    def positions(self, q: Array) -> Array:
        """Positions of all nodes [m] (N, 3)."""
        return self.layout.positions(q)

    def retract(self, q: Array, dq: Array) -> Array:
        """The configuration reached from q by the tangent increment dq."""
        return self.layout.retract(q, dq)

    def inverted(self, q: Array) -> bool:
        """True if some element is turned inside out; small-strain elements do not count."""
        x = self.positions(q)
        for group, index in zip(self.layout.groups, self._material):
            F = np.einsum("eai,egaj->egij", x[group.cells], group.grads)
            J = np.einsum("egi,egi->eg", F[..., 0], np.cross(F[..., 1], F[..., 2]))
            if (J[self._codes[index] != LINEAR] <= 0.0).any():
                return True
        return False

    # ---- contract: mechanics ----------------------------------------------------------------------------
    def _scale(self, effort: Array) -> list[Array]:
        scale = [np.ones(len(m)) for m in self._material]
        for (kind, bound), e in zip(self._bound, effort):
            if kind == "stiffness":
                for s, chosen in zip(scale, bound):
                    s[chosen] += e
        return scale

    def energy(self, q: Array, effort: Array) -> float:
        """Potential energy [J], actuators included as -effort * displacement."""
        x = self.positions(q)
        total = self._elastic_energy(x, self._scale(effort)) - float((self._gravity_load * x).sum())
        total += sum(s.value(x) for s in self._springs)
        for (kind, bound), e in zip(self._bound, effort):
            if e and kind != "stiffness":
                total -= e * self._coordinate(kind, bound, q, x)
        return total

    def _coordinate(self, kind: str, bound: Any, q: Array, x: Array) -> float:
        if kind == "node":
            return bound.value(x)
        if kind == "part":
            part, row = bound
            return float(row @ q[part.q_start : part.q_start + part.translations])
        return -self._region_energy(x, bound)

    def force(self, q: Array, effort: Array) -> Array:
        """Residual generalised force, zero at equilibrium (nv,)."""
        x = self.positions(q)
        g = self._gravity_load.copy()
        self._elastic_force(x, self._scale(effort), g)
        self._add_loads(x, effort, g)
        out = self.layout.reduce(q, x, g)
        self._add_parts(effort, out)
        return out

    def _add_loads(self, x: Array, effort: Array, g: Array) -> None:
        for s in self._springs:
            s.add_gradient(x, -1.0, g)
        for (kind, bound), e in zip(self._bound, effort):
            if kind == "node" and e:
                _add_pull(bound, x, float(e), g)

    def _add_parts(self, effort: Array, out: Array) -> None:
        for (kind, bound), e in zip(self._bound, effort):
            if kind == "part":
                part, row = bound
                out[part.v_start : part.v_start + part.translations] += e * row

    def linearise(self, q: Array, effort: Array) -> tuple[Array, SymmetricMatrix]:
        """Force and stiffness in one pass."""
        return self._linearised(q, effort, None)

    def linearise_damped(self, q: Array, effort: Array, rate: float) -> tuple[Array, SymmetricMatrix]:
        """Force, and stiffness plus `rate` [1/s] times the damping, in one pass."""
        force, matrix = self._linearised(q, effort, rate * self._viscous_moduli)
        drag = self._masses.drag(q)
        return force, matrix if drag is None else matrix.combined((drag, rate))

    def _linearised(self, q: Array, effort: Array, moduli: Array | None) -> tuple[Array, SymmetricMatrix]:
        x = self.positions(q)
        g = self._gravity_load.copy()
        scale = self._scale(effort)
        weights = [0.0] * len(self._couplings)
        node = 0
        for (kind, _), e in zip(self._bound, effort):
            if kind == "node":
                weights[node] = -float(e)
                node += 1
        assembly = self.sparsity.start()
        if moduli is None or not moduli.any():
            self._elastic_tangent(x, scale, assembly.slots, assembly.data, g)
        else:
            self._damped_tangent(x, scale, assembly.slots, assembly.data, g, moduli)
        self._add_loads(x, effort, g)
        matrix = assembly.finish(q, x, g, [*weights, *([1.0] * len(self._springs))])
        out = self.layout.reduce(q, x, g)
        self._add_parts(effort, out)
        return out, matrix

    def stiffness(self, q: Array, effort: Array) -> SymmetricMatrix:
        """-d force / d q, symmetric sparse (nv, nv)."""
        return self.linearise(q, effort)[1]

    @cached_property
    def conservative(self) -> bool:
        """Whether `displacement_rows` is always the transpose of `actuation` (no friction in the cables)."""
        return all(kind != "node" or getattr(bound, "friction", 0.0) == 0.0 for kind, bound in self._bound)

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu)."""
        return self._columns(q, pull=True)

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates [m, m^3, ...] (nu,)."""
        x = self.positions(q)
        regions = [bound for kind, bound in self._bound if kind == "stiffness"]
        energies = iter(self._region_energies(x, regions) if regions else ())
        return np.array(
            [-next(energies) if kind == "stiffness" else self._coordinate(kind, b, q, x) for kind, b in self._bound]
        )

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""
        return self._columns(q, pull=False).T

    def _columns(self, q: Array, pull: bool) -> Array:
        x = self.positions(q)
        out = np.zeros((self.nv, self.nu))
        g = np.zeros_like(x)
        for i, (kind, bound) in enumerate(self._bound):
            if kind == "part":
                part, row = bound
                out[part.v_start : part.v_start + part.translations, i] = row
                continue
            if kind == "node":
                (_add_pull if pull else _add_gradient)(bound, x, 1.0, g)
            else:
                self._region_force(x, bound, g)
            out[:, i] = self.layout.reduce(q, x, g)
            g[:] = 0.0
        return out

    # ---- contract: points --------------------------------------------------------------------------------
    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions, orientations and (on request) Jacobians of named points; q may be a State."""
        q = checks.configuration(self, q)
        single = isinstance(points, str)
        names = checks.name_list("points", points)
        if names not in self._placed:
            for name in names:
                if name not in self._embeddings:
                    raise UnknownNameError("point", name, self._embeddings)
            self._placed[names] = Points(self.layout, [self._embeddings[n] for n in names])
        found = self._placed[names].place(q, jacobian)
        if single:
            found = tuple(None if f is None else f[0] for f in found)
        return Placement(names, *found)

    def read(self, state: Any) -> dict[str, float]:
        """Readings of all sensors: strain gauges, and length, volume and effort of the actuators."""
        x = self.positions(state.q)
        out = {name: -g.value(x) / g.rest_length for name, g in self._gauges.items()}
        for actuator, (kind, bound), e in zip(self.robot.actuators, self._bound, state.effort):
            if isinstance(actuator, Cable):
                out[f"{actuator.name}.length"] = bound.length(x)
                out[f"{actuator.name}.tension"] = float(e)
            elif isinstance(actuator, Chamber):
                out[f"{actuator.name}.volume"] = bound.volume(x)
                out[f"{actuator.name}.pressure"] = float(e)
            else:
                out[f"{actuator.name}.displacement"] = self._coordinate(kind, bound, state.q, x)
                out[f"{actuator.name}.effort"] = float(e)
        return out

    def gauge(self, q: Array, name: str) -> tuple[float, Array]:
        """Strain read by a gauge [-] and its derivative (nv,)."""
        if name not in self._gauges:
            raise UnknownNameError("strain gauge", name, self._gauges)
        path, x = self._gauges[name], self.positions(q)
        g = np.zeros_like(x)
        path.add_gradient(x, -1.0 / path.rest_length, g)
        return -path.value(x) / path.rest_length, self.layout.reduce(q, x, g)

    def centre_of_mass(self, q: Array) -> tuple[Array, Array]:
        """Centre of mass [m] (3,) and its derivative (3, nv)."""
        return self._masses.centre(q)

    # ---- contract: surface ----------------------------------------------------------------------------
    @cached_property
    def skin(self) -> Skin:
        """Topology of the surface."""
        nodes = self.layout.skin_nodes
        empty = np.zeros((0, 2), dtype=np.int64)
        return Skin(self.layout.skin_triangles, empty, np.zeros(len(nodes)), self.layout.body_of[nodes])

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""
        return self.positions(q)[self.layout.skin_nodes]

    def skin_rows(self, q: Array, vertices: Array, weights: Array, directions: Array) -> sp.csr_matrix:
        """Derivative of sum_k w[i,k] d[i] . x[vertices[i,k]] w.r.t. q (m, nv)."""
        T = self.layout.tangent_map(q, self.positions(q) if self._masses.rotating else self.layout.rest_nodes)
        nodes = self.layout.skin_nodes
        data, columns, starts = skin_entries(nodes, vertices, weights, directions, T.indptr, T.indices, T.data)
        return trusted_csr(data, columns, starts, (len(vertices), self.nv))

    def cable_paths(self, q: Array) -> dict[str, Array]:
        """Polylines of the cables [m], for drawing."""
        x = self.positions(q)
        return {a.name: b.path(x) for a, (_, b) in zip(self.robot.actuators, self._bound) if isinstance(a, Cable)}

    def cavity_surfaces(self, q: Array) -> dict[str, tuple[Array, Array]]:
        """Vertices and triangles of the chambers, for drawing."""
        x = self.positions(q)
        out = {}
        for a, (_, b) in zip(self.robot.actuators, self._bound):
            if isinstance(a, Chamber):
                used, inverse = np.unique(b.triangles[:, :3], return_inverse=True)
                out[a.name] = (x[used], inverse.reshape(-1, 3))
        return out

    # ---- contract: dynamics -------------------------------------------------------------------------------
    def inertia(self, q: Array) -> SymmetricMatrix:
        """Mass matrix (nv, nv); constant unless rigid parts rotate."""
        return self._masses.matrix(q)

    def bias(self, q: Array, v: Array) -> Array:
        """Gyroscopic force of the rotating rigid parts (nv,); zero for soft nodes."""
        return self._masses.bias(q, v)

    def damping(self, q: Array, effort: Array) -> SymmetricMatrix:
        """Rayleigh damping: alpha M + beta K, K that of small strains on rates of Green's strain (nv, nv)."""
        drag = self._masses.drag(q)
        if not self._viscous_moduli.any():
            return self.sparsity.zero() if drag is None else drag
        x = self.positions(q)
        assembly = self.sparsity.start()
        for g, index, factor, slots in zip(self.layout.groups, self._material, self._scale(effort), assembly.slots):
            self._add_viscous(x, g, factor, self._viscous_moduli[index], slots, assembly.data)
        viscous = assembly.finish(q, x, None, None)
        if drag is not None:
            np.add(viscous.data, drag.data, out=viscous.data)  # freshly assembled: no one else has it
        return viscous

    @cached_property
    def _viscous_moduli(self) -> Array:
        """lambda and mu times the Rayleigh coefficient of the stiffness [Pa s], per material (nm, 2)."""
        both = [(m.bulk - 2.0 / 3.0 * m.shear, m.shear) for m in self.materials]
        return np.array([m.rayleigh_stiffness for m in self.materials])[:, None] * np.array(both)

    @staticmethod
    def _add_viscous(x: Array, g: Any, scale: Array, moduli: Array, slots: Array, data: Array) -> None:
        """Add the viscous stiffness of a group of elements with moduli (ne, 2)."""
        viscous_stiffness(x, g.cells, g.grads, g.weights, scale * moduli[:, 0], scale * moduli[:, 1], slots, data)


def _add_gradient(coupling: Any, x: Array, factor: float, out: Array) -> None:
    coupling.add_gradient(x, factor, out)


def _add_pull(coupling: Any, x: Array, factor: float, out: Array) -> None:
    """out += force on the nodes per unit effort; differs from the gradient only with friction."""
    getattr(coupling, "add_pull", coupling.add_gradient)(x, factor, out)
