"""The rigid-link paper in simulation: checks 6.2, each test named after its row."""

from functools import cache

import numpy as np
import pytest

from pliant.control.loop import closed_loop
from pliant.control.observation import FrameSensor, settling
from pliant.control.pressures import PressureMap
from pliant.control.task_space_pid import TaskSpacePid
from pliant.models import basis
from pliant.models.link import LinkModel
from pliant.models.rod import RodModel
from pliant.models.rod_rollout import rollout
from pliant.models.segments import representation_errors
from pliant.robots.four_segment_arm import AREA, LEVER, arm_channels, four_segment_arm
from pliant.solve.equilibrium import equilibrium

MAP = PressureMap(AREA, LEVER, LEVER)
FRAMES = tuple(f"frame{i}" for i in range(1, 5))
STRAINS = ("twist", "bend_y", "bend_z", "stretch")


@cache
def plant(payload=0.0, gravity=True, order=1, shear=False):
    robot = four_segment_arm(payload=payload, gravity=gravity)
    return RodModel(
        robot,
        basis=basis.legendre(order, strains=basis.STRAINS if shear else STRAINS),
        chambers=arm_channels(robot),
    )


@cache
def link():
    robot = four_segment_arm()
    return LinkModel(robot, chambers=arm_channels(robot))


def sensor(model, **options):
    return FrameSensor(model, FRAMES, link().frames(link().rest)[0], **options)


def bend(degrees, directions=(0.0, 0.0, 0.0, 0.0)):
    """Pressures (negative ones too.

    The paper's actuation is a moment) that bend every segment in a direction.
    """
    tau = 55.556 * np.radians(degrees) * np.stack([np.cos(directions), -np.sin(directions), np.zeros(4)], axis=1)
    return MAP.pressures(tau).ravel()


def sweep(model, directions=(0.0,) * 4, degrees=(10, 25, 45), **options):
    out, state = [], None
    see = sensor(model, **options)
    for angle in degrees:
        state = equilibrium(model, bend(angle, np.array(directions)), start=state)
        assert state.ok
        out.append(see(state))
    return out


def errors(samples, family):
    found = representation_errors(samples, family, **({} if family.startswith("arc") else {"straight": 1e-3}))
    return found.position.max(), found.angle.max()


@pytest.mark.parametrize("direction", [0.0, np.pi / 2])
def test_6_2_case_b_static_link_is_exact_arc_is_not(direction):
    samples = sweep(plant(0.5, order=2, shear=True), (direction,) * 4)
    assert errors(samples, "paper")[0] < 1e-9
    assert errors(samples, "arc_position")[0] == pytest.approx(18e-3, rel=0.1)  # 18.5 mm in table 1
    assert errors(samples, "arc_orientation")[0] == pytest.approx(5.2e-3, rel=0.1)  # 5.31 mm


def test_6_2_case_a_static_both_are_exact():
    samples = sweep(plant(0.0, False))
    assert errors(samples, "paper")[0] < 1e-9
    assert errors(samples, "arc_position")[0] < 1e-9


def test_6_2_case_a_dynamic_link_is_exact_arc_error_swings():
    model = plant(0.0, False, shear=True)
    run = rollout(model, model.rest, duration=0.6, dt=2e-3, effort=bend(30.0), every=10)
    assert run.ok
    samples = [sensor(model)(q) for q in run.q[6:]]
    link_error = representation_errors(samples, "paper", straight=1e-6)
    arc = representation_errors(samples, "arc_position")
    assert link_error.position.max() < 1e-9
    assert arc.position.max() > 1e-4
    assert np.count_nonzero(np.diff(np.sign(np.diff(arc.position)))) >= 1


def test_6_2_case_c_helix_the_fifth_state_wins():
    samples = sweep(plant(0.5, shear=True), (0.0, np.pi / 2, np.pi, 1.5 * np.pi))
    five = errors(samples, "constant_velocity+twist")
    assert five[0] < 2.5e-3  # 1.99 mm in table 1
    assert five[1] < 1e-9
    for other in ("paper", "arc_position", "arc_orientation", "constant_velocity"):
        assert errors(samples, other)[0] > 3 * five[0]


def test_universal_joint_is_wrong_off_the_principal_planes():
    """Table 1: at 45 degrees the published estimator misses by 104 mm.

    The constant-velocity joint by nothing.
    """
    samples = sweep(plant(0.5, shear=True), (np.pi / 4,) * 4)
    assert errors(samples, "paper")[0] == pytest.approx(0.1036, rel=0.02)
    assert errors(samples, "constant_velocity")[0] < 1e-9


def test_6_2_loaded_pressure_sweep_with_marker_noise():
    """Marker noise that puts the link at 3 % of the length; mean of the ratios of maxima over ten seeds."""
    ratios, sizes, turns = [], [], []
    for seed in range(10):
        samples = sweep(
            plant(0.5, shear=True), degrees=np.linspace(5, 45, 9), noise=1.1e-2, angle_noise=5e-3, seed=seed
        )
        links = representation_errors(samples, "universal", lengths="regularised", regularisation=0.01)
        arcs = representation_errors(samples, "arc_position")
        sizes.append(links.position.max() / 0.6)
        ratios.append(arcs.position.max() / links.position.max())
        turns.append(arcs.angle.max() / links.angle.max())
    assert np.mean(sizes) == pytest.approx(0.03, rel=0.3)
    assert np.mean(ratios) >= 3.7
    assert np.mean(turns) >= 4.6


