"""Prisms without shear locking: transverse shear is assumed from the edges, and stabilised.

A thin plate may bend without shear, but linear triangles cannot: the slope of the middle surface is constant in an
element where the direction of the thickness varies. What does not fit appears as transverse shear, and thin elements
are far too stiff. The cure for linear plates is that of MITC3 elements (Lee and Bathe, Computers & Structures 82,
2004): shear is taken along the edges, at their middles, where it can vanish, and interpolated linearly from there. That
alone leaves as many constraints as unknowns; the stabilisation of Lyly, Stenberg and Vihinen (CMAME 110, 1993),

    mu kappa,      kappa = h^2 / (h^2 + alpha l^2),     alpha = 0.1

with h the thickness and l the longest edge, is what makes the element converge for every thickness alike. It does not
change the limit: kappa tends to 1 with the mesh. alpha = 0.1 is their value, and safe under compression: a plate so
weak in shear crimps at a strain of about kappa / 3 = 3.3 h^2 / l^2, but buckles already at pi^2 / 12 h^2 / l^2, with
half-waves of one edge, the shortest that its mesh has.

In an element with directions e_1, e_2 of the middle surface and n of the thickness let a_i = F e_i, d = F n,
M_ij = a_i . a_j and c_i = a_i . d. Then c^T M^-1 c is the square of the part of d that lies in the surface, whatever
the stretch; half of it times mu is what shear costs a neo-Hookean body. That energy is taken away as the isotropic body
has it in the middle of the element, and added with the assumed c, times kappa, at three points.
"""

from __future__ import annotations

import numpy as np

from pliant.bodies import SoftBody
from pliant.models.layout import Layout
from pliant.models.shapes import Elements, tri_rule

Array = np.ndarray
ALPHA = 0.1
_EDGES = ((0, 1), (0, 2), (1, 2))


