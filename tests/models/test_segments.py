"""Segments: acceptance checks 6.1 of the rigid-link dossier, each test named after its check."""

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.models import segments as sg

RNG = np.random.default_rng(0)


def elementary(axis, value):
    T = np.eye(4)
    if axis == "d":
        T[2, 3] = value
        return T
    c, s = np.cos(value), np.sin(value)
    i, j = {"y": (2, 0), "x": (1, 2), "z": (0, 1)}[axis]
    T[i, i] = T[j, j] = c
    T[i, j], T[j, i] = -s, s
    return T


def random_q(n, twist=False):
    d = RNG.uniform(0.02, 0.2, (n, 2))
    t = RNG.uniform(0.05, 1.4, (n, 2)) * RNG.choice([-1, 1], (n, 2))
    columns = [d[:, 0], t[:, 0], t[:, 1], d[:, 1]]
    return np.column_stack([*columns, RNG.uniform(-1, 1, n)] if twist else columns)


def test_6_1_1_transform_is_the_product_of_four():
    for q in random_q(50):
        product = (
            elementary("d", q[0]) @ elementary("y", q[1]) @ elementary("x", q[2]) @ elementary("d", q[3])
        )
        assert np.abs(sg.segment_transform(q) - product).max() < 1e-15


def test_denavit_hartenberg_rows_give_the_same_pose():
    for q in random_q(20):
        T = np.eye(4)
        for angle, offset, length, twist in sg.denavit_hartenberg(q):
            move = np.eye(4)
            move[0, 3] = length
            T = T @ elementary("z", angle) @ elementary("d", offset) @ move @ elementary("x", twist)
        assert np.abs(T - sg.segment_transform(q)).max() < 1e-15


@pytest.mark.parametrize("joint", sg.JOINTS)
@pytest.mark.parametrize("lengths", ["threshold", "least_squares"])
def test_6_1_2_round_trip_in_all_quadrants(joint, lengths):
    q = random_q(400, twist=joint.endswith("twist"))
    assert {(a, b) for a, b in np.sign(q[:, 1:3])} == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    frames = sg.chain([sg.segment_transform(row, joint) for row in q])
    for angles in ("axis", "zyx") if joint == "universal" else ("axis",):
        found = sg.estimate_links(frames, joint=joint, lengths=lengths, angles=angles)
        # the pose of the chain loses digits over 400 segments: compare segment by segment
        alone = np.array(
            [
                sg.estimate_links(
                    [np.eye(4), sg.segment_transform(r, joint)], joint=joint, lengths=lengths
                ).q[0]
                for r in q
            ]
        )
        assert np.abs(alone - q).max() < 1e-12
        assert np.abs(found.q - q).max() < 1e-9
        assert np.abs(found.dropped).max() < 1e-9


def test_angles_beyond_ninety_degrees_about_y():
    q = np.array([0.1, 2.2, 0.4, 0.08])
    found = sg.estimate_links([np.eye(4), sg.segment_transform(q)])
    assert np.abs(found.q[0] - q).max() < 1e-13


def arcs(n=200):
    return np.column_stack(
        [RNG.uniform(-np.pi, np.pi, n), np.radians(RNG.uniform(0.1, 170, n)), RNG.uniform(0.05, 0.3, n)]
    )


def test_6_1_3_lemma_every_arc_is_a_linkage_with_equal_slides():
    for arc in arcs():
        q = sg.links_from_arc(arc)
        T, A = sg.segment_transform(q), sg.arc_transform(arc)
        assert np.abs(T[:3, 3] - A[:3, 3]).max() < 1e-14
        assert np.abs(T[:3, 2] - A[:3, 2]).max() < 1e-14
        assert q[0] == q[3] == pytest.approx(arc[2] / arc[1] * np.tan(arc[1] / 2), rel=1e-14)
    assert np.allclose(sg.links_from_arc([0.3, 0.0, 0.2]), [0.1, 0, 0, 0.1])
    with pytest.raises(ArgumentError):
        sg.links_from_arc([0.0, np.pi, 0.2])


