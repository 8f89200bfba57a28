"""FemModel against analytical solutions, with convergence under refinement."""

import numpy as np
import pytest
from harness import box_robot

from pliant.actuators import Chamber, PointForce
from pliant.bodies import Fixation, Point, RigidRegion, SoftBody
from pliant.geometry import TetMesh
from pliant.geometry.structured import cylinder_shell_mesh, sphere_shell_mesh
from pliant.materials import Linear, MooneyRivlin, NeoHookean, NeoHookeanLog, Ogden, Yeoh
from pliant.models.fem import FemModel
from pliant.robot import Robot
from pliant.solve.equilibrium import equilibrium


def cantilever(element, cells, *, nu=0.3, law=Linear, length=0.1, height=0.01, young=1e6, rho=100.0):
    robot = box_robot((length, height, height), cells, law.from_young(young, nu, density=rho), gravity=(0, 0, -9.81),
                      points=(Point("tip", (length, height / 2, height / 2)),))  # fmt: skip
    model = FemModel(robot, element=element)
    state = equilibrium(model, strict=True)
    return height / 2 - model.locate(state, "tip").position[2]


def sag(nu=0.3, length=0.1, height=0.01, young=1e6, rho=100.0):
    """Timoshenko cantilever under its own weight."""
    w = rho * 9.81 * height**2
    inertia, shear = height**4 / 12, young / (2 * (1 + nu))
    k = 10 * (1 + nu) / (12 + 11 * nu)
    return w * length**4 / (8 * young * inertia) + w * length**2 / (2 * k * shear * height**2)


def test_cantilever_small_deflection_converges_to_the_beam():
    assert cantilever("quadratic", (20, 2, 2)) == pytest.approx(sag(), rel=0.015)
    assert cantilever("quadratic", (10, 1, 1)) == pytest.approx(sag(), rel=0.04)


def test_convergence_rate_of_linear_elements():
    """Displacements converge with h^2: the error falls about four times when the mesh is halved."""
    fine = cantilever("quadratic", (9, 3, 3), length=0.03)
    errors = [abs(cantilever("linear", (3 * n, n, n), length=0.03) - fine) for n in (2, 4, 8)]
    rates = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert rates[-1] > 1.5
    assert errors == sorted(errors, reverse=True)


def test_volume_locking_is_absent_in_quadratic_elements():
    """nu = 0.4999 beam within 2 % of the incompressible answer on a practical mesh; linear tets lock."""
    reference = cantilever("quadratic", (30, 3, 3), nu=0.4999, law=NeoHookean)
    practical = cantilever("quadratic", (20, 2, 2), nu=0.4999, law=NeoHookean)
    coarse = cantilever("quadratic", (10, 1, 1), nu=0.4999, law=NeoHookean)
    assert reference == pytest.approx(sag(nu=0.5), rel=0.04)  # the clamp of a real end face costs 3 %
    assert practical == pytest.approx(reference, rel=0.02)
    assert coarse == pytest.approx(reference, rel=0.04)
    assert cantilever("linear", (20, 2, 2), nu=0.4999, law=NeoHookean) < 0.2 * reference


def test_cantilever_large_deflection_is_the_elastica():
    """P L^2 / E I = 5: tip at w/L = 0.71379, u/L = 0.38763 (Mattiasson 1981)."""
    length, height, young = 0.2, 0.005, 1e6
    load = 5 * young * height**4 / 12 / length**2
    robot = box_robot((length, height, height), (30, 1, 1), NeoHookean.from_young(young, 0.0),
                      rigid=(RigidRegion("plate", "end"),), points=(Point("tip", (length, height / 2, height / 2)),),
                      actuators=(PointForce(name="p", point=(length, height / 2, height / 2), direction=(0, 0, -1)),)
    )  # fmt: skip
    model = FemModel(robot, element="quadratic")
    state = equilibrium(model, {"p": load}, strict=True)
    tip = model.locate(state, "tip").position - [length, height / 2, height / 2]
    assert -tip[2] / length == pytest.approx(0.71379, rel=0.01)
    assert -tip[0] / length == pytest.approx(0.38763, rel=0.015)


def sphere(inner, outer, material, n, element, n_radial=2):
    mesh = sphere_shell_mesh(inner, outer, n_radial, n)
    fixations = []
    for i, axis in enumerate("xyz"):
        others = [j for j in range(3) if j != i]
        on_axis = np.flatnonzero(np.abs(mesh.nodes[:, others]).max(axis=1) < 1e-12)
        mesh = mesh.with_node_set(f"on-{axis}", on_axis)
        fixations.append(Fixation(f"on-{axis}", axes="xyz".replace(axis, "")))
    robot = Robot("sphere", (SoftBody("b", mesh, material),), tuple(fixations), gravity=(0, 0, 0),
                  actuators=(Chamber(name="inner", cavity="inner"),))  # fmt: skip
    return FemModel(robot, element=element)


