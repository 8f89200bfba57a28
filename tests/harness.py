"""The shared harness: derivatives against finite differences, virtual work, ready-made bodies."""

from __future__ import annotations

import numpy as np

from pliant.actuators import Cable
from pliant.bodies import Fixation, Point, SoftBody
from pliant.geometry import TetMesh
from pliant.materials import Corotational
from pliant.robot import Robot


def golden_mesh() -> TetMesh:
    """The test beam of spec inverse-fem 17.1."""
    mesh = TetMesh.box((0.1, 0.015, 0.015), (12, 2, 2), (0, -0.0075, -0.0075))
    mesh = mesh.with_node_set("base", np.flatnonzero(mesh.nodes[:, 0] < 1e-9))
    return mesh.with_node_set("end", np.flatnonzero(mesh.nodes[:, 0] > 0.1 - 1e-9))


def golden_cables() -> tuple[Cable, ...]:
    """Its three cables."""
    lines = {"c1": (0.0, 0.0075), "c2": (0.0075, -0.0075), "c3": (-0.0075, -0.0075)}
    xs = np.linspace(0, 0.1, 13)[1:]
    return tuple(
        Cable(name=n, points=[(x, y, z) for x in xs], pull_point=(-0.005, y, z)) for n, (y, z) in lines.items()
    )


def golden_beam(material=None, **changes) -> Robot:
    """The robot of spec inverse-fem 17.1: E 350 kPa, nu 0.45, 1100 kg/m^3."""
    material = material or Corotational.from_young(350e3, 0.45, density=1100)
    robot = Robot(
        "golden-beam",
        (SoftBody("body", golden_mesh(), material),),
        (Fixation("base"),),
        actuators=golden_cables(),
        points=(Point("tip", (0.1, 0.0, 0.0)), Point("middle", (0.05, 0.001, 0.002))),
    )
    return robot.but(**changes) if changes else robot


def box_robot(
    lengths,
    cells,
    material,
    *,
    gravity=(0, 0, 0),
    actuators=(),
    points=(),
    fixations=(Fixation("base"),),
    rigid=(),
    hexes=False,
    origin=(0, 0, 0),
    cavities=(),
) -> Robot:
    """A box whose face x = 0 is the node set "base" and whose far face is "end"."""
    mesh = TetMesh.box(lengths, cells, origin, hexes=hexes)
    x = mesh.nodes[:, 0] - origin[0]
    mesh = mesh.with_node_set("base", np.flatnonzero(x < 1e-9 * lengths[0]))
    mesh = mesh.with_node_set("end", np.flatnonzero(x > lengths[0] * (1 - 1e-9)))
    return Robot(
        "box",
        (SoftBody("body", mesh, material),),
        fixations,
        rigid=rigid,
        actuators=actuators,
        points=points,
        gravity=gravity,
    )


def relative(a, b) -> float:
    """Largest difference relative to the largest entry."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300))


def check_derivatives(model, q, effort, *, h=1e-7, tolerance=2e-6, seed=0, symmetric_only=False) -> None:
    """Force, stiffness, actuation, displacement rows and point Jacobians of any model against differences."""
    rng = np.random.default_rng(seed)
    d = rng.standard_normal(model.nv)
    plus, minus = model.retract(q, h * d), model.retract(q, -h * d)
    f = model.force(q, effort)
    slope = (model.energy(plus, effort) - model.energy(minus, effort)) / (2 * h)
    K = model.stiffness(q, effort)
    floor = 1e-14 * abs(model.energy(q, effort)) / h + 0.05 * h * abs(d @ (K @ d)) + 1e-12
    assert abs(slope + f @ d) <= tolerance * np.abs(f) @ np.abs(d) + floor, "force is not -d energy"
    dense = K if isinstance(K, np.ndarray) else K.toarray()
    assert relative(dense, dense.T) < 1e-9, "stiffness is not symmetric"
    fd = -(model.force(plus, effort) - model.force(minus, effort)) / (2 * h)
    if not symmetric_only:
        assert relative(dense @ d, fd) < tolerance * 10, "stiffness is not -d force"
    if model.nu:
        A = model.actuation(q, effort)
        for i in range(model.nu):
            e = np.zeros(model.nu)
            e[i] = 1e-3 * max(1.0, abs(effort[i]))
            column = (model.force(q, effort + e) - model.force(q, effort - e)) / (2 * e[i])
            assert np.abs(A[:, i] - column).max() <= 1e-6 * max(np.abs(column).max(), 1e-9), f"actuation {i}"
        moved = (model.displacement(plus) - model.displacement(minus)) / (2 * h)
        rows = model.displacement_rows(q)
        scale = np.abs(rows) @ np.abs(d) + 1e-15
        assert (np.abs(moved - rows @ d) <= tolerance * scale).all(), "displacement rows"
    names = [p.name for p in model.robot.points]
    if names:
        here = model.locate(q, names, jacobian=True)
        a, b = model.locate(plus, names), model.locate(minus, names)
        J = here.jacobian @ d
        assert relative(J[:, 3:], (a.position - b.position) / (2 * h)) < tolerance * 10, "position jacobian"
        spin = np.einsum("nij,nkj->nik", (a.rotation - b.rotation) / (2 * h), here.rotation)
        axial = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        assert relative(J[:, :3], axial) < tolerance * 10, "rotation jacobian"
    skin = model.skin_positions(q)
    ids = rng.integers(0, len(skin), (4, 2))
    w, n = rng.standard_normal((4, 2)), rng.standard_normal((4, 3))
    rows = model.skin_rows(q, ids, w, n)
    change = (model.skin_positions(plus) - model.skin_positions(minus)) / (2 * h)
    expected = np.einsum("mk,mi,mki->m", w, n, change[ids])
    assert np.abs(rows @ d - expected).max() < tolerance * 10 * max(np.abs(expected).max(), 1e-9), "skin rows"
    centre, jac = model.centre_of_mass(q)
    moved_c = (model.centre_of_mass(plus)[0] - model.centre_of_mass(minus)[0]) / (2 * h)
    assert np.abs(jac @ d - moved_c).max() < tolerance * 10 * max(np.abs(moved_c).max(), 1e-9), "centre of mass"


def check_virtual_work(model, q, effort, *, tolerance=1e-9) -> None:
    """Every conservative actuator pushes along the gradient of its own coordinate."""
    assert relative(model.actuation(q, effort), model.displacement_rows(q).T) < tolerance
