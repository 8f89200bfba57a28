"""Inverse problem with sliding contacts: Coulomb friction with a polyhedral cone, pieces over slip states.

The cone |t| <= mu n is replaced by the pyramid n conv{mu d_k} over K directions d_k. A contact (n, t, s) is

    open             no force, gap >= 0
    stick            no motion, force inside the pyramid
    vertex k         gap = 0, force n (1, mu d_k), slip in the sector opposite to d_k
    edge k           gap = 0, force between the rays k and k + 1, slip exactly opposite to that face

so that neighbouring states share a boundary and the forward problem is the usual linear complementarity
problem of polyhedral friction. For given states the forces are affine in the efforts (not symmetrically so),
each piece is a QP, and the same guarded pivoting as without friction walks over the pieces. For few contacts.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant._kernels import complementarity as kernel
from pliant.errors import ArgumentError
from pliant.inverse.qp import QP, QPSolution, solve_qp
from pliant.inverse.qpcc_problem import QPCC, Array, Piece, QPCCSolution, QPCCStatus

OPEN, STICK = 0, 1


@dataclass(frozen=True)
class Cone:
    """Pyramid of one contact with K directions; states: 0 open, 1 stick, 2..K+1 vertices, K+2..2K+1 edges."""

    mu: float
    count: int

    def ray(self, k: int) -> Array:
        """Force per unit of normal force on ray k."""
        angle = 2.0 * np.pi * (k % self.count) / self.count
        return np.array([1.0, self.mu * np.cos(angle), self.mu * np.sin(angle)])

    def direction(self, k: float) -> Array:
        """(0, d): unit tangent; k + 1/2 is the outward normal of the face between k and k + 1."""
        angle = 2.0 * np.pi * k / self.count
        return np.array([0.0, np.cos(angle), np.sin(angle)])

    @property
    def states(self) -> range:
        """All states."""
        return range(2 + 2 * self.count)

    def describe(self, state: int) -> tuple[Array, Array, list[tuple[Array, Array, list[int]]]]:
        """(basis (3, r), equalities (r, 3), conditions) of a state.

        A condition (f, g, neighbours) means f . force + g . motion >= 0; where it becomes tight, the contact
        may pass to one of the neighbours.
        """
        K, zero, n = self.count, np.zeros(3), np.array([1.0, 0.0, 0.0])
        if state == OPEN:
            closed = [STICK, *range(2, 2 + K)]
            return np.zeros((3, 0)), np.zeros((0, 3)), [(zero, n, closed)]
        if state == STICK:
            faces = [
                (self.mu * np.cos(np.pi / K) * n - self.direction(k + 0.5), zero, [2 + K + k])
                for k in range(K)
            ]
            return np.eye(3), np.eye(3), [(n, zero, [OPEN]), *faces]
        if state < 2 + K:
            k = state - 2
            sector = [
                (zero, self.direction(k + s) - self.direction(k), [2 + K + (k + min(s, 0)) % K])
                for s in (1, -1)
            ]
            return self.ray(k)[:, None], n[None], [(n, zero, [OPEN]), *sector]
        k = state - 2 - K
        basis = np.column_stack([self.ray(k), self.ray(k + 1)])
        face = self.direction(k) - self.direction(k + 1)
        # the amounts on the two rays, as linear functions of the force
        amounts = np.linalg.pinv(basis)
        outward = (zero, -self.direction(k + 0.5), [STICK])
        conditions = [(amounts[0], zero, [2 + (k + 1) % K]), (amounts[1], zero, [2 + k]), outward]
        return basis, np.array([n, face]), conditions


@dataclass(frozen=True)
class SlidingPiece:
    """One piece: its QP in the efforts and what is needed to come back."""

    qp: QP
    map: Array  # (mc, na + 1) forces = map [a; 1]
    neighbours: list[tuple[int, list[int]]]  # per condition row: contact, states to pass to
    first: int  # index of the first condition among the rows of the QP


def cones(problem: QPCC, directions: int) -> list[Cone]:
    """One pyramid per contact."""
    if problem.rows_per_contact != 3 or problem.friction is None:
        raise ArgumentError(
            "problem", "has no tangents or no friction", "rows_per_contact=3 and friction given"
        )
    if directions < 3:
        raise ArgumentError("directions", f"is {directions}", "at least 3")
    mu = np.asarray(problem.friction)
    if not (np.isfinite(mu) & (mu > 0.0)).all():
        raise ArgumentError("friction", "is zero or infinite", "0 < mu < inf for sliding contacts")
    return [Cone(float(m), directions) for m in mu]


def sliding_piece(problem: QPCC, pyramids: list[Cone], states: tuple[int, ...]) -> SlidingPiece | None:
    """The piece of given states; None where the states contradict each other (singular)."""
    na, mc = problem.da.size, problem.dc.size
    parts = [cone.describe(s) for cone, s in zip(pyramids, states)]
    size = sum(p[0].shape[1] for p in parts)
    basis, equal = np.zeros((mc, size)), np.zeros((size, mc))
    forces, motions, neighbours = [], [], []
    at = 0
    for i, (B, E, conditions) in enumerate(parts):
        basis[3 * i : 3 * i + 3, at : at + B.shape[1]] = B
        equal[at : at + B.shape[1], 3 * i : 3 * i + 3] = E
        at += B.shape[1]
        for f, g, targets in conditions:
            row = np.zeros((2, mc))
            row[0, 3 * i : 3 * i + 3], row[1, 3 * i : 3 * i + 3] = f, g
            forces.append(row[0])
            motions.append(row[1])
            neighbours.append((i, targets))
    free = np.column_stack([problem.Wca, problem.dc])
    affine = np.zeros((mc, na + 1))
    if size:
        block = equal @ problem.Wcc @ basis
        if np.linalg.cond(block) > 1e12:
            return None
        affine = -basis @ np.linalg.solve(block, equal @ free)
    motion = problem.Wcc @ affine + free
    F = np.array(forces) @ affine + np.array(motions) @ motion
    error = problem.Wec @ affine + np.column_stack([problem.Wea, problem.de])
    stroke = problem.Wac @ affine + np.column_stack([problem.Waa, problem.da])
    assert problem.C is not None
    extra = problem.C[:, na:] @ affine
    extra[:, :na] += problem.C[:, :na]
    energy, proximal = problem.weight(problem.energy), problem.weight(problem.proximal)
    metric = 0.5 * (problem.Waa + problem.Waa.T)
    J, e = error[:, :na], error[:, na]
    pull = proximal * metric @ np.asarray(problem.reference)
    G = np.vstack([stroke, extra, F])
    low, high = np.asarray(problem.displacement_min), np.asarray(problem.displacement_max)
    open_end = np.full(extra.shape[0] + F.shape[0], np.inf)
    qp = QP(
        J.T @ J + (2.0 * energy + proximal) * metric, J.T @ e - pull, G=G[:, :na],
        lower=np.concatenate([low, problem.d, np.zeros(F.shape[0])]) - G[:, na],
        upper=np.concatenate([high, open_end]) - G[:, na],
        lo=np.asarray(problem.effort_min), hi=np.asarray(problem.effort_max),
    )  # fmt: skip
    return SlidingPiece(qp, affine, neighbours, stroke.shape[0] + extra.shape[0])


def cost(problem: QPCC, effort: Array, forces: Array) -> float:
    """Objective of the sliding problem: its energy term is a' Waa a, since the work is not convex here."""
    e = problem.Wea @ effort + problem.Wec @ forces + problem.de
    r = effort - np.asarray(problem.reference)
    work = problem.weight(problem.energy) * effort @ problem.Waa @ effort
    return float(0.5 * e @ e + work + 0.5 * problem.weight(problem.proximal) * r @ problem.Waa @ r)