def test_thick_sphere_small_strain_is_lame():
    a, b, young, nu, p = 0.01, 0.02, 1e6, 0.3, 100.0
    radial = p * a**3 / (b**3 - a**3) * ((1 - 2 * nu) * a / young + (1 + nu) * b**3 / (2 * young * a**2))
    exact = radial / a
    errors = []
    for n in (1, 2, 4):
        model = sphere(a, b, Linear.from_young(young, nu), n, "quadratic", n)
        state = equilibrium(model, {"inner": p}, strict=True)
        volume = model._bound[0][1].rest_volume
        stretch = (1 + state.displacement[0] / volume) ** (1 / 3) - 1
        errors.append(abs(stretch / exact - 1))
    assert errors[-1] < 0.01
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("stretch", [1.2, pytest.param(1.6, marks=pytest.mark.slow)])
def test_thick_sphere_finite_strain_neo_hookean(stretch):
    """Incompressible neo-Hookean shell: p = mu/2 [ (4/lb + 1/lb^4) - (4/la + 1/la^4) ]."""
    a, b, young = 0.01, 0.02, 3e5
    mu = young / 3
    outer = (1 + (stretch**3 - 1) * (a / b) ** 3) ** (1 / 3)
    pressure = mu / 2 * ((4 / outer + outer**-4) - (4 / stretch + stretch**-4))
    model = sphere(a, b, MooneyRivlin.from_young(young, 0.4999, ratio=0.0), 3, "quadratic", 2)
    chamber = model.robot.actuators[0]
    driven = FemModel(model.robot.but(actuators=(Chamber(name="inner", cavity="inner", drive="displacement"),)),
                      element="quadratic")  # fmt: skip
    volume = driven._bound[0][1].rest_volume
    state = equilibrium(driven, {"inner": volume * (stretch**3 - 1)}, strict=True)
    assert state.effort[0] == pytest.approx(pressure, rel=0.02)
    same = equilibrium(model, {"inner": state.effort[0]}, start=state.but(u=np.zeros(1)), strict=True)
    assert same.displacement[0] == pytest.approx(state.displacement[0], rel=1e-6), chamber


def test_thick_cylinder_is_lame():
    """Plane strain ring under internal pressure, applied as its consistent nodal forces."""
    a, b, height, young, nu, p = 0.01, 0.02, 0.004, 1e6, 0.3, 100.0
    exact = (1 + nu) / young * p * a**2 / (b**2 - a**2) * ((1 - 2 * nu) * a + b**2 / a)
    errors = []
    for n in (1, 2):
        mesh = cylinder_shell_mesh(a, b, height, n_radial=4 * n, n_around=24 * n, n_length=n)
        x = mesh.nodes
        radius = np.hypot(x[:, 0], x[:, 1])
        push = np.zeros(len(x))
        for t in mesh.surfaces["inner"]:
            push[t] += np.linalg.norm(np.cross(x[t[1]] - x[t[0]], x[t[2]] - x[t[0]])) / 6
        mesh = mesh.with_node_set("all", np.arange(len(x)))
        mesh = mesh.with_node_set("x", np.flatnonzero(np.abs(x[:, 1]) < 1e-12))
        mesh = mesh.with_node_set("y", np.flatnonzero(np.abs(x[:, 0]) < 1e-12))
        inside = np.flatnonzero(push > 0)
        forces = tuple(PointForce(name=f"f{i}", point=tuple(x[i]), direction=(x[i, 0], x[i, 1], 0.0)) for i in inside)
        robot = Robot("ring", (SoftBody("b", mesh, Linear.from_young(young, nu)),), gravity=(0, 0, 0), actuators=forces,
                      fixations=(Fixation("all", axes="z"), Fixation("x", axes="y"), Fixation("y", axes="x"))
                      )  # fmt: skip
        model = FemModel(robot)
        state = equilibrium(model, p * push[inside], strict=True)
        moved = model.positions(state.q)[inside]
        errors.append(abs(float((np.hypot(moved[:, 0], moved[:, 1]) - a).mean()) / exact - 1))
        assert radius.min() > 0
    assert errors[1] < 0.02
    assert errors[1] < 0.45 * errors[0]


