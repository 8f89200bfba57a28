"""One arm segment as a rigid linkage or as an arc, and its state from measured frames.

A segment starts at the origin along +z. Three families, all of which put a slide, a joint and a slide in a
row:

    "universal"                T = Tz(d1) Ry(theta1) Rx(theta2) Tz(d2)                     4 numbers
    "constant_velocity"        ... Rz(delta(theta1, theta2)) before the last slide         4 numbers
    "constant_velocity+twist"  ... Rz(delta + gamma)                                       5 numbers

with tan(delta/2) = tan(theta1/2) tan(theta2/2): the twist that makes the rotation the shortest one that takes z to
the tip's axis, as in an untwisted arm. Positive theta2 moves the tip towards negative y. Rows q of a segment are
(d1, theta1, theta2, d2[, gamma]), in [m] and [rad].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import ArgumentError

Array = np.ndarray
Joint = Literal["universal", "constant_velocity", "constant_velocity+twist"]
JOINTS: tuple[Joint, ...] = ("universal", "constant_velocity", "constant_velocity+twist")
STRAIGHT = 0.05
"""Below this bend [rad] the two slides of a segment cannot be told apart."""


def check_joint(joint: str) -> Joint:
    """The kind of joint, or an ArgumentError."""
    if joint not in JOINTS:
        raise ArgumentError("joint", f"{joint!r}", ", ".join(repr(j) for j in JOINTS))
    return joint  # type: ignore[return-value]


def joint_twist(theta1: ArrayLike, theta2: ArrayLike) -> Array:
    """Twist delta of the constant-velocity joint against the universal joint [rad]."""
    return 2.0 * np.arctan(np.tan(0.5 * np.asarray(theta1)) * np.tan(0.5 * np.asarray(theta2)))


def segment_transform(q: ArrayLike, joint: str = "universal") -> Array:
    """Pose of the tip of one segment in the frame of its base (4, 4)."""
    check_joint(joint)
    q = np.asarray(q, float)
    if q.shape != (5 if joint.endswith("twist") else 4,) or not np.isfinite(q).all():
        raise ArgumentError("q", f"shape {q.shape} or not finite", "(d1, theta1, theta2, d2[, gamma])")
    d1, t1, t2, d2 = q[:4]
    c1, s1, c2, s2 = np.cos(t1), np.sin(t1), np.cos(t2), np.sin(t2)
    T = np.array(
        [
            [c1, s1 * s2, s1 * c2, d2 * s1 * c2],
            [0.0, c2, -s2, -d2 * s2],
            [-s1, c1 * s2, c1 * c2, d1 + d2 * c1 * c2],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    if joint != "universal":
        twist = float(joint_twist(t1, t2)) + (q[4] if len(q) == 5 else 0.0)
        T[:3, :3] = T[:3, :3] @ rotation_z(twist)
    return T


def rotation_z(angle: float) -> Array:
    """Rotation about z (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def chain(transforms: ArrayLike, base: ArrayLike | None = None) -> Array:
    """Frames S_0 .. S_n (n + 1, 4, 4) of a chain of segment transforms (n, 4, 4)."""
    frames = [np.eye(4) if base is None else np.asarray(base, float)]
    for T in np.asarray(transforms, float):
        frames.append(frames[-1] @ T)
    return np.array(frames)


def between(frames: ArrayLike) -> Array:
    """Transforms of each frame in the one before (n, 4, 4) of frames S_0 .. S_n (n + 1, 4, 4)."""
    S = np.asarray(frames, float)
    if S.ndim != 3 or S.shape[1:] != (4, 4) or len(S) < 2 or not np.isfinite(S).all():
        raise ArgumentError("frames", f"shape {S.shape} or not finite", "finite poses (n + 1, 4, 4), n >= 1")
    R, p = S[:, :3, :3], S[:, :3, 3]
    out = np.zeros((len(S) - 1, 4, 4))
    out[:, :3, :3] = np.einsum("nji,njk->nik", R[:-1], R[1:])
    out[:, :3, 3] = np.einsum("nji,nj->ni", R[:-1], p[1:] - p[:-1])
    out[:, 3, 3] = 1.0
    return out


@dataclass(frozen=True, eq=False)
class LinkEstimate:
    """State of an arm of links estimated from its frames.

    Attributes:
        q: one row per segment (n, 4) or (n, 5): d1 [m], theta1, theta2 [rad], d2 [m] (, gamma [rad]).
        dropped: rotation about the tip's axis (or yaw) that the joint cannot represent [rad] (n,).
        residual: distance between the measured and the represented tip of each segment [m] (n,).
        straight: where the segment is so straight that the slides were set equal (n,) bool.
    """

    q: Array
    dropped: Array
    residual: Array
    straight: Array

    @property
    def imprint(self) -> Array:
        """d1 - d2: the imprint of external forces [m] (n,)."""
        return self.q[:, 0] - self.q[:, 3]


def estimate_links(
    frames: ArrayLike,
    *,
    joint: str = "universal",
    angles: Literal["zyx", "axis"] = "axis",
    lengths: Literal["threshold", "least_squares", "regularised"] = "threshold",
    straight: float = STRAIGHT,
    regularisation: float = 0.01,
) -> LinkEstimate:
    """State of the links from the frames at the ends of the segments.

    Args:
        frames: measured poses S_0 .. S_n, z along the arm (n + 1, 4, 4).
        joint: which linkage, see the module.
        angles: "axis" takes the angles from the tip's axis; "zyx" drops the yaw of the Z-Y-X Euler angles (what the
            published estimator does, and wrong outside of the principal planes).
        lengths: "threshold" solves the better conditioned coordinate and sets d1 = d2 below `straight`
            (published);
            "least_squares" uses all three; "regularised" is least squares with a smooth preference for d1 =
            d2.
        straight: bend below which a segment counts as straight [rad].
        regularisation: weight of d1 - d2 in "regularised" [-].
    """
    check_joint(joint)
    if angles not in ("zyx", "axis"):
        raise ArgumentError("angles", f"{angles!r}", "'axis' or 'zyx'")
    if lengths not in ("threshold", "least_squares", "regularised"):
        raise ArgumentError("lengths", f"{lengths!r}", "'threshold', 'least_squares' or 'regularised'")
    T = between(frames)
    n = len(T)
    q = np.zeros((n, 5 if joint.endswith("twist") else 4))
    dropped, residual, flat = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    for i in range(n):
        R, x = T[i, :3, :3], T[i, :3, 3]
        if angles == "zyx" and joint == "universal":
            t1, t2 = np.arcsin(np.clip(-R[2, 0], -1, 1)), np.arctan2(R[2, 1], R[2, 2])
        else:
            t1, t2 = np.arctan2(R[0, 2], R[2, 2]), np.arcsin(np.clip(-R[1, 2], -1, 1))
        q[i, 1:3] = t1, t2
        d1, d2, flat[i] = _slides(x, t1, t2, lengths, straight, regularisation)
        q[i, 0], q[i, 3] = d1, d2
        plain = segment_transform(q[i, :4], "universal" if joint == "universal" else "constant_velocity")
        left = plain[:3, :3].T @ R
        twist = float(np.arctan2(left[1, 0] - left[0, 1], left[0, 0] + left[1, 1]))
        if q.shape[1] == 5:
            q[i, 4] = twist
        else:
            dropped[i] = twist
        residual[i] = np.linalg.norm(plain[:3, 3] - x)
    return LinkEstimate(q, dropped, residual, flat)


def _slides(
    x: Array, t1: float, t2: float, rule: str, straight: float, weight: float
) -> tuple[float, float, bool]:
    """Lengths of the two slides of a segment, and whether it counts as straight."""
    n = np.array([np.sin(t1) * np.cos(t2), -np.sin(t2), np.cos(t1) * np.cos(t2)])
    flat = abs(t1) < straight and abs(t2) < straight
    if rule == "threshold":
        if flat:
            d = x[2] / (1.0 + n[2])
            return d, d, True
        d2 = x[1] / n[1] if abs(t2) >= abs(t1) else x[0] / n[0]
        return x[2] - d2 * n[2], d2, False
    if rule == "least_squares" and flat:
        d = x[2] / (1.0 + n[2])
        return d, d, True
    w = weight**2 if rule == "regularised" else 0.0
    # min |x - d1 z - d2 n|^2 + w (d1 - d2)^2
    A = np.array([[1.0 + w, n[2] - w], [n[2] - w, 1.0 + w]])
    d1, d2 = np.linalg.solve(A, np.array([x[2], n @ x]))
    return float(d1), float(d2), False


# ---- constant curvature -------------------------------------------------------------------------------
def arc_transform(arc: ArrayLike) -> Array:
    """Pose of the tip of an arc (phi, psi, l): azimuth and bending angle [rad], length [m].

    Smooth at psi = 0.
    """
    phi, psi, length = np.asarray(arc, float)
    half = 0.5 * psi
    chord = length * np.sinc(half / np.pi)  # 2 (l / psi) sin(psi / 2)
    T = np.eye(4)
    T[:3, 3] = chord * np.array([np.cos(phi) * np.sin(half), np.sin(phi) * np.sin(half), np.cos(half)])
    c, s = np.cos(psi), np.sin(psi)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    T[:3, :3] = rotation_z(phi) @ turn @ rotation_z(-phi)
    return T


def fit_arcs(frames: ArrayLike, *, fit: Literal["position", "orientation"] = "position") -> Array:
    """Arcs (phi, psi, l) of each segment from the frames at its ends (n, 3).

    Args:
        frames: measured poses S_0 .. S_n, z along the arm (n + 1, 4, 4).
        fit: "position" reproduces the tip's position, "orientation" its axis; they differ if the segment is
            no arc.
    """
    if fit not in ("position", "orientation"):
        raise ArgumentError("fit", f"{fit!r}", "'position' or 'orientation'")
    T = between(frames)
    out = np.empty((len(T), 3))
    for i, (R, x) in enumerate(zip(T[:, :3, :3], T[:, :3, 3])):
        if fit == "position":
            phi, psi = np.arctan2(x[1], x[0]), 2.0 * np.arctan2(np.hypot(x[0], x[1]), x[2])
        else:
            phi, psi = np.arctan2(R[1, 2], R[0, 2]), np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2])
        out[i] = phi, psi, np.linalg.norm(x) / np.sinc(0.5 * psi / np.pi)
    return out


