"""Work shared by threads gives the same numbers, to the last bit, whoever does it."""

import numpy as np
import pytest

import pliant as pl
from pliant.algebra.threads import use_threads
from pliant.models import partition as partition_module
from pliant.models.geometric import GeometricModel
from pliant.models.partition import Partition, Shared, added_up
from pliant.robots.pneumatic_finger import pneumatic_finger


@pytest.fixture
def always_shared(monkeypatch):
    monkeypatch.setattr(partition_module, "_WORTH", 0.0)


def mesh(cells=(9, 3, 2)) -> pl.TetMesh:
    return pl.TetMesh.box((0.3, 0.1, 0.05), cells)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_cover_all_nodes_and_elements(parts):
    m = mesh()
    groups = [m.tets[:100], m.tets[100:]]
    found = Partition.of(m.nodes, groups, parts)
    assert found.parts == parts
    assert set(found.owner) == set(range(parts))
    for index, group in enumerate(groups):
        for part in range(parts):
            touched = (found.owner[group] == part).any(axis=1)
            np.testing.assert_array_equal(found.chosen[part][index], np.flatnonzero(touched))


def test_parts_are_compact_and_even():
    m = mesh((40, 5, 5))
    found = Partition.of(m.nodes, [m.tets], 4)
    sizes = [len(c[0]) for c in found.chosen]
    assert max(sizes) < 1.1 * min(sizes)
    assert sum(sizes) < 1.15 * len(m.tets)


def test_every_part_is_done_once():
    m = mesh()
    shared = Shared(m.nodes, [m.tets])
    with use_threads(3):
        partition = shared.partition(1e9)
        assert shared.partition(1e9) is partition
        assert shared.partition(1.0).parts == 1
    done: list[int] = []
    shared.run(partition, done.append)
    assert sorted(done) == [0, 1, 2]


@pytest.mark.parametrize("element", ["linear", "quadratic"])
@pytest.mark.parametrize("parts", [2, 5])
def test_forces_and_tangents_do_not_depend_on_threads(always_shared, element, parts):
    robot = pl.robots.finger()
    model = pl.FemModel(robot, element=element)
    rng = np.random.default_rng(3)
    q = model.layout.rest + 1e-4 * rng.normal(size=model.layout.rest.size)
    effort = np.full(model.nu, 0.3)
    with use_threads(1):
        force, matrix = model.linearise(q, effort)
        plain, energy = model.force(q, effort), model.energy(q, effort)
    with use_threads(parts):
        for _ in range(3):
            force2, matrix2 = model.linearise(q, effort)
            np.testing.assert_array_equal(force2, force)
            np.testing.assert_array_equal(matrix2.data, matrix.data)
            np.testing.assert_array_equal(model.force(q, effort), plain)
            assert model.energy(q, effort) == energy


def test_what_the_law_does_not_admit_is_noticed_by_all_threads(always_shared):
    m = mesh()
    m = m.with_node_set("base", np.flatnonzero(m.nodes[:, 0] < 1e-9))
    rubber = pl.materials.MooneyRivlin.from_young(1e5, 0.45)
    robot = pl.Robot("block", (pl.SoftBody("body", m, rubber),), (pl.Fixation("base"),))
    model = pl.FemModel(robot)
    q = model.layout.rest.copy()
    assert np.isfinite(model.force(q, np.zeros(0))).all()
    q[-3:] -= 0.5  # inside out
    for count in (1, 3):
        with use_threads(count):
            assert model.energy(q, np.zeros(0)) == np.inf
            assert np.isnan(model.force(q, np.zeros(0))).all()
            assert np.isnan(model.linearise(q, np.zeros(0))[0]).all()


@pytest.mark.parametrize("count", [10, 5000])
def test_sums_in_chunks_are_the_same_for_any_number_of_threads(count):
    values = np.random.default_rng(0).normal(size=count)
    place = np.arange(count) % 7

    def work(first, last, out):
        np.add.at(out, place[first:last], values[first:last])
        return values[first:last].sum()

    found = []
    for threads in (1, 2, 3):
        out = np.zeros(7)
        with use_threads(threads):
            found.append((added_up(work, count, out), out))
    assert found[0][0] == pytest.approx(values.sum(), abs=1e-9)
    assert found[0][1] == pytest.approx(np.bincount(place, values), abs=1e-9)
    assert all(total == found[0][0] and np.array_equal(out, found[0][1]) for total, out in found[1:])


def test_stiffness_and_force_of_a_geometric_model_are_the_same_for_any_number_of_threads():
    model = GeometricModel(pneumatic_finger(teeth=6, size=5e-3))
    q = model.retract(model.rest, 1e-4 * np.random.default_rng(1).normal(size=model.nv))
    found = []
    for threads in (1, 2):
        with use_threads(threads):
            K, P = model.stiffness(q, np.array([1e3])), model.projected(q, np.zeros(1))[1]
            found.append((K.data, P.data, model.force(q, np.array([1e3]))))
    assert sum(len(g.cells) for g in model.layout.groups) > 4000
    assert all(np.array_equal(a, b) for a, b in zip(*found))