def test_6_1_4_theorem_unequal_slides_are_no_arc():
    residual = []
    for gap in (0.0, 0.01, 0.03, 0.06):
        q = np.array([0.1 + gap / 2, 0.6, 0.0, 0.1 - gap / 2])
        frames = [np.eye(4), sg.segment_transform(q)]
        best = np.inf
        for fit in ("position", "orientation"):
            T = sg.arc_transform(sg.fit_arcs(frames, fit=fit)[0])
            miss = np.linalg.norm(T[:3, 3] - frames[1][:3, 3]) + 0.1 * np.linalg.norm(
                T[:3, 2] - frames[1][:3, 2]
            )
            best = min(best, miss)
        residual.append(best)
    assert residual[0] < 1e-14
    assert np.all(np.diff(residual) > 1e-3)


def test_6_1_5_twist_formula_and_full_pose_of_an_arc():
    table = {
        (15, 30): -1.94,
        (30, 60): -13.90,
        (45, 60): -18.43,
        (60, 90): -60.0,
        (75, 90): -75.0,
        (0, 60): 0.0,
    }
    for (phi, psi), delta in table.items():
        q = sg.links_from_arc([np.radians(phi), np.radians(psi), 0.1])
        assert np.degrees(sg.joint_twist(q[1], q[2])) == pytest.approx(delta, abs=6e-3)
    for arc in arcs():
        q = sg.links_from_arc(arc)
        if abs(np.cos(q[1])) < 1e-3:
            continue
        n, c2, delta = sg.arc_transform(arc)[:3, 2], np.cos(q[2]), sg.joint_twist(q[1], q[2])
        assert np.sin(delta) == pytest.approx(-n[0] * n[1] / ((1 + n[2]) * c2), abs=2e-12)
        assert np.cos(delta) == pytest.approx((1 - n[1] ** 2 / (1 + n[2])) / c2, abs=2e-12)
        assert np.abs(sg.segment_transform(q, "constant_velocity") - sg.arc_transform(arc)).max() < 1e-13


def test_arc_is_smooth_through_straight_and_fits_recover_it():
    a, b = sg.arc_transform([0.4, 1e-9, 0.2]), sg.arc_transform([0.4, 0.0, 0.2])
    assert np.abs(a - b).max() < 1e-9
    for fit in ("position", "orientation"):
        for arc in ([0.5, 1.2, 0.2], [-2.0, 0.3, 0.1]):
            assert np.allclose(sg.fit_arcs([np.eye(4), sg.arc_transform(arc)], fit=fit)[0], arc, atol=1e-13)


def test_near_straight_regularised_lengths_are_smooth_and_bounded():
    """Table 3: without the branch the slides run off; regularised they stay near the segment."""
    d, previous = [], None
    for theta in np.linspace(-0.2, 0.2, 81):
        T = sg.segment_transform([0.08, 0.0, theta, 0.07])
        T[1, 3] += 0.002  # a sideways offset that no straight linkage can have
        q = sg.estimate_links([np.eye(4), T], lengths="regularised", regularisation=0.02).q[0]
        if previous is not None:
            assert np.abs(q - previous).max() < 0.02
        previous = q
        d.append(q[[0, 3]])
    d = np.array(d)
    assert d.min() > 0.0
    assert d.max() < 0.15
    assert sg.estimate_links([np.eye(4), sg.segment_transform([0.08, 0.01, 0.01, 0.07])]).straight[0]


def test_five_states_hold_true_torsion():
    q = np.array([0.07, 0.3, -0.5, 0.08, 0.4])
    frames = [np.eye(4), sg.segment_transform(q, "constant_velocity+twist")]
    four = sg.estimate_links(frames, joint="constant_velocity")
    five = sg.estimate_links(frames, joint="constant_velocity+twist")
    assert four.dropped[0] == pytest.approx(0.4, abs=1e-12)
    assert np.abs(five.q[0] - q).max() < 1e-13
    assert five.imprint[0] == pytest.approx(-0.01)


def test_bad_input_is_named():
    with pytest.raises(ArgumentError, match="joint"):
        sg.segment_transform([0, 0, 0, 0], "ball")
    with pytest.raises(ArgumentError, match="frames"):
        sg.estimate_links(np.full((2, 4, 4), np.nan))
