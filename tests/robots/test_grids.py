import numpy as np
import pytest

from pliant import robots
from pliant.errors import ArgumentError, MeshError
from pliant.robots.grids import (
    divisions,
    graded,
    hung,
    mirrored,
    near,
    rectilinear,
    structured,
    with_cavities,
)


def box(n: int = 4, **options):
    lines = np.linspace(-1, 1, n + 1)
    return structured(np.ones((n, n, n), bool), rectilinear(lines, lines, lines), **options)


def test_divisions() -> None:
    assert divisions(1.0, 0.5) == 2
    assert divisions(1.0, 0.9) == 1
    assert divisions(0.1, 1.0, 3) == 3
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ArgumentError):
            divisions(1.0, bad)


def test_graded_lines_pass_through_the_marks() -> None:
    lines, owner = graded([0, 1, 3], 0.5)
    np.testing.assert_allclose(lines, [0, 0.5, 1, 1.5, 2, 2.5, 3])
    np.testing.assert_array_equal(owner, [0, 0, 1, 1, 1, 1])


def test_box_is_sound_and_symmetric() -> None:
    mesh = box()
    assert len(mesh.tets) == 6 * 64
    assert mesh.volume == pytest.approx(8)
    assert mesh.quality().usable
    keys = {tuple(sorted(map(tuple, np.round(mesh.nodes[t], 9)))) for t in mesh.tets}
    for axis in range(3):
        image = mesh.nodes.copy()
        image[:, axis] *= -1
        assert {tuple(sorted(map(tuple, np.round(image[t], 9) + 0.0))) for t in mesh.tets} == keys


def test_hexes() -> None:
    mesh = box(hexes=True)
    assert len(mesh.hexes) == 64
    assert mesh.volume == pytest.approx(8)


def test_ring_closes_and_axis_collapses() -> None:
    sides = 12

    def place(i, j, k):
        turn = 2 * np.pi * (j % sides) / sides
        return np.stack([i * np.cos(turn), i * np.sin(turn), k], axis=1).astype(float)

    mesh = structured(np.ones((2, sides, 1), bool), place)
    assert mesh.quality().usable
    assert len(mesh.nodes) == 2 * (1 + 2 * sides)
    assert mesh.volume == pytest.approx(sides * 0.5 * 4 * np.sin(2 * np.pi / sides))


def test_mirrored_is_conforming() -> None:
    lines = np.linspace(0, 1, 3)
    half = structured(np.ones((2, 2, 2), bool), rectilinear(lines, lines, lines))
    whole = mirrored(half, 2, 1.0)
    assert whole.volume == pytest.approx(2)
    assert whole.quality().usable
    assert len(whole.find_cavities()) == 0
    assert whole.quality().parts == 1


def test_cavities_are_named() -> None:
    mask = np.ones((7, 3, 3), bool)
    mask[1, 1, 1] = mask[5, 1, 1] = False
    mesh = structured(mask, rectilinear(np.arange(8.0), np.arange(4.0), np.arange(4.0)))
    named = with_cavities(mesh, {"right": (5.5, 1.5, 1.5), "left": (1.5, 1.5, 1.5)})
    assert mesh.nodes[named.cavities["left"]].mean(axis=(0, 1))[0] < 2
    assert named.cavity_volume("right") == pytest.approx(1)
    with pytest.raises(MeshError, match="2 cavities"):
        with_cavities(mesh, {"one": (0, 0, 0)})


def test_small_ones() -> None:
    assert hung(1.0, 2.0, 3.0) == (-3.0, -2.0, -1.0)
    np.testing.assert_array_equal(near(1, 2.0)(np.array([[0, 2, 0], [2, 0, 0]])), [True, False])


@pytest.mark.parametrize("name", ["finger", "trunk", "pneunet", "tower", "notched_finger", "beam"])
@pytest.mark.parametrize("size", [1e-6, 1e-12])
def test_a_mesh_that_no_memory_holds_is_refused_before_it_is_made(name, size):
    with pytest.raises(ArgumentError, match="size"):
        getattr(robots, name)(size=size)


@pytest.mark.parametrize("wrong", [{"joints": -1}, {"joints": 1.5}, {"width": "x"}, {"back": -0.001}])
def test_a_finger_of_wrong_numbers_is_refused(wrong):
    with pytest.raises(ArgumentError, match=next(iter(wrong))):
        robots.finger(**wrong)
