"""identify_rod: stiffness and input map of a rod in a strain basis, from equilibria of a finer model (FEM).

    Q(state) = K q(state)        Q by virtual work, q the coordinates of the state (`pliant.models.curve`)

"section" fits one stiffness per strain (torsion, two bendings, stretch, two shears) that holds all along the rod;
"matrix" fits a symmetric K between the coordinates: for bodies whose section changes, in a basis of their own modes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import ArgumentError
from pliant.models.basis import Basis
from pliant.models.curve import Curve, as_vector, check_runs, held_out, segmented_table, strain_coordinates
from pliant.models.driven import Driven
from pliant.models.relaxation import fit_damping_time
from pliant.models.rod import RodModel
from pliant.models.solid import SolidModel
from pliant.robot import Robot

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class IdentifiedRod:
    """What was identified.

    Attributes:
        basis: strain basis.
        stiffness: K between the coordinates (nq, nq).
        sections: stiffness per strain [N m^2 (3), N (3)] (6,) of "section", nan where the basis has none; else None.
        inputs: input map G (nq, nu): generalised force per effort, mean over the states.
        coordinates: of every state (k, nq).
        forces: generalised forces of every state (k, nq).
        tip_error: rms distance of the predicted to the true tip on held-out states, over the length [-].
        worst_error: largest of them [-].
        basis_error: rms distance of the tip of the projected states to the true one, over the length: what no
            stiffness can remove [-].
        length: of the body [m].
        robot: the body as one rod of the same mass, with the finer robot's actuators.
        damping: viscosity relative to the stiffness [s]; 0 without an oscillation.
    """

    basis: Basis
    stiffness: Array
    sections: Array | None
    inputs: Array
    coordinates: Array
    forces: Array
    tip_error: float
    worst_error: float
    basis_error: float
    length: float
    robot: Robot
    damping: float = 0.0

    def model(self, *, damping: float | None = None) -> Driven:
        """The identified rod as a model.

        Args:
            damping: viscosity relative to the stiffness [s]; the identified one if None.
        """
        rod = RodModel(self.robot.but(actuators=()), basis=self.basis)
        set_stiffness(rod, self.stiffness, self.damping if damping is None else damping)
        return Driven(rod, self.inputs, self.robot.actuators)


def identify_rod(
    model: SolidModel,
    runs: Any,
    start: ArrayLike,
    end: ArrayLike,
    *,
    basis: Basis,
    form: Literal["section", "matrix"] = "section",
    oscillation: Any = None,
    stations: int = 25,
    hold_out: float = 0.3,
) -> IdentifiedRod:
    """A rod from quasi-static states of a finer model.

    Args:
        model: the finer model (FEM), without gravity.
        runs: a Trajectory or a list of States: equilibria that excite all strains of the basis.
        start, end: axis of the body in the rest pose [m] (3,).
        basis: strain basis of the rod, e.g. of `modes_from`.
        form: "section" or "matrix", see the module.
        oscillation: Trajectory of a free oscillation (equal steps), for the damping.
        stations: frames along the axis.
        hold_out: part of the states kept for the errors.
    """
    states = list(runs)
    check_runs(model, states)
    if form not in ("section", "matrix"):
        raise ArgumentError("form", f"{form!r}", "'section' or 'matrix'")
    if form == "matrix" and basis.kind != "modes":
        # runs never tell all entries between functions that were not made from them
        raise ArgumentError("form", f"'matrix' with a {basis.kind} basis", "'section', or modes of these runs")
    curve = Curve(model, as_vector(start), as_vector(end), stations)
    rod = RodModel(curve.robot, basis=basis)
    frames = [curve.frames(s.q) for s in states]
    q = np.array([strain_coordinates(curve, f, basis) for f in frames])
    maps = np.array([curve.inputs(s, rod, x) for s, x in zip(states, q)])
    effort = np.array([s.effort for s in states])
    forces = np.einsum("ija,ia->ij", maps, effort)
    held = held_out(len(states), hold_out)
    sections = None
    if form == "section":
        sections, K = _sections(basis, curve.length, q[~held], forces[~held])
    else:
        K = _symmetric(basis, q[~held], forces[~held])
    inputs = maps[~held].mean(axis=0)
    judged = np.flatnonzero(held) if held.any() else np.arange(len(states))
    tips = np.array([curve.tip(f) for f in frames])
    shown = np.array([rod.locate(x, "tip").position for x in q])
    solved = np.linalg.solve(K, (effort[judged] @ inputs.T).T).T
    error = np.linalg.norm(np.array([rod.locate(x, "tip").position for x in solved]) - tips[judged], axis=1)
    found = IdentifiedRod(
        basis, K, sections, inputs, q, forces, _rms(error) / curve.length, float(error.max()) / curve.length,
        _rms(np.linalg.norm(shown - tips, axis=1)) / curve.length, curve.length,
        curve.robot.but(actuators=model.robot.actuators),
    )  # fmt: skip
    if oscillation is None:
        return found
    motion = np.array([strain_coordinates(curve, curve.frames(x), basis) for x in oscillation.q])
    beta = fit_damping_time(found.model(), K, oscillation.time, motion, oscillation.effort)
    return replace(found, damping=beta)


def set_stiffness(rod: RodModel, K: Array, damping: float) -> None:
    """Give a rod of one body another stiffness matrix, and Kelvin-Voigt damping with that time [s]."""
    size = rod.tables.K.shape[1]
    rows = np.zeros_like(rod.tables.K)
    for i in range(0, rod.nv, size):
        block = K[i : i + size, i : i + size]
        rows[i : i + len(block), : len(block)] = block
    rod.elasticity, rod.viscosity = K.copy(), damping * K
    rod.tables = rod.tables._replace(K=rows, D=damping * rows)


def section_matrices(basis: Basis, length: float) -> Array:
    """K_c = int Phi_c^T Phi_c ds of every strain c (6, nq, nq)."""
    x, w = np.polynomial.legendre.leggauss(24)
    n = basis.segments
    s = ((np.arange(n)[:, None] + 0.5 * (x + 1)) / n).ravel()
    table = segmented_table(basis, s)
    return np.einsum("g,gic,gjc->cij", np.tile(0.5 * w * length / n, n), table, table)


def _sections(basis: Basis, length: float, q: Array, force: Array) -> tuple[Array, Array]:
    from scipy.optimize import nnls

    parts = section_matrices(basis, length)
    present = [c for c in range(6) if np.any(parts[c])]
    columns = np.stack([(q @ parts[c]).ravel() for c in present], axis=1)
    # forces on curvatures and on stretches have other units: weigh each by the largest force on its strain
    kinds = np.tile(basis.components, basis.segments)
    largest = np.array([np.abs(force[:, kinds == k]).max() for k in kinds])
    weight = np.tile(1.0 / np.maximum(largest, 1e-12 * np.abs(force).max()), len(q))
    scale = np.maximum(np.linalg.norm(weight[:, None] * columns, axis=0), 1e-300)
    found = nnls(weight[:, None] * columns / scale, weight * force.ravel())[0] / scale
    if np.any(found <= 0):
        from pliant.models.basis import STRAINS

        names = [STRAINS[c] for c, x in zip(present, found) if x <= 0]
        raise ArgumentError("runs", f"do not excite {', '.join(names)}", "more runs, or a basis without these strains")
    sections = np.full(6, np.nan)
    sections[present] = found
    return sections, np.einsum("c,cij->ij", found, parts[present])


def _symmetric(basis: Basis, q: Array, force: Array) -> Array:
    """The positive definite K = L L^T nearest to Q = K q in the least-squares sense.

    Coordinates are made comparable by strain, not one by one: those that hardly move then count little, and stay near
    the isotropic start, which is stiff for them.
    """
    from scipy.optimize import least_squares

    n = q.shape[1]
    kinds = np.tile(basis.components, basis.segments)
    unit = np.array([max(float(np.abs(q[:, kinds == k]).max()), 1e-300) for k in kinds])
    x, y = q / unit, force * unit
    size = float(np.linalg.norm(y) / max(float(np.linalg.norm(x)), 1e-300))
    lower = np.tril_indices(n)

    def matrix(p: Array) -> Array:
        L = np.zeros((n, n))
        L[lower] = p
        return L @ L.T

    found = least_squares(lambda p: (x @ matrix(p) - y / size).ravel(), np.eye(n)[lower])
    return size * matrix(found.x) / np.outer(unit, unit)


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2)))
