"""The peers' side of benchmarks/rods.py: run by the interpreter of their own environment, prints one JSON object.

    python -m venv peers && peers/bin/pip install soromox pyelastica mujoco
    python benchmarks/rods.py --peers peers/bin/python

Times are the smaller of wall and CPU time, the smallest of several bursts, because machines are shared.
"""

import json
import os
import sys
import time

BEGIN = time.perf_counter(), time.process_time()
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

YOUNG, SHEAR, DENSITY, RADIUS, SEGMENT, VISCOSITY = 0.6e6, 0.25e6, 1050.0, 0.02, 0.1, 300.0


def best(run, repeats=25, burst=20):
    """Smallest time per call [s], of wall and CPU time: threads that spin must not count against a peer."""
    run()
    times = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(burst):
            run()
        times += [(time.perf_counter() - wall) / burst, (time.process_time() - cpu) / burst]
    return min(times)


def soromox_rod(segments, young=YOUNG):
    """The benchmark rod: damping proportional to stiffness, as in pliant's."""
    import jax.numpy as jnp
    import numpy as np
    from soromox.systems.components import LinkSpec
    from soromox.systems.pcs import PCS

    area, second = np.pi * RADIUS**2, np.pi / 4 * RADIUS**4
    shear = young / 2.4
    section = np.array([2 * shear * second, *[young * second] * 2, young * area, *[shear * area] * 2])
    stiffness = np.diag(section) * SEGMENT
    link = LinkSpec.circular(
        length=SEGMENT, radius=RADIUS, density=DENSITY, reference_strain=[0.0, 0, 0, 1, 0, 0], stiffness=stiffness,
        damping=VISCOSITY / young * stiffness,
    )
    return PCS.from_links([link] * segments, gravity=jnp.array([0.0, 0.0, -9.81]))


def soromox(sizes, probe):
    """Forward dynamics, tip pose with Jacobian, and the time to the first result."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import numpy as np

    out = {"dynamics": {}, "tip": {}}
    for segments in sizes:
        robot = soromox_rod(segments)
        n = 6 * segments
        rng = np.random.default_rng(0)
        scale = np.tile([3.0, 3, 3, 0.1, 0.1, 0.1], segments)
        q, v = rng.standard_normal(n) * scale, rng.standard_normal(n) * scale
        y = jnp.concatenate([jnp.array(q), jnp.array(v)])
        step = jax.jit(lambda y, robot=robot: robot.forward_dynamics(0.0, y))
        first = np.asarray(step(y))
        if segments == 3:
            out["first"] = [time.perf_counter() - BEGIN[0], time.process_time() - BEGIN[1]]
            if probe:
                return out
        out["acceleration"] = out.get("acceleration", {}) | {n: first[n:].tolist()}
        out["dynamics"][n] = best(lambda y=y, step=step: step(y).block_until_ready())
        length = jnp.array(SEGMENT * segments)
        place = jax.jit(lambda q, robot=robot, s=length: robot.forward_kinematics_and_jacobian_inertialframe(q, s))
        out["tip"][n] = best(lambda y=y, n=n, place=place: jax.block_until_ready(place(y[:n])))
    return out


def soromox_rollouts():
    """Rollouts of the 18 dof rod from rest under constant moments."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    rows = []
    for young, duration, methods in (
        (0.6e6, 1.0, (("Tsit5, rtol 1e-4", None, 1e-4), ("Tsit5, dt 1 ms", 1e-3, None), ("reference", None, 1e-9))),
        (60e6, 0.2, (("Tsit5, rtol 1e-4", None, 1e-4), ("Tsit5, dt 1 ms", 1e-3, None), ("reference", None, 1e-8))),
    ):
        robot, torque = soromox_rod(3, young), 2e-2 * young / 0.6e6
        force = jnp.array(np.tile([0.0, -torque, 0.5 * torque, 0.0, 0.0, 0.0], 3))
        zero = jnp.zeros(robot.num_actuators)
        for name, dt, rtol in methods:
            control = diffrax.ConstantStepSize() if dt else diffrax.PIDController(rtol=rtol, atol=rtol)

            @jax.jit
            def run(y, robot=robot, control=control, dt=dt, duration=duration, force=force, zero=zero):
                term = diffrax.ODETerm(lambda t, y, a: robot.forward_dynamics(t, y, (zero, force)))
                return diffrax.diffeqsolve(
                    term, diffrax.Tsit5(), 0.0, duration, dt or 1e-4, y, stepsize_controller=control,
                    max_steps=None,
                    saveat=diffrax.SaveAt(t1=True), throw=False,
                ).ys[-1]  # fmt: skip

            y = jnp.zeros(36)
            end = run(y).block_until_ready()
            seconds = best(lambda run=run, y=y: run(y).block_until_ready(), 3 if name != "reference" else 1, 1)
            pose = np.asarray(robot.forward_kinematics(end[:18], jnp.array(0.3)))
            rows.append([young, duration, name, seconds, pose.ravel().tolist()])
    return rows


