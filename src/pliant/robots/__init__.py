"""robots of pliant."""
