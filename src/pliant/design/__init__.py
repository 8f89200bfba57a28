"""design of pliant."""
