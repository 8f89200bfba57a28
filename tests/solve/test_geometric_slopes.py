"""Many equilibria at once: the same poses, pressures and Jacobians as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.actuators import Chamber
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.equilibrium import equilibrium
from pliant.solve.geometric_slopes import PoseSolver
from pliant.solve.sensitivity import sensitivity

pytest.importorskip("torch")
POINTS = ("tip", "middle")


@pytest.fixture(scope="module")
def robot():
    plain = three_chamber_arm(size=0.03, folds=3)
    drives = ("displacement", "displacement", "effort")
    return plain.but(actuators=tuple(Chamber(name=a.name, drive=d) for a, d in zip(plain.actuators, drives)))


def test_poses_and_exact_jacobians_are_those_of_single_solves(robot):
    model = GeometricModel(robot)
    U = np.array([[0.10, 0.03, 0.0], [0.02, 0.15, 0.0]]) * model.rest_measures
    U[:, 2] = 1e4, 2e4
    found = PoseSolver(model, device="cpu").solve(U, POINTS)
    assert found.converged.all()
    for k, u in enumerate(U):
        state = equilibrium(model, u)
        place, wanted = model.locate(state, POINTS), sensitivity(model, state).of(POINTS)
        assert np.abs(found.position[k] - place.position).max() < 1e-9 * 0.136
        assert np.abs(found.rotation[k] - place.rotation).max() < 1e-8
        for i in range(3):  # the units of the columns differ
            assert np.abs(found.jacobian[k, ..., i] - wanted[..., i]).max() < 1e-6 * np.abs(wanted[..., i]).max()
        assert found.effort[k] == pytest.approx(state.effort, rel=1e-6)


@pytest.mark.parametrize("stiffness", ["constant", "secant", "hyperelastic"])
@pytest.mark.parametrize("volume", ["mean", "determinant", "cube-root"])
def test_hessian_products_are_those_of_the_model(robot, stiffness, volume):
    """K v in the tangent space, rigid plate and chambers included."""
    from pliant._kernels.geometric_newton import Batch

    model = GeometricModel(robot, stiffness=stiffness, volume=volume)
    solver = PoseSolver(model, device="cpu")
    rng = np.random.default_rng(0)
    q = model.retract(model.rest, 2e-3 * rng.normal(size=model.nv))
    effort, v = np.array([[2e4, -1e4, 3e4]]), rng.normal(size=(1, 1, model.nv))
    ops, part = solver.ops, model.layout.parts[0]
    R, p = model.layout.part_pose(part, q)
    frames = [(ops.array(R[None]), ops.array(p[None]))]
    batch = Batch(ops, solver.data, solver.products, ops.array(model.positions(q)[None]), frames, ops.array(effort))
    g = batch.load()[0]
    assert batch.reduce(g[:, None])[0, 0].numpy() == pytest.approx(model.force(q, effort[0]), rel=1e-9, abs=1e-9)
    got = batch.stiffness(ops.array(v), solver.products.at(batch.x, batch.effort), batch.spin(g))
    wanted = model.stiffness(q, effort[0]) @ v[0, 0]
    assert np.abs(got[0, 0].numpy() - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_what_does_not_converge_says_so(robot):
    """Without Newton steps there is no equilibrium, and no numbers that look like one."""
    model = GeometricModel(robot, stiffness="constant")
    found = PoseSolver(model, device="cpu", near=1e-2, exactness=0.1).solve(np.zeros((1, 3)), POINTS, steps=0)
    assert not found.converged.any()
    assert np.isnan(found.position).all()
    assert np.isnan(found.jacobian).all()


def test_bad_arguments_are_named(robot):
    model = GeometricModel(robot)
    with pytest.raises(ArgumentError, match="no batched solve"):
        PoseSolver(FemModel(robot), device="cpu")
    solver = PoseSolver(model, device="cpu")
    with pytest.raises(ArgumentError, match="commands"):
        solver.solve(np.zeros((1, 2)), POINTS)
    with pytest.raises(UnknownNameError):
        solver.solve(np.zeros((1, 3)), ["nose"])
