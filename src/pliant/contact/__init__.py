"""Contact: obstacles, broad and narrow phase, contact rows."""

from pliant.contact.primitives import Box, Capsule, Cylinder, Plane, Sphere
from pliant.contact.shapes import Pipe, ShapeObstacle

__all__ = ["Box", "Capsule", "Cylinder", "Pipe", "Plane", "ShapeObstacle", "Sphere"]