def forward_states(problem: QPCC, pyramids: list[Cone], effort: Array) -> tuple[int, ...]:
    """States at fixed efforts from the linear complementarity problem of the pyramids (Lemke)."""
    nc, K = problem.contacts, pyramids[0].count
    q = problem.Wca @ effort + problem.dc
    D = np.zeros((3 * nc, nc * (1 + K)))  # columns: normals, then rays of each contact
    grip = np.zeros((nc, nc * K))
    for i, cone in enumerate(pyramids):
        D[3 * i, i] = 1.0
        grip[i, i * K : (i + 1) * K] = 1.0
        for k in range(K):
            D[3 * i : 3 * i + 3, nc + i * K + k] = cone.direction(k)
    size = nc * (2 + K)
    M, r = np.zeros((size, size)), np.zeros(size)
    M[: nc * (1 + K), : nc * (1 + K)] = D.T @ problem.Wcc @ D
    M[nc : nc * (1 + K), nc * (1 + K) :] = grip.T
    M[nc * (1 + K) :, nc : nc * (1 + K)] = -grip
    M[nc * (1 + K) :, :nc] = np.diag([cone.mu for cone in pyramids])
    r[: nc * (1 + K)] = D.T @ q
    scale = np.abs(r).max(initial=1e-300)
    # a tiny distinct perturbation removes the ties of the degenerate rows
    r += 1e-11 * scale * np.random.default_rng(0).random(size)
    z = np.zeros(size)
    kernel.lemke(M, r, z, 100 * size)
    force = D @ z[: nc * (1 + K)]
    motion = problem.Wcc @ force + q
    size_force = max(float(np.abs(force).max(initial=0.0)), 1e-300)
    size_motion = max(float(np.abs(q).max(initial=0.0)), 1e-300)
    states = []
    for i in range(nc):
        amounts = z[nc + i * K : nc + (i + 1) * K]
        if force[3 * i] <= 1e-7 * size_force:
            states.append(OPEN)
        elif np.hypot(*motion[3 * i + 1 : 3 * i + 3]) <= 1e-7 * size_motion:
            states.append(STICK)
        else:
            used = np.flatnonzero(amounts > 1e-6 * amounts.max())
            k = int(used[0])
            if used.size == 2:
                k = k if (used[1] - used[0]) == 1 else int(used[1])
            states.append(2 + K + k if used.size == 2 else 2 + k)
    return tuple(states)


