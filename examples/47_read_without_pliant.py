"""A learned model in twenty lines of NumPy: its file holds plain arrays and a JSON header, nothing that executes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

EXPECTED = (0.0, 1e-9)


def evaluate(path: Path, u: np.ndarray) -> np.ndarray:
    """Positions of all points [m] for a command u, with NumPy alone."""
    with np.load(path, allow_pickle=False) as f:
        points = json.loads(f["header"].tobytes())["points"]
        k = {name[11:]: f[name] for name in f.files if name.startswith("kinematics/")}
    out = []
    for theta in k["theta"]:
        a, at = (u - k["x_mid"]) / k["x_half"], 0
        for i, (m, n) in enumerate(zip(k["sizes"][:-1], k["sizes"][1:])):
            a = theta[at : at + m * n].reshape(n, m) @ a + theta[at + m * n : at + (m + 1) * n]
            at += (m + 1) * n
            a = np.tanh(a) if i < len(k["sizes"]) - 2 else a
        out.append(k["y_mid"] + k["y_half"] * a)
    return np.mean(out, axis=0)[: 3 * len(points)].reshape(-1, 3)


def main(quick: bool = False) -> float:
    """Compare with pliant; returns the largest difference [m]."""
    from pliant.learn import ConstantCurvatureArm, fit, sample

    data = sample(ConstantCurvatureArm(), path=Path("out") / "cc_4.h5", per_axis=4, workers=0)
    model = fit(data, hidden=(8, 8), iterations=10, members=2)
    path = model.save(Path("out") / "cc.pliant")
    difference = [np.abs(evaluate(path, u) - model.place(u, ["tip"]).position).max() for u in data.u]
    print(f"{path}: {path.stat().st_size} bytes, largest difference {max(difference):.1e} m")
    return float(max(difference))


if __name__ == "__main__":
    main()
