"""learn of pliant."""
