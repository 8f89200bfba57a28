"""Bodies refuse what cannot be built, and say which argument was wrong."""

import math

import numpy as np
import pytest
from harness import golden_mesh

from pliant.bodies import Fixation, Point, RigidBody, RigidRegion, RodBody, SoftBody, StrainGauge, check_quaternion
from pliant.errors import ArgumentError, MeshError, UnknownNameError
from pliant.geometry import TetMesh
from pliant.materials import Corotational

RUBBER = Corotational.from_young(1e5, 0.4, density=1000)
TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def rod(**changes) -> RodBody:
    return RodBody(**{"name": "rod", "length": 0.1, "radius": 0.01, "material": RUBBER, **changes})


def rigid(**changes) -> RigidBody:
    return RigidBody(**{"name": "cup", "vertices": TRIANGLE, "triangles": [[0, 1, 2]], **changes})


def test_soft_body_names_unknown_regions():
    mesh = golden_mesh()
    with pytest.raises(UnknownNameError, match="nowhere"):
        SoftBody("b", mesh, RUBBER, {"nowhere": RUBBER})
    with pytest.raises(ArgumentError):
        SoftBody("no name", mesh, RUBBER)


def test_soft_body_refuses_a_mesh_that_cannot_be_simulated():
    mesh = golden_mesh()
    tets = mesh.tets.copy()
    tets[7] = tets[7][[1, 0, 2, 3]]
    with pytest.raises(MeshError) as caught:
        SoftBody("b", TetMesh(mesh.nodes, tets), RUBBER)
    assert 7 in caught.value.elements


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"length": 0.0},
        {"length": -1.0},
        {"length": math.nan},
        {"radius": 0.0},
        {"radius": (0.01, -0.01)},
        {"radius": math.inf},
        {"inner_radius": 0.01},
        {"inner_radius": -0.001},
        {"inner_radius": (0.0, 0.02)},
        {"position": (0, 0)},
        {"position": (0, 0, math.nan)},
        {"rotation": (0, 0, 0, 0)},
        {"rotation": (1, 0, 0)},
        {"rest_curvature": (0, math.inf, 0)},
        {"tip_mass": -1.0},
        {"damping": math.nan},
    ],
)
def test_rods_are_checked(bad):
    with pytest.raises(ArgumentError):
        rod(**bad)


def test_rod_radii_are_linear_between_stations():
    body = rod(radius=(0.01, 0.02, 0.01), inner_radius=0.002)
    outer, inner = body.radii(np.array([0.0, 0.025, 0.05, 0.1]))
    assert outer == pytest.approx([0.01, 0.015, 0.02, 0.01])
    assert inner == pytest.approx([0.002] * 4)


@pytest.mark.parametrize(
    "bad",
    [
        {"vertices": np.zeros((0, 3))},
        {"vertices": [[0, 0, math.nan]]},
        {"triangles": [[0, 1, 3]]},
        {"triangles": [[-1, 1, 2]]},
        {"triangles": [[0, 1]]},
        {"triangles": np.zeros((0, 3), int)},
        {"mass": -0.1},
        {"mass": math.nan},
        {"axes": ((0, 0, 0),)},
        {"axes": ((1, 0, 0), (2, 0, 0))},
        {"axes": ((1, 0),)},
        {"axes": ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))},
    ],
)
def test_rigid_bodies_are_checked(bad):
    with pytest.raises(ArgumentError):
        rigid(**bad)


def test_rigid_vertices_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        rigid().vertices[0, 0] = 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: RigidRegion("r", "lid", mass=-1.0),
        lambda: RigidRegion("r", "lid", axes=((0, 0, 0),)),
        lambda: RigidRegion("", "lid"),
        lambda: Fixation("base", axes=""),
        lambda: Fixation("base", axes="xw"),
        lambda: Point("p", (0, 0)),
        lambda: Point("p", (0, 0, math.nan)),
        lambda: Point("p", (0, 0, 0), rotation=(0, 0, 0, 0)),
        lambda: Point("a b", (0, 0, 0)),
        lambda: StrainGauge("g", ((0, 0, 0),)),
        lambda: StrainGauge("g", ()),
    ],
)
def test_small_descriptions_are_checked(make):
    with pytest.raises(ArgumentError):
        make()


def test_quaternions_are_normalised():
    assert check_quaternion("q", (2, 0, 0, 0)) == (1.0, 0.0, 0.0, 0.0)
    for bad in ("text", None, (1, 2, 3), (math.nan, 0, 0, 1)):
        with pytest.raises(ArgumentError):
            check_quaternion("q", bad)


@pytest.mark.parametrize(
    "changes",
    [{"length": "x"}, {"tip_mass": "x"}, {"radius": "x"}, {"radius": []}, {"radius": [0.01, None]}, {"radius": None},
     {"material": "silicone"}, {"inner_radius": "x"}, {"axes": 3}, {"damping": 10**400}],
)  # fmt: skip
def test_a_rod_of_wrong_types_is_refused_by_argument(changes):
    with pytest.raises(ArgumentError, match=f"rod.{next(iter(changes))}"):
        rod(**changes)


def test_a_soft_body_needs_a_mesh_and_materials():
    mesh = golden_mesh()
    for wrong in ((None, RUBBER), (mesh, None), (mesh, "silicone"), (mesh, RUBBER, None)):
        with pytest.raises(ArgumentError, match=r"s\.m"):
            SoftBody("s", *wrong)
    mesh = mesh.with_region("part", [0])
    with pytest.raises(ArgumentError, match="materials"):
        SoftBody("s", mesh, RUBBER, {"part": "silicone"})


def test_other_descriptions_of_wrong_types():
    for make in (lambda: rigid(mass="x"), lambda: rigid(triangles="x"), lambda: Fixation(["base"])):
        with pytest.raises(ArgumentError):
            make()
