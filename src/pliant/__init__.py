"""pliant: describe a soft robot once; simulate, invert, learn and control it.

The public names are listed in `__all__`, one import path each. They are loaded when first used, so that importing the
package is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME: dict[str, str] = {
    # descriptions
    "Robot": "pliant.robot",
    "SoftBody": "pliant.bodies",
    "RodBody": "pliant.bodies",
    "RigidBody": "pliant.bodies",
    "RigidRegion": "pliant.bodies",
    "Fixation": "pliant.bodies",
    "Point": "pliant.bodies",
    "StrainGauge": "pliant.bodies",
    "TetMesh": "pliant.geometry",
    # actuators
    "Cable": "pliant.actuators",
    "Chamber": "pliant.actuators",
    "Closure": "pliant.actuators",
    "LineLoad": "pliant.actuators",
    "PointForce": "pliant.actuators",
    "PatchForce": "pliant.actuators",
    "Stiffness": "pliant.actuators",
    "Slide": "pliant.actuators",
    "Wrench": "pliant.actuators",
    "DielectricLayer": "pliant.actuators",
    # models
    "Model": "pliant.models.contract",
    "FemModel": "pliant.models.fem",
    "BeamModel": "pliant.models.beam",
    "GeometricModel": "pliant.models.geometric",
    "RodModel": "pliant.models.rod",
    "ChamberPath": "pliant.models.rod_drives",
    "Fluid": "pliant.models.rod_drives",
    "PccModel": "pliant.models.pcc",
    "JointLaw": "pliant.models.pcc",
    "Creep": "pliant.models.creep",
    "LinkModel": "pliant.models.link",
    "LearnedModel": "pliant.models.learned",
    "Modal": "pliant.models.modal",
    "Driven": "pliant.models.driven",
    "identify": "pliant.models.identify",
    "identify_rod": "pliant.models.identify_rod",
    "modes_from": "pliant.models.modes",
    "Composer": "pliant.composer",
    "Reservoir": "pliant.fluidics",
    "Regulator": "pliant.fluidics",
    # obstacles
    "Plane": "pliant.contact",
    "Sphere": "pliant.contact",
    "Box": "pliant.contact",
    "Capsule": "pliant.contact",
    "Cylinder": "pliant.contact",
    "Pipe": "pliant.contact",
    "ShapeObstacle": "pliant.contact",
    "MeshObstacle": "pliant.contact",
    "SelfContact": "pliant.contact",
    "BodyContact": "pliant.contact",
    "ContactPairs": "pliant.contact",
    # states
    "State": "pliant.state",
    "Command": "pliant.state",
    "Status": "pliant.state",
    "Placement": "pliant.state",
    "Trajectory": "pliant.trajectory",
    # verbs
    "equilibrium": "pliant.solve.equilibrium",
    "step": "pliant.solve.dynamics",
    "Stepper": "pliant.solve.dynamics",
    "simulate": "pliant.solve.simulate",
    "sweep": "pliant.solve.simulate",
    "sensitivity": "pliant.solve.sensitivity",
    "project": "pliant.solve.projection",
    "flex": "pliant.solve.flex",
    "rollout": "pliant.models.rod_rollout",
    "invert": "pliant.inverse.invert",
    "follow": "pliant.inverse.follow",
    "workspace": "pliant.inverse.workspace",
    "use_threads": "pliant.algebra.threads",
    # targets
    "PointTarget": "pliant.inverse.targets",
    "PointsTarget": "pliant.inverse.targets",
    "DirectionTarget": "pliant.inverse.targets",
    "FrameTarget": "pliant.inverse.targets",
    "BarycentreTarget": "pliant.inverse.targets",
    "CentreOfMassTarget": "pliant.inverse.targets",
    "ShapeTarget": "pliant.inverse.targets",
    "DisplacementTarget": "pliant.inverse.targets",
    "VolumeTarget": "pliant.inverse.targets",
    "EffortTarget": "pliant.inverse.targets",
    "ContactForceTarget": "pliant.inverse.targets",
    # limits
    "EffortLimit": "pliant.inverse.limits",
    "DisplacementLimit": "pliant.inverse.limits",
    "RateLimit": "pliant.inverse.limits",
    "GraspFloor": "pliant.inverse.limits",
    "ClearanceLimit": "pliant.inverse.limits",
    "StrainLimit": "pliant.inverse.limits",
    # hardware
    "Loop": "pliant.inverse.loop",
    "SerialSink": "pliant.inverse.sinks",
    "UdpSink": "pliant.inverse.sinks",
    "ZmqSink": "pliant.inverse.sinks",
    # pictures
    "view": "pliant.viewer",
    "snapshot": "pliant.viewer",
    "export_html": "pliant.viewer",
    # errors
    "PliantError": "pliant.errors",
    "ArgumentError": "pliant.errors",
    "UnknownNameError": "pliant.errors",
    "MeshError": "pliant.errors",
    "FileError": "pliant.errors",
    "SolveError": "pliant.errors",
    "ChannelError": "pliant.errors",
    "MissingExtraError": "pliant.errors",
}
_MODULES: dict[str, str] = {
    "robots": "pliant.robots",
    "geometry": "pliant.geometry",
    "materials": "pliant.materials",
    "actuators": "pliant.actuators",
    "contact": "pliant.contact",
    "models": "pliant.models",
    "basis": "pliant.models.basis",
    "inverse": "pliant.inverse",
    "control": "pliant.control",
    "learn": "pliant.learn",
    "viewer": "pliant.viewer",
    "lie": "pliant.lie",
}

__all__ = [*_HOME, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'pliant' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
