"""LinkModel: the contract, Jacobians, motion, and its kinematics against the segment formulas."""

import numpy as np
import pytest
from harness import check_derivatives, check_virtual_work

import pliant as pl
from pliant.errors import ArgumentError
from pliant.materials import NeoHookean
from pliant.models import segments as sg
from pliant.models.contract import Model
from pliant.models.link import LinkModel
from pliant.models.rod_drives import ChamberPath
from pliant.solve.equilibrium import equilibrium
from pliant.solve.simulate import simulate

SOFT = NeoHookean.from_young(1e6, 0.45, density=1000.0)


def arm(n=3, gravity=(0, 0, -9.81)):
    bodies = [
        pl.RodBody(
            f"s{i}", 0.15, 0.02, SOFT, parent=f"s{i - 1}" if i else "", damping=0.01,
            rotation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0) if i == 0 else (1, 0, 0, 0), tip_mass=0.05 if i == n - 1 else 0,
        )
        for i in range(n)
    ]  # fmt: skip
    cable = pl.Cable(name="c", points=[(0.01, 0, 0), (0.01, 0, -0.15 * n)], drive="effort")
    points = (pl.Point("end", (0, 0, -0.15 * n)), pl.Point("inside", (0.01, 0.005, -0.1)))
    return pl.Robot(
        "arm", tuple(bodies), actuators=(cable, pl.Chamber(name="p")), points=points, gravity=gravity
    )


CHANNEL = {"p": ChamberPath(((0, 0.01, -0.15), (0, 0.01, -0.3)), 1e-4)}


def model_of(joint, **options):
    return LinkModel(arm(), joint=joint, chambers=CHANNEL, **options)


def bent(model, seed=0):
    rng = np.random.default_rng(seed)
    width = model.nq // model.segments
    return (
        model.rest
        + (
            rng.standard_normal((model.segments, width)) * np.array([0.02, 0.5, 0.5, 0.02, 0.3])[:width]
        ).ravel()
    )


@pytest.mark.parametrize("joint", sg.JOINTS)
def test_contract(joint):
    model = model_of(joint)
    assert isinstance(model, Model)
    for q in (bent(model), model.rest.copy()):
        check_derivatives(model, q, np.array([2.0, 1e4]))
        check_virtual_work(model, q, np.array([2.0, 1e4]))


@pytest.mark.parametrize("joint", sg.JOINTS)
def test_frames_are_the_chain_of_segments(joint):
    model = model_of(joint)
    q = bent(model, 1)
    frames = model.frames(q)
    rows = q.reshape(model.segments, -1)
    expected = sg.chain([sg.segment_transform(r, joint) for r in rows], frames[0])
    assert np.abs(frames - expected).max() < 1e-14
    assert np.abs(model.estimate(frames).q - rows).max() < 1e-12
    assert np.allclose(frames[0][:3, 2], [0, 0, -1], atol=1e-15)
    assert np.allclose(model.locate(q, "end").position, frames[-1][:3, 3], atol=1e-15)


@pytest.mark.parametrize("joint", sg.JOINTS)
def test_6_1_6_jacobian_against_central_differences(joint):
    model = model_of(joint)
    q = bent(model, 2)
    J = model.locate(q, "end", jacobian=True).jacobian
    h = 1e-6
    for i, e in enumerate(np.eye(model.nq)):
        a, b = model.locate(q + h * e, "end"), model.locate(q - h * e, "end")
        assert np.abs((a.position - b.position) / (2 * h) - J[3:, i]).max() < 1e-9
        spin = (a.rotation - b.rotation) / (2 * h) @ model.locate(q, "end").rotation.T
        assert np.abs(np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) - J[:3, i]).max() < 1e-9