@pytest.mark.parametrize("law", [NeoHookeanLog, NeoHookean, MooneyRivlin, Yeoh, Ogden])
def test_uniaxial_curve_of_a_bar(law):
    """A bar pulled between sliding plates follows the law's own uniaxial curve."""
    material = law.from_young(1e5, 0.45)
    mesh = TetMesh.box((0.02, 0.01, 0.01), (2, 1, 1))
    nodes = mesh.nodes
    mesh = mesh.with_node_set("base", np.flatnonzero(nodes[:, 0] < 1e-9)).with_node_set(
        "end", np.flatnonzero(nodes[:, 0] > 0.02 - 1e-9)
    )
    mesh = mesh.with_node_set("y0", np.flatnonzero(nodes[:, 1] < 1e-9)).with_node_set(
        "z0", np.flatnonzero(nodes[:, 2] < 1e-9)
    )
    forces = tuple(PointForce(name=f"f{i}", point=tuple(nodes[i]), direction=(1, 0, 0)) for i in mesh.node_sets["end"])
    robot = Robot("bar", (SoftBody("b", mesh, material),), gravity=(0, 0, 0), actuators=forces,
                  fixations=(Fixation("base", axes="x"), Fixation("y0", axes="y"), Fixation("z0", axes="z"))
                  )  # fmt: skip
    model = FemModel(robot)
    # The consistent loads of a uniform stress on the end face.
    stress = float(material.uniaxial(np.array([1.8]))[0])
    share = np.zeros(len(forces))
    faces = [t for t in mesh.boundary() if set(t) <= set(mesh.node_sets["end"].tolist())]
    for t in faces:
        area = 0.5 * np.linalg.norm(np.cross(nodes[t[1]] - nodes[t[0]], nodes[t[2]] - nodes[t[0]]))
        for v in t:
            share[list(mesh.node_sets["end"]).index(v)] += area / 3
    state = equilibrium(model, stress * share, strict=True)
    x = model.positions(state.q)
    assert x[mesh.node_sets["end"], 0] / 0.02 == pytest.approx(1.8, rel=1e-6)


def test_A3_force_falls_with_refinement():
    """Coarser meshes are stiffer: the cable force falls monotonically with refinement (spec 7.2)."""
    from pliant.actuators import Cable

    forces = []
    for n in (1, 2, 3):
        xs = np.linspace(0.02, 0.1, 5)
        cable = Cable(name="c", points=[(x, 0.0075, 0.015) for x in xs], pull_point=(0, 0.0075, 0.015))
        robot = box_robot((0.1, 0.015, 0.015), (8 * n, n, n), NeoHookean.from_young(3e5, 0.45), actuators=(cable,))
        state = equilibrium(FemModel(robot), {"c": 0.015}, strict=True)
        forces.append(state.effort[0])
    assert forces[0] > forces[1] > forces[2] > 0


def test_B2_hydraulic_weight_is_rho_V_g():
    """The hydrostatic load of a filled chamber sums up to the weight of the liquid, in any pose."""
    mask = np.ones((4, 4, 4), dtype=bool)
    mask[1:-1, 1:-1, 1:-1] = False
    mesh = TetMesh.voxels(mask, 0.01, (0, 0, 0)).with_cavity("hole")
    mesh = mesh.with_node_set("base", np.flatnonzero(mesh.nodes[:, 2] < 1e-9))
    robot = Robot("tank", (SoftBody("b", mesh, NeoHookean.from_young(1e5, 0.45)),), (Fixation("base"),),
                  actuators=(Chamber(name="hole", fluid_density=1000.0),))  # fmt: skip
    for element in ("linear", "quadratic"):
        model = FemModel(robot, element=element)
        x = model.layout.rest_nodes + 1e-3 * np.random.default_rng(0).standard_normal(model.layout.rest_nodes.shape)
        load = np.zeros_like(x)
        model._springs[0].add_gradient(x, -1.0, load)
        volume = model._bound[0][1].volume(x)
        assert load.sum(axis=0) == pytest.approx([0, 0, -1000.0 * 9.81 * volume], rel=1e-9, abs=1e-12)


def test_equibiaxial_and_balloon_limit_point():
    """A balloon driven by volume passes the pressure maximum of a neo-Hookean shell at stretch 7^(1/6)."""
    model = sphere(0.0095, 0.01, MooneyRivlin.from_young(3e5, 0.499, ratio=0.0), 2, "quadratic", 1)
    robot = model.robot.but(actuators=(Chamber(name="inner", cavity="inner", drive="displacement"),))
    model = FemModel(robot, element="quadratic")
    volume = model._bound[0][1].rest_volume
    stretches = [1.1, 1.25, 1.38, 1.6, 1.9]
    pressures, state = [], None
    for s in stretches:
        state = equilibrium(model, {"inner": volume * (s**3 - 1)}, start=state, strict=True)
        pressures.append(state.effort[0])
    assert np.argmax(pressures) == 2, "the maximum lies at about 1.383"
    mu, thickness = 1e5, 0.05
    membrane = [2 * mu * thickness * (1 / s - s**-7) for s in stretches]
    assert pressures == pytest.approx(membrane, rel=0.1)
