"""RodModel: derivatives, virtual work, classical statics."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import ArgumentError, UnknownNameError
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.contract import Model
from pliant.models.rod import RodModel
from pliant.models.rod_drives import ChamberPath

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
NO_GRAVITY = (0.0, 0.0, 0.0)
L = 0.3


def robot(*actuators, gravity=(0, 0, -9.81), points=(), **rod):
    options = {"length": L, "radius": 0.02, "material": SOFT} | rod
    return pl.Robot(
        "arm", (pl.RodBody("arm", **options),), actuators=actuators, gravity=gravity, points=points
    )


def cable(name, y, z, length=L, **options):
    return pl.Cable(name=name, points=[(0, y, z), (length, y, z)], drive="effort", **options)


def actuated():
    """A pre-curved rod with every kind of actuator."""
    helix = [(L * s, 0.015 * np.cos(6 * s), 0.015 * np.sin(6 * s)) for s in np.linspace(0, 1, 9)]
    return robot(
        cable("straight", 0.015, 0.0),
        pl.Cable(name="converging", points=[(0, 0, 0.015), (0.8 * L, 0, 0.002)], drive="effort"),
        pl.Cable(name="helix", points=helix, drive="effort"),
        pl.Cable(
            name="pulled", points=[(0.2, 0, 0.01), (L, 0, 0.01)], pull_point=(0.1, 0.2, 0.1), drive="effort"
        ),
        pl.PointForce(name="push", point=(0.2, 0, 0), direction=(0, 1, 1)),
        pl.Chamber(name="pressure"),
        rest_curvature=(0.5, 1.0, -2.0),
        tip_mass=0.03,
    )


CHANNEL = {"pressure": ChamberPath(((0, 0, -0.012), (L, 0, -0.012)), 1e-4)}
EFFORT = np.array([1.0, 2.0, 0.5, 3.0, -0.4, 2e4])
BASES = [
    pytest.param(bases.constant(segments=2), id="constant"),
    pytest.param(bases.legendre(1), id="legendre"),
    pytest.param(bases.hermite(1, strains=bases.BENDING), id="hermite"),
    pytest.param(bases.from_modes(np.random.default_rng(1).standard_normal((3, 6, 6)) * 0.3), id="modes"),
]


def difference(f, q, h=1e-6):
    """Central differences, one column per coordinate."""
    return np.array([(f(q + h * e) - f(q - h * e)) / (2 * h) for e in np.eye(len(q))]).T


def bent(model, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(model.nv) * np.where(
        (model.tables.comp >= 0) & (model.tables.comp < 3), 3.0, 0.05
    )


@pytest.mark.parametrize("basis", BASES)
def test_derivatives(basis):
    model = RodModel(actuated(), basis=basis, chambers=CHANNEL)
    assert isinstance(model, Model)
    q = bent(model)
    f = model.force(q, EFFORT)
    assert np.allclose(f, -difference(lambda x: model.energy(x, EFFORT), q), atol=1e-7 * np.abs(f).max())
    K = model.stiffness(q, EFFORT)
    assert np.allclose(K, -difference(lambda x: model.force(x, EFFORT), q), atol=1e-7 * np.abs(K).max())
    rows = model.displacement_rows(q)
    numeric = difference(model.displacement, q)
    for a in range(model.nu):
        assert np.allclose(rows[a], numeric[a], atol=1e-7 * np.abs(rows[a]).max())
    both = model.linearise(q, EFFORT)
    assert np.allclose(both[0], f, atol=1e-12 * np.abs(f).max())


@pytest.mark.parametrize("basis", BASES)
def test_virtual_work(basis):
    model = RodModel(actuated(), basis=basis, chambers=CHANNEL)
    q = bent(model, 3)
    assert np.allclose(model.displacement(model.rest), 0.0, atol=1e-15)
    unit = np.eye(model.nu)
    none = model.force(q, np.zeros(model.nu))
    for a in range(model.nu):
        push = model.force(q, unit[a]) - none
        assert np.allclose(push, model.displacement_rows(q)[a], atol=1e-9 * max(np.abs(none).max(), 1e-6))
    assert np.allclose(model.actuation(q, EFFORT), model.displacement_rows(q).T)


@pytest.mark.parametrize("basis", BASES)
def test_d2_places_and_their_jacobians(basis):
    """D2: J v is the time derivative of position and orientation, also through the straight pose."""
    points = (pl.Point("mid", (0.13, 0.01, 0.0)), pl.Point("end", (L, 0.0, 0.02), rotation=(0.8, 0.6, 0, 0)))
    model = RodModel(robot(points=points), basis=basis)
    for q in (bent(model), np.zeros(model.nv)):
        place = model.locate(q, ["mid", "end", "tip"], jacobian=True)
        for i, name in enumerate(place.names):
            J = difference(lambda x, name=name: model.locate(x, name).position, q)
            assert np.allclose(place.jacobian[i, 3:], J, atol=1e-8 * max(1, np.abs(J).max()))
            R, h = place.rotation[i], 1e-6
            for j, e in enumerate(np.eye(model.nv)):
                change = model.locate(q + h * e, name).rotation - model.locate(q - h * e, name).rotation
                spin = change @ R.T / (2 * h)
                assert np.allclose(place.jacobian[i, :3, j], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-7)
    assert np.allclose(model.locate(model.rest, "mid").position, (0.13, 0.01, 0.0))
    assert np.allclose(model.locate(model.rest, "end").rotation, place.rotation[1])


def test_centre_of_mass_and_skin():
    model = RodModel(robot(tip_mass=0.1), basis=bases.legendre(1))
    q = bent(model)
    _, rows = model.centre_of_mass(q)
    assert np.allclose(rows, difference(lambda x: model.centre_of_mass(x)[0], q), atol=1e-9)
    x = model.skin_positions(q)
    assert x.shape == (model.skin.size, 3)
    assert np.allclose(x[-1], model.locate(q, "tip").position)
    vertices, weights = np.array([[3, 4], [20, 21]]), np.array([[0.3, 0.7], [1.0, -1.0]])
    directions = np.array([[0, 0, 1.0], [0.6, 0.8, 0]])

    def gap(q):
        return np.einsum("ik,ic,ikc->i", weights, directions, model.skin_positions(q)[vertices])

    rows = model.skin_rows(q, vertices, weights, directions)
    assert np.allclose(rows, difference(gap, q), atol=1e-9)


def test_f3_pure_moment_gives_constant_curvature_and_closes_the_circle():
    """F3: two opposite tendons are a pure moment M; curvature M/EI everywhere; 2 pi EI/L closes a circle."""
    r = 0.01
    model = RodModel(
        robot(cable("up", 0, r), cable("down", 0, -r, effort_limits=(-np.inf, np.inf)), gravity=NO_GRAVITY),
        basis=bases.legendre(3, strains=("bend_y", "stretch")),
    )
    EI = SOFT.young * np.pi / 4 * 0.02**4
    T = 2 * np.pi * EI / L / (2 * r)
    state = pl.equilibrium(model, {"up": T, "down": -T}).require()
    q = state.q.reshape(2, 4)
    assert q[0, 0] == pytest.approx(-2 * np.pi / L, rel=1e-10)
    assert np.allclose(q[0, 1:], 0, atol=1e-8)
    assert np.allclose(model.locate(state, "tip").position, 0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("load", "shortening", "deflection"),
    [(1.0, 0.05643, 0.30172), (5.0, 0.38763, 0.71379), (10.0, 0.55500, 0.81061)],
)
def test_elastica_under_tip_load(load, shortening, deflection):
    """Mattiasson (1981), cantilever with a dead tip load P L^2 / EI, inextensible."""
    model = RodModel(
        robot(pl.PointForce(name="p", point=(L, 0, 0), direction=(0, 0, -1)), gravity=NO_GRAVITY),
        basis=bases.legendre(7, strains=("bend_y",), points=20),
    )
    EI = SOFT.young * np.pi / 4 * 0.02**4
    tip = model.locate(pl.equilibrium(model, {"p": load * EI / L**2}).require(), "tip").position
    assert 1 - tip[0] / L == pytest.approx(shortening, abs=1e-5)
    assert -tip[2] / L == pytest.approx(deflection, abs=1e-5)


def test_heavy_hanging_rod_stretches_like_the_textbook():
    """Tip displacement rho g L^2 / (2 E), strain linear along the rod."""
    model = RodModel(
        robot(rotation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0)),
        basis=bases.legendre(1, strains=("bend_y", "stretch")),
    )
    tip = model.locate(pl.equilibrium(model).require(), "tip").position
    assert tip[2] == pytest.approx(-L - 1050 * 9.81 * L**2 / (2 * SOFT.young), rel=1e-9)


def test_euler_buckling_load():
    """The tangent of the straight column loses definiteness at pi^2 EI / (4 L^2)."""
    model = RodModel(
        robot(pl.PointForce(name="p", point=(L, 0, 0), direction=(-1, 0, 0)), gravity=NO_GRAVITY),
        basis=bases.legendre(4, strains=bases.BENDING),
    )
    critical = np.pi**2 * SOFT.young * np.pi / 4 * 0.02**4 / (4 * L**2)
    lowest = [
        np.linalg.eigvalsh(model.stiffness(model.rest, np.array([f * critical])))[0] for f in (0.9999, 1.0001)
    ]
    assert lowest[0] > 0 > lowest[1]


def test_helical_spring_stiffness():
    """delta = F R^2 L (cos^2 a / GJ + sin^2 a / EI) for an axial force on the axis, pitch angle a."""
    R, angle, turns, wire = 0.02, 0.15, 4, 0.001
    length = 2 * np.pi * R * turns / np.cos(angle)
    kappa, tau = np.cos(angle) ** 2 / R, np.sin(angle) * np.cos(angle) / R
    rod = pl.RodBody("spring", length, wire, SOFT, rest_curvature=(tau, 0.0, kappa))
    # the axis of the helix is along the Darboux vector (tau, 0, kappa), at R along the normal (local y)
    axis = np.array([tau, 0.0, kappa]) / np.hypot(tau, kappa)
    centre = np.array([0.0, R, 0.0]) + axis * length * np.sin(angle)
    force = 1e-7  # small: the formula is linear
    push = pl.PointForce(name="f", point=tuple(centre), direction=tuple(axis))
    model = RodModel(
        pl.Robot("s", (rod,), actuators=(push,), gravity=NO_GRAVITY),
        basis=bases.constant(strains=bases.INEXTENSIBLE, points=12),
    )
    state = pl.equilibrium(model, {"f": force}).require()
    EI, GJ = SOFT.young * np.pi / 4 * wire**4, SOFT.shear * np.pi / 2 * wire**4
    expected = R**2 * length * (np.cos(angle) ** 2 / GJ + np.sin(angle) ** 2 / EI)
    assert model.nv == 3
    assert state.displacement[0] / force == pytest.approx(expected, rel=1e-4)


def test_two_rods_joined_are_one_rod():
    one = RodModel(robot(), basis=bases.constant(segments=2))
    halves = (
        pl.RodBody("a", L / 2, 0.02, SOFT),
        pl.RodBody("b", L / 2, 0.02, SOFT, parent="a"),
    )
    two = RodModel(pl.Robot("two", halves), basis=bases.constant())
    q = bent(one)
    none = np.zeros(0)
    assert np.allclose(one.force(q, none), two.force(q, none), atol=1e-14)
    assert np.allclose(one.locate(q, "tip").position, two.locate(q, "b.tip").position)


def test_a_cable_over_a_joint_is_the_cable_of_one_rod():
    one = RodModel(robot(cable("c", 0.015, 0.002)), basis=bases.constant(segments=2))
    halves = (pl.RodBody("a", L / 2, 0.02, SOFT), pl.RodBody("b", L / 2, 0.02, SOFT, parent="a"))
    two = RodModel(pl.Robot("two", halves, actuators=(cable("c", 0.015, 0.002),)), basis=bases.constant())
    q = bent(one)
    assert np.allclose(one.displacement(q), two.displacement(q), atol=1e-15)


def test_driven_by_displacement():
    model = RodModel(
        robot(pl.Cable(name="c", points=[(0, 0, 0.015), (L, 0, 0.015)])),
        basis=bases.legendre(2, strains=bases.BENDING),
    )
    state = pl.equilibrium(model, {"c": 0.02}).require()
    assert state.displacement[0] == pytest.approx(0.02, abs=1e-9)
    assert state.effort[0] > 0
    assert model.locate(state, "tip").position[2] > 0.0


def test_resting_on_a_plane():
    model = RodModel(robot(), basis=bases.legendre(3, strains=bases.INEXTENSIBLE))
    free = model.locate(pl.equilibrium(model).require(), "tip").position[2]
    floor = pl.Plane(point=(0, 0, 0.5 * free - 0.02), normal=(0, 0, 1))
    state = pl.equilibrium(model, obstacles=[floor]).require()
    assert model.skin_positions(state.q)[:, 2].min() == pytest.approx(0.5 * free, abs=1e-5)


def test_bad_input_is_named():
    with pytest.raises(UnknownNameError, match=r"arm\.tip"):
        RodModel(robot()).locate(np.zeros(24), "elbow")
    with pytest.raises(ArgumentError, match="q: shape"):
        RodModel(robot()).force(np.zeros(3), np.zeros(0))
    with pytest.raises(ArgumentError, match="chambers"):
        RodModel(robot(pl.Chamber(name="air")))
    with pytest.raises(ArgumentError, match="tube_stiffness"):
        RodModel(robot(cable("c", 0, 0.01, tube_stiffness=0.1)))
    with pytest.raises(ArgumentError, match="basis"):
        RodModel(robot(), basis={})
    with pytest.raises(UnknownNameError, match="parent"):
        RodModel(pl.Robot("r", (pl.RodBody("a", L, 0.01, SOFT, parent="b"), pl.RodBody("b", L, 0.01, SOFT))))


def test_a_model_survives_pickling_after_use():
    """Compiled handles are left behind and made again."""
    import pickle

    body = pl.RodBody("rod", 0.3, 0.01, NeoHookean.from_young(1e6, 0.45))
    model = RodModel(pl.Robot("rod", (body,)), basis=bases.constant(segments=2))
    q = np.linspace(-1.0, 1.0, model.nq)
    none, v = np.zeros(0), np.ones(model.nv)
    before = model.acceleration(q, v, none), model.locate(q, "tip", jacobian=True).jacobian
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.acceleration(q, v, none), before[0])
    assert np.array_equal(copy.locate(q, "tip", jacobian=True).jacobian, before[1])


def test_cable_paths_have_the_length_of_the_cables():
    """What is drawn is what is computed: rest length less the displacement, also through the air."""
    model = RodModel(actuated(), basis=bases.legendre(2), chambers=CHANNEL)
    q = np.random.default_rng(1).standard_normal(model.nq) * np.where(model.tables.comp < 3, 3.0, 0.05)

    def lengths(q):
        paths = model.cable_paths(q)
        return {name: np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for name, x in paths.items()}

    rest, bent, pulled = lengths(model.rest), lengths(q), model.displacement(q)
    assert set(rest) == {"straight", "converging", "helix", "pulled"}
    for name in rest:
        given = pulled[model.robot.actuator_names.index(name)]
        assert rest[name] - bent[name] == pytest.approx(given, abs=5e-4 * rest[name])
