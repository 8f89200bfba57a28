"""Soft bodies on curved obstacles: second derivatives of gaps, and Newton's method that needs them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import pliant as pl
from pliant._kernels.turning import gap_hessian
from pliant.contact.detection import detect
from pliant.contact.retention import looked_at_again, pairs_with_a_plane
from pliant.solve.curvature import stiffened, turning_forces, turning_pairs
from pliant.solve.widening import Widening

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from soft_balls import ball_over_hertz, cylinder_over_hertz

_SIDE, _RADIUS, _YOUNG, _POISSON = 0.04, 0.05, 1e5, 0.3


def _lowest(obstacle, corners):
    """Weights and signed distance of the lowest point of a simplex, from scratch."""
    k = len(corners)
    if k == 1:
        return np.ones(1), float(obstacle.distance(corners)[0])

    def weights(t):
        return np.concatenate([[1.0 - t.sum()], t])

    found = minimize(
        lambda t: float(obstacle.distance((weights(t) @ corners)[None])[0]),
        np.full(k - 1, 1.0 / k),
        jac=lambda t: (corners[1:] - corners[0]) @ obstacle.normals((weights(t) @ corners)[None])[0],
        tol=1e-14,
    )
    return weights(found.x), float(found.fun)


_SPHERE = pl.Sphere(centre=(0.1, 0.1, -1.0), radius=0.9)
_CAPSULE = pl.Capsule(a=(0.1, -1.0, -1.0), b=(0.0, 1.2, -1.1), radius=0.8)


# a face lies flat on a capsule, or touches it at its border
@pytest.mark.parametrize(("obstacle", "corners"), [(_SPHERE, 1), (_SPHERE, 2), (_SPHERE, 3), (_CAPSULE, 2)])
def test_second_derivative_of_a_gap(obstacle, corners):
    x = np.array([[-0.5, -0.3, 0.02], [0.7, -0.2, 0.03], [0.1, 0.9, 0.0]])[:corners]
    weights, _ = _lowest(obstacle, x)
    assert weights.min() > 0.05  # the lowest point lies inside
    p = (weights @ x)[None]
    H = gap_hessian(obstacle.curvature(p)[0], obstacle.normals(p)[0], x, weights)

    def slope(y):
        w, _ = _lowest(obstacle, y)
        return np.kron(w, obstacle.normals((w @ y)[None])[0])

    h = 1e-5
    for i in range(x.size):
        d = np.zeros(x.size)
        d[i] = h
        d = d.reshape(x.shape)
        numeric = (slope(x + d) - slope(x - d)) / (2.0 * h)
        np.testing.assert_allclose(H[i], numeric, atol=2e-4 * max(1.0, np.abs(H).max()))


def _block(cells, side=_SIDE):
    mesh = pl.TetMesh.box((side, side, side / 2), (cells, cells, cells // 2))
    mesh = mesh.with_node_set("bottom", np.flatnonzero(mesh.nodes[:, 2] < 1e-9))
    law = pl.materials.Corotational(young=_YOUNG, poisson=_POISSON, density=1000.0)
    body = pl.SoftBody("block", mesh, law)
    return pl.FemModel(
        pl.Robot("block", (body,), fixations=(pl.Fixation("bottom"),), gravity=(0.0, 0.0, 0.0))
    )


def _ball(depth, x=0.0, y=0.0, **options):
    centre = (_SIDE / 2 + x, _SIDE / 2 + y, _SIDE / 2 + _RADIUS - depth)
    return pl.Sphere(centre=centre, radius=_RADIUS, **options)


def test_blocks_are_added_to_the_stiffness_where_they_belong():
    model, ball = _block(4), _ball(1e-3)
    state = pl.equilibrium(model, obstacles=[ball])
    x = model.skin_positions(state.q)
    blocks = turning_forces([ball], state.contacts, x)
    assert len(blocks) == (state.contacts.forces > 0.0).sum() > 0
    K = model.stiffness(state.q, np.zeros(0))
    full, convex = (stiffened(model, state.q, K, blocks, convex=c).toarray() - K.toarray() for c in (False, True))
    dense = stiffened(model, state.q, K.toarray(), blocks, convex=False) - K.toarray()
    assert np.allclose(dense, full, rtol=0.0, atol=1e-9 * np.abs(full).max())
    dq = np.random.default_rng(0).normal(size=model.nv)
    dx = 1e6 * (model.skin_positions(model.retract(state.q, 1e-6 * dq)) - x)
    energy = sum(dx[v].ravel() @ B @ dx[v].ravel() for v, B in blocks)
    assert dq @ full @ dq == pytest.approx(energy, rel=1e-6)
    scale = np.abs(full).max()
    values = np.linalg.eigvalsh(full)
    assert values.min() < -1e-4 * scale  # forces that turn with a ball soften sideways
    assert np.linalg.eigvalsh(convex).min() > -1e-9 * scale
    assert np.linalg.eigvalsh(convex - full).min() > -1e-9 * scale


@pytest.mark.parametrize(
    ("depth", "x", "y"), [(0.2e-3, 0.0, 0.0), (0.8e-3, 0.0, 0.0), (0.8e-3, 0.7e-3, 0.0), (2e-3, 1.1e-3, -0.6e-3)]
)
def test_b11_ball_in_a_fine_block_takes_as_few_iterations_as_in_a_coarse_one(depth, x, y):
    used = []
    for cells in (4, 12):
        state = pl.equilibrium(_block(cells), obstacles=[_ball(depth, x, y)])
        assert state.status is pl.Status.CONVERGED
        assert state.residual < 1e-6
        assert state.contacts.max_penetration < 1e-6 * _SIDE
        used.append(state.iterations)
    assert used[1] <= min(used[0] + 4, 10)
    force = state.contacts.wrench()[3:]
    assert force[2] < 0.0
    assert np.linalg.norm(force[:2]) < 0.1 * -force[2]


def test_b11_forces_that_were_not_found_are_not_called_zero():
    state = pl.equilibrium(_block(4), obstacles=[_ball(0.8e-3)], max_iterations=1)
    assert not state.status.ok
    assert any("contact forces" in note for note in state.notes)


def test_b11_force_of_a_ball_tends_to_hertz():
    """Linear elements on a block of 320 mm, 71 contact radii wide: too stiff, by the square of the element's size."""
    sizes = np.array([2.0e-3, 1.5e-3])
    coarse, fine = (ball_over_hertz(h) for h in sizes)
    assert max(coarse["iterations"], fine["iterations"]) <= 10
    assert 1.0 < fine["force"] < coarse["force"] < 1.25
    limit = fine["force"] - (coarse["force"] - fine["force"]) * sizes[1] ** 2 / (sizes[0] ** 2 - sizes[1] ** 2)
    assert limit == pytest.approx(1.0, abs=0.06)
    assert coarse["width"] < fine["width"] < 1.0