def test_6_2_loaded_pressure_sweep_with_marker_offset():
    """Marker bodies that sit beside the segments' ends, what the paper blames its 3 % on: the aim of 6.7 is met, and
    the link's error does not grow with the pressure."""
    ratios, sizes, turns, trend = [], [], [], []
    for seed in range(10):
        samples = sweep(
            plant(0.5, shear=True), degrees=np.linspace(5, 45, 9), offset=3e-2, angle_noise=8e-3, seed=seed
        )
        links = representation_errors(samples, "universal", lengths="regularised", regularisation=0.01)
        arcs = representation_errors(samples, "arc_position")
        sizes.append(links.position.max() / 0.6)
        ratios.append(arcs.position.max() / links.position.max())
        turns.append(arcs.angle.max() / links.angle.max())
        trend.append(links.position)
    assert np.mean(sizes) == pytest.approx(0.03, rel=0.2)
    assert np.mean(ratios) >= 6.7
    assert np.mean(turns) >= 4.6
    mean = np.mean(trend, axis=0)
    assert mean[-3:].mean() < 1.2 * mean[:3].mean()  # high against low pressures


@cache
def reach(payload, kind, target, duration=8.0, kp=3.0):
    model = plant(payload)
    control = TaskSpacePid(link(), sensor(model), np.array(target), MAP, jacobian=kind, stiffness="tangent", kp=kp)
    start = equilibrium(model, np.full(16, 1e5))
    run = closed_loop(model, control, duration=duration, start=start, dt=0.01, lag=0.1)
    assert run.ok
    e = run.error("tip")
    return float(e[-10:].mean()), settling(run.time, e)


def targets(n, seed=1):
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        tau = MAP.admissible(rng.uniform(-1, 1, (4, 3)) * [14, 14, 0] + [0, 0, 4 * AREA * 1e5])
        state = equilibrium(plant(), MAP.pressures(tau).ravel())
        out.append(tuple(plant().locate(state, "tip").position))
    return out


def test_6_2_ten_targets():
    found = np.array([reach(0.0, "estimated", t) for t in targets(10)])
    assert found[:, 0].mean() < 6.75e-3  # published; here far below, on a plant without friction
    assert found[:, 0].mean() < 2e-4
    assert found[:, 1].mean() < 3.34


def test_6_2_unknown_loads_do_not_matter():
    target = targets(1)[0]
    found = np.array([reach(m, "estimated", target) for m in (0.0, 0.1, 0.2, 0.5)])
    assert found[:, 0].max() < 1e-3
    assert found[:, 1].max() < 3.34


def test_6_2_baseline_is_worse_where_gains_are_high():
    """Row "PUJ vs baseline" (published: error ratio 2.4, settling ratio 2.0; the baseline is not specified).

    Every controller here adds J^+ times the error to its pressures, tick by tick: it integrates, and on a plant without
    friction each of them ends at the target, whatever its Jacobian (measured at kp = 3: below 0.01 mm, settling within
    5 %). The Jacobian decides how much gain the loop bears. At twice the gain the constant one keeps swinging twice as
    far, and settles later; the arcs' Jacobian is as good as the link's.
    """
    goals = targets(2)
    found = {k: np.mean([reach(0.2, k, t, kp=6.0) for t in goals], axis=0) for k in ("estimated", "arc", "constant")}
    assert found["constant"][0] > 1.8 * found["estimated"][0]
    assert found["constant"][1] > 1.2 * found["estimated"][1]
    assert found["arc"][0] == pytest.approx(found["estimated"][0], rel=0.1)
    slow = {k: np.mean([reach(0.2, k, t) for t in goals], axis=0) for k in ("estimated", "constant")}
    assert max(slow["constant"][0], slow["estimated"][0]) < 1e-5
    assert slow["constant"][1] == pytest.approx(slow["estimated"][1], rel=0.1)


def star(t, duration=25.0, centre=(0.0, 0.0, -0.655), size=0.15):
    corner = np.exp(1j * (np.pi / 2 + 4 * np.pi / 5 * np.arange(6)))
    s = 5.0 * np.clip(t / duration, 0, 1 - 1e-12)
    k = int(s)
    z = size * ((1 - s + k) * corner[k] + (s - k) * corner[k + 1])
    return np.array(centre) + np.array([z.real, z.imag, 0.5 * abs(z) ** 2])


def test_6_2_star_under_the_largest_load():
    model = plant(0.5)
    control = TaskSpacePid(link(), sensor(model), star, MAP, stiffness="tangent")
    run = closed_loop(model, control, duration=25.0, start=equilibrium(model, np.full(16, 1e5)), dt=0.01, lag=0.1)
    assert run.ok
    e = run.error("tip")[40:]
    assert np.sqrt(np.mean(e**2)) < 6e-3


def test_pose_target_is_reached():
    model = plant()
    goal = equilibrium(model, MAP.pressures(np.tile([8.0, 5.0, 800.0], (4, 1)) * [[1], [1], [-0.5], [1]]).ravel() + 1e5)
    pose = sensor(model)(goal)[-1]
    control = TaskSpacePid(link(), sensor(model), pose, MAP, stiffness="tangent")
    run = closed_loop(model, control, duration=8.0, start=equilibrium(model, np.full(16, 1e5)), dt=0.01)
    left = control.error(0.0, sensor(model)(run[len(run) - 1]))
    assert np.abs(left[3:]).max() < 1e-3
    assert np.abs(left[:2]).max() < 2e-2
