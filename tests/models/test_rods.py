"""What the models of rods refuse in their constructors."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models import basis as bases
from pliant.robots import finger

SOFT = pl.materials.Linear(young=1e6, poisson=0.45, density=1000.0)
SLIDE = pl.Slide(name="s", part="rod", axis=(1, 0, 0))


def robot(*actuators, points=(), **rod):
    return pl.Robot("r", pl.RodBody("rod", 0.3, 0.01, SOFT, **rod), actuators=actuators, points=points)


@pytest.mark.parametrize("kind", [pl.BeamModel, pl.LinkModel, pl.PccModel])
@pytest.mark.parametrize("free", [{"rotates": True}, {"axes": ((1, 0, 0),)}])
def test_models_that_hold_the_base_refuse_one_that_moves(kind, free):
    with pytest.raises(ArgumentError, match=f"rod.{next(iter(free))}: {kind.__name__} holds"):
        kind(robot(**free))
    assert pl.RodModel(robot(**free)).nv > pl.RodModel(robot()).nv  # honoured


def test_beams_slide_along_one_axis_only():
    assert pl.BeamModel(robot(SLIDE)).nv == pl.BeamModel(robot(SLIDE, axes=((-1, 0, 0),))).nv
    second = pl.Slide(name="t", part="rod", axis=(0, 1, 0))
    for actuators, free in (
        ((SLIDE,), {"rotates": True}),
        ((SLIDE,), {"axes": ((1, 0, 0), (0, 1, 0))}),
        ((SLIDE,), {"axes": ((0, 1, 0),)}),
        ((SLIDE, second), {}),
    ):
        with pytest.raises(ArgumentError, match=r"BeamModel|two slides"):
            pl.BeamModel(robot(*actuators, **free))


@pytest.mark.parametrize("kind", [pl.FemModel, pl.RodModel, pl.BeamModel, pl.LinkModel, pl.PccModel, pl.GeometricModel])
def test_a_robot_is_a_robot(kind):
    for wrong in ("finger", None, finger):
        with pytest.raises(ArgumentError, match="robot"):
            kind(wrong)


@pytest.mark.parametrize("kind", [pl.RodModel, pl.LinkModel, pl.PccModel, pl.BeamModel])
def test_points_and_cables_far_off_the_rod_are_refused(kind):
    far = (0.3, 50.0, 0.0)
    with pytest.raises(ArgumentError, match="lies 50 m from"):
        kind(robot(points=pl.Point("tip", far)))
    with pytest.raises(ArgumentError, match=r"c.*: .* lies 50 m from"):
        kind(robot(pl.Cable(name="c", points=((0, 0, 0.008), far))))
    kind(robot(points=pl.Point("tip", (0.3, 0.03, 0))))


@pytest.mark.parametrize("kind", [pl.RodModel, pl.LinkModel, pl.PccModel])
def test_channels_belong_to_chambers(kind):
    with pytest.raises(UnknownNameError, match="chamber named 'q'"):
        kind(robot(), chambers={"q": pl.ChamberPath(((0, 0, 0), (0.1, 0, 0)), 1e-4)})
    with pytest.raises(ArgumentError, match="ChamberPath"):
        kind(robot(pl.Chamber(name="q")), chambers={"q": 1})
    with pytest.raises(ArgumentError, match="chambers"):
        kind(robot(), chambers=3)


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: pl.RodModel(robot(), fluid="water"), "fluid"),
        (lambda: pl.RodModel(robot(), basis="legendre"), "basis"),
        (lambda: pl.RodModel(robot(), skin_points=2.5), "skin_points"),
        (lambda: pl.Fluid(density="x"), "density"),
        (lambda: pl.ChamberPath(((0, 0, 0), (1, 0, 0)), "x"), "area"),
        (lambda: pl.BeamModel(robot(), elements="x"), "elements"),
        (lambda: pl.PccModel(robot(), links=1.5), "links"),
        (lambda: pl.PccModel(robot(), joints=("x",)), "joints"),
        (lambda: pl.PccModel(robot(), damping="x"), "damping"),
        (lambda: pl.PccModel(robot(), inputs="x"), "inputs"),
        (lambda: pl.PccModel(robot(), gains=3), "gains"),
        (lambda: pl.JointLaw("abc", (1, 0, 0)), "axial"),
        (lambda: pl.JointLaw((1, 0, 0), 3), "bending"),
        (lambda: bases.legendre("x"), "order"),
        (lambda: bases.legendre(1.5), "order"),
        (lambda: bases.legendre(201), "order"),
        (lambda: bases.legendre(2, strains=3), "strains"),
        (lambda: bases.hermite("x"), "elements"),
        (lambda: bases.from_modes("x"), "modes"),
        (lambda: bases.from_modes([[np.nan, 1.0]], strain="twist"), "modes"),
    ],
)
def test_wrong_types_are_refused_by_argument(make, argument):
    with pytest.raises(ArgumentError, match=argument):
        make()


def test_one_strain_may_stand_alone():
    assert bases.legendre(2, strains="bend_y").strains == ("bend_y",)


def test_a_cable_is_guided_in_rods_and_free_between_its_points_in_beams():
    """docs/rods.md, "The path of a cable": 5 mm pulled on a cable from base to tip."""

    def tension(kind, points, **options):
        path = tuple((x, 0.0, 0.008) for x in np.linspace(0.0, 0.3, points))
        model = kind(robot(pl.Cable(name="c", points=path)).but(gravity=(0, 0, 0)), **options)
        state = pl.equilibrium(model, {"c": 0.005})
        assert state.status.ok
        return state.effort[0]

    guided = tension(pl.RodModel, 2)
    assert guided == pytest.approx(1.4708, abs=1e-4)
    assert tension(pl.RodModel, 31) == pytest.approx(guided, rel=1e-9)
    assert tension(pl.LinkModel, 2) == pytest.approx(guided, rel=1e-4)
    assert tension(pl.BeamModel, 2, elements=30) == pytest.approx(0.515, abs=1e-3)
    assert tension(pl.BeamModel, 31, elements=30) == pytest.approx(guided, rel=1e-3)
