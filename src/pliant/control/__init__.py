"""Controllers: callables u = controller(t, state) for `pliant.simulate`, one per file.

They see a `State` of the model they are given; what a real robot measures goes through `FrameSensor`,
`MarkerEstimator` or `ReducedControl`. A controller may have `targets`, which are recorded with a run.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "AdaptiveTracking": "adaptive",
    "ComputedTorque": "computed_torque",
    "EnergyShaping": "shaping",
    "FrameSensor": "observation",
    "Impedance": "impedance",
    "MarkerEstimator": "observer",
    "PredictiveControl": "predictive",
    "PressureMap": "pressures",
    "ReducedControl": "observer",
    "Shape": "kinematics",
    "TaskSpacePid": "task_space_pid",
    "closed_loop": "loop",
    "elastic_gradient": "kinematics",
    "energy_shaping": "shaping",
    "inverse_kinematics": "kinematics",
    "settling": "observation",
}
__all__ = [*_HOME]


def __getattr__(name: str) -> Any:

    if name in _HOME:
        value = getattr(import_module(f"pliant.control.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pliant.control' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