def test_b11_half_width_of_a_cylinder_is_that_of_hertz():
    """Plane strain; half-width from the spread of the forces against sqrt(4 F' R / (pi E*))."""
    widths = [cylinder_over_hertz(h)["width"] for h in (1e-3, 0.5e-3, 0.25e-3)]
    assert abs(widths[0] - 1.0) < 0.1
    assert abs(widths[1] - 1.0) < 0.02
    assert abs(widths[2] - 1.0) < 0.01


# ---- soft on soft ----------------------------------------------------------------------------------------------
def _crossed_bars() -> pl.FemModel:
    """Two bars across each other, turned and bent a little: vertices over faces, and edges that cross."""
    random = np.random.default_rng(1)
    bodies = []
    for name, size, cells, low in (
        ("a", (0.04, 0.01, 0.01), (5, 2, 2), (-0.02, -0.005, 0.0)),
        ("b", (0.01, 0.04, 0.01), (2, 5, 2), (-0.004, -0.019, 0.0101)),
    ):
        mesh = pl.TetMesh.box(size, cells, low)
        mesh = pl.TetMesh(mesh.nodes + 2e-4 * random.uniform(-1.0, 1.0, mesh.nodes.shape), mesh.tets)
        bodies.append(pl.SoftBody(name, mesh, pl.materials.Corotational.from_young(1e5, 0.3)))
    return pl.FemModel(pl.Robot("bars", tuple(bodies)))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_second_derivative_of_the_gap_of_soft_pairs(order):
    model = _crossed_bars()
    obstacles = [pl.BodyContact(*order)]
    x = model.skin_positions(model.rest)
    found = detect(model, model.rest, obstacles, alarm=1e-3)
    over, crossed = pairs_with_a_plane(found)
    assert over.sum() > 5 and crossed.sum() > 1
    pressing = found.with_forces(np.where(over | crossed, 1.0, 0.0))
    blocks = turning_pairs(pressing, x)
    chosen = np.flatnonzero(over | crossed)
    assert len(blocks) == len(chosen)
    assert len(turning_pairs(pressing, x, edges=False)) == over.sum()
    way, h = np.random.default_rng(2).normal(size=x.shape), 1e-6

    def gaps(t):
        moved = looked_at_again(pressing, x + t * way, model.skin.radius, offset=0.0, obstacles=obstacles)
        return moved.gap[chosen]

    second = (gaps(h) - 2.0 * gaps(0.0) + gaps(-h)) / h**2
    mine = [-way[corners].ravel() @ block @ way[corners].ravel() for corners, block in blocks]
    assert np.abs(mine - second).max() < 1e-4 * np.abs(second).max()


def test_a_widened_pattern_holds_what_elements_do_not_share_and_is_kept():
    model = _crossed_bars()
    found = detect(model, model.rest, [pl.BodyContact(0, 1)], alarm=1e-3)
    over, _ = pairs_with_a_plane(found)
    x, K = model.skin_positions(model.rest), model.stiffness(model.rest, np.zeros(0))
    blocks = turning_pairs(found.with_forces(1.0 * over), x)
    wider = Widening()
    first = stiffened(model, model.rest, K, blocks, convex=False, wider=wider)
    fewer = stiffened(model, model.rest, K, blocks[:2], convex=False, wider=wider)
    assert fewer.pattern is first.pattern
    way = np.random.default_rng(3).normal(size=model.nv)
    moved = model.skin_positions(model.rest + way) - x
    extra = sum(moved[c].ravel() @ block @ moved[c].ravel() for c, block in blocks)
    assert way @ (first @ way) - way @ (K @ way) == pytest.approx(extra, rel=1e-9)
