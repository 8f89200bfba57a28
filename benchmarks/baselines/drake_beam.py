"""Drake's deformable beam, timed; run by benchmarks/fem.py with a Python that has pydrake.

Usage: python drake_beam.py beam.vtk MODEL DT STEPS YOUNG POISSON DENSITY DAMPING; prints one line of JSON.
"""

import json
import sys
import time

import numpy as np
import pydrake
from pydrake.geometry import GeometryInstance, Mesh, ProximityProperties
from pydrake.math import RigidTransform
from pydrake.multibody.fem import DeformableBodyConfig, MaterialModel
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder


def main() -> None:
    """Build the beam, let it settle, time steps, print JSON."""
    path, law = sys.argv[1], sys.argv[2]
    dt, steps, young, poisson, density, damping = (float(x) for x in sys.argv[3:9])
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, dt)
    config = DeformableBodyConfig()
    config.set_youngs_modulus(young)
    config.set_poissons_ratio(poisson)
    config.set_mass_density(density)
    config.set_mass_damping_coefficient(0.0)
    config.set_stiffness_damping_coefficient(damping)
    config.set_material_model(getattr(MaterialModel, law))
    geometry = GeometryInstance(RigidTransform(), Mesh(path), "beam")
    geometry.set_proximity_properties(ProximityProperties())
    deformable = plant.mutable_deformable_model()
    body = deformable.RegisterDeformableBody(geometry, config, 1.0)
    deformable.SetWallBoundaryCondition(body, np.array([1e-6, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    simulator.Initialize()
    simulator.AdvanceTo(3 * dt)
    begin = time.process_time()
    simulator.AdvanceTo((3 + steps) * dt)
    spent = time.process_time() - begin
    context = plant.GetMyContextFromRoot(simulator.get_context())
    state = deformable.GetPositions(context, body) if hasattr(deformable, "GetPositions") else None
    lowest = None if state is None else float(np.asarray(state)[2].min())
    print(json.dumps({"version": pydrake.__version__ if hasattr(pydrake, "__version__") else "",
                      "ms": 1e3 * spent / steps, "lowest": lowest}))  # fmt: skip


main()