class AssumedShear:
    """Transverse shear of a group of prisms: what their elements have too much, taken away.

    Every c_i and M_ij is a quadratic form of the nodes, sum_ab Q_ab x_a . x_b; the energy is a function of these.

    Args:
        group: elements of kind "prism6".
        shear: shear modulus of each element [Pa] (ne,).
        nodes: rest positions of all nodes [m] (N, 3).
    """

    def __init__(self, group: Elements, shear: Array, nodes: Array) -> None:
        X = nodes[group.cells]
        middle = 0.5 * (X[:, :3] + X[:, 3:])
        edge = np.linalg.norm(middle - np.roll(middle, 1, axis=1), axis=2).max(axis=1)
        normal = np.cross(middle[:, 1] - middle[:, 0], middle[:, 2] - middle[:, 0])
        thickness = group.volumes / (0.5 * np.linalg.norm(normal, axis=1))
        kappa = thickness**2 / (thickness**2 + ALPHA * edge**2)
        n = (X[:, 3:] - X[:, :3]).mean(axis=1)
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        first = np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)])
        first /= np.linalg.norm(first, axis=1, keepdims=True)
        self._frame = np.stack([first, np.cross(n, first), n], axis=1)
        self._rest = X
        self._cells = group.cells
        stiffness = shear * group.weights.sum(axis=1)
        # the middle of the element, taken away; then three points, added
        self._weights = np.stack([-stiffness, *[kappa * stiffness / 3.0] * 3], axis=1)
        self.measure_from(group.grads)
        k = group.cells.shape[1]
        self.pairs = np.stack([np.repeat(group.cells, k, axis=1).ravel(), np.tile(group.cells, (1, k)).ravel()], axis=1)

    def measure_from(self, grads: Array) -> None:
        """Take shape gradients (ne, ng, 6, 3) relative to another stress-free shape."""
        mean = grads.mean(axis=1)
        along = mean[:, :3] + mean[:, 3:]  # derivatives of the triangle's coordinates
        dr = np.einsum("eaj,eij->eai", along[:, 1:], self._frame[:, :2])  # (r, s) by (e_1, e_2)
        dt = np.einsum("ej,ej->e", (mean[:, 3:] - mean[:, :3]).sum(axis=1), self._frame[:, 2])
        plane = 0.5 * np.array([[-1.0, 1, 0, -1, 1, 0], [-1, 0, 1, -1, 0, 1]])  # x,_r and x,_s
        across = 0.5 * np.array([[-1.0, 0, 0, 1, 0, 0], [0, -1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1]])  # x,_t at a corner
        # shear along each edge at its middle, as a bilinear form: (edge) . (x,_t)
        forms = []
        for i, j in _EDGES:
            run = np.zeros(6)
            run[[j, j + 3]] += 0.5
            run[[i, i + 3]] -= 0.5
            forms.append(np.outer(run, 0.5 * (across[i] + across[j])))
        e_r, e_s, e_h = forms  # along r, along s, along s - r
        natural = [np.array([np.outer(plane[0], across.mean(axis=0)), np.outer(plane[1], across.mean(axis=0))])]
        turn = e_s - e_r - e_h  # what the three edges have around
        for r, s in tri_rule(1)[0]:
            natural.append(np.array([e_r + turn * s, e_s - turn * r]))
        shears = np.einsum("eai,paxy,e->epixy", dr, np.array(natural), dt)  # (ne, 4, 2, 6, 6)
        a = np.einsum("eai,ax->eix", dr, plane)
        metric = np.stack([_outer(a[:, 0], a[:, 0]), _outer(a[:, 0], a[:, 1]), _outer(a[:, 1], a[:, 1])], axis=1)
        shears = 0.5 * (shears + shears.swapaxes(-1, -2))
        metric = 0.5 * (metric + metric.swapaxes(-1, -2))
        self._forms = np.concatenate([shears.reshape(len(dr), 8, 6, 6), metric], axis=1)  # (ne, 11, 6, 6)
        rest = np.einsum("emab,eaj,ebj->em", self._forms, self._rest, self._rest, optimize=True)
        self._offset = np.where(np.arange(11) < 8, rest, 0.0)

    def _values(self, x: Array) -> tuple[Array, Array]:
        """The forms y (ne, 11) and half their derivatives Q x (ne, 11, 6, 3)."""
        X = x[self._cells]
        slopes = np.einsum("emab,ebj->emaj", self._forms, X)
        return np.einsum("emaj,eaj->em", slopes, X) - self._offset, slopes

    def _inverse(self, y: Array) -> Array:
        """M^-1 (ne, 2, 2)."""
        a, b, c = y[:, 8], y[:, 9], y[:, 10]
        det = np.maximum(a * c - b * b, 1e-12 * (a + c) ** 2 + 1e-300)
        return np.stack([np.stack([c, -b], axis=1), np.stack([-b, a], axis=1)], axis=1) / det[:, None, None]

    def value(self, x: Array) -> float:
        """Energy [J]."""
        y, _ = self._values(x)
        c = y[:, :8].reshape(-1, 4, 2)
        return 0.5 * float(np.einsum("ep,epi,eij,epj->", self._weights, c, self._inverse(y), c, optimize=True))

    def _first(self, y: Array) -> tuple[Array, Array, Array]:
        """Derivative of the energy by the forms (ne, 11); M^-1 (ne, 2, 2); M^-1 c (ne, 4, 2)."""
        N = self._inverse(y)
        z = np.einsum("eij,epj->epi", N, y[:, :8].reshape(-1, 4, 2))
        out = np.empty_like(y)
        out[:, :8] = (self._weights[:, :, None] * z).reshape(-1, 8)
        # d (c^T M^-1 c) / d M_ij = - z_i z_j, and M_12 stands for both of its places
        for k, (i, j, share) in enumerate(((0, 0, 0.5), (0, 1, 1.0), (1, 1, 0.5))):
            out[:, 8 + k] = -share * (self._weights * z[:, :, i] * z[:, :, j]).sum(axis=1)
        return out, N, z

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d value / d x (N, 3)."""
        y, slopes = self._values(x)
        first = self._first(y)[0]
        np.add.at(out, self._cells, 2.0 * factor * np.einsum("em,emaj->eaj", first, slopes))

    def blocks(self, x: Array) -> Array:
        """Second derivative of the energy, per element (ne, 6, 6, 3, 3)."""
        y, slopes = self._values(x)
        first, N, z = self._first(y)
        second = np.zeros((len(y), 11, 11))
        w = self._weights
        for p in range(4):
            second[:, 2 * p : 2 * p + 2, 2 * p : 2 * p + 2] = w[:, p, None, None] * N
        units = np.array([[[1.0, 0], [0, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 1]]])  # d M / d (M_11, M_12, M_22)
        mixed = -np.einsum("ep,eij,kjl,epl->epik", w, N, units, z, optimize=True).reshape(-1, 8, 3)
        second[:, :8, 8:], second[:, 8:, :8] = mixed, mixed.swapaxes(1, 2)
        second[:, 8:, 8:] = np.einsum("ep,epi,kij,ejl,mln,epn->ekm", w, z, units, N, units, z, optimize=True)
        blocks = 4.0 * np.einsum("emaj,emn,enbk->eabjk", slopes, second, slopes, optimize=True)
        blocks += 2.0 * np.einsum("em,emab->eab", first, self._forms)[..., None, None] * np.eye(3)
        return blocks

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """data[slots] += factor * second derivative, one (3, 3) block per pair."""
        flat = factor * self.blocks(x).reshape(-1, 3, 3)
        valid = slots >= 0
        np.add.at(data, slots[valid], flat[valid])

    def made_positive(self, x: Array, elastic: Array) -> Array:
        """What to take for the elements' own stiffness (ne, 18, 18) so that with this term it has no negative part."""
        own = self.blocks(x).swapaxes(2, 3).reshape(-1, 18, 18)
        values, vectors = np.linalg.eigh(elastic + own)
        return np.einsum("eij,ej,ekj->eik", vectors, np.maximum(values, 0.0), vectors, optimize=True) - own


def _outer(a: Array, b: Array) -> Array:
    return a[:, :, None] * b[:, None, :]


def shear_reliefs(layout: Layout) -> tuple[AssumedShear, ...]:
    """One term per group of prisms."""
    out = []
    for owner, group in layout.group_regions:
        if group.kind == "prism6":
            out.append(AssumedShear(group, _shear(owner, group), layout.rest_nodes))
    return tuple(out)


def _shear(owner: SoftBody, group: Elements) -> Array:
    shear = np.full(len(group.cells), owner.material.shear)
    for region, material in owner.materials.items():
        shear[np.isin(group.ids, owner.mesh.regions[region])] = material.shear
    return shear
