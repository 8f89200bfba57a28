"""The peers' side of benchmarks/peers: run by the interpreter of their own environment, prints one JSON list of rows.

    python -m venv peers && peers/bin/pip install pyelastica mujoco scipy
    peers/bin/python benchmarks/peers/theirs.py

The same rod and the same cube as ours, the same references. Neither has statics: poses at rest are reached by damped
motion, and the time is that of the whole motion.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import references as exact
from rows import Row, row

TIP_LOAD = 0.05
FRICTION, SPEED = 0.3, 0.5


def _elastica_rod(ea: Any, elements: int, direction: Any = (1.0, 0, 0), start: Any = (0.0, 0, 0)) -> Any:
    return ea.CosseratRod.straight_rod(
        elements, np.array(start, float), np.array(direction, float), np.array([0, 1.0, 0]), exact.LENGTH, exact.RADIUS,
        exact.DENSITY, youngs_modulus=exact.YOUNG, shear_modulus=exact.SHEAR,
    )  # fmt: skip


def _collection(ea: Any) -> Any:
    class Rods(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Damping, ea.Contact):
        pass

    return Rods()


def _stable(elements: int) -> float:
    return float(0.3 * exact.LENGTH / elements * np.sqrt(exact.DENSITY / exact.YOUNG))


def elastica_noodle(elements: int = 40, duration: float = 6.0) -> Iterator[Row]:
    """PyElastica: a heavy cantilever with a tip load, damped until it rests."""
    import elastica as ea

    rods, rod = _collection(ea), _elastica_rod(ea, elements)
    rods.append(rod)
    rods.constrain(rod).using(ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
    rods.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array([0, 0, -exact.GRAVITY]))
    load = np.array([0, 0, -TIP_LOAD])
    rods.add_forcing_to(rod).using(ea.EndpointForces, 0 * load, load, ramp_up_time=0.5)
    dt = _stable(elements)
    rods.dampen(rod).using(ea.AnalyticalLinearDamper, uniform_damping_constant=4.0, time_step=dt)
    rods.finalize()
    stepper, t = ea.PositionVerlet(), 0.0
    t = stepper.step(rods, t, dt)  # compiles
    begin = time.process_time()
    for _ in range(int(duration / dt)):
        t = stepper.step(rods, t, dt)
    ms = 1e3 * (time.process_time() - begin)
    goal = exact.heavy_elastica(TIP_LOAD, exact.WEIGHT)
    tip = rod.position_collection[[0, 2], -1] * [1, -1]
    speed = float(np.abs(rod.velocity_collection).max())
    yield row("noodle: heavy cantilever with a tip load, tip", f"PyElastica, {elements} elements, {duration:g} s damped"
              f" (still moves at {1e3 * speed:.1g} mm/s)", f"{1e3 * tip[0]:.2f}, -{1e3 * tip[1]:.2f} mm",
              f"{1e3 * goal[0]:.2f}, -{1e3 * goal[1]:.2f} mm", np.linalg.norm(tip - goal) / exact.LENGTH, ms)  # fmt: skip


def elastica_pendulum(elements: int = 20, duration: float = 6.0) -> Iterator[Row]:
    """PyElastica: the soft rod swings about its end from 60 degrees, undamped; energy over some seconds."""
    import elastica as ea

    angle = np.radians(60)
    direction = np.array([np.sin(angle), 0, -np.cos(angle)])

    class Pin(ea.ConstraintBase):  # type: ignore[misc]
        def constrain_values(self, system: Any, time: float) -> None:
            system.position_collection[..., 0] = 0.0

        def constrain_rates(self, system: Any, time: float) -> None:
            system.velocity_collection[..., 0] = 0.0

    rods, rod = _collection(ea), _elastica_rod(ea, elements, direction)
    rods.append(rod)
    rods.constrain(rod).using(Pin)
    rods.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array([0, 0, -exact.GRAVITY]))
    dt = _stable(elements)
    rods.finalize()

    def energy() -> float:
        fall = float((rod.mass * rod.position_collection[2]).sum()) * exact.GRAVITY
        return float(rod.compute_translational_energy() + rod.compute_rotational_energy()
                     + rod.compute_bending_energy() + rod.compute_shear_energy()) + fall  # fmt: skip

    stepper, t, first = ea.PositionVerlet(), 0.0, energy()
    swing = first + 0.5 * exact.WEIGHT * exact.LENGTH**2
    t, steps = stepper.step(rods, t, dt), int(duration / dt)
    begin = time.process_time()
    for _ in range(steps):
        t = stepper.step(rods, t, dt)
    ms = 1e3 * (time.process_time() - begin) / steps
    drift = (energy() - first) / swing
    yield row("soft pendulum, energy after 6 s", f"PyElastica, {elements} elements, {1e3 * dt:.2g} ms steps, {steps} steps",
              f"{100 * drift:+.3f} %", "0 %", abs(drift), ms)  # fmt: skip


def elastica_slide(elements: int = 20, duration: float = 0.3) -> Iterator[Row]:
    """PyElastica: a rod slides along its axis on a plane with friction until it stops."""
    import elastica as ea

    rods = _collection(ea)
    rod = _elastica_rod(ea, elements, start=(0, 0, exact.RADIUS))
    rods.append(rod)
    plane = ea.Plane(plane_origin=np.zeros(3), plane_normal=np.array([0, 0, 1.0]))
    rods.append(plane)
    rods.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array([0, 0, -exact.GRAVITY]))
    same = np.full(3, FRICTION)
    rods.detect_contact_between(rod, plane).using(
        ea.RodPlaneContactWithAnisotropicFriction, k=10.0, nu=1e-4, slip_velocity_tol=1e-6, static_mu_array=same,
        kinetic_mu_array=same,
    )  # fmt: skip
    dt = _stable(elements)
    rods.finalize()
    rod.velocity_collection[0] = SPEED
    steps, stepper = int(duration / dt), ea.PositionVerlet()
    start = rod.position_collection[0].mean()
    t = stepper.step(rods, 0.0, dt)
    begin = time.process_time()
    for _ in range(steps):
        t = stepper.step(rods, t, dt)
    ms = 1e3 * (time.process_time() - begin) / steps
    way, goal = float(rod.position_collection[0].mean() - start), SPEED**2 / (2 * FRICTION * exact.GRAVITY)
    yield row("rod slides along itself on a plane, way to rest", f"PyElastica, {elements} elements, {1e3 * dt:.2g} ms steps",
              f"{1e3 * way:.2f} mm", f"{1e3 * goal:.2f} mm", abs(way / goal - 1), ms)  # fmt: skip


def mujoco_noodle(links: int = 40, duration: float = 6.0, dt: float = 5e-4) -> Iterator[Row]:
    """MuJoCo: the heavy cantilever as a chain of links with a spring hinge between them, damped until it rests."""
    import mujoco

    h = exact.LENGTH / links
    body = ""
    for i in range(links):
        k = exact.BENDING / h * (2 if i == 0 else 1)
        body += (
            f'<body pos="{0 if i == 0 else h} 0 0"><joint axis="0 1 0" stiffness="{k}" damping="{1e-3 * k}"/>'
            f'<geom type="cylinder" fromto="0 0 0 {h} 0 0" size="{exact.RADIUS}" density="{exact.DENSITY}" contype="0"'
            ' conaffinity="0"/>'
        )
    xml = (f'<mujoco><option timestep="{dt}" integrator="implicitfast"/><worldbody>{body}<site name="tip" pos="{h} 0 0"/>'
           f'{"</body>" * links}</worldbody></mujoco>')  # fmt: skip
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    drag, begin = np.zeros(model.nv), time.process_time()
    for _ in range(int(duration / dt)):
        mujoco.mj_forward(model, data)
        mujoco.mj_mulM(model, data, drag, data.qvel)
        data.qfrc_applied[:] = -4.0 * drag  # as PyElastica's uniform damping of 4 / s
        mujoco.mj_applyFT(model, data, np.array([0, 0, -TIP_LOAD]), np.zeros(3), data.site("tip").xpos, links,
                          data.qfrc_applied)  # fmt: skip
        mujoco.mj_step(model, data)
    ms = 1e3 * (time.process_time() - begin)
    goal = exact.heavy_elastica(TIP_LOAD, exact.WEIGHT)
    tip = data.site("tip").xpos[[0, 2]] * [1, -1]
    yield row("noodle: heavy cantilever with a tip load, tip", f"MuJoCo, {links} links, {duration:g} s damped (still moves at"
              f" {1e3 * np.abs(data.qvel).max() * exact.LENGTH:.1g} mm/s)", f"{1e3 * tip[0]:.2f}, -{1e3 * tip[1]:.2f} mm",
              f"{1e3 * goal[0]:.2f}, -{1e3 * goal[1]:.2f} mm", np.linalg.norm(tip - goal) / exact.LENGTH, ms)  # fmt: skip


def mujoco_cube(dt: float = 2e-3) -> Iterator[Row]:
    """MuJoCo flex: the soft cube is dropped from 2 cm, rests, is pushed to 0.5 m/s and slides to rest."""
    import mujoco

    side, spacing = 0.05, 0.05 / 3
    xml = f"""<mujoco><option timestep="{dt}" integrator="discrete"/><worldbody>
      <geom name="floor" type="plane" size="1 1 .1" friction="{FRICTION} 0 0" priority="1"/>
      <flexcomp name="cube" type="grid" dim="3" count="4 4 4" spacing="{spacing} {spacing} {spacing}"
        pos="0 0 {side / 2 + 0.02}" mass="{1000 * side**3}" radius="1e-4">
        <elasticity young="1e5" poisson="0.45" damping="0.005"/><contact selfcollide="none"/>
      </flexcomp></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    weight, force, begin = 1000 * side**3 * exact.GRAVITY, [], time.process_time()
    for _ in range(300):
        mujoco.mj_step(model, data)
        total, f = 0.0, np.zeros(6)
        for c in range(data.ncon):
            mujoco.mj_contactForce(model, data, c, f)
            total += f[0]
        force.append(total)
    ms = 1e3 * (time.process_time() - begin) / 300
    rest, deep = float(np.mean(force[-50:])), -float(data.flexvert_xpos[:, 2].min())
    yield row("soft cube dropped on a plane, force at rest", f"MuJoCo flex, 64 nodes, 2 ms steps (force +- {np.std(force[-50:]):.2g}"
              f" N, {1e3 * deep:.2g} mm deep)", f"{rest:.4f} N", f"{weight:.4f} N", abs(rest / weight - 1), ms)  # fmt: skip
    data.qvel[:] = 0
    data.qvel[0::3] = SPEED
    start = data.flexvert_xpos[:, 0].mean()
    begin = time.process_time()
    for _ in range(150):
        mujoco.mj_step(model, data)
    ms = 1e3 * (time.process_time() - begin) / 150
    way, goal = float(data.flexvert_xpos[:, 0].mean() - start), SPEED**2 / (2 * FRICTION * exact.GRAVITY)
    yield row("soft cube slides on a plane, way to rest", "MuJoCo flex, 64 nodes, 2 ms steps", f"{1e3 * way:.2f} mm",
              f"{1e3 * goal:.2f} mm", abs(way / goal - 1), ms)  # fmt: skip


CASES = (elastica_noodle, mujoco_noodle, elastica_pendulum, elastica_slide, mujoco_cube)


def main() -> None:
    """Prints the rows; a case that fails says why."""
    rows: list[Row] = []
    for case in CASES:
        if len(sys.argv) > 1 and case.__name__ not in sys.argv:
            continue
        try:
            rows += case()
        except Exception as error:
            rows.append(row(case.__name__, "failed", f"{type(error).__name__}: {error}"[:200], "", np.nan, np.nan))
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
