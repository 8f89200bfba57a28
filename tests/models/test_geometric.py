"""GeometricModel: contract, derivatives, agreement with FEM, bad input."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.actuators import Chamber, DielectricLayer
from pliant.bodies import Fixation, RigidRegion, SoftBody
from pliant.errors import ArgumentError
from pliant.geometry import TetMesh
from pliant.materials import Corotational, MooneyRivlin, NeoHookean, NeoHookeanLog, Ogden
from pliant.models.contract import Model
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.models.geometric_stiffness import SecantCurve, moduli_of, shape_parameter
from pliant.models.geometric_stretch import StretchCurve
from pliant.robot import Robot
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.equilibrium import equilibrium
from pliant.solve.flex import flex
from pliant.solve.sensitivity import sensitivity

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness import check_derivatives, check_virtual_work, golden_beam, relative


@pytest.fixture(scope="module")
def finger() -> GeometricModel:
    return GeometricModel(pneumatic_finger(teeth=4, size=4e-3))


def _bent(model: GeometricModel, seed: int = 1, size: float = 1e-3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return model.retract(model.rest, size * rng.standard_normal(model.nv))


@pytest.mark.parametrize("volume", ["mean", "determinant", "cube-root"])
@pytest.mark.parametrize(("law", "stiffness"), [(Corotational, "auto"), (NeoHookean, "auto"), (NeoHookean, "secant")])
def test_derivatives(volume, law, stiffness):
    model = GeometricModel(golden_beam(law.from_young(350e3, 0.4)), volume=volume, stiffness=stiffness)
    assert isinstance(model, Model)
    q = _bent(model, size=5e-4)
    effort = np.array([1.0, 2.0, 0.5])
    check_derivatives(model, q, effort, h=1e-8)
    check_virtual_work(model, q, effort)


def test_derivatives_with_rigid_part_and_slide_and_quadratic_elements():
    robot = golden_beam(rigid=(RigidRegion("plate", "end"),))
    check_derivatives(GeometricModel(robot), _bent(GeometricModel(robot), size=5e-4), np.ones(3), h=1e-8)
    model = GeometricModel(golden_beam(), element="quadratic")
    check_derivatives(model, _bent(model, size=2e-4), np.ones(3), h=1e-8)


@pytest.mark.parametrize("stiffness", ["hyperelastic", "secant"])
@pytest.mark.parametrize("volume", ["determinant", "cube-root"])
def test_derivatives_of_rubber_with_mean_dilatation(volume, stiffness):
    beam = golden_beam(MooneyRivlin.from_young(350e3, 0.49))
    model = GeometricModel(beam, element="quadratic", volume=volume, stiffness=stiffness)
    assert (model._share["tet10"] < model._lame).all()
    check_derivatives(model, _bent(model, size=2e-4), np.ones(3), h=1e-8)


def test_quadratic_rubber_does_not_lock():
    """Tip of a cantilever at nu = 0.4999 beside that of nu = 0.45: the volume may not hold the bending back."""
    sag = []
    for nu in (0.45, 0.4999):
        material = MooneyRivlin.from_young(350e3, nu)
        model = GeometricModel(golden_beam(material), element="quadratic")
        state = flex(model, strict=True)
        sag.append(np.abs(model.positions(state.q) - model.layout.rest_nodes).max())
    assert sag[1] == pytest.approx(sag[0], rel=0.05)


def test_projected_tangent_is_positive_semidefinite_and_exact_where_that_is():
    model = GeometricModel(golden_beam(NeoHookean.from_young(350e3, 0.4)))
    q = _bent(model, size=1.5e-3)
    _, K = model.projected(q, np.zeros(3))
    assert np.linalg.eigvalsh(K.toarray()).min() > -1e-6 * np.abs(K.data).max()
    assert np.linalg.eigvalsh(model.stiffness(q, np.zeros(3)).toarray()).min() < 0
    x = model.positions(model.rest) * 1.05  # everything in tension: nothing to project
    q = x.ravel()[model.layout.flat_free]
    assert relative(model.projected(q, np.zeros(3))[1].data, model.stiffness(q, np.zeros(3)).data) < 1e-9


def test_dielectric_layer_derivatives_and_virtual_work():
    mesh = TetMesh.box((0.04, 0.02, 0.002), (6, 3, 2)).with_node_set("base", lambda x: x[:, 0] < 1e-9)
    mesh = mesh.with_region("film", lambda x: x[:, 2] > 1e-3)
    layer = DielectricLayer(name="film", thickness=1e-3, prestretch=0.8, normal=(0.1, 0.0, 1.0))
    robot = Robot("strip", (SoftBody("body", mesh, NeoHookean.from_young(1e5, 0.45)),), (Fixation("base"),),
                  actuators=(layer,), gravity=(0, 0, 0))  # fmt: skip
    model = GeometricModel(robot)
    q = _bent(model, size=1e-4)
    check_virtual_work(model, q, np.array([1e7]))
    h, rng = 1e-8, np.random.default_rng(0)
    d = rng.standard_normal(model.nv)
    moved = (model.displacement(q + h * d) - model.displacement(q - h * d)) / (2 * h)
    assert moved == pytest.approx(model.displacement_rows(q) @ d, rel=1e-6)
    e = np.array([1e12])
    slope = -(model.force(q + h * d, e) - model.force(q - h * d, e)) / (2 * h)
    assert relative(model.stiffness(q, e) @ d, slope) < 1e-6


def test_corotational_body_is_the_fem_body():
    robot = golden_beam()
    geometric, fem = GeometricModel(robot), FemModel(robot)
    q = _bent(geometric)
    assert relative(geometric.force(q, np.ones(3)), fem.force(q, np.ones(3))) < 1e-12
    assert geometric.energy(q, np.ones(3)) == pytest.approx(fem.energy(q, np.ones(3)))


def test_tip_error_against_fem_over_the_finger_s_range_below_3_percent():
    """Rubber finger to 240 degrees: every pose, same mesh, same material."""
    robot = pneumatic_finger(teeth=12, size=6e-3, material=NeoHookean.from_young(2.5e6, 0.45))
    geometric, fem = GeometricModel(robot), FemModel(robot)
    state = reference = None
    reached = 0.0
    for ratio in (1.4, 1.8, 2.2, 2.6, 3.0, 3.4, 3.8):
        command = geometric.command({"air": ratio})
        state = flex(geometric, command, start=state)
        reference = equilibrium(fem, command, start=reference if reference is None else reference.but(q=state.q))
        assert state.ok and reference.ok
        error = np.linalg.norm(geometric.locate(state, "tip").position - fem.locate(reference, "tip").position)
        assert error < 0.03 * 0.120
        R = fem.locate(reference, "tip").rotation
        angle = np.degrees(np.arctan2(-R[2, 0], R[0, 0])) % 360
        reached = max(reached, angle)
        if reached > 240:
            break
    assert reached > 240


def test_sensitivities_are_exact(finger):
    command = finger.command({"air": 1.6})
    state = flex(finger, command, tolerance=1e-12)
    exact = sensitivity(finger, state).of("tip")[3:, 0]
    h = 1e-3 * command["air"]
    ends = [flex(finger, {"air": command["air"] + s * h}, start=state, tolerance=1e-12) for s in (1, -1)]
    slope = (finger.locate(ends[0], "tip").position - finger.locate(ends[1], "tip").position) / (2 * h)
    assert relative(exact, slope) < 1e-5
    h *= 0.1
    ends = [flex(finger, {"air": command["air"] + s * h}, start=state, tolerance=1e-12) for s in (1, -1)]
    slope = (finger.locate(ends[0], "tip").position - finger.locate(ends[1], "tip").position) / (2 * h)
    assert relative(exact, slope) < 1e-6


def test_shape_parameters_map_to_young_and_poisson():
    for nu in (0.0, 0.2, 0.4, 0.49):
        R = shape_parameter(nu)
        material = Corotational.from_young(1e6, nu)
        young, poisson = moduli_of(R, material.shear / R)
        assert young == pytest.approx(1e6)
        assert poisson == pytest.approx(nu)


@pytest.mark.parametrize("mode", ["uniaxial", "planar", "equibiaxial"])
def test_secant_curve_reproduces_its_test(mode):
    """With the volume kept, dW/dstretch of the sample is the nominal stress of the law."""
    law = MooneyRivlin(c10=0.119e6, c01=0.023e6, bulk=1e9)
    curve = SecantCurve.of(law, mode=mode)
    power = {"uniaxial": -0.5, "planar": -1.0, "equibiaxial": -2.0}[mode]

    def energy(s):
        lateral = s**power
        stretches = {"uniaxial": (s, lateral, lateral), "planar": (s, 1.0, lateral), "equibiaxial": (s, s, lateral)}
        d = np.linalg.norm(np.array(stretches[mode]) - 1.0)
        fine = np.linspace(0, d, 4001)
        return np.trapezoid(2 * fine * curve(fine), fine)

    for s in (1.2, 1.6, 2.0):
        slope = (energy(s + 1e-3) - energy(s - 1e-3)) / 2e-3
        expected = getattr(law.with_poisson(0.4999), mode)(np.array([s]))[0] * (2 if mode == "equibiaxial" else 1)
        assert slope == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("law", [
    NeoHookeanLog.from_young(3e5, 0.45), MooneyRivlin.from_young(3e5, 0.45), Ogden.from_young(3e5, 0.45, alpha=4.0),
])  # fmt: skip
def test_stretch_curve_reproduces_all_tests_of_the_incompressible_rubber(law):
    curve = StretchCurve.of(law)
    assert curve.shear == pytest.approx(law.shear, rel=1e-4)
    s = np.array([1.05, 1.3, 2.0, 4.0])
    stiff = law.with_poisson(0.49999)
    assert curve(s) - s**-1.5 * curve(s**-0.5) == pytest.approx(stiff.uniaxial(s), rel=2e-3)
    assert curve(s) - s**-2.0 * curve(1.0 / s) == pytest.approx(stiff.planar(s), rel=2e-3)
    assert curve(s[:3]) - s[:3] ** -3.0 * curve(s[:3] ** -2.0) == pytest.approx(stiff.equibiaxial(s[:3]), rel=2e-3)
    assert curve.secant(1.0) == pytest.approx(law.shear, rel=1e-4)
    assert 2.0 * curve.secant(1.3) * 0.3 == pytest.approx(curve(1.3))


def test_stretch_curve_from_measured_tests():
    law = Ogden.from_young(3e5, 0.49999, alpha=3.0)
    pull, sheet = np.linspace(1.05, 4.0, 25), np.linspace(1.03, 2.2, 20)
    measured = StretchCurve.from_tests((pull, law.uniaxial(pull)), (sheet, law.equibiaxial(sheet)))
    s = np.array([0.3, 0.6, 0.9, 1.2, 2.0, 3.5])
    assert measured(s) == pytest.approx(StretchCurve.of(law)(s), rel=0.01, abs=0.002 * law.shear)
    with pytest.raises(ArgumentError, match="equibiaxial"):
        StretchCurve.from_tests((pull, law.uniaxial(pull)), (sheet - 1.0, law.equibiaxial(sheet)))
    with pytest.raises(ArgumentError, match="falls"):
        StretchCurve.from_true_stress(lambda x: -x)


@pytest.mark.parametrize("ratio", [0.0, -1.0, np.nan, np.inf])
def test_impossible_ratios_are_refused(finger, ratio):
    with pytest.raises(ArgumentError, match="air"):
        finger.command({"air": ratio})


def test_bad_arguments_are_named():
    robot = pneumatic_finger(teeth=2, size=5e-3)
    with pytest.raises(ArgumentError, match="volume"):
        GeometricModel(robot, volume="none")
    with pytest.raises(ArgumentError, match="stiffness"):
        GeometricModel(robot, stiffness="soft")
    with pytest.raises(ArgumentError, match="poisson"):
        GeometricModel(robot, poisson=0.5)
    pressed = robot.but(actuators=(Chamber(name="air"),))
    with pytest.raises(ArgumentError, match="driven by effort"):
        GeometricModel(pressed).command({"air": 2.0})


def test_pressure_input_and_volume_input_agree(finger):
    by_volume = flex(finger, finger.command({"air": 1.4}))
    robot = finger.robot.but(actuators=(Chamber(name="air"),))
    by_pressure = flex(GeometricModel(robot), {"air": by_volume.effort[0]})
    assert by_pressure.ok
    assert relative(by_pressure.q, by_volume.q) < 1e-7


def test_flex_carries_the_whole_load_where_it_has_to_pause():
    """A load approached in parts: the pose held between two parts is no answer."""
    robot = three_chamber_arm(size=0.03, folds=2).but(gravity=(0, 0, 0))
    model = GeometricModel(robot)
    command = [-60e3, 200e3, 200e3]
    state = flex(model, command, stride=0.02)
    assert state.ok
    assert state.effort == pytest.approx(command, rel=1e-12)
    assert np.abs(state.q - equilibrium(model, command).q).max() < 1e-8


def test_equilibrium_and_flex_agree(finger):
    command = finger.command({"air": 1.5})
    a, b = flex(finger, command), equilibrium(finger, command)
    assert a.ok and b.ok
    assert relative(a.q, b.q) < 1e-7
    assert finger.ratios(a)["air"] == pytest.approx(1.5, abs=1e-10)
