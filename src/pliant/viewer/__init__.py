"""viewer of pliant."""
