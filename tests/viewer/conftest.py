"""A small analytic model for the viewer's tests: a box that bends.

The box satisfies the drawing part of the contract; its solve is a formula, so tests of the viewer do not
depend on any solver.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from pliant.actuators import Cable, Chamber
from pliant.errors import SolveError
from pliant.state import Command, Placement, Skin, State, Status

LENGTH, WIDTH = 0.1, 0.02


def box_surface(cells=(24, 5, 5)):
    """Outward triangles of a box grid: vertices (n, 3) in [0, 1]^3 and triangles (k, 3)."""
    index, points, triangles = {}, [], []

    def vertex(p):
        if p not in index:
            index[p] = len(points)
            points.append(p)
        return index[p]

    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, cells[axis]):
            for i in range(cells[a]):
                for j in range(cells[b]):
                    quad = []
                    for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        p = [0, 0, 0]
                        p[axis], p[a], p[b] = side, i + di, j + dj
                        quad.append(vertex(tuple(p)))
                    if side == 0:
                        quad = quad[::-1]
                    triangles += [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    return np.array(points, float) / np.array(cells), np.array(triangles)


class BoxModel:
    """A box along x whose configuration is its vertex positions; `bend` bends it upwards by an angle."""

    def __init__(self):
        unit, self._triangles = box_surface()
        self._rest = (unit - [0, 0.5, 0.5]) * [LENGTH, WIDTH, WIDTH]
        cable = Cable(
            name="cable",
            points=((0.0, 0.0, 0.006), (0.05, 0.0, 0.006), (0.1, 0.0, 0.006)),
            pull_point=(-0.02, 0.0, 0.006),
            displacement_limits=(0.0, 0.03),
        )
        chamber = Chamber(name="chamber", cavity="inner")
        tip = SimpleNamespace(name="tip", position=(LENGTH, 0.0, 0.0))
        self.robot = SimpleNamespace(
            name="box",
            bodies=(),
            fixations=(),
            actuators=(cable, chamber),
            actuator_names=("cable", "chamber"),
            actuator_index=("cable", "chamber").index,
            points=(tip,),
            point={"tip": tip}.__getitem__,
        )
        self.nq = self.nv = self._rest.size
        self.nu = 2
        self.rest = self._rest.ravel()

    @property
    def skin(self):
        n = len(self._rest)
        return Skin(self._triangles, np.zeros((0, 2), int), np.zeros(n), np.zeros(n, int))

    def skin_positions(self, q):
        return np.asarray(q).reshape(-1, 3)

    def displacement(self, q):
        return np.zeros(2)

    def locate(self, q, points, *, jacobian=False):
        q = np.asarray(getattr(q, "q", q)).reshape(-1, 3)
        position = q[np.isclose(self._rest[:, 0], LENGTH)].mean(axis=0)
        if isinstance(points, str):
            return Placement((points,), position, np.eye(3))
        return Placement(
            tuple(points), np.array([position] * len(points)), np.array([np.eye(3)] * len(points))
        )

    def field(self, q, effort, name):
        return np.abs(self._rest[:, 2]) * (0.1 + abs(float(effort[0])))

    def bent(self, u):
        """Positions (n, 3) for commands (m, Pa): an arc, swollen by the pressure."""
        angle = 60.0 * float(u[0]) + 1e-9
        swell = 1.0 + float(u[1]) / 2e5
        s, y, z = self._rest[:, 0], self._rest[:, 1] * swell, self._rest[:, 2] * swell
        radius = LENGTH / angle
        phi = s / LENGTH * angle
        return np.stack([(radius - z) * np.sin(phi), y, radius - (radius - z) * np.cos(phi)], axis=1)

    def solve(self, model, u, *, obstacles=(), start=None):
        """Stands in for `equilibrium`; a cable beyond 29 mm does not converge, a negative pressure raises."""
        u = np.asarray(u, float)
        if u[1] < 0:
            raise SolveError("the chamber collapsed")
        status = Status.CONVERGED if u[0] < 0.029 else Status.STALLED
        return State(
            q=self.bent(u).ravel(),
            v=np.zeros(self.nv),
            u=u,
            effort=np.array([u[0] * 200.0, u[1]]),
            displacement=np.array([u[0], u[1] * 1e-11]),
            status=status,
            residual=1e-9,
            iterations=3,
            elapsed=0.004,
        )

    def invert(self, model, state, targets, *, limits=(), own_limits=True, obstacles=(), search="local", iterations=20):
        """Stands in for `invert`: the cable that brings the tip nearest to the target."""
        goal = np.array(targets[0].position)
        grid = np.linspace(0.0, 0.028, 200)
        tips = [self.locate(self.bent((d, 0.0)).ravel(), "tip").position for d in grid]
        best = int(np.argmin(np.linalg.norm(np.array(tips) - goal, axis=1)))
        found = self.solve(model, np.array([grid[best], 0.0]))
        return Command(
            u=found.u,
            effort=found.effort,
            displacement=found.displacement,
            state=found,
            error=tips[best] - goal,
            status=Status.UNREACHABLE,
            iterations=iterations,
            elapsed=0.005,
        )


class Ball:
    """A sphere obstacle with the drawing interface only."""

    def __init__(self, centre, radius):
        self.centre, self.radius = np.asarray(centre, float), radius

    def surface(self):
        unit, triangles = box_surface((8, 8, 8))
        direction = unit - 0.5
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return self.centre + self.radius * direction, triangles

    def moved(self, step):
        return Ball(self.centre + step, self.radius)


@dataclass(frozen=True)
class Goal:
    """A target with the drawing interface only."""

    point: str
    position: tuple


@pytest.fixture
def goal():
    return Goal("tip", (LENGTH, 0.0, 0.0))


@pytest.fixture(scope="session")
def finger():
    """A small finite-element finger with two cables."""
    from pliant.bodies import Fixation, Point, SoftBody
    from pliant.geometry.mesh import TetMesh
    from pliant.materials import NeoHookean
    from pliant.models.fem import FemModel
    from pliant.robot import Robot

    cells, wide = (10, 2, 2), 0.015
    steps = [np.arange(c + 1) for c in cells]
    grid = np.stack(np.meshgrid(*steps, indexing="ij"), -1).reshape(-1, 3)
    nodes = (grid / cells - [0, 0.5, 0.5]) * [LENGTH, wide, wide]
    index = {tuple(p): i for i, p in enumerate(grid.tolist())}
    tets = []
    for corner in itertools.product(*(range(c) for c in cells)):
        for order in itertools.permutations(range(3)):
            at, path = list(corner), [index[corner]]
            for axis in order:
                at[axis] += 1
                path.append(index[tuple(at)])
            if np.linalg.det(nodes[path[1:]] - nodes[path[0]]) < 0:
                path[1], path[2] = path[2], path[1]
            tets.append(path)
    mesh = TetMesh(nodes=nodes, tets=np.array(tets), node_sets={"base": np.flatnonzero(grid[:, 0] == 0)})

    def cable(name, y, z):
        return Cable(
            name=name,
            points=[(x, y, z) for x in np.linspace(0.002, LENGTH - 0.002, 6)],
            pull_point=(-0.01, y, z),
            displacement_limits=(0.0, 0.02),
        )

    robot = Robot(
        "finger",
        (SoftBody("finger", mesh, NeoHookean(5e5, 0.45)),),
        fixations=(Fixation("base"),),
        actuators=(cable("up", 0.0, 0.005), cable("side", 0.005, 0.0)),
        points=(Point("tip", (LENGTH, 0.0, 0.0)),),
    )
    return FemModel(robot)


@pytest.fixture
def box():
    return BoxModel()


@pytest.fixture
def ball():
    return Ball((0.06, 0.0, 0.06), 0.015)


@pytest.fixture
def sweep(box):
    times, pulls = np.linspace(0, 2, 41), np.linspace(0, 0.028, 41)
    return [box.solve(box, np.array([d, 0.0])).but(time=t) for t, d in zip(times, pulls)]
