"""Learn it, transfer it: sampling, networks, real-time inverse, from simulation to reality.

data = sample(model, path="arm.h5", per_axis=8)              exact Jacobians, resumes after being killed
learned = fit(data)                                          a LearnedModel, evaluated without torch
path = follow_path(learned, targets)                         microseconds per waypoint
real = transfer(learned, record(robot, plan)).model          a few dozen measurements correct it
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "sample": "sampling",
    "make_plan": "plans",
    "Dataset": "dataset",
    "fit": "train",
    "errors": "train",
    "follow_path": "inverse",
    "reach": "inverse",
    "Waypoints": "inverse",
    "simulator_in_loop": "baselines",
    "fit_direct": "baselines",
    "DirectInverse": "baselines",
    "transfer": "transfer",
    "TransferReport": "transfer",
    "Play": "play",
    "find_play": "play",
    "Adapter": "adapt",
    "Measurements": "recorder",
    "record": "recorder",
    "HardwareLink": "recorder",
    "serial_sink": "recorder",
    "camera_marker": "camera",
    "marker_position": "camera",
    "plane_from_code": "camera",
    "plane_from_points": "camera",
    "VirtualRobot": "reality",
    "specimen": "reality",
    "finger_specimen": "reality",
    "ConstantCurvatureArm": "sources",
    "FingerManipulator": "sources",
    "chamber_arm": "sources",
    "fit_recurrent": "recurrent",
    "export_onnx": "onnx_export",
    "write_report": "report",
    "flower": "paths",
    "box": "paths",
    "eight": "paths",
    "ell": "paths",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pliant.learn' has no attribute {name!r}")
    value = getattr(import_module(f"pliant.learn.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
