"""Bodies that nothing holds are named, with the motions that they are free to make."""

import numpy as np
import pytest
from harness import box_robot

import pliant as pl
from pliant.materials import Corotational
from pliant.solve.unheld import loose_motions

MATERIAL = Corotational.from_young(1e5, 0.3, density=1000)


def box(**options) -> pl.FemModel:
    return pl.FemModel(box_robot((0.06, 0.02, 0.02), (4, 1, 1), MATERIAL, gravity=(0, 0, -9.81), **options))


@pytest.mark.parametrize(
    ("fixations", "count", "words"),
    [
        ((), 6, "move along x, y, z and turn about x, y, z"),
        ((pl.Fixation(nodes="base", axes="xy"),), 1, "move along z"),
        ((pl.Fixation(nodes="base", axes="z"),), 4, "move along x, y and turn about z and turn in 1 other way(s)"),
    ],
)
def test_free_motions_are_found_and_named(fixations, count, words):
    loose = loose_motions(box(fixations=fixations))
    assert loose.modes.shape[1] == count
    assert f"'body': it can {words} (" in loose.note


def test_what_is_held_has_none():
    assert loose_motions(box()) is None
    slender = box_robot((2.0, 0.01, 0.01), (80, 1, 1), MATERIAL)
    assert loose_motions(pl.FemModel(slender)) is None  # a soft mode is not a free one


def test_a_falling_body_is_said_to_be_unheld_at_once():
    state = pl.equilibrium(box(fixations=()))
    assert state.status is pl.Status.SINGULAR
    assert state.iterations < 45
    assert any("nothing holds 'body'" in note for note in state.notes)


def test_a_body_without_load_is_said_to_be_unheld_too():
    state = pl.equilibrium(pl.FemModel(box_robot((0.06, 0.02, 0.02), (4, 1, 1), MATERIAL, fixations=())))
    assert state.status is pl.Status.SINGULAR


def test_a_floor_holds_what_lies_on_it():
    floor = pl.Plane((0, 0, -1e-4), (0, 0, 1), friction=0.5)
    state = pl.equilibrium(box(fixations=()), obstacles=floor)
    assert state.ok
    assert state.contacts.forces.sum() == pytest.approx(1000 * 9.81 * 0.06 * 0.02 * 0.02, rel=1e-6)


def test_a_command_beyond_the_limits_is_named_where_it_fails():
    cable = pl.Cable(name="cable", points=[(0.0, 0.01, 0.018), (0.06, 0.01, 0.018)], displacement_limits=(0.0, 0.02))
    model = box(actuators=(cable,))
    state = pl.equilibrium(model, 1.0, max_iterations=30)
    assert not state.ok
    assert any("cable is commanded to 1, beyond its limits 0 to 0.02" in note for note in state.notes)
    assert not any("limits" in note for note in pl.equilibrium(model, 1e-3).notes)
    assert np.isfinite(state.q).all()


def test_b13_a_stroke_longer_than_the_cable_is_refused_at_once():
    state = pl.equilibrium(pl.FemModel(pl.robots.finger()), {"cable": 1.0})
    assert not state.ok
    assert state.iterations == 0
    assert any("cable cannot be pulled in by 1 m: its path is" in note for note in state.notes)


def test_a_block_on_a_smooth_floor_rests_where_it_is():
    """Nothing holds it along the floor, and nothing drives it there: a neutral equilibrium, found in a few steps."""
    state = pl.equilibrium(box(fixations=()), obstacles=pl.Plane((0, 0, -1e-4), (0, 0, 1)))
    assert state.status is pl.Status.CONVERGED
    assert state.iterations <= 8
    assert state.contacts.forces.sum() == pytest.approx(1000 * 9.81 * 0.06 * 0.02 * 0.02, rel=1e-6)


def test_a_smooth_stack_slides_and_is_said_to():
    """The lower block gives way unevenly, so that its upper face is not level: without friction nothing rests."""
    lower = pl.TetMesh.box((0.04, 0.04, 0.02), (3, 3, 2), (0, 0, 0))
    lower = lower.with_node_set("bottom", np.flatnonzero(lower.nodes[:, 2] < 1e-9))
    upper = pl.TetMesh.box((0.03, 0.03, 0.02), (2, 2, 2), (0.003, 0.003, 0.02))
    bodies = (pl.SoftBody("low", lower, MATERIAL), pl.SoftBody("high", upper, MATERIAL))
    model = pl.FemModel(pl.Robot("stack", bodies, (pl.Fixation("bottom", "low"),)))
    state = pl.equilibrium(model, obstacles=pl.BodyContact(0, 1))
    assert state.status is pl.Status.SINGULAR
    assert state.iterations <= 150
    assert any("without friction bodies slide" in note for note in state.notes)
    assert any("nothing holds 'high': it can move along x, y and turn about z (" in note for note in state.notes)
    assert not any("'low'" in note for note in state.notes)
