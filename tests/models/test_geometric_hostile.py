"""Wrong input to the geometric model, its source's formulation and its inverse: a clear error before any work."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import ArgumentError, MeshError, SolveError, UnknownNameError
from pliant.geometry import TetMesh
from pliant.inverse.descent import follow_path, gauss_newton, sample_workspace
from pliant.inverse.pick_place import PickAndPlace
from pliant.learn.calibration import calibrate_shape
from pliant.materials import NeoHookean
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.models.geometric_thesis import ElementGroup, ThesisSimulator
from pliant.models.remeshing import inflate, schedule
from pliant.robots.dielectric_crawler import dielectric_crawler
from pliant.robots.notched_finger import notched_finger
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.solve.equilibrium import equilibrium
from pliant.solve.flex import flex
from pliant.solve.geometric_batch import batch
from pliant.solve.projection import project
from pliant.solve.tracing import Tracer
from pliant.state import Status

NAN = float("nan")


@pytest.fixture(scope="module")
def segments():
    return GeometricModel(pneumatic_finger(teeth=3, segments=3, size=9e-3))


@pytest.fixture(scope="module")
def box():
    mask = np.ones((4, 4, 4), dtype=bool)
    mask[1:-1, 1:-1, 1:3] = False
    return TetMesh.voxels(mask, 5e-3).with_cavity("air").with_node_set("base", lambda x: x[:, 2] < 1e-9)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("joint", "nose"), ("radius", -1.0), ("radius", NAN), ("layer", np.zeros(0, int)), ("layer", [1, 2, 99999]),
     ("position", (0, 7)), ("position", (0, 2)), ("grip", 9), ("bounds", (np.ones(3), np.zeros(3))),
     ("bounds", (np.zeros(3), np.full(3, NAN)))],
)  # fmt: skip
def test_pick_and_place(segments, argument, value):
    given = {"joint": "joint2", "layer": np.arange(10), "position": (0, 1), "grip": 2, "radius": 0.03,
             "bounds": (np.zeros(3), segments.rest_measures)}  # fmt: skip
    with pytest.raises(
        (ArgumentError, UnknownNameError), match="nose" if argument == "joint" else "position|" + argument
    ):
        PickAndPlace(segments, **{**given, argument: value})


@pytest.mark.parametrize("centre", [[NAN, 0.0, 0.0], [0.1, 0.0]])
def test_places_of_objects(segments, centre):
    task = PickAndPlace(segments, joint="joint2", layer=np.arange(10), position=(0, 1), grip=2, radius=0.03,
                        bounds=(np.zeros(3), segments.rest_measures))  # fmt: skip
    with pytest.raises(ArgumentError, match="centre"):
        task.pick(centre)
    with pytest.raises(ArgumentError, match="samples"):
        task.pick([0.05, 0.0, -0.03], samples=0)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("target", [NAN, 0, 0]), ("target", [0.0, 1.0]), ("bounds", (np.ones(3), np.zeros(3))), ("threshold", NAN),
     ("axes", (0, 7)), ("axes", ())],
)  # fmt: skip
def test_gauss_newton(segments, argument, value):
    given = {"target": np.zeros(3), "bounds": (np.zeros(3), np.ones(3)), "threshold": 1e-4, "axes": (0, 2)}
    given[argument] = value
    with pytest.raises(ArgumentError, match=argument):
        gauss_newton(segments, "tip", given["target"], np.zeros(3), given["bounds"], threshold=given["threshold"],
                     axes=given["axes"])  # fmt: skip


def test_paths_and_samples(segments):
    bounds = (np.zeros(3), segments.rest_measures)
    for path in (np.zeros((0, 3)), np.full((2, 3), NAN), np.zeros((2, 2))):
        with pytest.raises(ArgumentError, match="path"):
            follow_path(segments, "tip", path, bounds)
    with pytest.raises(ArgumentError, match="count"):
        sample_workspace(segments, "tip", bounds, 0)
    with pytest.raises(UnknownNameError, match="nose"):
        sample_workspace(segments, "nose", bounds, 2)


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [("ratio", 0.0, ArgumentError), ("ratio", NAN, ArgumentError), ("limit", 1.0, ArgumentError),
     ("iterations", 0, ArgumentError), ("tolerance", 0.0, ArgumentError), ("weight", -1.0, ArgumentError),
     ("fixed", np.zeros(0, int), ArgumentError), ("fixed", np.array([9999]), ArgumentError),
     ("surface", "open", MeshError), ("surface", "beyond", ArgumentError), ("vertices", NAN, ArgumentError)],
)  # fmt: skip
def test_inflation(box, argument, value, error):
    surface = {"open": box.cavities["air"][:-1], "beyond": box.cavities["air"] + 1000}
    given = {"vertices": box.nodes, "body": ElementGroup("body", "body", box.tets, 1.0, 0.5),
             "surface": box.cavities["air"], "fixed": box.node_sets["base"], "ratio": 2.0}  # fmt: skip
    given[argument] = surface.get(value, value) if isinstance(value, str) else value
    if argument == "vertices":
        given[argument] = box.nodes * NAN
    with pytest.raises(error):
        inflate(**given)


@pytest.mark.parametrize(
    ("group", "match"),
    [(None, "groups"), ({"kind": "foo"}, "kind"), ({"shape": 0.0}, "shape"), ({"weight": NAN}, "weight"),
     ({"kind": "cable"}, "cells"), ({"cells": np.array([[0, 1, 2, 9999]])}, "cells")],
)  # fmt: skip
def test_groups_of_the_source_s_elements(box, group, match):
    groups = [] if group is None else [ElementGroup(**{"name": "b", "kind": "body", "cells": box.tets, **group})]
    with pytest.raises(ArgumentError, match=match):
        ThesisSimulator(box.nodes, groups, box.node_sets["base"])


def test_names_and_modes(box, segments):
    simulator = ThesisSimulator(box.nodes, [ElementGroup("b", "body", box.tets)], box.node_sets["base"])
    with pytest.raises(UnknownNameError, match="water"):
        simulator.forward({"water": 2.0})
    with pytest.raises(ArgumentError, match="distribution"):
        ThesisSimulator(box.nodes, simulator.groups, box.node_sets["base"], distribution="most")
    with pytest.raises(ArgumentError, match="limit"):
        schedule(8.0, 0.5)
    with pytest.raises(ArgumentError, match="tolerance"):
        calibrate_shape(3.0, tolerance=0.0)
    with pytest.raises(ArgumentError, match="GeometricModel"):
        project(FemModel(segments.robot))
    rubber = pneumatic_finger(teeth=2, size=9e-3, material=NeoHookean.from_young(1e6, 0.45))
    with pytest.raises(ArgumentError, match="calibration"):
        GeometricModel(rubber, stiffness="secant", calibration="torsion")


@pytest.mark.parametrize("ratio", [0.0, -0.5, NAN, np.inf, 1.001, "half"])
def test_impossible_ratios_of_a_cable(ratio):
    finger = GeometricModel(notched_finger())
    name = finger.robot.actuator_names[0]
    with pytest.raises(ArgumentError, match=name):
        finger.command({name: ratio})
    assert finger.command({name: 1.0 + 1e-12}) == {name: 0.0}  # as ratios read from a state may be
    assert finger.command({name: 0.9})[name] == pytest.approx(0.1 * finger.rest_measures[0])


@pytest.mark.parametrize("ratio", [0.0, -0.5, NAN, np.inf])
def test_impossible_ratios_of_a_layer(ratio):
    model = GeometricModel(dielectric_crawler())
    with pytest.raises(ArgumentError, match="film"):
        model.command({"film": ratio})
    with pytest.raises(ArgumentError, match="driven by effort"):
        GeometricModel(dielectric_crawler(drive="effort")).command({"film": 1.1})


@pytest.fixture(scope="module")
def small():
    return GeometricModel(pneumatic_finger(size=9e-3, teeth=2))


def test_a_pose_inside_out_is_no_answer(small):
    """Ratios past the mesh's limit: forces may balance, but not of a real body."""
    command = small.command({"air": 10.0})
    traced = Tracer(small, rescue=lambda u, _: flex(small, u)).solve(command)
    found = [flex(small, command), project(small, command), traced]
    for state in found:
        assert small.inversions(state) > 0
        assert state.status is Status.INVERTED
        assert not state.ok
        words = " ".join(state.notes)
        assert "inside out" in words
        assert "beyond its limits" in words
    poses = batch(small, np.array([[command["air"]], [small.command({"air": 1.2})["air"]]]), threads=1)
    assert poses.status == (Status.INVERTED, Status.CONVERGED)
    assert poses.converged.tolist() == [False, True]


@pytest.mark.parametrize("solve", [flex, project, equilibrium])
def test_a_chamber_cannot_lose_more_than_it_holds(small, solve):
    state = solve(small, {"air": -1.2 * small.rest_measures[0]})
    assert state.status is Status.STALLED
    assert "cannot lose" in state.notes[0]
    assert state.iterations == 0
    with pytest.raises(SolveError, match="not converged"):
        solve(small, {"air": -1.2 * small.rest_measures[0]}, strict=True)
