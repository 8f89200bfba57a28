"""One-dimensional laws of the geometric model: over the distance to the rest shape, over a stretch, over the volume."""

from __future__ import annotations

from numba import njit

#: How the volume of an element is measured.
MEAN, DETERMINANT, CUBE_ROOT = 0, 1, 2
#: Added to the way the volume is measured where the curve is over principal stretches, not over the distance |F - R|.
PRINCIPAL = 4
#: Start of the curves over principal stretches. Below, the slope goes on linearly: inverted elements have energy too.
STRETCH_LOW = 0.2
J_MIN = 0.25


@njit(cache=True, nogil=True, error_model="numpy")
def secant(curve, width, d):
    """Energy psi, secant modulus s and its derivative s' at the distance d = |F - R|."""
    if width == 0.0:
        s = curve[0, 0]
        return s * d * d, s, 0.0
    last = curve.shape[0] - 1
    i = int(d / width)
    if i >= last:  # beyond the table: constant modulus, its start stored in the last row
        s, d0 = curve[last, 0], last * width
        return curve[last, 4] + s * (d * d - d0 * d0), s, 0.0
    a, b, c, e = curve[i, 0], curve[i, 1], curve[i, 2], curve[i, 3]
    d0 = i * width
    t = d - d0
    s = a + t * (b + t * (c + t * e))
    # integral of 2 (d0 + t) s(t)
    psi = 2.0 * d0 * t * (a + t * (b / 2.0 + t * (c / 3.0 + t * e / 4.0)))
    psi += 2.0 * t * t * (a / 2.0 + t * (b / 3.0 + t * (c / 4.0 + t * e / 5.0)))
    return curve[i, 4] + psi, s, b + t * (2.0 * c + 3.0 * t * e)


@njit(cache=True, nogil=True, error_model="numpy")
def stretch_law(curve, width, s):
    """Energy f [Pa], stress f' and modulus f'' of one principal stretch s; the rows hold f' as cubics."""
    last = curve.shape[0] - 1
    x = (s - STRETCH_LOW) / width
    i = int(x) if x > 0.0 else 0
    if i >= last:  # the last row continues the table with constant modulus
        i = last
    t = s - (STRETCH_LOW + i * width)
    a, b = curve[i, 0], curve[i, 1]
    if t < 0.0:  # before the table: constant modulus as well
        return curve[i, 4] + t * (a + 0.5 * t * b), a + t * b, b
    c, e = curve[i, 2], curve[i, 3]
    f = curve[i, 4] + t * (a + t * (b / 2.0 + t * (c / 3.0 + t * e / 4.0)))
    return f, a + t * (b + t * (c + t * e)), b + t * (2.0 * c + 3.0 * t * e)


@njit(cache=True, nogil=True, error_model="numpy")
def volume_law(lame, J, volume):
    """U(J), U' and U'' [Pa]. Below J = 1/4 the cube root is continued by its tangent parabola."""
    if volume == DETERMINANT:
        e = J - 1.0
        return 0.5 * lame * e * e, lame * e, lame
    x = J if J > J_MIN else J_MIN
    r = x ** (1.0 / 3.0)
    e = r - 1.0
    r2 = 1.0 / (r * r)
    U, dU, ddU = 4.5 * lame * e * e, 3.0 * lame * e * r2, lame * (r2 * r2 - 2.0 * e * r2 / x)
    t = J - x
    return U + t * (dU + 0.5 * t * ddU), dU + t * ddU, ddU
