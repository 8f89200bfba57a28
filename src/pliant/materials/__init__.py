"""materials of pliant."""
