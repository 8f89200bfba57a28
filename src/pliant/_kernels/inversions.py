"""Which elements are inside out."""

from __future__ import annotations

from numba import njit

from pliant._kernels import notice  # noqa: F401  says that kernels are being compiled


@njit(cache=True, nogil=True, error_model="numpy")
def any_inverted(x, cells, grads):
    """Is the determinant of a deformation gradient not positive at some point of some element?

    x (N, 3) positions, cells (ne, k) nodes of the elements, grads (ne, ng, k, 3) gradients of their shape functions.
    """
    for e in range(cells.shape[0]):
        for g in range(grads.shape[1]):
            a0, a1, a2, b0, b1, b2, c0, c1, c2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(cells.shape[1]):
                n = cells[e, k]
                d0, d1, d2 = grads[e, g, k, 0], grads[e, g, k, 1], grads[e, g, k, 2]
                a0, a1, a2 = a0 + x[n, 0] * d0, a1 + x[n, 0] * d1, a2 + x[n, 0] * d2
                b0, b1, b2 = b0 + x[n, 1] * d0, b1 + x[n, 1] * d1, b2 + x[n, 1] * d2
                c0, c1, c2 = c0 + x[n, 2] * d0, c1 + x[n, 2] * d1, c2 + x[n, 2] * d2
            if a0 * (b1 * c2 - b2 * c1) - a1 * (b0 * c2 - b2 * c0) + a2 * (b0 * c1 - b1 * c0) <= 0.0:
                return True
    return False
