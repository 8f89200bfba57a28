"""A silicone finger whose teeth touch: Ecoflex and Dragon Skin, with and without contact (X8).

Without contact the teeth go through each other and the tip ends up elsewhere. With a commanded volume the shapes of
the two silicones are nearly the same (geometry decides); the pressures differ by their stiffness, 2.7 times.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.contact import SelfContact
from pliant.models.geometric import GeometricModel
from pliant.robots.silicone_finger import silicone_finger
from pliant.solve.flex import flex

EXPECTED = (2.4, 3.0)


def main(quick: bool = False) -> float:
    """Fill both fingers; returns the ratio of their pressures."""
    pressures = []
    out = Path("out")
    out.mkdir(exist_ok=True)
    from pliant.viewer.snapshot import snapshot

    for name in ("ecoflex", "dragonskin"):
        model = GeometricModel(silicone_finger(silicone=name, teeth=3 if quick else 5, size=3.5e-3))
        command = model.command({"air": 1.5})
        free = flex(model, command)
        state = flex(model, command, obstacles=[SelfContact()], alarm=1e-3)
        shift = 1e3 * np.linalg.norm(model.locate(state, "tip").position - model.locate(free, "tip").position)
        print(f"{name}: {state.status}; {int((state.contacts.forces > 0).sum())} contacts, "
              f"penetration {state.contacts.max_penetration:.1e} m, {state.effort[0] / 1e3:.1f} kPa; "
              f"contact moves the tip by {shift:.2f} mm")  # fmt: skip
        pressures.append(state.effort[0])
        snapshot(model, state, out / f"silicone_{name}.png", title=name)
    return float(pressures[1] / pressures[0])


if __name__ == "__main__":
    main()
