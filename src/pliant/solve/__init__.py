"""solve of pliant."""
