"""Our side of the solids of benchmarks/peers: each case gives rows of (case, who, result, reference, error, ms)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import references as exact
from rows import Row, row, timed
from scipy.sparse.linalg import eigsh

import pliant as pl
from pliant.geometry import sphere_shell_mesh

STILL = (0.0, 0.0, 0.0)
KINDS: dict[str, tuple[str, bool]] = {"linear tets": ("linear", False), "quadratic tets": ("quadratic", False),
                                      "hexahedra": ("linear", True)}  # fmt: skip


def share(case: str, who: str, result: float, reference: float, ms: float, unit: str = "") -> Row:
    """A row of one number, its error relative to the reference."""
    texts = [f"{v:.5g} {unit}".strip() for v in (result, reference)]
    return row(case, f"pliant FemModel, {who}", *texts, abs(result / reference - 1), ms)


def rubber(young: float = 1e6, poisson: float = 0.3, **options: float) -> Any:
    """Neo-Hookean rubber of 1000 kg/m^3."""
    return pl.materials.NeoHookean.from_young(young, poisson, **({"density": 1000.0} | options))


def bar(length: float, side: float, cells: tuple[int, int, int], hexes: bool) -> Any:
    """A bar along x, its axis through the origin, with node sets "base" and "end"."""
    mesh = pl.TetMesh.box((length, side, side), cells, origin=(0, -side / 2, -side / 2), hexes=hexes)
    mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9)
    return mesh.with_node_set("end", lambda x: x[:, 0] > length - 1e-9)


def torsion() -> Iterator[Row]:
    """A square bar twisted by a couple of forces on a rigid end: torque over angle is G J / L."""
    length, side, law = 0.2, 0.02, rubber()
    for name, (element, hexes) in KINDS.items():
        mesh = bar(length, side, (20, 4, 4), hexes)
        forces = [pl.PointForce(name=f"f{s}", point=(length, s * side / 2, 0), direction=(0, 0, s)) for s in (1, -1)]
        robot = pl.Robot(
            "bar", pl.SoftBody("bar", mesh, law), pl.Fixation("base"), pl.RigidRegion("cap", "end"), forces,
            pl.Point("tip", (length, 0, 0)), gravity=STILL,
        )  # fmt: skip
        model = pl.FemModel(robot, element=element)
        force = 1e-4
        state, ms = timed(lambda m=model, f=force: pl.equilibrium(m, [f, f]))
        turn = np.asarray(model.locate(state, "tip").rotation).reshape(3, 3)
        angle = np.arctan2(turn[2, 1] - turn[1, 2], turn[1, 1] + turn[2, 2])
        yield share("torsion constant of a square bar, J / a^4", name, force * side * length / angle / law.shear / side**4,
                  exact.square_torsion(), ms)  # fmt: skip


def modes() -> Iterator[Row]:
    """First bending, second bending and first torsional frequency of a cantilever of aspect 10."""
    length, side, poisson = 0.2, 0.02, 0.3
    law = rubber(poisson=poisson)
    bend = exact.timoshenko_frequencies(length, side, law.young, poisson, 1000.0, 2) / (2 * np.pi)
    wave = np.sqrt(law.shear * exact.square_torsion() / (1000.0 / 6)) / (4 * length)
    for name, (element, hexes) in KINDS.items():
        mesh = bar(length, side, (20, 2, 2), hexes)
        robot = pl.Robot("bar", pl.SoftBody("bar", mesh, law), pl.Fixation("base"), gravity=STILL)
        model = pl.FemModel(robot, element=element, mass="consistent")

        def solve(model: Any = model) -> Any:
            none = np.zeros(0)
            stiff, mass = model.stiffness(model.rest, none).tocsc(), model.inertia(model.rest).tocsc()
            return eigsh(stiff, 8, mass, sigma=0.0, v0=np.ones(model.nv))

        (squares, shapes), ms = timed(solve)
        found = np.sqrt(squares) / (2 * np.pi)
        x = model.rest.reshape(-1, 3)
        u = shapes.reshape(*x.shape, -1)
        spin = np.abs(x[:, 1] @ u[:, 2] - x[:, 2] @ u[:, 1]) / np.linalg.norm(u, axis=(0, 1))
        yield share("cantilever block, first bending frequency", name, found[0], bend[0], ms, "Hz")
        yield share("cantilever block, second bending frequency", name, found[2], bend[1], ms, "Hz")
        yield share("cantilever block, first torsional frequency", name, found[np.argmax(spin)], wave, ms, "Hz")


def cook() -> Iterator[Row]:
    """Cook's membrane in plane strain, nearly incompressible, small loads: vertical motion of the upper corner.

    E = 250, nu = 0.4999, shear force 100 on the right edge; the published answer is 7.77 for small strains.
    """
    for name, (element, hexes) in KINDS.items():
        for n in (8, 16):
            box = pl.TetMesh.box((1, 1, 1), (n, n, 1), hexes=hexes)
            s, t, z = box.nodes.T
            place = np.stack([48 * s, 44 * s + t * (44 - 28 * s), z * 48 / n], axis=1)
            mesh = replace(box, nodes=place).with_node_set("wall", lambda x: x[:, 0] < 1e-9)
            mesh = mesh.with_node_set("all", lambda x: x[:, 0] > -1)
            edge = mesh.nodes[np.abs(mesh.nodes[:, 0] - 48) < 1e-9]
            weights = np.where((np.abs(edge[:, 1] - 44) < 1e-9) | (np.abs(edge[:, 1] - 60) < 1e-9), 0.5, 1.0)
            weights /= weights.sum()
            loads = [pl.PointForce(name=f"f{i}", point=tuple(p), direction=(0, 1, 0)) for i, p in enumerate(edge)]
            robot = pl.Robot(
                "cook", pl.SoftBody("cook", mesh, rubber(250.0, 0.4999)),
                (pl.Fixation("wall"), pl.Fixation("all", axes="z")), actuators=loads, gravity=STILL,
                points=pl.Point("corner", (48, 60, 0)),
            )  # fmt: skip
            model = pl.FemModel(robot, element=element)
            total = 1e-3 * 48 / n  # small, and per thickness
            state, ms = timed(lambda m=model, w=weights, f=total: pl.equilibrium(m, w * f), 1)
            up = (np.ravel(model.locate(state, "corner").position)[1] - 60) * 100 / 1e-3
            yield share(f"Cook's membrane, nu 0.4999, {n} x {n} cells, corner lift", name, up, 7.77, ms)


def balloon() -> Iterator[Row]:
    """A thick ball of nearly incompressible rubber filled until its inner radius has grown by half: pressure."""
    law, inner, outer, stretch = rubber(1e6, 0.4999), 0.01, 0.02, 1.5
    mesh = sphere_shell_mesh(inner, outer, 2, 3)
    for axis in range(3):
        mesh = mesh.with_node_set("xyz"[axis], lambda x, a=axis: np.abs(x[:, a]) < 1e-9)
    robot = pl.Robot(
        "ball", pl.SoftBody("ball", mesh, law), [pl.Fixation(a, axes=a) for a in "xyz"],
        actuators=pl.Chamber(name="air", cavity="inner", drive="displacement"), gravity=STILL,
    )  # fmt: skip
    goal = exact.sphere_pressure(law.shear, inner, outer, stretch)
    more = mesh.cavity_volume("inner") * (stretch**3 - 1)
    for name, (element, _) in list(KINDS.items())[:2]:
        model = pl.FemModel(robot, element=element)
        state, ms = timed(lambda m=model: pl.equilibrium(m, {"air": more}).require(), 1)
        who = f"{name}, cavity {100 * mesh.cavity_volume('inner') / (4 / 3 * np.pi * inner**3):.0f} % of a round one"
        yield share("thick ball blown up by half, nu 0.4999, pressure", who, state.effort[0] / 1e3, goal / 1e3, ms, "kPa")


def column() -> Iterator[Row]:
    """A straight block pushed at 1.15 of its buckling load; no imperfection."""
    length, side = 0.2, 0.01
    law = rubber(poisson=0.3)
    load = np.pi**2 * law.young * side**4 / 12 / (4 * length**2)
    load = 1.15 * load / (1 + load / (5 / 6 * law.shear * side**2))
    x, y = exact.buckled(np.radians(60.0))[1:]  # 1.152
    robot = pl.Robot(
        "column", pl.SoftBody("bar", bar(length, side, (40, 2, 2), True), law), pl.Fixation("base"),
        pl.RigidRegion("cap", "end"), pl.PointForce(name="load", point=(length, 0, 0), direction=(-1, 0, 0)),
        pl.Point("tip", (length, 0, 0)), gravity=STILL,
    )  # fmt: skip
    model = pl.FemModel(robot)
    state, ms = timed(lambda: pl.equilibrium(model, [load]), 1)
    place = np.ravel(model.locate(state, "tip").position) / length
    wide = np.hypot(place[1], place[2])
    yield row("straight block at 1.15 of its buckling load, tip / L", f"pliant FemModel, hexahedra ({state.status.name.lower()})",
              f"{place[0]:.4f}, {wide:.4f}", f"{x:.4f}, {y:.4f}", np.hypot(place[0] - x, wide - y), ms)  # fmt: skip


def spin() -> Iterator[Row]:
    """A damped block turns freely in empty space at 20 rad/s: inner friction must not brake it."""
    mesh, none, dt = pl.TetMesh.box((0.1, 0.02, 0.02), (10, 2, 2), origin=(-0.05, -0.01, -0.01)), np.zeros(0), 1e-3
    law = rubber(1e5, 0.45, rayleigh_stiffness=0.02)
    model = pl.FemModel(pl.Robot("block", pl.SoftBody("block", mesh, law), gravity=STILL))
    mass = model.inertia(model.rest).diagonal().reshape(-1, 3)[:, :1]

    def momentum(state: Any) -> float:
        return float(np.cross(state.q.reshape(-1, 3), mass * state.v.reshape(-1, 3))[:, 2].sum())

    for scheme in ("alpha", "trapezoidal"):
        stepper = pl.Stepper(model, scheme=scheme)
        turning = np.cross([0.0, 0, 20], model.rest.reshape(-1, 3)).ravel()
        state = pl.State(model.rest, turning, none, none, none)
        first, begin = momentum(state), time.process_time()
        for _ in range(300):
            state = stepper.step(state, None, dt).require()
        ms = 1e3 * (time.process_time() - begin) / 300
        yield share("damped block spinning freely, angular momentum left after 0.3 s", f'linear tets, scheme "{scheme}"',
                    momentum(state) / first, 1.0, ms)  # fmt: skip


def _moved(kind: str) -> Any:
    """A block of 3 x 3 x 3 cells of 0.1 m whose inner nodes were moved."""
    box = pl.TetMesh.box((1, 1, 1), (3, 3, 3), hexes=kind == "hexahedra", prisms=kind == "prisms")
    inner = ((box.nodes > 1e-9) & (box.nodes < 1 - 1e-9)).all(axis=1)
    shift = np.random.default_rng(1).uniform(-0.07, 0.07, box.nodes.shape) * inner[:, None]
    return replace(box, nodes=0.1 * (box.nodes + shift))


def patch() -> Iterator[Row]:
    """Uniform strain on distorted meshes must leave inner nodes without force; a turned body must have turned forces.

    All laws in FemModel and GeometricModel; `Linear`, which is not meant to turn, only in the patch test.
    """
    names = ("Linear", "Corotational", "StVenantKirchhoff", "NeoHookean", "NeoHookeanLog", "MooneyRivlin", "Yeoh", "Ogden")
    strain = np.array([[1.2, 0.15, -0.1], [0.05, 0.9, 0.2], [-0.1, 0.07, 1.1]])
    turn, none = np.linalg.qr(np.array([[0.3, -0.8, 0.5], [0.9, 0.2, 0.4], [0.1, 0.6, 0.8]]))[0], np.zeros(0)
    turn *= np.linalg.det(turn)
    for kind in (*KINDS, "prisms"):
        left, unlike, mesh, begin = 0.0, 0.0, _moved(kind), time.process_time()
        for name in names:
            body = pl.SoftBody("block", mesh, getattr(pl.materials, name).from_young(1e6, 0.4))
            for make in (pl.FemModel, pl.GeometricModel):
                model = make(pl.Robot("block", body, gravity=STILL), element=KINDS.get(kind, ("linear",))[0])
                x = model.rest.reshape(-1, 3)
                inner = ((x > 1e-9) & (x < 0.1 - 1e-9)).all(axis=1)
                force = model.force((x @ strain.T).ravel(), none).reshape(-1, 3)
                left = max(left, float(np.abs(force[inner]).max() / np.abs(force).max()))
                bent = x + 0.02 * np.sin(20 * x[:, [1, 2, 0]])
                force = model.force(bent.ravel(), none).reshape(-1, 3)
                turned = model.force((bent @ turn.T + 1.0).ravel(), none).reshape(-1, 3)
                if name != "Linear":
                    unlike = max(unlike, float(np.abs(turned - force @ turn.T).max() / np.abs(force).max()))
        ms = 1e3 * (time.process_time() - begin)
        who = f"pliant FemModel and GeometricModel, {kind}, 8 laws"
        yield row("patch test on a distorted mesh, force left inside", who, f"{left:.1e}", "0", left, ms)
        yield row("forces of a turned body, turned back", who, f"{unlike:.1e}", "0", unlike, ms)


CASES = (torsion, modes, cook, balloon, spin, column, patch)
