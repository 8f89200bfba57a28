"""Arms for other simulators: MuJoCo (MJCF) and URDF, from a `LinkModel` or a `RodModel`."""
