"""A silicone finger whose teeth touch: Ecoflex and Dragon Skin, free and around a bar (X8).

Without contact the teeth go through each other and the tip ends up elsewhere. With a commanded volume the shapes of
the two silicones are nearly the same (geometry decides); the pressures differ by their stiffness, 2.7 times. Closed
around a bar the finger touches itself and the bar, and grips 2.7 times harder in Dragon Skin.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (2.4, 3.0)


def main(quick: bool = False) -> float:
    """Fill both fingers; returns the ratio of their pressures."""
    pressures, grips = [], []
    out = Path("out")
    out.mkdir(exist_ok=True)
    from pliant.viewer.snapshot import snapshot

    for name in ("ecoflex", "dragonskin"):
        model = pl.GeometricModel(pl.robots.silicone_finger(silicone=name, teeth=3 if quick else 5, size=3.5e-3))
        command = model.command({"air": 1.5})
        free = pl.flex(model, command)
        state = pl.flex(model, command, obstacles=[pl.SelfContact()], alarm=1e-3)
        shift = 1e3 * np.linalg.norm(model.locate(state, "tip").position - model.locate(free, "tip").position)
        print(f"{name}: {state.status}; {int((state.contacts.forces > 0).sum())} contacts, "
              f"penetration {state.contacts.max_penetration:.1e} m, {state.effort[0] / 1e3:.1f} kPa; "
              f"contact moves the tip by {shift:.2f} mm")  # fmt: skip
        pressures.append(state.effort[0])
        snapshot(model, state, out / f"silicone_{name}.png", title=name)

        reach = 0.75 * float(model.positions(model.rest)[:, 0].max())
        bar = pl.Capsule((reach, -0.03, -0.016), (reach, 0.03, -0.016), 0.014)
        held = None
        for ratio in (1.1, 1.25) if quick else (1.1, 1.2, 1.3, 1.5):
            command = model.command({"air": ratio})
            held = pl.flex(model, command, start=held, obstacles=[bar, pl.SelfContact()], alarm=2e-3, strict=True)
        contacts = held.contacts
        on_bar = contacts.obstacle == 0
        grips.append(float(contacts.forces[on_bar].sum()))
        print(f"   around a bar: {held.status}; {int((contacts.forces[on_bar] > 0).sum())} contacts with the bar, "
              f"{int((contacts.forces[~on_bar] > 0).sum())} with itself, grip {grips[-1]:.2f} N, "
              f"penetration {contacts.max_penetration:.1e} m")  # fmt: skip
        snapshot(model, held, out / f"grasp_{name}.png", title=f"{name} around a bar", obstacles=[bar])
    ratio = float(pressures[1] / pressures[0])
    print(f"Dragon Skin grips {grips[1] / grips[0]:.2f} times harder at {ratio:.2f} times the pressure")
    return ratio


if __name__ == "__main__":
    main()
