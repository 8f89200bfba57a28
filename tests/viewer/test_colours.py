import numpy as np

from pliant.viewer.colours import colour_table, map_colours, normalised, to_bytes, to_linear


def test_the_map_grows_lighter_throughout():
    lightness = to_linear(colour_table()) @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) > 0).all()


def test_values_are_clipped_and_broken_ones_stand_out():
    np.testing.assert_allclose(normalised(np.array([-1, 0.5, 3, np.nan, np.inf]), 0, 1), [0, 0.5, 1, 1, 1])
    np.testing.assert_allclose(normalised(np.ones(3), 1, 1), 0)
    np.testing.assert_allclose(map_colours(np.array([0.0, 1.0]), 0, 1), colour_table()[[0, -1]])


def test_bytes():
    assert to_bytes((0.0, 0.5, 2.0)) == (0, 128, 255)
