"""GeometricModel: a soft body as geometry.

Every element is drawn to two target shapes: its rest shape, turned to where the element is now, and its current
shape with the rest volume. The blend of the two (see `geometric_stiffness`) maps to Young's modulus and Poisson
ratio. Written with deformation gradients the energy does not depend on the mesh:

    E = sum_e V_e w ( R |F - R_e|^2 + (1 - R) |F - F_s|^2 ),     F_s = F - (tr S / 3 - 1) R_e

with F = R_e S. F_s is the nearest shape of mean stretch one; measured so, the energy is that of a co-rotational
body, and `volume="determinant"` keeps the volume itself (as rubber does). It is finite for every deformation,
inverted elements too, and its Hessian is bounded by a constant matrix that is factorised once: `project` uses that
(local/global iterations), `equilibrium` uses the exact Hessian.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from pliant._kernels import geometric as kernels
from pliant._kernels import geometric_local as local_kernels
from pliant._kernels.inversions import any_inverted
from pliant.actuators import Cable, Chamber, DielectricLayer, PressureCurve
from pliant.algebra.factorisation import NotPositiveDefinite, factorise
from pliant.checks import configuration, finite, instance, positive
from pliant.errors import ArgumentError
from pliant.materials.material import Material, Mode
from pliant.models.geometric_dielectric import LayerCapacity, prestretched
from pliant.models.geometric_proxy import Proxy
from pliant.models.geometric_stiffness import LINEAR_LAWS, SecantCurve, shape_parameter
from pliant.models.geometric_stretch import StretchCurve
from pliant.models.geometric_turning import Turner
from pliant.models.partition import Shared, added_up
from pliant.models.prism_shear import AssumedShear
from pliant.models.solid import SolidModel
from pliant.robot import Robot

Array = np.ndarray
#: Largest part of lambda that stays at the quadrature points, in shear moduli (as in `FemModel`, whose share is a bulk
#: modulus: two thirds of the shear modulus are in |F - R|^2 already).
_SHARE = {"tet4": np.inf, "tet10": 2.5 - 2.0 / 3.0, "hex8": 0.0}
_TANGENT = 800.0  # [ns] that one quadrature point of a tetrahedron takes one thread
_ROUNDING = 1e-9  # by which the length of a cable may exceed its rest length: ratios read from a state do
_VOLUMES = {"mean": kernels.MEAN, "determinant": kernels.DETERMINANT, "cube-root": kernels.CUBE_ROOT}


class GeometricModel(SolidModel):
    """Shape energies on the bodies' meshes; the same robots and the same contract as `FemModel`.

    Args:
        robot: the description.
        stiffness: "auto" takes a constant shear modulus for linear laws and a strain-dependent one for rubber;
            "constant" or "hyperelastic" force one of them. "hyperelastic" has a stiffness per principal stretch (see
            `geometric_stretch`), "secant" one per element that depends on the distance from its rest shape, the
            scalar strain of the source (see `geometric_stiffness`).
        volume: how the volume of an element is measured: "mean" (stretch), "determinant" or "cube-root" (the source);
            "auto" takes "mean" for linear laws and "determinant" for rubber.
        calibration: test of the rubber that "secant" reproduces exactly: "planar", "uniaxial" or "equibiaxial".
        poisson: Poisson ratio of the shape blending for all materials; None takes that of each material.
        element: "linear" or "quadratic" tetrahedra.
        mass: "lumped" or "consistent" mass matrix.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        stiffness: str = "auto",
        volume: str = "auto",
        calibration: Mode = "planar",
        poisson: float | None = None,
        element: str = "linear",
        mass: str = "lumped",
    ) -> None:
        if stiffness not in ("auto", "constant", "hyperelastic", "secant"):
            raise ArgumentError("stiffness", f"{stiffness!r}", "'auto', 'constant', 'hyperelastic' or 'secant'")
        if volume not in ("auto", *_VOLUMES):
            raise ArgumentError("volume", f"{volume!r}", ", ".join(("auto", *_VOLUMES)))
        self.stiffness_law = stiffness
        super().__init__(robot, element=element, mass=mass)
        self._grads = [prestretched(self, i) for i in range(len(self.layout.groups))]
        reliefs = iter(s for s in self._springs if isinstance(s, AssumedShear))
        self._reliefs = [next(reliefs) if g.kind == "prism6" else None for g in self.layout.groups]
        for relief, grads in zip(self._reliefs, self._grads):
            if relief is not None:
                relief.measure_from(grads)
        self._shape_materials(poisson, volume, calibration)

    def __repr__(self) -> str:
        return f"GeometricModel({self.robot.name!r}, {self.nodes} nodes, {self.nv} dofs)"

    def _shape_materials(self, poisson: float | None, volume: str, calibration: Mode) -> None:
        curves: list[SecantCurve | StretchCurve] = []
        lame, shapes, volumes, shears = [], [], [], []
        for i, m in enumerate(self.materials):
            nu = m.poisson if poisson is None else finite("poisson", poisson)
            try:
                shapes.append(shape_parameter(nu))
            except ArgumentError as error:
                raise ArgumentError(f"materials[{i}].poisson", f"{nu}", "0 <= nu < 0.5") from error
            kind = self.stiffness_law
            if kind == "auto":
                kind = "constant" if m.law in LINEAR_LAWS else "hyperelastic"
            curves.append(_curve(m, kind, calibration))
            chosen = volume if volume != "auto" else "mean" if kind == "constant" else "determinant"
            principal = isinstance(curves[-1], StretchCurve)
            volumes.append(_VOLUMES[chosen] + (kernels.PRINCIPAL if principal else 0))
            shears.append(m.shear if principal else float(curves[-1](0.0)))
            lame.append(2.0 * m.shear * nu / (1.0 - 2.0 * nu))
        self.curves = tuple(curves)
        self.shape_parameters = np.array(shapes)
        self._lame = np.array(lame)
        self._volume = np.array(volumes, dtype=np.int64)
        self._shear = np.array(shears)
        # Elements with several points keep the mean volume, else rubber locks; see `_kernels.geometric`.
        point = self._volume % kernels.PRINCIPAL != kernels.MEAN
        self._share = {
            kind: np.where(point, np.minimum(self._lame, part * self._shear), self._lame)
            for kind, part in _SHARE.items()
        }
        # Prisms have a constant thickness strain: they bend right with the modulus of plane stress at their points.
        self._share["prism6"] = 2.0 * self._lame * self._shear / (self._lame + 2.0 * self._shear)
        self._width = np.array([c.width for c in curves])
        rows = max(len(c.table) for c in curves)
        self._curves = np.zeros((len(curves), rows, 5))
        for i, c in enumerate(curves):
            # A curve shorter than the longest ends in constant continuations of its last row.
            self._curves[i, : len(c.table)] = c.table
            if c.width and len(c.table) < rows:
                raise ArgumentError("materials", "tables of different length", "curves of one kind")

    # ---- elastic energy --------------------------------------------------------------------------
    def _tables(self) -> list[tuple[Any, ...]]:
        return [
            (g.cells, grads, g.weights, row, self._curves, self._width, self._lame, self._volume, self._share[g.kind])
            for g, grads, row in zip(self.layout.groups, self._grads, self._material)
        ]

    def _element_energies(self, x: Array) -> list[Array]:
        out = []
        for table in self._tables():
            e = np.empty(len(table[0]))
            kernels.energies(x, *table, e)
            out.append(e)
        return out

    def _elastic_energy(self, x: Array, scale: list[Array]) -> float:
        return float(sum(s @ e for s, e in zip(scale, self._element_energies(x))))

    def _region_energy(self, x: Array, regions: list[Array]) -> float:
        return float(sum(e[ids].sum() for e, ids in zip(self._element_energies(x), regions)))

    @cached_property
    def local_tables(self) -> list[tuple[Any, ...] | None]:
        """Per group: what `geometric_local.tet_forces` needs; None for other elements than linear tets."""
        out: list[tuple[Any, ...] | None] = []
        for group, (cells, grads, weights, *rest, _) in zip(self.layout.groups, self._tables()):
            flat = np.ascontiguousarray(grads[:, 0, 1:]), np.ascontiguousarray(weights[:, 0])
            out.append((cells, *flat, *rest) if group.kind == "tet4" else None)
        return out

    def _elastic_force(self, x: Array, scale: list[Array], out: Array) -> float:
        total = 0.0
        for table, general, s in zip(self.local_tables, self._tables(), scale):
            kernel: Any = kernels.forces if table is None else local_kernels.tet_forces
            given = general if table is None else table
            total += added_up(partial(kernel, x, *given, s), len(s), out)
        return total

    def _elastic_tangent(self, x: Array, scale: list[Array], slots: list[Array], data: Array, out: Array) -> float:
        total = 0.0
        work = list(zip(self._tables(), scale, slots, self._reliefs))
        shared = [relief is None or not self._projected for *_, relief in work]
        partition = self._shared.partition(_TANGENT * sum(g.weights.size for g in self.layout.groups))
        energies = np.zeros(partition.parts)

        def add(part: int) -> None:
            for (table, s, place, _), whole, chosen in zip(work, shared, partition.chosen[part]):
                if whole:
                    own = (s, self._projected, chosen, partition.owner, part, place)
                    energies[part] += kernels.tangents(x, *table, *own, data, out)

        self._shared.run(partition, add)
        for (table, s, place, relief), whole in zip(work, shared):
            if whole or relief is None:
                continue
            # Prisms are projected together with what their shear has too much, which is negative.
            K = np.zeros((len(s), 18, 18))
            own = (s, False, np.arange(len(s)), np.zeros(len(x), dtype=np.int64), 0)
            into = np.arange(K.size, dtype=place.dtype).reshape(K.shape)
            total += kernels.tangents(x, *table, *own, into, K.ravel(), out)
            K, held = relief.made_positive(x, K), place >= 0
            np.add.at(data, place[held], K[held])
        return total + float(energies.sum())

    @cached_property
    def _shared(self) -> Shared:
        return Shared(self.layout.rest_nodes, [g.cells for g in self.layout.groups])

    _projected = False

    def projected(self, q: Array, effort: Array) -> tuple[Array, Any]:
        """Force and stiffness as `linearise`, the elastic part of every element made positive semi-definite."""
        self._projected = True
        try:
            return self.linearise(q, effort)
        finally:
            self._projected = False

    # ---- actuators ---------------------------------------------------------------------------------
    def _bind_other(self, actuator: Any) -> tuple[str, Any]:
        if isinstance(actuator, DielectricLayer):
            return "node", LayerCapacity(actuator, self.layout, self._elements_of(actuator.region, actuator.body))
        return super()._bind_other(actuator)

    @cached_property
    def rest_measures(self) -> Array:
        """Rest length of cables [m], volume of chambers [m^3], half capacity of layers [F]; else nan (nu,)."""
        out = []
        for a, (_, bound) in zip(self.robot.actuators, self._bound):
            if isinstance(a, Cable):
                out.append(bound.rest_length)
            elif isinstance(a, Chamber):
                out.append(bound.rest_volume)
            elif isinstance(a, DielectricLayer):
                out.append(bound.rest_value)
            else:
                out.append(np.nan)
        return np.array(out)

    def command(self, ratios: Mapping[str, float]) -> dict[str, float]:
        """Displacements that belong to geometric ratios: cable length s, chamber volume alpha, layer area lambda.

        A ratio that the body cannot reach is no matter of this method: the solve says so.

        Raises:
            ArgumentError: a ratio is impossible (not a positive number, a cable that would be paid out), or the
                actuator is driven by effort.
        """
        out = {}
        for name, given in instance("ratios", ratios, Mapping).items():
            i = self.robot.actuator_index(name)
            a, measure, ratio = self.robot.actuators[i], self.rest_measures[i], positive(f"ratios[{name!r}]", given)
            if np.isnan(measure):
                raise ArgumentError(
                    f"ratios[{name!r}]", f"a {a.kind} has no ratio", "cables, chambers, dielectric layers"
                )
            if a.drive != "displacement":
                raise ArgumentError(f"ratios[{name!r}]", "the actuator is driven by effort", "drive='displacement'")
            if isinstance(a, Cable):
                if ratio > 1.0 + _ROUNDING:
                    raise ArgumentError(f"ratios[{name!r}]", f"{ratio:g} pays out a cable", "0 < s <= 1")
                out[name] = max(1.0 - ratio, 0.0) * measure
            elif isinstance(a, Chamber):
                out[name] = (ratio - 1.0) * measure
            else:
                out[name] = (ratio**2 - 1.0) * measure
        return out

    def command_pressures(self, pressures: Mapping[str, float], *, emptying: bool = False) -> dict[str, float]:
        """Volumes gained [m^3] at which the real chambers have these pressures [Pa], by their measured curves.

        Args:
            pressures: gauge pressure per chamber; each needs a `curve` (see `Chamber`).
            emptying: take the branch of the hysteresis on which the chamber is emptied.
        """
        ratios = {}
        for name, pressure in instance("pressures", pressures, Mapping).items():
            curve = self._curve(name)
            given = finite(f"pressures[{name!r}]", pressure)
            ratios[name] = curve.volume_ratio(given, emptying=emptying)
        return self.command(ratios)

    def measured_pressures(self, state: Any, *, emptying: bool = False) -> dict[str, float]:
        """Pressures [Pa] of the real chambers at a state's volumes, by their measured curves."""
        found = self.ratios(state)
        names = [a.name for a in self.robot.actuators if isinstance(a, Chamber) and a.curve is not None]
        return {name: self._curve(name).pressure(found[name], emptying=emptying) for name in names}

    def _curve(self, name: str) -> PressureCurve:
        chamber = self.robot.actuator(name)
        if not isinstance(chamber, Chamber) or chamber.curve is None:
            raise ArgumentError(f"pressures[{name!r}]", "it has no measured curve", "a Chamber with a curve")
        return chamber.curve

    def ratios(self, state: Any) -> dict[str, float]:
        """The ratios that a state has reached: length, volume or area over its value at rest."""
        delta = self.displacement(configuration(self, state))
        out = {}
        for a, d, measure in zip(self.robot.actuators, delta, self.rest_measures):
            if isinstance(a, Cable):
                out[a.name] = float(1.0 - d / measure)
            elif isinstance(a, Chamber):
                out[a.name] = float(1.0 + d / measure)
            elif isinstance(a, DielectricLayer):
                out[a.name] = float(np.sqrt(1.0 + d / measure))
        return out

    @property
    def rubber(self) -> bool:
        """Whether some material's stiffness depends on its strain."""
        return bool((self._width > 0.0).any())

    @property
    def stride(self) -> float:
        """Largest change of an element's stretch in one step of `flex` [-]."""
        return 0.3 if self.rubber else 0.6

    @cached_property
    def proxy(self) -> Proxy:
        """The constant matrix of the local/global iteration, factorised at first use and never again."""
        return Proxy(self)

    @cached_property
    def rest_factor(self) -> Any:
        """The factorised stiffness at rest without any effort, made once; None where that is not positive definite."""
        try:
            return factorise(self.stiffness(self.rest, np.zeros(self.nu)))
        except NotPositiveDefinite:
            return None

    @cached_property
    def turner(self) -> Turner:
        """Carries out long steps with exact rotations."""
        return Turner(self)

    def advance(self, q: Array, dq: Array) -> Array:
        """The configuration that a tangent step leads to, its rotations carried out exactly (see `Turner`)."""
        return self.turner.turn(q, dq)[0]

    # ---- how the elements are doing ------------------------------------------------------------------
    def deformation_gradients(self, state: Any) -> Array:
        """Deformation gradient of each element, at its first quadrature point (ne, 3, 3)."""
        x = self.positions(getattr(state, "q", state))
        out = [np.empty((len(g.cells), 3, 3)) for g in self.layout.groups]
        for g, grads, F in zip(self.layout.groups, self._grads, out):
            kernels.gradients(x, g.cells, grads, F)
        return np.concatenate(out)

    def strains(self, state: Any) -> Array:
        """Largest principal engineering strain |sigma - 1| of each element (ne,)."""
        return np.abs(np.linalg.svd(self.deformation_gradients(state), compute_uv=False) - 1.0).max(axis=1)

    def inverted(self, q: Array) -> bool:
        """True if some element is inside out, at any of its points."""
        x = self.positions(q)
        return any(any_inverted(x, g.cells, grads) for g, grads in zip(self.layout.groups, self._grads))

    def inversions(self, state: Any) -> int:
        """Number of inverted elements."""
        return int((np.linalg.det(self.deformation_gradients(state)) <= 0.0).sum())


def _curve(material: Material, kind: str, calibration: Mode) -> SecantCurve | StretchCurve:
    if kind == "constant":
        return SecantCurve.constant(material.shear)
    if kind == "secant" or material.law in LINEAR_LAWS:
        return SecantCurve.of(material, mode=calibration)
    return StretchCurve.of(material)
