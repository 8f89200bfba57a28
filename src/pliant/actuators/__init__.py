"""actuators of pliant."""
