from types import SimpleNamespace

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.viewer.plots import plot_sweep, plot_trajectory


def test_sweeps(tmp_path):
    x = np.linspace(0, 1, 5)
    one = plot_sweep(x, x**2, tmp_path / "a.png", x_label="pull [mm]")
    many = plot_sweep(x, {"a": x, "b": x**2}, tmp_path / "sub" / "b.svg", markers=False)
    assert one.read_bytes()[:4] == b"\x89PNG"
    assert many.stat().st_size > 1000
    with pytest.raises(ArgumentError, match="y"):
        plot_sweep(x, x[:3], tmp_path / "c.png")


def test_trajectories(box, sweep, tmp_path):
    trajectory = SimpleNamespace(
        time=[s.time for s in sweep],
        effort=[s.effort for s in sweep],
        displacement=[s.displacement for s in sweep],
    )
    assert plot_trajectory(box.robot, trajectory, tmp_path / "t.png", title="box").stat().st_size > 5000


def test_plots_do_not_touch_pyplot():
    import subprocess
    import sys

    code = (
        "import sys, numpy as np; from pliant.viewer.plots import plot_sweep;"
        "assert 'matplotlib' not in sys.modules;"
        "plot_sweep([0, 1], [0, 1], sys.argv[1]); assert 'matplotlib.pyplot' not in sys.modules"
    )
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", code, f"{folder}/a.png"], check=True)
