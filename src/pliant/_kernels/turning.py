"""Curvature of contacts, compiled: the second derivative of a smallest distance, and its place in a stiffness."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def gap_hessian(C, n, corners, weights):
    """Second derivative of the smallest distance of a simplex with respect to its corners (3k, 3k).

    Args:
        C: Hessian of the distance where it is smallest [1/m] (3, 3).
        n: its gradient (3,).
        corners: of the simplex that the point lies inside of [m] (k, 3).
        weights: of that point (k,), all positive.
    """
    k = len(weights)
    H = np.empty((3 * k, 3 * k))
    for a in range(k):
        for b in range(k):
            for i in range(3):
                for j in range(3):
                    H[3 * a + i, 3 * b + j] = weights[a] * weights[b] * C[i, j]
    if k == 1:
        return H
    # B: how the slope along each edge changes with the corners; bend: how it changes along the edges
    m = k - 1
    B, bend, along = np.zeros((3 * k, m)), np.zeros((m, m)), np.zeros((m, 3))
    largest, size = 0.0, 0.0
    for i in range(3):
        for j in range(3):
            largest = max(largest, abs(C[i, j]))
    for a in range(m):
        for i in range(3):
            for j in range(3):
                along[a, i] += C[i, j] * (corners[a + 1, j] - corners[0, j])
            size += largest * (corners[a + 1, i] - corners[0, i]) ** 2
        for c in range(k):
            for i in range(3):
                B[3 * c + i, a] = weights[c] * along[a, i]
        for i in range(3):
            B[3 * a + 3 + i, a] += n[i]
            B[i, a] -= n[i]
    for a in range(m):
        for b in range(m):
            for i in range(3):
                bend[a, b] += along[a, i] * (corners[b + 1, i] - corners[0, i])
    if not size > 0.0:
        return H
    # where the obstacle is flat along the simplex the point is anywhere, and stays; so it does at kinks of the distance
    values, axes = np.ones(m), np.ones((m, m))
    if m == 1:
        values[0] = bend[0, 0]
    else:
        values, axes = np.linalg.eigh(bend)
    for v in range(m):
        if values[v] > 1e-6 * size:
            slide = B @ np.ascontiguousarray(axes[:, v])
            for i in range(3 * k):
                for j in range(3 * k):
                    H[i, j] -= slide[i] * slide[j] / values[v]
    return H


@njit(cache=True)
def pressing_points(forces, obstacles, index, weights, vertices, x):
    """Which contacts press on the obstacle of that index (m,), and where on the skin (m, 3)."""
    pressing = np.flatnonzero((forces > 0.0) & (obstacles == index))
    points = np.zeros((len(pressing), 3))
    for r in range(len(pressing)):
        i = pressing[r]
        for k in range(vertices.shape[1]):
            for d in range(3):
                points[r, d] += weights[i, k] * x[vertices[i, k], d]
    return pressing, points


@njit(cache=True)
def turning_blocks(pressing, curvatures, normals, vertices, weights, forces, x):
    """Stiffness -lam g'' of pressing contacts: how many corners each has (m,), those (m, k) and it (m, 3k, 3k).

    Args:
        pressing: which contacts (m,).
        curvatures: Hessian of the obstacle's distance there [1/m] (m, 3, 3); none of a contact where it is zero.
        normals, vertices, weights, forces: of all contacts.
        x: positions of the skin [m].
    """
    m, wide = len(pressing), vertices.shape[1]
    sizes, corners = np.zeros(m, dtype=np.int64), np.zeros((m, wide), dtype=np.int64)
    blocks, share, places = np.zeros((m, 3 * wide, 3 * wide)), np.empty(wide), np.empty((wide, 3))
    for r in range(m):
        i, k = pressing[r], 0
        for a in range(wide):
            if weights[i, a] > 0.0:
                corners[r, k], share[k] = vertices[i, a], weights[i, a]
                places[k] = x[vertices[i, a]]
                k += 1
        if not curvatures[r].any():
            continue
        sizes[r] = k
        blocks[r, : 3 * k, : 3 * k] = -forces[i] * gap_hessian(curvatures[r], normals[i], places[:k], share[:k])
    return sizes, corners, blocks


@njit(cache=True)
def every_direction(corners):
    """Vertices (3n, 1), weights (3n, 1) and directions (3n, 3) that ask for all derivatives of vertices (n,)."""
    n = len(corners)
    vertices, directions = np.empty((3 * n, 1), dtype=np.int64), np.zeros((3 * n, 3))
    for i in range(n):
        for k in range(3):
            vertices[3 * i + k, 0] = corners[i]
            directions[3 * i + k, k] = 1.0
    return vertices, np.ones((3 * n, 1)), directions


@njit(cache=True)
def add_products(indptr, indices, values, blocks, sizes, rows_ptr, rows_index, data):
    """data += J^T B J for the block diagonal B, into a symmetric pattern; False if an entry has no place there.

    Args:
        indptr, indices, values: J in compressed rows (sum of sizes, n).
        blocks: the blocks of B, one after the other, flattened.
        sizes: of the blocks.
        rows_ptr, rows_index: the pattern, in compressed rows with sorted columns.
        data: values of the pattern's entries.
    """
    row, at = 0, 0
    for size in sizes:
        for i in range(size):
            for j in range(size):
                b = blocks[at + size * i + j]
                for p in range(indptr[row + i], indptr[row + i + 1]):
                    for q in range(indptr[row + j], indptr[row + j + 1]):
                        v, w = indices[p], indices[q]
                        low, high = rows_ptr[v], rows_ptr[v + 1]
                        end = high
                        while low < high:
                            mid = (low + high) >> 1
                            if rows_index[mid] < w:
                                low = mid + 1
                            else:
                                high = mid
                        if low >= end or rows_index[low] != w:
                            return False
                        data[low] += values[p] * b * values[q]
        row += size
        at += size * size
    return True


@njit(cache=True)
def dense_products(rows, blocks, sizes, K):
    """K + J^T B J (n, n) for the block diagonal B; rows are J (sum of sizes, n), blocks as in `add_products`."""
    n = K.shape[0]
    out, used = K.copy(), np.empty(n, dtype=np.int64)
    row, at = 0, 0
    for size in sizes:
        count = 0
        for v in range(n):
            for i in range(size):
                if rows[row + i, v] != 0.0:
                    used[count] = v
                    count += 1
                    break
        product = np.zeros(size)
        for q in range(count):
            for i in range(size):
                product[i] = 0.0
                for j in range(size):
                    product[i] += blocks[at + size * i + j] * rows[row + j, used[q]]
            for p in range(count):
                for i in range(size):
                    out[used[p], used[q]] += rows[row + i, used[p]] * product[i]
        row += size
        at += size * size
    return out


@njit(cache=True)
def round_hessian(points, a, axis, length, radius, round_ends):
    """Second derivative (n, 3, 3) of the distance to a capsule, or to a cylinder with flat ends, at points (n, 3)."""
    out = np.zeros((len(points), 3, 3))
    radial, across = np.empty(3), np.empty(3)
    for p in range(len(points)):
        t = 0.0
        for i in range(3):
            t += (points[p, i] - a[i]) * axis[i]
        foot = min(max(t, 0.0), length) if round_ends else t
        square = 0.0
        for i in range(3):
            radial[i] = points[p, i] - a[i] - foot * axis[i]
            square += radial[i] ** 2
        rho = np.sqrt(square)
        safe = max(rho, 1e-150)
        for i in range(3):
            radial[i] /= safe
        if round_ends:
            barrel = 1.0 if 0.0 < t < length else 0.0
            for i in range(3):
                for j in range(3):
                    own = 1.0 if i == j else 0.0
                    out[p, i, j] = (own - radial[i] * radial[j] - barrel * axis[i] * axis[j]) / safe
            continue
        side, cap = rho - radius, abs(t - 0.5 * length) - 0.5 * length
        sign = -1.0 if t < 0.5 * length else 1.0
        s, c = max(side, 0.0), max(cap, 0.0)
        size = np.sqrt(s * s + c * c)
        share = s / size if size > 0.0 else (1.0 if side >= cap else 0.0)
        for i in range(3):
            for j in range(3):
                own = 1.0 if i == j else 0.0
                out[p, i, j] = share * (own - radial[i] * radial[j] - axis[i] * axis[j]) / safe
        if side > 0.0 and cap > 0.0:
            for i in range(3):
                across[i] = (c * radial[i] - s * sign * axis[i]) / size
            for i in range(3):
                for j in range(3):
                    out[p, i, j] += across[i] * across[j] / size
    return out