def links_from_arc(arc: ArrayLike) -> Array:
    """The linkage (d1, theta1, theta2, d2) with the tip and the axis of an arc (4,); d1 = d2. |psi| < pi."""
    phi, psi, length = np.asarray(arc, float)
    if not abs(psi) < np.pi:
        raise ArgumentError("arc", f"bends by {psi:.3f} rad", "|psi| < pi: the tangents must meet")
    d = 0.5 * length * (np.tan(0.5 * psi) / (0.5 * psi) if psi else 1.0)
    theta1 = np.arctan2(np.cos(phi) * np.sin(psi), np.cos(psi))
    return np.array([d, theta1, -np.arcsin(np.sin(phi) * np.sin(psi)), d])


def denavit_hartenberg(q: ArrayLike) -> Array:
    """Rows (angle, offset, length, twist) of a universal-joint segment, classic convention (4, 4)."""
    d1, t1, t2, d2 = np.asarray(q, float)
    right = 0.5 * np.pi
    return np.array(
        [
            [0.0, d1, 0.0, -right],
            [t1 + right, 0.0, 0.0, right],
            [t2 - right, 0.0, 0.0, right],
            [right, d2, 0.0, 0.0],
        ]
    )


# ---- how well a family represents an arm --------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class TipErrors:
    """Errors of represented tips over samples: distance [m] and angle between the axes [rad] (k,)."""

    position: Array
    angle: Array