@pytest.mark.parametrize("joint", sg.JOINTS)
def test_inertia_and_bias_belong_together(joint):
    """bias = Mdot v - 1/2 d(v M v)/dq: Lagrange's equations."""
    model = model_of(joint)
    rng = np.random.default_rng(3)
    q, v, h = bent(model, 3), rng.standard_normal(model.nq), 1e-6
    M = model.inertia(q)
    assert np.linalg.eigvalsh(M).min() > 0
    assert np.abs(M - M.T).max() < 1e-18
    rate = (model.inertia(q + h * v) - model.inertia(q - h * v)) / (2 * h)
    grad = np.array(
        [
            (v @ model.inertia(q + h * e) @ v - v @ model.inertia(q - h * e) @ v) / (2 * h)
            for e in np.eye(len(q))
        ]
    )
    expected = rate @ v - 0.5 * grad
    assert np.abs(model.bias(q, v) - expected).max() < 1e-7 * np.abs(expected).max()


def test_hanging_arm_is_an_equilibrium_and_swings_back():
    model = model_of("constant_velocity+twist")
    rest = equilibrium(model)
    assert rest.status.ok
    assert np.abs(rest.q.reshape(3, 5)[:, 1:3]).max() < 1e-12
    pulled = equilibrium(model, {"c": 10.0})
    # the cable runs at +x: it pulls the tip towards +x
    assert model.locate(pulled, "end").position[0] > 0.02
    run = simulate(model, duration=0.3, dt=5e-3, start=pulled.but(u=np.zeros(2), effort=np.zeros(2)))
    assert run.ok
    assert run.points["end"][-1, 0] < 0.5 * run.points["end"][0, 0]


def test_pressure_bends_like_the_rod():
    from pliant.models import basis
    from pliant.models.rod import RodModel

    robot = arm(gravity=(0, 0, 0))
    rod = RodModel(robot, basis=basis.constant(), chambers=CHANNEL)
    link = LinkModel(robot, chambers=CHANNEL)
    a, b = equilibrium(rod, {"p": 1e5}), equilibrium(link, {"p": 1e5})
    x, y = rod.locate(a, "end").position, link.locate(b, "end").position
    assert np.linalg.norm(x - [0, 0, -0.45]) > 0.02
    assert np.linalg.norm(x - y) < 2e-3


def test_bad_input():
    with pytest.raises(ArgumentError, match="joint"):
        model_of("ball")
    with pytest.raises(ArgumentError, match="stiffness"):
        model_of("universal", stiffness=np.zeros(12))
    with pytest.raises(ArgumentError, match="q"):
        model_of("universal").frames(np.zeros(3))


def test_an_arm_without_actuators_hangs_under_its_weight():
    body = pl.RodBody("rod", 0.3, 0.01, SOFT)
    robot = pl.Robot("bare", (body,), points=(pl.Point("tip", (0.3, 0, 0)),))
    link, rod = LinkModel(robot, segments=16), pl.RodModel(robot)
    state = equilibrium(link)
    assert state.status.ok and link.nu == 0 and link.actuation(link.rest, np.zeros(0)).shape == (link.nv, 0)
    wanted = rod.locate(equilibrium(rod), "tip").position
    assert np.linalg.norm(link.locate(state, "tip").position - wanted) < 0.005 * np.linalg.norm(wanted - (0.3, 0, 0))


@pytest.mark.parametrize("segments", [1.5, 2.0, 0, "2", True])
def test_segments_are_counted(segments):
    with pytest.raises(ArgumentError, match="segments"):
        model_of(sg.JOINTS[0], segments=segments)


@pytest.mark.parametrize(
    "actuator",
    [
        pl.PointForce(name="f", point=(0.3, 0, 0), direction=(0, 0, 1)),
        pl.Cable(name="f", points=((0.15, 0, 0.008), (0.3, 0, 0.008)), pull_point=(-0.1, 0, 0.008)),
        pl.Cable(name="f", points=((0.0, 0, 0.008), (0.3, 0, 0.008)), friction=0.1),
        pl.Slide(name="f", part="rod", axis=(1, 0, 0)),
        pl.Wrench(name="f", point=(0.3, 0, 0), force=(0, 0, 1)),
    ],
)
def test_what_is_not_linear_in_the_links_is_refused(actuator):
    with pytest.raises(ArgumentError, match="channel inside"):
        LinkModel(pl.Robot("r", (pl.RodBody("rod", 0.3, 0.01, SOFT),), actuators=(actuator,)))
