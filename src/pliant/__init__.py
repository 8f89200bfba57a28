"""pliant: soft robots in Python."""