def representation_errors(samples: ArrayLike, family: str, **options: object) -> TipErrors:
    """How well a family of segments represents an arm: fit each segment, chain the fits, compare the tips.

    Args:
        samples: measured frames (k, n + 1, 4, 4).
        family: "universal" ("paper" for the published estimator), "constant_velocity",
            "constant_velocity+twist", "arc_position" or "arc_orientation".
        options: passed to `estimate_links`.
    """
    position, angle = [], []
    for frames in np.asarray(samples, float):
        if family in ("arc_position", "arc_orientation"):
            kind = "position" if family == "arc_position" else "orientation"
            fitted = [arc_transform(a) for a in fit_arcs(frames, fit=kind)]  # type: ignore[arg-type]
        else:
            joint = "universal" if family == "paper" else family
            chosen = {"angles": "zyx"} | options if family == "paper" else options
            found = estimate_links(frames, joint=joint, **chosen)  # type: ignore[arg-type]
            fitted = [segment_transform(q, joint) for q in found.q]
        tip = chain(fitted, frames[0])[-1]
        position.append(np.linalg.norm(tip[:3, 3] - frames[-1][:3, 3]))
        cross = np.linalg.norm(np.cross(tip[:3, 2], frames[-1][:3, 2]))
        angle.append(np.arctan2(cross, tip[:3, 2] @ frames[-1][:3, 2]))
    return TipErrors(np.array(position), np.array(angle))
