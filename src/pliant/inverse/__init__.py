"""inverse of pliant."""
