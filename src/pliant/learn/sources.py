"""Simulators to learn from: analytical constant-curvature robots, and a rod with three chambers.

Any model can be sampled; these are quick, need no mesh, and stand for the two robots of the
learned-inverse paper: the three-chamber arm (an analytical model, spec learned-ik 2.6, and a numerical
one, a Cosserat rod with weight) and the planar finger manipulator of three sections (4.2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant import lie
from pliant.actuators import Chamber
from pliant.bodies import Point, RodBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational
from pliant.models.kinematic import KinematicModel
from pliant.robot import Robot

Array = np.ndarray
_UP = (math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0)  # turns the rod's local x axis to z
_ALONG_Y = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))


class SectionedArm(KinematicModel):
    """Sections of constant curvature in series; a subclass gives the twist of each section.

    The pose is the product of exp(twist_k(u)); derivatives are exact.
    """

    def twists(self, u: Array) -> tuple[Array, Array]:
        """Twist (angular; linear) of each section (s, 6) and its derivative (s, 6, nu)."""
        raise NotImplementedError

    def kinematics(self, u: Array, *, derivative: bool) -> tuple[Array, Array, Array | None]:
        """Position, rotation and Jacobian of the tip."""
        twists, slopes = self.twists(np.asarray(u, float))
        g = lie.frame(np.eye(3), self.base)
        body = np.zeros((6, self.nu))
        for xi, slope in zip(twists, slopes):
            step = lie.exp(xi)
            g = g @ step
            if derivative:
                body = lie.Ad_inverse(step) @ body + lie.right_tangent(xi) @ slope
        R = g[:3, :3]
        jac = np.concatenate([R @ body[:3], R @ body[3:]])[None] if derivative else None
        return g[None, :3, 3].copy(), R[None].copy(), jac


class ConstantCurvatureArm(SectionedArm):
    """The analytical three-chamber arm: chamber lengths l_k = L0 + g(c_k) at 0, 120, 240 degrees set
    length and bending.

    Args:
        length: rest length L0 [m].
        radius: distance of the chambers from the axis [m].
        pressure: largest pressure [Pa].
        gain: elongation of a chamber at that pressure [m].
        curve: share of the elongation that is quadratic in the pressure [-].
    """

    def __init__(
        self,
        *,
        length: float = 0.12,
        radius: float = 0.0125,
        pressure: float = 100e3,
        gain: float = 0.0105,
        curve: float = 0.2,
    ) -> None:
        self.rest_length, self.radius, self.pressure = float(length), float(radius), float(pressure)
        self.gain, self.curve = float(gain), float(curve)
        if min(self.rest_length, self.radius, self.pressure, self.gain) <= 0:
            raise ArgumentError("length", "not positive", "positive numbers")
        turn = 2.0 * np.pi * np.arange(3) / 3.0
        self._cos, self._sin = np.cos(turn), np.sin(turn)
        super().__init__(
            _arm_robot("constant_curvature_arm", length, pressure), np.array([(0.0, pressure)] * 3), length=length
        )

    def lengths(self, u: Array) -> tuple[Array, Array]:
        """Chamber lengths [m] (3,) and their slopes (3,)."""
        s = u / self.pressure
        value = self.rest_length + self.gain * ((1.0 - self.curve) * s + self.curve * s * s)
        return value, self.gain * ((1.0 - self.curve) + 2.0 * self.curve * s) / self.pressure

    def twists(self, u: Array) -> tuple[Array, Array]:
        """One section: length and bending follow from the chamber lengths."""
        long, slope = self.lengths(u)
        # L w, with w the curvature vector, is linear in the lengths: l_k = L (1 - kappa r cos(alpha_k -
        # phi)).
        c = -2.0 / (3.0 * self.radius)
        xi = np.array([-c * self._sin @ long, c * self._cos @ long, 0.0, 0.0, 0.0, long.mean()])
        d = np.zeros((6, 3))
        d[0], d[1], d[5] = -c * self._sin * slope, c * self._cos * slope, slope / 3.0
        return xi[None], d[None]


class FingerManipulator(SectionedArm):
    """The planar manipulator: three finger sections in the xy-plane, each bending to both sides by a
    signed pressure.

    Args:
        section: length of each section [m].
        link: rigid length after each section [m].
        pressure: largest pressure, to both sides [Pa].
        bend: bending of a section at that pressure [rad].
        curve: share of the bending that is cubic in the pressure [-].
        gains: factor on the bending of each section [-].
    """

    def __init__(
        self,
        *,
        section: float = 0.0135,
        link: float = 0.002,
        pressure: float = 3e5,
        bend: float = 2.0 * math.pi / 3,
        curve: float = 0.25,
        gains: tuple[float, float, float] = (1.0, 1.0, 1.0),
    ) -> None:
        self.section, self.link, self.pressure = float(section), float(link), float(pressure)
        self.bend, self.curve, self.gains = float(bend), float(curve), np.array(gains, float)
        total = 3.0 * (section + link)
        body = RodBody("fingers", total, 0.1 * section, _rubber(1e6), rotation=_ALONG_Y)
        drives = tuple(Chamber(name=f"finger{i + 1}", effort_limits=(-self.pressure, self.pressure)) for i in range(3))
        robot = Robot(
            "finger_manipulator",
            (body,),
            actuators=drives,
            points=(Point("tip", (0.0, total, 0.0)),),
            source="spec learned-ik 4.2; section lengths chosen for a workspace of about 86 mm",
        )
        super().__init__(robot, np.array([(-self.pressure, self.pressure)] * 3), length=total)

    def angles(self, u: Array) -> tuple[Array, Array]:
        """Bending of each section [rad] (3,) and its slope (3,)."""
        s = self.gains * u / self.pressure
        value = self.bend * ((1.0 - self.curve) * s + self.curve * s**3)
        return value, self.bend * ((1.0 - self.curve) + 3.0 * self.curve * s * s) * self.gains / self.pressure

    def twists(self, u: Array) -> tuple[Array, Array]:
        """Bending about z, then a rigid link, three times."""
        angle, slope = self.angles(u)
        xi, d = np.zeros((6, 6)), np.zeros((6, 6, 3))
        for i in range(3):
            xi[2 * i, 2], xi[2 * i, 4] = angle[i], self.section
            xi[2 * i + 1, 4] = self.link
            d[2 * i, 2, i] = slope[i]
        return xi, d


def chamber_arm(
    *,
    length: float = 0.12,
    radius: float = 0.02,
    hole: float = 0.014,
    offset: float = 0.0125,
    area: float = 1.1e-4,
    young: float = 0.33e6,
    pressure: float = 100e3,
    gains: tuple[float, float, float] = (1.0, 1.0, 1.0),
    lean: tuple[float, float] = (0.0, 0.0),
    payload: float = 0.0,
    gravity: bool = True,
    order: int = 3,
) -> Any:
    """The numerical three-chamber arm: a Cosserat rod with three pressure channels, its weight and a payload.

    Args:
        length, radius, hole: of the rod [m].
        offset: distance of the channels from the axis [m].
        area: their cross-section [m^2].
        young: Young's modulus [Pa].
        pressure: largest pressure [Pa].
        gains: factors of the channels' sections (asymmetry).
        lean: curvature of the rest shape about its two bending axes [1/m].
        payload: mass at the tip [kg].
        gravity: whether it has weight.
        order: polynomial order of the strains.
    """
    from pliant.models.basis import legendre
    from pliant.models.rod import RodModel
    from pliant.models.rod_drives import ChamberPath

    body = RodBody(
        "arm",
        length,
        radius,
        _rubber(young),
        inner_radius=hole,
        rotation=_UP,
        tip_mass=payload,
        rest_curvature=(0.0, lean[0], lean[1]),
    )
    plain = _arm_robot("chamber_arm", length, pressure)
    robot = plain.but(bodies=(body,), points=(), gravity=(0.0, 0.0, -9.81 if gravity else 0.0))
    paths = {}
    for k, (name, gain) in enumerate(zip(robot.actuator_names, gains)):
        x, y = offset * math.cos(2 * math.pi * k / 3), offset * math.sin(2 * math.pi * k / 3)
        paths[name] = ChamberPath(tuple((x, y, z) for z in (0.0, length)), area * gain)
    return RodModel(robot, basis=legendre(order=order), chambers=paths)


def _rubber(young: float) -> Corotational:
    return Corotational.from_young(young, 0.45, density=1100.0)


def _arm_robot(name: str, length: float, pressure: float) -> Robot:
    body = RodBody("arm", length, 0.1 * length, _rubber(1e6), rotation=_UP)
    drives = tuple(Chamber(name=f"chamber{k + 1}", effort_limits=(0.0, pressure)) for k in range(3))
    return Robot(name, (body,), actuators=drives, points=(Point("tip", (0.0, 0.0, length)),))
