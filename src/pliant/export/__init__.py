"""Arms for other simulators: MuJoCo (MJCF) and URDF, both from a `LinkModel`."""