def _order(piece: SlidingPiece, solved: QPSolution, states: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Neighbouring states of a solved piece, most promising dual first."""
    duals = solved.dual_rows[piece.first :]
    rows, lower, _ = piece.qp.stacked
    rows, lower = rows[-duals.size :], lower[-duals.size :]
    slack = rows @ solved.x - lower
    size = np.abs(rows) @ np.abs(solved.x) + 1e-300
    found = []
    for row in np.argsort(-duals):
        if duals[row] <= 0.0 and slack[row] > 1e-9 * size[row]:
            continue
        i, targets = piece.neighbours[row]
        found += [(*states[:i], t, *states[i + 1 :]) for t in targets]
    return found


def sliding_search(
    problem: QPCC, effort: Array, first: NDArray[Any] | None, *, directions: int, max_pieces: int,
    tolerance: float, combine: int = 0,
) -> QPCCSolution:  # fmt: skip
    """Guarded pivoting over the slip states, from the forward solution at the given efforts."""
    pyramids = cones(problem, directions)
    start = np.clip(effort, np.asarray(problem.effort_min), np.asarray(problem.effort_max))
    tries = [] if first is None else [tuple(int(s) for s in first)]
    for s in tries:
        if len(s) != len(pyramids) or not all(x in p.states for x, p in zip(s, pyramids)):
            raise ArgumentError(
                "contact_set", "does not fit", f"{len(pyramids)} states in {pyramids[0].states}"
            )
    visited: dict[tuple[int, ...], float] = {}
    path: list[tuple[int, ...]] = []
    iterations = 0

    def attempt(states: tuple[int, ...]) -> tuple[float, SlidingPiece | None, QPSolution | None]:
        nonlocal iterations
        piece = sliding_piece(problem, pyramids, states)
        if piece is None:
            return np.inf, None, None
        solved = solve_qp(piece.qp, start=start)
        iterations += solved.iterations
        if not solved.status.success:
            return np.inf, piece, solved
        return cost(problem, solved.x, piece.map @ np.append(solved.x, 1.0)), piece, solved

    value, piece, solved = np.inf, None, None
    states: tuple[int, ...] = ()
    for states in [*tries, forward_states(problem, pyramids, start)]:
        value, piece, solved = attempt(states)
        visited[states] = value
        if np.isfinite(value):
            break
    if piece is None or solved is None or not np.isfinite(value):
        none = np.zeros(problem.dc.size)
        status = QPCCStatus.INFEASIBLE
        return _result(problem, pyramids, start, none, states, status, visited, path, iterations)
    path.append(states)
    status = QPCCStatus.STATIONARY
    queue = _order(piece, solved, states)
    noise = 1e-16 * float(problem.de @ problem.de)
    while queue:
        trial = queue.pop(0)
        if trial in visited:
            continue
        if len(visited) >= max_pieces:
            status = QPCCStatus.PIVOT_LIMIT
            break
        new, other, answer = attempt(trial)
        visited[trial] = new
        if other is not None and answer is not None and new < value - tolerance * abs(value) - noise:
            value, piece, solved, states = new, other, answer, trial
            path.append(trial)
            queue = _order(piece, solved, states)
    forces = piece.map @ np.append(solved.x, 1.0)
    return _result(problem, pyramids, solved.x, forces, states, status, visited, path, iterations)


def enumerate_sliding(problem: QPCC, *, directions: int = 4) -> tuple[float, tuple[int, ...]]:
    """Exhaustive optimum over all states of all contacts; (2 + 2K)^nc pieces, so for one or two contacts."""
    pyramids = cones(problem, directions)
    best: tuple[float, tuple[int, ...]] = (np.inf, ())
    for states in itertools.product(*(p.states for p in pyramids)):
        piece = sliding_piece(problem, pyramids, states)
        solved = None if piece is None else solve_qp(piece.qp)
        if piece is not None and solved is not None and solved.status.success:
            value = cost(problem, solved.x, piece.map @ np.append(solved.x, 1.0))
            best = min(best, (value, states))
    return best


def _result(
    problem: QPCC, pyramids: list[Cone], effort: Array, forces: Array, states: tuple[int, ...],
    status: QPCCStatus, visited: dict[tuple[int, ...], float], path: list[tuple[int, ...]], iterations: int,
) -> QPCCSolution:  # fmt: skip
    na = effort.size
    gap = problem.Wca @ effort + problem.Wcc @ forces + problem.dc
    size = max(
        float((np.diag(problem.Wcc) * np.abs(forces)).max(initial=0.0)),
        np.abs(problem.dc).max(initial=1e-300),
    )
    own = float(np.diag(problem.Wcc).max(initial=1.0))
    worst = 0.0
    for i, (cone, s) in enumerate(zip(pyramids, states)):
        rows = slice(3 * i, 3 * i + 3)
        _, equal, conditions = cone.describe(s)
        worst = max(worst, np.abs(equal @ gap[rows]).max(initial=0.0) / size)
        for f, g, _ in conditions:
            worst = max(worst, -(f @ forces[rows] * own + g @ gap[rows]) / size)
    displacement = problem.Waa @ effort + problem.Wac @ forces + problem.da
    normal, tangent = forces[::3], np.hypot(forces[1::3], forces[2::3])
    pressed = normal > 1e-9 * max(float(np.abs(forces).max(initial=0.0)), 1e-300)
    taken = set(path)
    zero = np.zeros(na)
    return QPCCSolution(
        effort=effort, contact=forces, displacement=displacement, gap=gap,
        effector=problem.Wea @ effort + problem.Wec @ forces + problem.de,
        objective=cost(problem, effort, forces), contact_set=np.array(states, np.int8),
        pivots=max(len(path) - 1, 0),
        pieces=tuple(Piece(np.array(s, np.int8), v, s in taken) for s, v in visited.items()),
        iterations=iterations, residual=float(worst), status=status, lower_bound=-np.inf, notices=(),
        dual_effort=zero, dual_displacement=zero.copy(), dual_rows=np.zeros(np.asarray(problem.d).size),
        friction_ratio=np.where(pressed, tangent / np.where(pressed, normal, 1.0), 0.0),
    )  # fmt: skip
