"""Compliance: what a factorised tangent K lets forces do, seen through a few rows.

Columns F = [b, A, H^T]: the free force, the actuators, the contacts. Rows R: targets and limits J, the actuators'
coordinates C, the contacts H. Wanted is R K^-1 F; in most scenes C = A^T, and everything is a block of the
symmetric matrix [J; b; A^T; H] K^-1 [J; b; A^T; H]^T. With K = L L^T this takes forward substitutions only, sparse ones
for rows that touch few nodes; the configuration step needs one backward substitution, after the efforts are known.

Where contacts must hold the body, K^-1 is that of the matrix they make of it (`Holding`): rows of what they touch in
place of theirs, and a small dense correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.inverse.holding import Holding

Array = np.ndarray
_SPARE = 16  # this many rows more than columns are still cheaper by half solves (measured on the benchmark's scenes)


class Compliance:
    """R K^-1 F, and K^-1 F z on demand.

    Args:
        factor: factorised K.
        free: force without efforts and contacts (nv,).
        pull: force per unit effort A (nv, nu).
        own: derivatives of the actuators' coordinates C (nu, nv).
        contacts: derivatives of the contact rows H (nc, nv), sparse CSR or dense; None without contacts.
        lines: derivatives J of targets and limits, one array (m, nv) each, or None for zero.
        sizes: number of rows of each.
        holding: contacts that hold the body; `factor` is then theirs.

    Attributes:
        lines: J K^-1 F, one array (m, 1 + nu + nc) each.
        own: C K^-1 F (nu, 1 + nu + nc).
        contacts: H K^-1 F (nc, 1 + nu + nc).
        total: sum of all products, finite if they are.
        held: whether the matrix is positive definite, with the help of the contacts that hold it.
        rho: stiffness with which these are held [N/m]; zero if the body needs none.
    """

    def __init__(
        self,
        factor: Any,
        free: Array,
        pull: Array,
        own: Array,
        contacts: Any,
        lines: Sequence[Array | None],
        sizes: Sequence[int],
        holding: Holding | None = None,
    ) -> None:
        self._factor = factor
        self._holding, self.held, self.rho = holding, True, 0.0
        self._map: Array | None = None
        self._S: Array | None = None
        nv, nu = pull.shape
        nc = 0 if contacts is None else contacts.shape[0]
        width = 1 + nu + nc
        given = [J for J in lines if J is not None]
        count = sum(len(J) for J in given)
        symmetric = own.base is pull or np.array_equal(own, pull.T)
        sparse = contacts if sp.issparse(contacts) else None
        self._push: Any = None
        if getattr(factor, "halves", False) and (count <= width + _SPARE or holding is not None):
            parts = [*given] if symmetric else [*given, own]
            lead = count if symmetric else count + nu
            if holding is not None:
                sparse = holding.solved
            dense = sparse is None and contacts is not None
            rows = np.empty((lead + (width if dense else 1 + nu), nv))
            at = 0
            for part in (*parts, free[None], pull.T, *((contacts,) if dense else ())):
                rows[at : at + len(part)] = part
                at += len(part)
            W, Y = factor.condense(rows, sparse)
            W, self._half = W[:, lead:], Y[:, lead:]
            if holding is not None:
                W = self._hold(W, lead, 1 + nu, holding)
            self.total = float(np.add.reduce(W, axis=None))
            self.own = W[lead + 1 : lead + 1 + nu] if symmetric else W[count : count + nu]
            self.contacts = W[lead + 1 + nu :]
            top = W
        else:
            self._half = None
            self._push = solved = np.empty((nv, width))
            solved[:, : 1 + nu] = factor.solve(np.column_stack([free, pull]))
            if nc:
                solved[:, 1 + nu :] = factor.solve(contacts.T) if sparse is None else factor.solve_sparse(sparse.T)
            top = np.vstack([J @ solved for J in given]) if given else np.zeros((0, width))
            self.own = own @ solved
            self.contacts = contacts @ solved if nc else np.zeros((0, width))
            self.total = float(solved.sum())
        self.lines: list[Array] = []
        at = 0
        for J, size in zip(lines, sizes):
            self.lines.append(np.zeros((size, width)) if J is None else top[at : at + size])
            at += 0 if J is None else size

    def _hold(self, W: Array, lead: int, before: int, holding: Holding) -> Array:
        """The products with the matrix that contacts hold, from those with its factor.

        Args:
            W: products of (lead, before, rows that do not press, touched) with all of these but the leading ones.
            lead, before: how many rows come before the columns, and how many columns before the contacts.
            holding: the contacts.
        """
        C, k = holding.rows, len(holding.added)
        end, nc = W.shape[1] - k, len(holding.pressing)
        found = holding.resolved(W[lead + end :, end:])
        self.held = found is not None
        if found is None:
            return np.zeros((lead + before + nc, before + nc))
        self._S, self.rho = found
        # every column of contacts from those solved for: as it is, or by what it does to the touched coordinates
        chosen = np.zeros((end + k, before + nc))
        plain = np.concatenate([np.arange(before), before + np.flatnonzero(~holding.pressing)])
        chosen[np.arange(end), plain] = 1.0
        chosen[end:, before:][:, holding.pressing] = C.T
        # the unknowns of the rows that hold contain rho times their values, which are not zero yet
        chosen[end:, 0] -= self.rho * (holding.value @ C)
        columns = W @ chosen
        more = -self._S @ columns[lead + end :]
        columns += W[:, end:] @ more
        out = np.empty((lead + before + nc, before + nc))
        out[: lead + before] = columns[: lead + before]
        contacts = out[lead + before :]
        contacts[~holding.pressing] = columns[lead + before : lead + end]
        contacts[holding.pressing] = C @ columns[lead + end :]
        chosen[end:] += more
        self._map = chosen
        return out

    def step(self, z: Array) -> Array:
        """K^-1 F z (nv,) for z = (1, efforts, contact forces) (1 + nu + nc,)."""
        if self._half is None:
            return self.solved @ z
        return self._factor.back_solve(self._half @ (z if self._map is None else self._map @ z))

    def solve(self, force: Array) -> Array:
        """K^-1 f (nv,) for a force (nv,)."""
        out = self._factor.solve(force)
        if self._holding is None or self._S is None:
            return out
        touched = self._holding.touched
        push = np.zeros(len(out))
        push[touched] = self._S @ out[touched]
        return out - self._factor.solve(push)

    def pushes(self, contact: Array, value: Array) -> Array:
        """Contact forces from the unknowns of contact rows and the values that they lead to (nc,).

        What a row that holds pulls where it opens is not a force of the contact.
        """
        if not self.rho or self._holding is None:
            return contact
        out, rows = contact.copy(), np.flatnonzero(self._holding.pressing)
        out[rows] -= np.where(contact[rows] != 0.0, self.rho * value[rows], 0.0)
        return out

    @cached_property
    def solved(self) -> Array:
        """K^-1 F (nv, 1 + nu + nc): every column, which `step` avoids."""
        if self._half is None:
            return self._push
        return self._factor.back_solve(self._half if self._map is None else self._half @ self._map)
