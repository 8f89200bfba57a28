"""models of pliant."""
