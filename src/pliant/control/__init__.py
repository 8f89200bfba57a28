"""control of pliant."""
