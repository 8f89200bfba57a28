"""MuJoCo's flex beam, timed; run by benchmarks/fem.py with a Python that has mujoco.

Usage: python mujoco_beam.py NX NY NZ DT STEPS YOUNG POISSON DENSITY DAMPING (nodes per axis); prints one line of JSON.
The beam is 0.2 x 0.03 x 0.03 m with its face x = 0 pinned.
"""

import json
import sys
import time

import mujoco
import numpy as np

SCENE = """
<mujoco>
  <option timestep="{dt}" integrator="{integrator}" gravity="0 0 -9.81"/>
  <size memory="2G"/>
  <worldbody>
    <flexcomp name="beam" type="grid" count="{nx} {ny} {nz}" spacing="{sx} {sy} {sz}" pos="0.1 0 0" dim="3"
              mass="{mass}" radius="0.0005">
      <elasticity young="{young}" poisson="{poisson}" damping="{damping}"/>
      <contact selfcollide="none" contype="0" conaffinity="0"/>
      <pin gridrange="0 0 0 0 {py} {pz}"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


def main() -> None:
    """Build the beam, let it settle, time steps, print JSON."""
    nx, ny, nz = (int(x) for x in sys.argv[1:4])
    dt, steps, young, poisson, density, damping = (float(x) for x in sys.argv[4:10])
    text = SCENE.format(
        dt=dt, integrator="discrete", nx=nx, ny=ny, nz=nz, sx=0.2 / (nx - 1), sy=0.03 / (ny - 1),
        sz=0.03 / (nz - 1), mass=density * 0.2 * 0.03 * 0.03, young=young, poisson=poisson, damping=damping,
        py=ny - 1, pz=nz - 1,
    )  # fmt: skip
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(3):
        mujoco.mj_step(model, data)
    begin = time.process_time()
    for _ in range(int(steps)):
        mujoco.mj_step(model, data)
    spent = time.process_time() - begin
    warnings = {str(mujoco.mjtWarning(i)): int(w.number) for i, w in enumerate(data.warning) if w.number}
    stable = bool(np.isfinite(data.qpos).all())
    lowest = float(data.flexvert_xpos[:, 2].min())
    found = {"version": mujoco.__version__, "ms": 1e3 * spent / steps, "stable": stable, "lowest": lowest}
    print(json.dumps({**found, "warnings": warnings}))


main()
