"""contact of pliant."""
