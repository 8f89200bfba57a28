"""Chatter is back and forth; a body that slides along in long steps is left alone."""

import numpy as np
import pytest

from pliant.contact.contacts import Contacts
from pliant.solve.chatter import Chatter

LENGTH = 1.0


def contact(x, normal):
    """One vertex on a plane of a given normal."""
    n = np.array([normal], dtype=float) / np.linalg.norm(normal)
    return Contacts.build(
        gap=x @ n[0], normal=n, vertices=np.array([[0]]), weights=np.ones((1, 1)), position=x, point=x,
        obstacle=np.zeros(1, dtype=np.int64), key=np.array([7]), friction=np.zeros(1), names=("wall",), poses=(None,),
    )  # fmt: skip


def shown(positions):
    """A Chatter that has seen one vertex at these positions, the normal leaning to the side it came from."""
    chatter = Chatter(LENGTH, np.zeros(1), 0.0)
    for p in positions:
        x = np.array([p])
        if chatter.held(x, None) is None:
            chatter.seen(x, contact(x, (-np.sign(p[0]) * 0.3, 0.0, 1.0)))
    return chatter


@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_sliding_along_in_equal_steps_is_no_chatter(step):
    chatter = shown([(step * k, 0.0, 0.0) for k in range(1, 15)])
    assert not chatter.holding


def test_back_and_forth_holds_both_normals():
    chatter = shown([((-1) ** k * 1e-3, 0.0, 0.0) for k in range(9)])
    assert chatter.holding
    x = np.array([[-1e-3, 0.0, 0.0]])
    held = chatter.held(x, None)
    assert len(held) == 2
    assert held.normal[0, 0] == pytest.approx(-held.normal[1, 0])


def test_what_was_held_is_let_go():
    chatter = shown([((-1) ** k * 1e-3, 0.0, 0.0) for k in range(9)])
    chatter.release()
    assert not chatter.holding
    assert chatter.released == 1
