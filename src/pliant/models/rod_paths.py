"""Where the cables of rods run, for pictures: bent with the body between via points, straight through the air."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pliant._kernels.rod import RodWork, poses
from pliant._kernels.rod_points import place_points
from pliant.actuators import Actuator, Cable
from pliant.models.rod_tables import RodLayout, Station

Array = np.ndarray
_PIECES = 24  # of a cable between two via points


class RodPaths:
    """Polylines of the cables of a robot of rods."""

    def __init__(self, layout: RodLayout, actuators: Sequence[Actuator]) -> None:
        self.layout = layout
        stations: list[Station] = []
        self._paths: dict[str, list[int | Array]] = {}  # points on the rods by index, or in the world
        for cable in actuators:
            if isinstance(cable, Cable):
                self._paths[cable.name] = self._trace(cable, stations)
        self._points = layout.points(stations)

    def _trace(self, cable: Cable, stations: list[Station]) -> list[int | Array]:
        places: list[Station | Array] = [
            np.array(x) if i in cable.world else self.layout.nearest(x, cable.body) for i, x in enumerate(cable.points)
        ]
        if cable.pull_point is not None:
            places.insert(0, np.array(cable.pull_point))
        out: list[int | Array] = []

        def add(place: Station | Array) -> None:
            if isinstance(place, Station):
                out.append(len(stations))
                stations.append(place)
            else:
                out.append(place)

        add(places[0])
        for a, b in pairwise(places):
            if isinstance(a, Station) and isinstance(b, Station):
                for c, d in self.layout.runs((a, b)):
                    for f in np.linspace(0.0, 1.0, _PIECES + 1)[1:]:
                        r = (1 - f) * np.array(c.offset) + f * np.array(d.offset)
                        add(Station(c.body, (1 - f) * c.s + f * d.s, (float(r[0]), float(r[1]), float(r[2]))))
            else:
                add(b)
        return out

    def at(self, work: RodWork, q: Array) -> dict[str, Array]:
        """Name -> polyline [m] (k, 3) at flat coordinates q."""
        if not self._paths:
            return {}
        x = np.zeros((len(self._points.seg), 3))
        poses(self.layout.tables, work, q)
        place_points(self.layout.tables, work, self._points, q, x)
        return {
            name: np.array([x[place] if isinstance(place, int) else place for place in path])
            for name, path in self._paths.items()
        }
