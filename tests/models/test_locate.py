"""locate at the border: states of other models, and what is no name."""

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl

MATERIAL = pl.materials.Linear(young=1e6, poisson=0.45, density=1000.0)
ROD = pl.Robot(
    "rod",
    (pl.RodBody("rod", 0.3, 0.01, MATERIAL),),
    actuators=(pl.PointForce(name="push", point=(0.3, 0, 0), direction=(0, 0, 1)),),
    points=(pl.Point("tip", (0.3, 0, 0)),),
)
MAKE = {
    "fem": lambda: pl.FemModel(golden_beam()),
    "rod": lambda: pl.RodModel(ROD),
    "beam": lambda: pl.BeamModel(ROD),
}


@pytest.mark.parametrize("kind", list(MAKE))
def test_only_configurations_of_the_model_and_names_are_located(kind):
    model = MAKE[kind]()
    here = model.locate(model.rest, "tip").position
    assert model.locate(model.rest, ["tip", "tip"]).position == pytest.approx(np.array([here, here]))
    zero = np.zeros(1)
    stranger = pl.State(np.zeros(model.nq + 3), np.zeros(model.nv + 3), zero, zero, zero)
    with pytest.raises(pl.ArgumentError, match=r"q: .*shape"):
        model.locate(stranger, "tip")
    for points in (3, None, ["tip", 3], [["tip"]]):
        with pytest.raises(pl.ArgumentError, match="points"):
            model.locate(model.rest, points)
    with pytest.raises(pl.UnknownNameError, match="nose"):
        model.locate(model.rest, "nose")
