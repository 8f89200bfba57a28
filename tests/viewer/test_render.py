import numpy as np

from pliant.viewer.camera import Camera, View
from pliant.viewer.glyphs import balls
from pliant.viewer.render import Layer, finish, render


def scene(layers, **options):
    points = np.concatenate([layer.vertices for layer in layers])
    view = View.fit(Camera(), points, 120, 90, margin=1.6)
    return finish(render(layers, view, **options), 1)


def test_the_nearer_thing_hides_the_farther_one():
    away = -Camera().axes[2]
    near = Layer(*balls(np.array([away * 0.5]), 0.1), (1.0, 0.0, 0.0))
    far = Layer(*balls(np.array([-away * 0.5]), 0.1), (0.0, 0.0, 1.0))
    for layers in ([near, far], [far, near]):
        middle = scene(layers)[45, 60].astype(int)
        assert middle[0] > middle[2] + 50


def test_see_through_layers_let_shine_what_lies_behind():
    away = -Camera().axes[2]
    far = Layer(*balls(np.array([-away * 0.5]), 0.1), (0.0, 0.0, 1.0))
    veil = Layer(*balls(np.array([away * 0.5]), 0.1), (1.0, 0.0, 0.0), opacity=0.5)
    hidden = Layer(*balls(np.array([-away * 0.5]), 0.1), (0.0, 1.0, 0.0), opacity=0.5, through=True)
    red, _, blue = scene([far, veil])[45, 60].astype(int)
    assert red > 60
    assert blue > 60
    wall = Layer(*balls(np.array([away * 0.5]), 0.1), (1.0, 0.0, 0.0))
    assert scene([wall, hidden])[45, 60][1] > scene([wall])[45, 60][1] + 30


def test_a_body_throws_a_shadow_on_the_ground():
    ball = Layer(*balls(np.array([[0.0, 0, 0.15]]), 0.1), (0.5, 0.5, 0.5))
    ghost = Layer(ball.vertices, ball.triangles, ball.colour, shadow=False)
    dark = scene([ball], ground=0.0, cell=0.05).astype(int) - scene([ghost], ground=0.0, cell=0.05)
    assert dark.min() < -20
    assert np.abs(dark[:5]).max() <= 2  # the sky stays as it is


def test_values_pick_the_colours():
    vertices, triangles = balls(np.zeros((1, 3)), 0.1)
    low, high = (
        scene([Layer(vertices, triangles, values=np.full(len(vertices), v))])[45, 60].astype(int)
        for v in (0.0, 1.0)
    )
    assert low[2] > low[0]
    assert high[0] > high[2]