def elastica(elements=20, duration=0.02):
    """PyElastica: the soft rod as 20 elements, clamped, gravity; CPU time per step and speed."""
    import elastica as ea
    import numpy as np

    class Rods(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Damping):
        pass

    rods = Rods()
    rod = ea.CosseratRod.straight_rod(
        elements, np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), 0.3, RADIUS, DENSITY,
        youngs_modulus=YOUNG, shear_modulus=SHEAR,
    )  # fmt: skip
    rods.append(rod)
    rods.constrain(rod).using(ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
    rods.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array([0, 0, -9.81]))
    dt = 0.25 * (0.3 / elements) * np.sqrt(DENSITY / YOUNG)
    rods.dampen(rod).using(ea.AnalyticalLinearDamper, damping_constant=1.0, time_step=dt)
    rods.finalize()
    stepper = ea.PositionVerlet()
    steps, t, times = max(50, int(duration / dt)), 0.0, []
    for _ in range(8):
        begin = time.process_time()
        for _ in range(steps):
            t = stepper.step(rods, t, dt)
        times.append((time.process_time() - begin) / steps)
    return {"step": min(times), "dt": dt, "speed": dt / min(times), "elements": elements}


def mujoco_chain(links=9, dt=5e-3):
    """MuJoCo: the rod as a chain of links with two hinges each (18 dof), springs and dampers of the same EI."""
    import mujoco
    import numpy as np

    h = 0.3 / links
    k = YOUNG * np.pi / 4 * RADIUS**4 / h
    spring = f'stiffness="{k}" damping="{k * VISCOSITY / YOUNG}"'
    solid = f'size="{RADIUS}" density="{DENSITY}"'
    body = ""
    for i in range(links):
        body += (
            f'<body pos="{0 if i == 0 else h} 0 0"><joint axis="0 1 0" {spring}/><joint axis="0 0 1" {spring}/>'
            f'<geom type="capsule" fromto="0 0 0 {h} 0 0" {solid} contype="0" conaffinity="0"/>'
        )
    option = f'<option timestep="{dt}" integrator="implicitfast"/>'
    xml = f"<mujoco>{option}<worldbody>{body}{'</body>' * links}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    step = best(lambda: mujoco.mj_step(model, data), 30, 50)
    return {"step": step, "dof": int(model.nv), "dt": dt, "speed": dt / step}


def main():
    """Prints what was measured, or why not."""
    probe = "--first" in sys.argv
    out = {"load": os.getloadavg()[0]}
    jobs = {"soromox": lambda: soromox((3,) if probe else (3, 1, 8, 16), probe)}
    if not probe:
        jobs |= {"rollouts": soromox_rollouts, "elastica": elastica, "mujoco": mujoco_chain}
    only = [a for a in sys.argv[1:] if a in jobs]
    for name, job in jobs.items():
        if only and name not in only:
            continue
        try:
            out[name] = job()
        except Exception as error:
            out[name] = {"error": f"{type(error).__name__}: {error}"[:300]}
    print(json.dumps(out))


if __name__ == "__main__":
    main()
