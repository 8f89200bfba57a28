"""Exact answers of the cases of benchmarks/peers: NumPy and SciPy only, so that both sides import the same ones."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad, solve_bvp, solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

Array = np.ndarray
GRAVITY = 9.81

# One rod for all rod cases: 0.5 m long, 5 mm radius, 1 MPa, 1100 kg/m^3. Slender: shear and stretch hardly count.
LENGTH, RADIUS, YOUNG, POISSON, DENSITY = 0.5, 5e-3, 1e6, 0.45, 1100.0
AREA, SECOND = np.pi * RADIUS**2, np.pi / 4 * RADIUS**4
SHEAR = YOUNG / (2 + 2 * POISSON)
BENDING = YOUNG * SECOND  # EI [N m^2]
WEIGHT = DENSITY * AREA * GRAVITY  # per length [N/m]


def heavy_elastica(load: float, weight: float, length: float = LENGTH, bending: float = BENDING) -> Array:
    """Tip (x, z) [m] of a horizontal cantilever under a dead tip load [N] and its own weight [N/m], z down.

    Reissner's beam, with stretch and shear, as a boundary value problem: angle(0) = 0, angle'(L) = 0. The load is raised
    in steps.
    """
    s = np.linspace(0.0, 1.0, 400)
    y = np.zeros((4, s.size))
    for share in np.linspace(0.1, 1.0, 10):

        def slope(s: Array, y: Array, share: float = share) -> Array:
            force = share * (load + weight * length * (1 - s))
            along, across = 1 + force * np.sin(y[0]) / (YOUNG * AREA), force * np.cos(y[0]) / (SHEAR * AREA)
            x, z = along * np.cos(y[0]) - across * np.sin(y[0]), along * np.sin(y[0]) + across * np.cos(y[0])
            return np.array([y[1], -force * length**2 / bending * x, x, z])

        ends = lambda a, b: np.array([a[0], b[1], a[2], a[3]])  # noqa: E731
        y = solve_bvp(slope, ends, s, y, tol=1e-9, max_nodes=20000).sol(s)
    return length * y[2:, -1]


def buckled(alpha: float) -> tuple[float, float, float]:
    """A cantilever pushed along its axis, with the angle alpha at its tip: (load / Euler's, x / L, y / L)."""
    k = np.sin(alpha / 2)
    whole = ellipk(k**2)
    return (2 * whole / np.pi) ** 2, 2 * ellipe(k**2) / whole - 1, 2 * k / whole


def euler_load(length: float = LENGTH, bending: float = BENDING) -> float:
    """Buckling load of a cantilever [N]."""
    return float(np.pi**2 * bending / (4 * length**2))


def helix(rest: Array, bent: Array, length: float) -> tuple[Array, Array, Array]:
    """A rod pulled from one helix into another: exact, because strains stay constant along it.

    Forces along a rod of constant strain balance if the force is parallel to the curvature vector and the moment turns
    as it should: kappa x m = n x epsilon. The stretch is found together with the force.

    Args:
        rest: curvature and torsion at rest (kappa_x, kappa_y = 0, kappa_z) [1/m].
        bent: the same under load.
        length: [m].

    Returns:
        Dead force [N] and moment [N m] at the tip in world axes, and the place of the tip [m].
    """
    stiff = np.array([2 * SHEAR * SECOND, BENDING, BENDING])
    moment = stiff * (bent - rest)
    size, axis = np.linalg.norm(bent), bent / np.linalg.norm(bent)

    def strain(pull: float) -> Array:
        n = pull * axis
        return np.array([1.0, 0.0, 0.0]) + n / np.array([YOUNG, SHEAR, SHEAR]) / AREA

    def unbalanced(pull: float) -> float:
        return float((np.cross(bent, moment) - np.cross(pull * axis, strain(pull)))[1])

    guess = np.cross(bent, moment)[1] / axis[2] if size else 0.0
    pull = brentq(unbalanced, -abs(guess) * 3 - 1e-12, abs(guess) * 3 + 1e-12, xtol=1e-16, rtol=1e-14)
    twist = np.zeros((4, 4))
    x, y, z = bent
    twist[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    twist[:3, 3] = strain(pull)
    end = expm(twist * length)
    return end[:3, :3] @ (pull * axis), end[:3, :3] @ moment, end[:3, 3]


def pendulum_period(length: float, amplitude: float) -> float:
    """Period of a uniform rigid rod that swings about its end [s]."""
    return float(4 * ellipk(np.sin(amplitude / 2) ** 2) * np.sqrt(2 * length / (3 * GRAVITY)))


def arms(curvatures: Array, lengths: Array) -> Array:
    """Tip of arcs joined smoothly in the x-z plane, curvature about y [m] (3,)."""
    x = z = angle = 0.0
    for k, length in zip(curvatures, lengths):
        end = angle + k * length
        x += (np.sin(end) - np.sin(angle)) / k
        z += (np.cos(end) - np.cos(angle)) / k
        angle = end
    return np.array([x, 0.0, z])


def heavy_chain_frequency(length: float) -> float:
    """First frequency [rad/s] of a hanging chain without stiffness (Bernoulli)."""
    return float(2.404825557695773 / 2 * np.sqrt(GRAVITY / length))


def sphere_pressure(shear: float, inner: float, outer: float, stretch: float) -> float:
    """Pressure [Pa] inside a thick ball of incompressible neo-Hookean rubber whose inner radius is stretched."""
    a = stretch * inner

    def at(R: float) -> float:
        r = (R**3 + a**3 - inner**3) ** (1 / 3)
        lam = r / R
        return 2 * shear * (lam**2 - lam**-4) * (R**2 / r**3)

    return float(quad(at, inner, outer, epsabs=0, epsrel=1e-11)[0])


def cylinder_pressure(shear: float, inner: float, outer: float, stretch: float) -> float:
    """The same for a long tube whose length is held."""
    a = stretch * inner

    def at(R: float) -> float:
        r2 = R**2 + a**2 - inner**2
        lam2 = r2 / R**2
        return shear * (lam2 - 1 / lam2) * R / r2

    return float(quad(at, inner, outer, epsabs=0, epsrel=1e-11)[0])


def timoshenko_frequencies(length: float, side: float, young: float, poisson: float, density: float, n: int) -> Array:
    """First bending frequencies [rad/s] of a clamped square bar with shear (5/6) and rotary inertia, by shooting."""
    area, second, shear = side**2, side**4 / 12, young / (2 + 2 * poisson) * 5 / 6

    def determinant(w: float) -> float:
        def slope(s: float, y: Array) -> Array:
            a, b = y.reshape(2, 4), np.empty((2, 4))
            for i, (d, turn, m, q) in enumerate(a):  # deflection, rotation, moment, shear force
                b[i] = [q / (shear * area) + turn, m / (young * second), -q - density * second * w**2 * turn,
                        -density * area * w**2 * d]  # fmt: skip
            return b.ravel()

        start = np.array([0, 0, 1.0, 0, 0, 0, 0, 1.0])
        end = solve_ivp(slope, (0, length), start, rtol=1e-10, atol=1e-14).y[:, -1].reshape(2, 4)
        return float(end[0, 2] * end[1, 3] - end[1, 2] * end[0, 3])

    slender = np.array([1.8751, 4.6941, 7.8548, 10.9955])[:n] ** 2
    slender = slender * np.sqrt(young * second / (density * area)) / length**2
    found: list[float] = []
    grid = np.linspace(0.3 * slender[0], 1.01 * slender[-1], 120)
    values = [determinant(w) for w in grid]
    for a, b, fa, fb in zip(grid[:-1], grid[1:], values[:-1], values[1:]):
        if fa * fb < 0:
            found.append(float(brentq(determinant, a, b, rtol=1e-8)))
    return np.array(found[:n])


def square_torsion() -> float:
    """Torsion constant of a square over its side^4 (Saint-Venant's series)."""
    odd = np.arange(1, 200, 2)
    return float(1 / 3 - 64 / np.pi**5 * np.sum(np.tanh(odd * np.pi / 2) / odd**5))
