"""geometry of pliant."""
