"""Contact: obstacles, broad and narrow phase, contact rows."""

from pliant.contact.contacts import Contacts, ContactState
from pliant.contact.detection import Detector, detect
from pliant.contact.mesh import MeshObstacle
from pliant.contact.obstacles import Obstacle, Pose
from pliant.contact.pairs import BodyContact, ContactPairs, SelfContact
from pliant.contact.primitives import Box, Capsule, Cylinder, Plane, Sphere
from pliant.contact.shapes import Pipe, ShapeObstacle

__all__ = [
    "BodyContact", "Box", "Capsule", "ContactPairs", "ContactState", "Contacts", "Cylinder", "Detector",
    "MeshObstacle", "Obstacle", "Pipe", "Plane", "Pose", "SelfContact", "ShapeObstacle", "Sphere", "detect",
]  # fmt: skip
