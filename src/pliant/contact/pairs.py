"""Contact between soft parts: SelfContact, BodyContact, and pairs of points known beforehand.

These stand in the list of obstacles next to the rigid ones. They have no distance of their own: the
detection finds out where skin meets skin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.contact.obstacles import points3, positive
from pliant.errors import ArgumentError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class SoftContact:
    """Base of the markers.

    Attributes:
        name: how it is called in results.
        friction: Coulomb coefficient [-].
    """

    name: str = field(default="", kw_only=True)
    friction: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        mu = float(self.friction)
        if not (np.isfinite(mu) and mu >= 0.0):
            raise ArgumentError("friction", f"{self.friction} is not a friction coefficient", "a number >= 0")
        if not self.name:
            object.__setattr__(self, "name", type(self).__name__.lower())


@dataclass(frozen=True, eq=False)
class SelfContact(SoftContact):
    """The skin of one body (or of each body) meets itself.

    Features that share an edge or are joined by one never meet. Pairs that face each other through
    the material in the rest shape (thin walls) are recognised and left out.

    Attributes:
        body: index of the body; None for every body with itself.
        separation: pairs closer than this in the rest shape never meet [m].
    """

    body: int | None = None
    separation: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.separation) and self.separation >= 0.0):
            raise ArgumentError("separation", f"{self.separation} is negative", "a distance >= 0")


@dataclass(frozen=True, eq=False)
class BodyContact(SoftContact):
    """The skins of two bodies meet; normals point from body_b to body_a.

    Attributes:
        body_a: index of the first body in the skin.
        body_b: index of the second body.
    """

    body_a: int = 0
    body_b: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.body_a == self.body_b:
            raise ArgumentError("body_b", "it is body_a", "two different bodies (or a SelfContact)")


@dataclass(frozen=True, eq=False)
class ContactPairs(SoftContact):
    """Pairs of skin vertices that are known to meet: no detection, gap = n . (x_a - x_b).

    Attributes:
        pairs: skin vertices (m, 2); the first is pushed along the normal.
        normals: unit directions from b to a (m, 3) or (3,); None takes them from the rest shape.
    """

    pairs: Any = None
    normals: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = np.array(self.pairs)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise ArgumentError("pairs", f"shape {pairs.shape}", "skin vertices, integers (m, 2)")
        if np.any(pairs[:, 0] == pairs[:, 1]):
            raise ArgumentError("pairs", "a vertex is paired with itself", "two different vertices each")
        object.__setattr__(self, "pairs", pairs.astype(np.int64))
        if self.normals is not None:
            n = np.broadcast_to(np.asarray(self.normals, dtype=float), (len(pairs), 3)).copy()
            length = np.linalg.norm(n, axis=1)
            if not np.all(np.isfinite(length)) or np.any(length <= 0.0):
                raise ArgumentError("normals", "one has no direction", "finite non-zero vectors")
            object.__setattr__(self, "normals", n / length[:, None])

    @classmethod
    def nearest(
        cls, model: Any, first: Any, second: Any, *, within: float, name: str = "", friction: float = 0.0
    ) -> ContactPairs:
        """Pairs out of places: the skin vertices nearest to points `first` and `second` (m, 3) at rest."""
        from scipy.spatial import cKDTree

        tree = cKDTree(model.skin_positions(model.rest))
        found = []
        for argument, places in (("first", first), ("second", second)):
            distance, index = tree.query(points3(np.atleast_2d(places)))
            if np.any(distance > positive("within", within)):
                far = int(np.argmax(distance))
                raise ArgumentError(argument, f"point {far} is {distance[far]:.3g} m from the skin")
            found.append(index)
        return cls(np.stack(found, axis=1), name=name, friction=friction)
