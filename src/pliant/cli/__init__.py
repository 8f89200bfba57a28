"""cli of pliant."""
