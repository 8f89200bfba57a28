"""The table of docs/choose_a_model.md that says which actuator acts on which model is what the models do."""

import re
from pathlib import Path

import pytest

import pliant as pl

PAGE = Path(__file__).parents[1] / "docs" / "choose_a_model.md"
MODELS = ("FemModel", "GeometricModel", "BeamModel", "RodModel", "PccModel", "LinkModel")
TIP = (0.0, 0.0, 0.05)
ALONG = ((0.006, 0.0, 0.001), (0.006, 0.0, 0.049))
CHANNEL = pl.ChamberPath(points=ALONG, area=1e-5)
ACTUATORS = {
    "`Cable`": pl.Cable(name="a", points=ALONG),
    "`Cable` with friction": pl.Cable(name="a", points=ALONG, friction=0.2),
    "`Chamber`": pl.Chamber(name="a", cavity="chamber"),
    "`PointForce`": pl.PointForce(name="a", point=TIP, direction=(1, 0, 0)),
    "`PatchForce`": pl.PatchForce(name="a", centre=TIP, radius=0.02, direction=(1, 0, 0)),
    "`Wrench`, `LineLoad`, dead forces": pl.LineLoad(name="a", force=(1, 0, 0)),
    "`Wrench`, `LineLoad`, moments and followers": pl.LineLoad(name="a", force=(1, 0, 0), follower=True),
    "`Slide`": pl.Slide(name="a", part="part", axis=(0, 0, 1)),
    "`Closure`": pl.Closure(name="a", point=TIP, other_point=TIP, axis=(1, 0, 0)),
    "`Stiffness`": pl.Stiffness(name="a", region="all"),
    "`DielectricLayer`": pl.DielectricLayer(name="a", region="all", normal=(0, 0, 1), thickness=1e-3),
}


@pytest.fixture(scope="module")
def robots() -> dict[str, pl.Robot]:
    """A bellows and a rod of the same size, both upright, without actuators."""
    soft = pl.robots.accordion()
    mesh = soft.soft_body().mesh
    mesh = mesh.with_region("all", range(len(mesh.tets))).with_node_set("top", lambda x: x[:, 2] > 0.0499)
    part = pl.RigidRegion("part", "top", axes=((0, 0, 1),))
    body = pl.SoftBody("bellows", mesh, soft.soft_body().material)
    rod = pl.RodBody("part", 0.05, 0.01, body.material, rotation=(0.5**0.5, 0, -(0.5**0.5), 0), axes=((0, 0, 1),))
    held = pl.RodBody("part", 0.05, 0.01, body.material, rotation=(0.5**0.5, 0, -(0.5**0.5), 0))
    return {
        "soft": pl.Robot("bellows", (body,), fixations=(pl.Fixation("base"),), rigid=(part,)),
        "rod": pl.Robot("rod", (held,)),
        "sliding rod": pl.Robot("rod", (rod,)),
    }


def acts(model: str, actuator: pl.actuators.Actuator, robots: dict[str, pl.Robot]) -> bool:
    rods = model in ("BeamModel", "RodModel", "PccModel", "LinkModel")
    robot = robots["soft" if not rods else "sliding rod" if isinstance(actuator, pl.Slide) else "rod"]
    channels = isinstance(actuator, pl.Chamber) and model in ("RodModel", "PccModel", "LinkModel")
    try:
        getattr(pl, model)(robot.but(actuators=(actuator,)), **({"chambers": {"a": CHANNEL}} if channels else {}))
    except pl.PliantError:
        return False
    return True


def test_table_of_actuators(robots):
    found = {k: [acts(m, a, robots) for m in MODELS] for k, a in ACTUATORS.items()}
    rows = re.findall(r"^\| (`.+?) \|((?: (?:yes|-) \|){6})$", PAGE.read_text(), re.MULTILINE)
    shown = {what: [cell.strip() == "yes" for cell in cells.split("|")[:-1]] for what, cells in rows}
    assert shown == found
